"""Random Fourier features of rows: angles, cosines and sines, a few vectors of frequencies at a time.

An angle has one accumulator, which takes the features of the row in their order by fused multiply-add; an
absent feature would add an exact 0. So it is a function of the row and the frequency alone: neither the
block, nor the machine, nor whether the rows are dense or CSR can change a bit of it. The arithmetic is in
the precision of the rows.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.compiled import compiled
from ...numeric.emitters import spread
from .dense_products import LANES, TILE_ROWS, ArrayInCode, fused
from .row_storage import aligned
from .sine_cosine import emit_sine_cosine

# Vectors of frequencies that a row, or a few dense ones, meet at a time.
_VECTORS = 4

#: Frequencies come in multiples of it, by the size of a value in bytes.
GROUP = {size: _VECTORS * lanes for size, lanes in LANES.items()}

# Dense rows at a time: as many as leave the accumulators in the machine's registers.
_ROWS = 4 if TILE_ROWS == 4 else 1

# Dense rows are gone through as CSR where fewer than one of so many entries is not 0: a few rows at a time
# make better use of what is loaded than one (measured at 123 to 784 features: as fast at three tenths).
_FEW = 3


class _Group:
    """A group of frequencies while code is generated: sums of angles, and the features of these."""

    def __init__(self, context, builder, kinds, arguments):
        """Take panels, the row that the group's begins at and its first column, scales and features."""
        self.builder, self.first, column = builder, arguments[1], arguments[2]
        self.panels, self.out = (ArrayInCode(context, builder, kinds[k], arguments[k]) for k in (0, 4))
        self.kind = kinds[0].dtype
        self.scales = context.make_array(kinds[3])(context, builder, arguments[3]).data
        self.vector = ir.VectorType(self.panels.pointer.type.pointee, LANES[self.panels.size])
        self.starts = [column.type(self.vector.count * v) for v in range(_VECTORS)]
        self.places = [builder.add(column, start) for start in self.starts]

    def new_sums(self):
        zero = ir.Constant(self.vector, [0.0] * self.vector.count)
        return [cgutils.alloca_once_value(self.builder, zero) for _ in self.places]

    def add(self, feature, values, sums):
        """Add the products of a feature's frequencies with its value in each of some rows to their sums."""
        row = self.builder.add(self.first, feature)
        loaded = [self.panels.load(self.builder, row, start, self.vector.count) for start in self.starts]
        for value, of_row in zip(values, sums, strict=True):
            x = spread(self.builder, value, self.vector.count)
            for u, total in zip(loaded, of_row, strict=True):
                self.builder.store(fused(self.builder, u, x, self.builder.load(total)), total)

    def store(self, row, sums):
        """Write the features of a row, whose angles are summed up."""
        builder = self.builder
        half = builder.lshr(self.out.columns, self.out.columns.type(1))
        for place, total in zip(self.places, sums, strict=True):
            sine, cosine = emit_sine_cosine(builder, self.kind, builder.load(total))
            factor = builder.bitcast(builder.gep(self.scales, [place]), self.vector.as_pointer())
            factor = builder.load(factor)
            factor.align = self.panels.size
            self.out.store(builder, row, place, builder.fmul(cosine, factor))
            self.out.store(builder, row, builder.add(half, place), builder.fmul(sine, factor))


def _check(*arrays):
    if len({array.dtype for array in arrays}) > 1:
        raise TypeError("features take arrays of one dtype")


@intrinsic
def _features_of_row(_typing_context, panels, first, column, scale, out, i, data, indices, start, stop):
    """Write the features of a CSR row for a group of frequencies into ``out[i]``."""
    _check(panels, scale, out, data)

    def codegen(context, builder, signature, arguments):
        kinds, intp = signature.args, arguments[1].type
        group = _Group(context, builder, kinds, arguments)
        values, columns = (context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (6, 7))
        sums = group.new_sums()
        with cgutils.for_range_slice(builder, arguments[8], arguments[9], intp(1), intp) as (k, _):
            feature = builder.load(builder.gep(columns, [k]))
            feature = context.cast(builder, feature, indices.dtype, types.intp)
            group.add(feature, [builder.load(builder.gep(values, [k]))], [sums])
        group.store(arguments[5], sums)
        return context.get_dummy_value()

    intp = types.intp
    return types.void(panels, intp, intp, scale, out, intp, data, indices, intp, intp), codegen


