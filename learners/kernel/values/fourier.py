"""Random Fourier features of rows: angles, cosines and sines, a few vectors of frequencies at a time.

An angle is the inner product of a row and a frequency. It has one accumulator, which adds the features of the
row in their order by fused multiply-add; an absent feature would add an exact 0. So an angle depends on the
row and the frequency alone: not on the block, not on the machine, not on whether rows are dense or CSR. The
arithmetic is in the precision of the rows. Sine and cosine are computed here, with the same result on every
machine.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.compiled import compiled
from ...numeric.emitters import constant, fused, load_vector, spread
from .products import LANES, TILE_ROWS, ArrayInCode
from .row_storage import aligned

# π/2 as a sum of three parts, which is exact to more digits than float64 has.
_HALF_PI = (math.pi / 2.0, 6.123233995736766e-17, -1.4973849048591698e-33)
# π/2 as a sum of three parts for float32: each part has the 24 bits of a float32 number.
_HALF_PI_SINGLE = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)

# For float32 and float64: bits of the mantissa, the parts of π/2, degrees of the Taylor polynomials of sine
# and cosine (their errors on ±0.83 are below rounding errors), and the largest supported |x|.
_PRECISIONS = {
    types.float32: (23, _HALF_PI_SINGLE, 9, 10, 2.0**21),
    types.float64: (52, _HALF_PI, 17, 16, 2.0**48),
}


def emit_sine_cosine(builder, kind, x):
    """Generate code for sin(x) and cos(x), exact to two units in the last place; x is a scalar or vector.

    By the method of Cody and Waite: x = n π/2 + r with |r| < 0.83; polynomials give sin(r) and cos(r), and
    n modulo 4 selects sine or cosine and the sign. The first part of n π/2 is subtracted exactly, since the
    multiplication is fused and its result is a multiple of the last place of π/2. So r is as exact as x for
    |x| up to 2²¹ (2 · 10⁶) in float32 and 2⁴⁸ in float64. Beyond that, neighboring numbers are so far apart
    that the results would mean little: larger x and NaN count as 0.
    """
    mantissa, parts, sine_degree, cosine_degree, largest = _PRECISIONS[kind]
    bits = ir.IntType(32 if kind == types.float32 else 64)
    integer = ir.VectorType(bits, x.type.count) if isinstance(x.type, ir.VectorType) else bits
    real = functools.partial(constant, x.type)

    def taylor(square, first, last):
        """Return the sum of (-1)^i square^i / (first + 2 i)! over i, as long as first + 2 i <= last."""
        degrees = range(first, last + 1, 2)
        terms = [(-1.0) ** i / math.factorial(degree) for i, degree in enumerate(degrees)]
        p = real(terms[-1])
        for term in reversed(terms[:-1]):
            p = fused(builder, p, square, real(term))
        return p

    below = builder.fcmp_ordered("<=", x, real(largest))
    above = builder.fcmp_ordered(">=", x, real(-largest))
    x = builder.select(builder.and_(below, above), x, real(0.0))
    # Adding this large number rounds x/(π/2) to an integer n, which is then in the last bits of the sum.
    rounder = real(1.5 * 2.0**mantissa)
    shifted = fused(builder, x, real(2.0 / math.pi), rounder)
    n = builder.fsub(shifted, rounder)
    r = x
    for part in parts:
        r = fused(builder, n, real(-part), r)
    square = builder.fmul(r, r)
    # The Taylor polynomials: sine is r - r³ (1/3! - …), cosine is 1 - r²/2 + r⁴ (1/4! - …). The largest terms
    # are added last, which keeps rounding errors small.
    sine = fused(builder, builder.fmul(builder.fneg(square), r), taylor(square, 3, sine_degree), r)
    cosine = fused(builder, square, real(-0.5), real(1.0))
    cosine = fused(builder, builder.fmul(square, square), taylor(square, 4, cosine_degree), cosine)

    quarter = builder.bitcast(shifted, integer)
    one, two = constant(integer, 1), constant(integer, 2)
    swapped = builder.icmp_unsigned("!=", builder.and_(quarter, one), constant(integer, 0))
    to_sign = constant(integer, bits.width - 2)

    def signed(value, number):
        sign = builder.shl(builder.and_(number, two), to_sign)
        return builder.bitcast(builder.xor(builder.bitcast(value, integer), sign), x.type)

    return (
        signed(builder.select(swapped, cosine, sine), quarter),
        signed(builder.select(swapped, sine, cosine), builder.add(quarter, one)),
    )


# Frequencies are processed in groups of this many SIMD vectors: one row, or a few dense rows, are multiplied
# with one group at a time.
_VECTORS = 4

#: Number of frequencies in a group, by the size of a value in bytes (4: float32, 8: float64). The number of
#: all frequencies is padded to a multiple of it.
GROUP = {size: _VECTORS * lanes for size, lanes in LANES.items()}

# Number of dense rows processed at a time: so few that their accumulators stay in registers.
_ROWS = 4 if TILE_ROWS == 4 else 1

# Dense rows are processed as CSR if fewer than one in this many entries is non-zero. With more non-zeros,
# several dense rows at a time are faster, as they share the frequencies that are loaded. Measured with 123 to
# 784 features, both ways are equally fast if three tenths are non-zero.
_FEW = 3


class _Group:
    """Generates the code for the angles (inner products) of rows with one group of frequencies."""

    def __init__(self, context, builder, kinds, arguments):
        """Take `arguments`: panels, the group's first row in them, its first column in `out`, and `out`."""
        self.builder, self.first, column = builder, arguments[1], arguments[2]
        self.panels, self.out = (ArrayInCode(context, builder, kinds[k], arguments[k]) for k in (0, 3))
        self.vector = ir.VectorType(self.panels.pointer.type.pointee, LANES[self.panels.size])
        self.starts = [column.type(self.vector.count * v) for v in range(_VECTORS)]
        self.places = [builder.add(column, start) for start in self.starts]

    def new_sums(self):
        zero = ir.Constant(self.vector, [0.0] * self.vector.count)
        return [cgutils.alloca_once_value(self.builder, zero) for _ in self.places]

    def add(self, feature, values, sums):
        """Multiply a feature's frequencies by its value in each row; add the products to the row's angles."""
        row = self.builder.add(self.first, feature)
        loaded = [self.panels.load(self.builder, row, start, self.vector.count) for start in self.starts]
        for value, of_row in zip(values, sums, strict=True):
            x = spread(self.builder, value, self.vector.count)
            for u, total in zip(loaded, of_row, strict=True):
                self.builder.store(fused(self.builder, u, x, self.builder.load(total)), total)

    def store(self, row, sums):
        """Write the angles of a row into the columns of `out` in which its cosines will replace them."""
        for place, total in zip(self.places, sums, strict=True):
            self.out.store(self.builder, row, place, self.builder.load(total))


