"""Random Fourier features of rows: angles, cosines and sines, a few vectors of frequencies at a time.

An angle has one accumulator, which takes the features of the row in their order by fused multiply-add; an
absent feature would add an exact 0. So it is a function of the row and the frequency alone: neither the
block, nor the machine, nor whether the rows are dense or CSR can change a bit of it. The arithmetic is in the
precision of the rows.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.compiled import compiled
from ...numeric.emitters import spread
from .dense_products import LANES, ArrayInCode, fused
from .sine_cosine import emit_sine_cosine

# Accumulators of a row: as many as additions that wait for one another take.
_VECTORS = 4

#: Frequencies come in multiples of it, by the size of a value in bytes.
GROUP = {size: _VECTORS * lanes for size, lanes in LANES.items()}


@intrinsic
def _features_of_row(_typing_context, data, indices, start, stop, frequencies, column, scale, out, i):
    """Write the features of a CSR row for GROUP frequencies, from `column` on, into ``out[i]``."""

    def codegen(context, builder, signature, arguments):
        kinds = signature.args
        values, columns, scales = (
            context.make_array(kinds[k])(context, builder, arguments[k]).data for k in (0, 1, 6)
        )
        start, stop, column, i = (arguments[k] for k in (2, 3, 5, 8))
        frequencies, out = (ArrayInCode(context, builder, kinds[k], arguments[k]) for k in (4, 7))
        lanes, intp = LANES[frequencies.size], column.type
        vector = ir.VectorType(frequencies.pointer.type.pointee, lanes)
        places = [builder.add(column, intp(lanes * v)) for v in range(_VECTORS)]
        sums = [cgutils.alloca_once_value(builder, ir.Constant(vector, [0.0] * lanes)) for _ in places]
        with cgutils.for_range_slice(builder, start, stop, intp(1), intp) as (k, _):
            x = spread(builder, builder.load(builder.gep(values, [k])), lanes)
            feature = builder.load(builder.gep(columns, [k]))
            feature = context.cast(builder, feature, indices.dtype, types.intp)
            for place, total in zip(places, sums, strict=True):
                u = frequencies.load(builder, feature, place, lanes)
                builder.store(fused(builder, u, x, builder.load(total)), total)
        half = builder.lshr(out.columns, intp(1))
        for place, total in zip(places, sums, strict=True):
            sine, cosine = emit_sine_cosine(builder, frequencies_kind, builder.load(total))
            factor = builder.load(builder.bitcast(builder.gep(scales, [place]), vector.as_pointer()))
            factor.align = frequencies.size
            out.store(builder, i, place, builder.fmul(cosine, factor))
            out.store(builder, i, builder.add(half, place), builder.fmul(sine, factor))
        return context.get_dummy_value()

    frequencies_kind = frequencies.dtype
    if not data.dtype == scale.dtype == out.dtype == frequencies.dtype:
        raise TypeError("features take arrays of one dtype")
    intp = types.intp
    return types.void(data, indices, intp, intp, frequencies, intp, scale, out, intp), codegen


@compiled
def fourier_features(data, indices, indptr, frequencies, group, scale, out):
    """Write cosine and sine of the angles of CSR rows into `out`.

    Parameters
    ----------
    data, indices, indptr : ndarray
        The rows; their columns are below d.
    frequencies : ndarray of shape (d, D)
        A column each; C-contiguous, D a multiple of `group`.
    group : int
        GROUP of the precision.
    scale : ndarray of shape (D,)
        What cosine and sine of each frequency are multiplied by.
    out : ndarray of shape (n or more, 2 D)
        The cosines, then the sines.
    """
    # The frequencies of a group stay in the cache for all rows.
    for column in range(0, frequencies.shape[1], group):
        for i in range(indptr.shape[0] - 1):
            _features_of_row(
                data, indices, np.intp(indptr[i]), np.intp(indptr[i + 1]), frequencies, column, scale, out, i
            )


@compiled
def nonzeros(X, data, indices, indptr):
    """Write the dense rows of X in CSR form: values, columns, and where each row begins."""
    count = 0
    indptr[0] = 0
    for i in range(X.shape[0]):
        for j in range(X.shape[1]):
            data[count] = X[i, j]
            indices[count] = j
            count += X[i, j] != 0.0
        indptr[i + 1] = count
