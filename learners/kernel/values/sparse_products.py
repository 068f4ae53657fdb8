"""Inner products of CSR rows, to the last bit those of the same rows in dense form.

Sixteen rows at a time are spread out feature by feature, so that one non-zero of a support vector meets all
of them in one vector operation; sums are kept by lane as in the dense tile (see `dense_products`).
"""

import numpy as np
from numba import types
from numba.extending import intrinsic

from ...numeric.compiled import compiled
from ...numeric.emitters import fused, spread, zero_like
from .dense_products import LANES, ArrayInCode

_GROUP = 16


@intrinsic
def _add_product(_typing_context, sums, lane, rows, place, z):
    """Add ``rows[place] z`` to ``sums[lane]``, for a whole group of rows."""

    def codegen(context, builder, signature, arguments):
        sums, rows = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 2))
        zero = arguments[1].type(0)
        x = rows.load(builder, arguments[3], zero, _GROUP)
        every = spread(builder, arguments[4], _GROUP)
        total = sums.load(builder, arguments[1], zero, _GROUP)
        sums.store(builder, arguments[1], zero, fused(builder, x, every, total))
        return context.get_dummy_value()

    return types.void(sums, types.intp, rows, types.intp, z), codegen


@intrinsic
def _fold_and_clear(_typing_context, sums, totals):
    """Fold the lanes, upper half onto lower half, into ``totals[0]``; set them to 0."""

    def codegen(context, builder, signature, arguments):
        sums, totals = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 1))
        intp = sums.columns.type
        lanes = range(LANES[sums.size])
        vectors = [sums.load(builder, intp(lane), intp(0), _GROUP) for lane in lanes]
        for lane in lanes:
            sums.store(builder, intp(lane), intp(0), zero_like(vectors[0]))
        while len(vectors) > 1:
            half = len(vectors) // 2
            vectors = [builder.fadd(a, b) for a, b in zip(vectors[:half], vectors[half:], strict=True)]
        totals.store(builder, intp(0), intp(0), vectors[0])
        return context.get_dummy_value()

    return types.void(sums, totals), codegen


@compiled
def _products(block, rows, start, stop, n_b, triangle, lanes, places, out):
    data, indices, indptr = block
    values, columns = rows
    n_a = indptr.shape[0] - 1
    sums, totals = np.zeros((lanes, _GROUP), data.dtype), np.empty((1, _GROUP), data.dtype)
    for first in range(0, n_a, _GROUP):
        last = min(first + _GROUP, n_a)
        # places[j] is where feature j is in the spread; place 0 holds the zeros of all that do not occur.
        spread = np.zeros((1 + indptr[last] - indptr[first], _GROUP), data.dtype)
        n_places = 0
        for i in range(first, last):
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if places[j] == 0:
                    n_places += 1
                    places[j] = n_places
                spread[places[j], i - first] = data[k]
        for b in range(min(n_b, last) if triangle else n_b):
            for k in range(start[b], stop[b]):
                j = columns[k]
                # lanes is a power of two
                _add_product(sums, j & (lanes - 1), spread, places[j], values[k])
            _fold_and_clear(sums, totals)
            for i in range(first, last):
                out[i, b] = totals[0, i - first]
        for k in range(indptr[first], indptr[last]):
            places[indices[k]] = 0


def sparse_products(block, rows, start, stop, n_b, lanes, places, out, triangle=False):
    """Write the inner products of CSR rows with the first `n_b` of other sparse rows.

    Parameters
    ----------
    block : tuple of ndarray
        CSR rows ``(data, indices, indptr)``.
    rows : tuple of ndarray
        ``(data, indices)`` of the others, of the same dtypes; row b is at ``start[b] … stop[b] - 1``.
    start, stop : ndarray of int
    n_b : int
    lanes : int
        Lanes of an accumulator.
    places : ndarray of int32, shape (n_features,)
        Scratch: zeros, and zeros again afterwards.
    out : ndarray of shape (n or more, n_b or more)
    triangle : bool, default=False
        Leave out those of row i with others beyond its group of rows: for rows with themselves.
    """
    _products(block, rows, start, stop, n_b, triangle, lanes, places, out)