def _check(*arrays):
    if len({array.dtype for array in arrays}) > 1:
        raise TypeError("random Fourier features need rows, frequencies and results of one dtype")


@intrinsic
def _angles_of_row(_typing_context, panels, first, column, out, i, data, indices, start, stop):
    """Write the angles of a CSR row with a group of frequencies into ``out[i]``."""
    _check(panels, out, data)

    def codegen(context, builder, signature, arguments):
        kinds, intp = signature.args, arguments[1].type
        group = _Group(context, builder, kinds, arguments)
        values, columns = (context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (5, 6))
        sums = group.new_sums()
        with cgutils.for_range_slice(builder, arguments[7], arguments[8], intp(1), intp) as (k, _):
            feature = builder.load(builder.gep(columns, [k]))
            feature = context.cast(builder, feature, indices.dtype, types.intp)
            group.add(feature, [builder.load(builder.gep(values, [k]))], [sums])
        group.store(arguments[4], sums)
        return context.get_dummy_value()

    intp = types.intp
    return types.void(panels, intp, intp, out, intp, data, indices, intp, intp), codegen


def _of_dense_rows(rows):
    """Build the Numba intrinsic that computes the angles of this many dense rows at a time."""

    @intrinsic
    def angles_of_rows(_typing_context, panels, first, column, out, i, X):
        """Write the angles of dense rows i, i + 1, … with a group of frequencies into these rows of `out`."""
        _check(panels, out, X)

        def codegen(context, builder, signature, arguments):
            intp = arguments[1].type
            group = _Group(context, builder, signature.args, arguments)
            values = ArrayInCode(context, builder, signature.args[5], arguments[5])
            numbers = [builder.add(arguments[4], intp(r)) for r in range(rows)]
            sums = [group.new_sums() for _ in numbers]
            with cgutils.for_range_slice(builder, intp(0), values.columns, intp(1), intp) as (j, _):
                entries = [builder.load(values.address(builder, number, j)) for number in numbers]
                group.add(j, entries, sums)
            for number, of_row in zip(numbers, sums, strict=True):
                group.store(number, of_row)
            return context.get_dummy_value()

        intp = types.intp
        return types.void(panels, intp, intp, out, intp, X), codegen

    return angles_of_rows


