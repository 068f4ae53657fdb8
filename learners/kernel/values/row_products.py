"""One kept row at a time, in a loop: its inner products with the others, to the last bit those of a tile.

Kept rows enter a loop as one matrix, padded as `dense_products` wants it, or as CSR rows in no order: a tuple
``(values, columns, start, stop, end, spread, sums)``, the first `end[0]` values being in use; `spread`, with
a place for each feature, and `sums`, with one for each lane, are 0 between calls.
"""

from numba import types
from numba.extending import intrinsic, overload

from ...numeric.compiled import INLINE, compiled
from ...numeric.emitters import fold, fused, zero_like
from ...numeric.rows import in_kernels_only
from .dense_products import LANES, ArrayInCode, strip_products


@intrinsic
def _fused(_typing_context, a, b, c):
    """Return ``a b + c``, rounded once."""
    return a(a, b, c), lambda _context, builder, _signature, arguments: fused(builder, *arguments)


@intrinsic
def _fold_and_clear(_typing_context, sums):
    """Return the sum of the lanes, folded upper half onto lower half; set them to 0."""

    def codegen(context, builder, signature, arguments):
        lane_sums = ArrayInCode(context, builder, signature.args[0], arguments[0])
        zero = lane_sums.columns.type(0)
        vector = lane_sums.load(builder, zero, zero, LANES[lane_sums.size])
        lane_sums.store(builder, zero, zero, zero_like(vector))
        return fold(builder, vector)

    return sums.dtype(sums), codegen


def products_of_row(rows, i, first, last, out):
    """Write the inner products of kept row i with the kept rows first … last - 1 into ``out[0]``."""
    raise in_kernels_only("products_of_row")


@overload(products_of_row)
def _products_of_row(rows, i, first, last, out):
    if not isinstance(rows, types.BaseTuple):
        return lambda rows, i, first, last, out: strip_products(rows, i, first, last, out)

    def products_of_sparse_row(rows, i, first, last, out):
        values, columns, start, stop, _end, spread, sums = rows
        lanes = sums.shape[1]
        for k in range(start[i], stop[i]):
            spread[columns[k]] = values[k]
        for j in range(first, last):
            for k in range(start[j], stop[j]):
                feature = columns[k]
                # lanes is a power of two
                lane = feature & (lanes - 1)
                sums[0, lane] = _fused(values[k], spread[feature], sums[0, lane])
            out[0, j] = _fold_and_clear(sums)
        for k in range(start[i], stop[i]):
            spread[columns[k]] = 0

    return products_of_sparse_row


@compiled
def sparse_squared_norms(rows, norms):
    """Write the inner product of each row of a tuple of CSR rows with itself into `norms`."""
    values, columns, start, stop, _end, _spread, sums = rows
    lanes = sums.shape[1]
    for i in range(norms.shape[0]):
        for k in range(start[i], stop[i]):
            lane = columns[k] & (lanes - 1)
            sums[0, lane] = _fused(values[k], values[k], sums[0, lane])
        norms[i] = _fold_and_clear(sums)


def keep_row(rows, slot, block, t):
    """Keep row t of a packed block as row `slot`; rows after the last one are free to be written."""
    raise in_kernels_only("keep_row")


@overload(keep_row, jit_options=INLINE)
def _keep_row(rows, slot, block, t):
    if not isinstance(rows, types.BaseTuple):

        def keep_dense_row(rows, slot, block, t):
            for k in range(rows.shape[1]):
                rows[slot, k] = block[t, k]

        return keep_dense_row

    def keep_sparse_row(rows, slot, block, t):
        values, columns, start, stop, end, _spread, _sums = rows
        data, indices, indptr = block
        place = start[slot] = end[0]
        for k in range(indptr[t], indptr[t + 1]):
            values[place], columns[place] = data[k], indices[k]
            place += 1
        stop[slot] = end[0] = place

    return keep_sparse_row


def move_kept_row(rows, source, target):
    """Make the kept row `source` row `target`; nothing is left in its place."""
    raise in_kernels_only("move_kept_row")


@overload(move_kept_row, jit_options=INLINE)
def _move_kept_row(rows, source, target):
    if not isinstance(rows, types.BaseTuple):

        def move_dense_row(rows, source, target):
            for k in range(rows.shape[1]):
                rows[target, k] = rows[source, k]

        return move_dense_row

    def move_sparse_row(rows, source, target):
        _values, _columns, start, stop, _end, _spread, _sums = rows
        start[target], stop[target] = start[source], stop[source]
        start[source] = stop[source] = 0

    return move_sparse_row