def _of_dense_rows(rows):
    """Build the intrinsic for a number of dense rows at a time."""

    @intrinsic
    def features_of_rows(_typing_context, panels, first, column, scale, out, i, X):
        """Write the features of dense rows from i on for a group of frequencies into the rows of `out`."""
        _check(panels, scale, out, X)

        def codegen(context, builder, signature, arguments):
            intp = arguments[1].type
            group = _Group(context, builder, signature.args, arguments)
            values = ArrayInCode(context, builder, signature.args[6], arguments[6])
            numbers = [builder.add(arguments[5], intp(r)) for r in range(rows)]
            sums = [group.new_sums() for _ in numbers]
            with cgutils.for_range_slice(builder, intp(0), values.columns, intp(1), intp) as (j, _):
                entries = [builder.load(values.address(builder, number, j)) for number in numbers]
                group.add(j, entries, sums)
            for number, of_row in zip(numbers, sums, strict=True):
                group.store(number, of_row)
            return context.get_dummy_value()

        intp = types.intp
        return types.void(panels, intp, intp, scale, out, intp, X), codegen

    return features_of_rows


_features_of_rows = _of_dense_rows(_ROWS)
_features_of_one = _of_dense_rows(1)


def in_panels(U, dtype):
    """Return frequencies as loops take them: GROUP of them at a time next to each other for each feature.

    Parameters
    ----------
    U : ndarray of shape (D, d)
    dtype : dtype

    Returns
    -------
    ndarray of shape (groups * d, GROUP)
        What is missing in the last group is 0.

    See Also
    --------
    from_panels : The way back.
    """
    (D, d), group = U.shape, GROUP[dtype.itemsize]
    groups = -(-D // group)
    panels = aligned((groups * d, group), dtype, np.zeros)
    for g in range(groups):
        some = U[g * group : (g + 1) * group]
        panels[g * d : (g + 1) * d, : len(some)] = some.T
    return panels


def from_panels(panels, D, d):
    """Return the frequencies, shape (D, d), that `in_panels` was given."""
    group = panels.shape[1]
    return panels.reshape(-1, d, group).transpose(0, 2, 1).reshape(-1, d)[:D]


@compiled
def fourier_features(data, indices, indptr, panels, d, scale, out):
    """Write cosine and sine of the angles of CSR rows into `out`.

    Parameters
    ----------
    data, indices, indptr : ndarray
        The rows; their columns are below d.
    panels : ndarray
        What `in_panels` returns.
    d : int
    scale : ndarray of shape (groups * GROUP,)
        What cosine and sine of each frequency are multiplied by.
    out : ndarray of shape (n or more, 2 * groups * GROUP)
        The cosines, then the sines.
    """
    # The frequencies of a group stay in the cache for all rows.
    group = panels.shape[1]
    for g in range(scale.shape[0] // group):
        for i in range(indptr.shape[0] - 1):
            start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
            _features_of_row(panels, g * d, g * group, scale, out, i, data, indices, start, stop)


@compiled
def _features_of_dense(X, panels, scale, out):
    d, group = X.shape[1], panels.shape[1]
    several = X.shape[0] - X.shape[0] % _ROWS
    for g in range(scale.shape[0] // group):
        for i in range(0, several, _ROWS):
            _features_of_rows(panels, g * d, g * group, scale, out, i, X)
        for i in range(several, X.shape[0]):
            _features_of_one(panels, g * d, g * group, scale, out, i, X)


@compiled
def dense_fourier_features(X, panels, scale, out):
    """Do as `fourier_features` does for dense rows, to the last bit."""
    count = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            count += X[i, j] != 0.0
    if _FEW * count >= X.size:
        _features_of_dense(X, panels, scale, out)
        return
    data, indices = np.empty(count + 1, X.dtype), np.empty(count + 1, np.int32)
    indptr = np.empty(X.shape[0] + 1, np.int64)
    indptr[0] = 0
    place = np.uintp(0)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            # Without a branch: what is 0 is written over.
            data[place], indices[place] = X[i, j], j
            place += np.uintp(X[i, j] != 0.0)
        indptr[i + 1] = place
    fourier_features(data, indices, indptr, panels, X.shape[1], scale, out)