_angles_of_rows = _of_dense_rows(_ROWS)
_angles_of_one = _of_dense_rows(1)


@intrinsic
def _to_features(_typing_context, out, i, place, scale):
    """Replace a SIMD vector of angles in ``out[i]`` by cosines; write their sines into its second half.

    Cosines and sines are multiplied by `scale`.
    """
    _check(scale, out)

    def codegen(context, builder, signature, arguments):
        features = ArrayInCode(context, builder, signature.args[0], arguments[0])
        i, place, lanes = arguments[1], arguments[2], LANES[features.size]
        scales = context.make_array(signature.args[3])(context, builder, arguments[3]).data
        factor = load_vector(builder, scales, place, lanes)
        angle = features.load(builder, i, place, lanes)
        sine, cosine = emit_sine_cosine(builder, out.dtype, angle)
        features.store(builder, i, place, builder.fmul(cosine, factor))
        half = builder.lshr(features.columns, place.type(1))
        features.store(builder, i, builder.add(half, place), builder.fmul(sine, factor))
        return context.get_dummy_value()

    return types.void(out, types.intp, types.intp, scale), codegen


@compiled
def _all_to_features(out, n, group, scale):
    for i in range(n):
        for place in range(0, scale.shape[0], group // _VECTORS):
            _to_features(out, i, place, scale)


def in_panels(U, dtype):
    """Return frequencies, shape (D, d), in panels: for each feature, GROUP frequencies next to each other.

    The result has shape (groups * d, GROUP); the last group is padded with 0. `from_panels` is the inverse.
    """
    (D, d), group = U.shape, GROUP[dtype.itemsize]
    groups = -(-D // group)
    panels = aligned((groups * d, group), dtype, np.zeros)
    for g in range(groups):
        some = U[g * group : (g + 1) * group]
        panels[g * d : (g + 1) * d, : len(some)] = some.T
    return panels


def from_panels(panels, D, d):
    """Return frequencies in panels as a matrix of shape (D, d)."""
    group = panels.shape[1]
    return panels.reshape(-1, d, group).transpose(0, 2, 1).reshape(-1, d)[:D]


@compiled
def fourier_features(data, indices, indptr, panels, d, scale, out):
    """Write the scaled cosines and sines of the angles of CSR rows into `out`.

    `panels` are the frequencies from `in_panels`. `scale`, shape (groups * GROUP,), has the factor of each
    frequency's cosine and sine. `out` has shape (n or more, 2 * groups * GROUP): the cosines, then the sines.
    """
    # The outer loop is over groups, so that the frequencies of a group stay in the cache for all rows.
    group = panels.shape[1]
    for g in range(scale.shape[0] // group):
        for i in range(indptr.shape[0] - 1):
            start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
            _angles_of_row(panels, g * d, g * group, out, i, data, indices, start, stop)
    _all_to_features(out, indptr.shape[0] - 1, group, scale)


@compiled
def _angles_of_dense(X, panels, out):
    d, group = X.shape[1], panels.shape[1]
    several = X.shape[0] - X.shape[0] % _ROWS
    for g in range(panels.shape[0] // d):
        for i in range(0, several, _ROWS):
            _angles_of_rows(panels, g * d, g * group, out, i, X)
        for i in range(several, X.shape[0]):
            _angles_of_one(panels, g * d, g * group, out, i, X)


@compiled
def dense_fourier_features(X, panels, scale, out):
    """Write the random features of dense rows into `out`: the same as of CSR rows, to the last bit."""
    count = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            count += X[i, j] != 0.0
    if _FEW * count >= X.size:
        _angles_of_dense(X, panels, out)
        _all_to_features(out, X.shape[0], panels.shape[1], scale)
        return
    data, indices = np.empty(count + 1, X.dtype), np.empty(count + 1, np.int32)
    indptr = np.empty(X.shape[0] + 1, np.int64)
    indptr[0] = 0
    place = np.uintp(0)
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            # To avoid a branch, zeros are written, too, but the place moves on only after a non-zero, so that
            # the next value overwrites them.
            data[place], indices[place] = X[i, j], j
            place += np.uintp(X[i, j] != 0.0)
        indptr[i + 1] = place
    fourier_features(data, indices, indptr, panels, X.shape[1], scale, out)
