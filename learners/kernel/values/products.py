"""Inner products of rows with support vectors, in explicit SIMD code, for dense and CSR rows.

Every product has one accumulator of L lanes (L values fill a cache line: 16 in float32, 8 in float64): lane l
adds the features l, l + L, l + 2L, … in order by fused multiply-add, and the lanes are folded in a fixed
tree, upper half onto lower half. So a product depends on its two rows alone, to the last bit: not on its tile
or block, not on the machine, and not on whether the rows are dense or CSR (an absent feature adds an exact
0). The arithmetic is in the precision of the rows.

CSR rows are processed in groups of sixteen. A group is stored feature by feature, so that one non-zero of a
support vector is multiplied with the values of all sixteen rows in one vector operation.

Functions on one row at a time take the stored rows as one padded matrix or as CSR rows in any order: a tuple
``(values, columns, start, stop, end, spread, sums)``. Row i has the entries ``start[i] … stop[i] - 1``, and
``end[0]`` entries are in use. `spread` and `sums` are scratch, with an element for each feature and for each
lane; both are 0 between calls.
"""

from __future__ import annotations

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.arrays import prefetch
from ...numeric.compiled import INLINE, compiled, register_jitable
from ...numeric.emitters import fold, fused, load_vector, select, spread, store_vector, zero_like
from ...numeric.rows import by_types


@intrinsic
def _fused(_typing_context, a, b, c):
    """Return ``a b + c`` by a fused multiply-add, which rounds only once."""
    return a(a, b, c), lambda _context, builder, _signature, arguments: fused(builder, *arguments)


@intrinsic
def _fold_and_clear(_typing_context, sums):
    """Return the sum of all lanes of `sums`, adding the upper to the lower half and so on; set them to 0."""

    def codegen(context, builder, signature, arguments):
        lane_sums = ArrayInCode(context, builder, signature.args[0], arguments[0])
        zero = lane_sums.columns.type(0)
        vector = lane_sums.load(builder, zero, zero, LANES[lane_sums.size])
        lane_sums.store(builder, zero, zero, zero_like(vector))
        return fold(builder, vector)

    return sums.dtype(sums), codegen


@by_types()
def products_of_row(rows, i, first, last, out):
    """Write the inner products of stored row i with the stored rows first … last - 1 into ``out[0]``."""
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
                # This is feature modulo lanes, because the number of lanes is a power of two.
                lane = feature & (lanes - 1)
                sums[0, lane] = _fused(values[k], spread[feature], sums[0, lane])
            out[0, j] = _fold_and_clear(sums)
        for k in range(start[i], stop[i]):
            spread[columns[k]] = 0

    return products_of_sparse_row


@compiled
def sparse_squared_norms(rows, norms):
    """Write the squared norms of stored CSR rows, the tuple of the module's docstring, into `norms`."""
    values, columns, start, stop, _end, _spread, sums = rows
    lanes = sums.shape[1]
    for i in range(norms.shape[0]):
        for k in range(start[i], stop[i]):
            lane = columns[k] & (lanes - 1)
            sums[0, lane] = _fused(values[k], values[k], sums[0, lane])
        norms[i] = _fold_and_clear(sums)


@by_types(**INLINE)
def keep_row(rows, slot, block, t):
    """Copy row t of a block, which has the layout of `rows`, into `slot` of `rows`, which must be free."""
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


@compiled
def keep_rows(rows, slots, block, numbers):
    """Copy the rows of a block with the indices `numbers` into `slots` of `rows`, which must be free."""
    for i in range(slots.shape[0]):
        keep_row(rows, slots[i], block, numbers[i])


@by_types(**INLINE)
def move_kept_row(rows, source, target):
    """Move the stored row in slot `source` to slot `target`; slot `source` is free afterwards."""
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


#: Numbers of rows and of support vectors are padded to a multiple of this. Products are computed in tiles,
#: and the height and width of every tile divide this number.
PADDING = 12

#: Number of values in an accumulator of 64 bytes, its lanes, by the size of a value in bytes. Rows are padded
#: to a multiple of the lanes.
LANES = {4: 16, 8: 8}


def _tile_shape():
    """Return the numbers of rows and support vectors whose products are computed together, in a tile.

    A tile has as many accumulators, one per product, as fit into the machine's registers.
    """
    features = llvm.get_host_cpu_features()
    # With AVX-512 there are 32 registers of 64 bytes, else 16 of 32 bytes, of which an accumulator takes two.
    return (4, 4) if features.get("avx512f") else (2, 3)


TILE_ROWS, TILE_COLUMNS = _tile_shape()

#: Number of rows that a single row is multiplied with at a time: a divisor of PADDING, and so few that
#: `fold_together` returns their sums in one vector. With fewer rows, additions wait for one another longer.
STRIP = 6

#: Rows of A that `dense_products` multiplies with all rows of B before it takes the next rows of A. It is a
#: multiple of PADDING; at a few hundred features these rows stay in the first-level cache.
ROWS_TOGETHER = 60


def fold_together(builder, vectors):
    """Sum the lanes of each vector by folding; return the sums in order, in one or more vectors.

    Two half-folded vectors share one addition, so that a tile needs hardly more shuffles than one vector.
    """
    lanes = width = vectors[0].type.count
    while len(vectors) & (len(vectors) - 1):  # Repeat the last vector until their number is a power of two.
        vectors = [*vectors, vectors[-1]]
    while width > 1:
        half = width // 2
        starts = range(0, lanes, width)
        if len(vectors) > 1:
            low = [start + lane for start in range(0, 2 * lanes, width) for lane in range(half)]
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
        else:
            low = [start + lane for start in starts for lane in range(half)]
            pairs = [(vectors[0], vectors[0])]
        high = [lane + half for lane in low]
        vectors = [builder.fadd(select(builder, a, b, low), select(builder, a, b, high)) for a, b in pairs]
        lanes, width = len(low), half
    return vectors


class ArrayInCode:
    """Generates LLVM code that reads and writes elements of a 2-D C-contiguous array."""

    def __init__(self, context, builder, kind, value):
        if kind.ndim != 2 or kind.layout != "C":
            raise TypeError("compiled products and features need 2-D C-contiguous arrays")
        struct = context.make_array(kind)(context, builder, value)
        self.pointer = struct.data
        self.size = kind.dtype.bitwidth // 8
        self.columns = cgutils.unpack_tuple(builder, struct.shape, 2)[1]

    def place(self, builder, row, column):
        return builder.add(builder.mul(row, self.columns), column)

    def address(self, builder, row, column):
        return builder.gep(self.pointer, [self.place(builder, row, column)])

    def load(self, builder, row, column, lanes):
        return load_vector(builder, self.pointer, self.place(builder, row, column), lanes)

    def store(self, builder, row, column, value):
        store_vector(builder, self.pointer, self.place(builder, row, column), value)


def _tile_of(shape):
    """Build the Numba intrinsic that computes a tile of inner products; `shape()` is its height and width."""

    @intrinsic
    def tile(_typing_context, A, i, B, j, out, o):
        """Write ``A[i + r] · B[j + c]`` into ``out[o + r, j + c]`` for a tile of rows r and columns c."""
        signature = types.void(A, types.intp, B, types.intp, out, types.intp)

        def codegen(context, builder, signature, arguments):
            rows, columns = shape()
            kinds = signature.args
            A, B, out = (ArrayInCode(context, builder, kinds[k], arguments[k]) for k in (0, 2, 4))
            i, j, o = arguments[1], arguments[3], arguments[5]
            lanes = LANES[A.size]
            intp = i.type
            row_numbers = [builder.add(i, ir.Constant(intp, r)) for r in range(rows)]
            column_numbers = [builder.add(j, ir.Constant(intp, c)) for c in range(columns)]
            zero = ir.Constant(ir.VectorType(A.pointer.type.pointee, lanes), [0.0] * lanes)
            sums = [cgutils.alloca_once_value(builder, zero) for _ in range(rows * columns)]
            step = ir.Constant(intp, lanes)
            with cgutils.for_range_slice(builder, ir.Constant(intp, 0), A.columns, step, intp) as (k, _):
                left = [A.load(builder, r, k, lanes) for r in row_numbers]
                right = [B.load(builder, c, k, lanes) for c in column_numbers]
                pairs = [(a, b) for a in left for b in right]
                for place, (a, b) in zip(sums, pairs, strict=True):
                    builder.store(fused(builder, a, b, builder.load(place)), place)
            folded = fold_together(builder, [builder.load(place) for place in sums])
            per_vector = folded[0].type.count
            for r in range(rows):
                start = r * columns
                vector = folded[start // per_vector]
                chosen = list(range(start % per_vector, start % per_vector + columns))
                row = builder.add(o, ir.Constant(intp, r))
                out.store(builder, row, j, select(builder, vector, zero_like(vector), chosen))
            return context.get_dummy_value()

        return signature, codegen

    return tile


_tile = _tile_of(lambda: (TILE_ROWS, TILE_COLUMNS))
_strip = _tile_of(lambda: (1, STRIP))
_single = _tile_of(lambda: (1, 1))


@compiled
def dense_products(A, n_a, B, n_b, out, source):
    """Write the inner products of the first `n_a` rows of A with the first `n_b` of B into `out`.

    All arrays have one dtype; A and B have a multiple of LANES columns, and every other dimension is a
    multiple of PADDING. Elements of `out` beyond `n_a` and `n_b` are undefined.

    Memory is idle meanwhile, so as many bytes as `source` has are prefetched from the address after its end.
    If A is a copy of `source`, a part of a stream, these bytes are the stream's next block. At the end of the
    stream prefetching does no harm. With an empty `source` nothing is prefetched.
    """
    asked, end = source.size, 2 * source.size
    steps = ((n_a + ROWS_TOGETHER - 1) // ROWS_TOGETHER) * ((n_b + TILE_COLUMNS - 1) // TILE_COLUMNS)
    share = source.size // max(1, steps) + 1
    for first in range(0, n_a, ROWS_TOGETHER):
        for j in range(0, n_b, TILE_COLUMNS):
            for i in range(first, min(first + ROWS_TOGETHER, n_a), TILE_ROWS):
                _tile(A, i, B, j, out, i)
            if asked < end:
                prefetch(source, asked, min(asked + share, end))
                asked += share


@compiled
def squared_norms(A, n_a, out):
    """Write the inner product of each of the first `n_a` rows of A with itself into ``out[0]``."""
    for i in range(n_a):
        _single(A, i, A, i, out, 0)


@compiled
def triangle_products(A, n_a, out):
    """Write the inner products of the first `n_a` rows of A, each with itself and later rows, into `out`."""
    for i in range(0, n_a, TILE_ROWS):
        for j in range(i - i % TILE_COLUMNS, n_a, TILE_COLUMNS):
            _tile(A, i, A, j, out, i)


@register_jitable
def strip_products(A, i, first, last, out):
    """Write the inner products of row i of A with its rows first … last - 1 into ``out[0]``.

    `out` has one row, as wide as A has rows; up to STRIP elements around the products are undefined.
    """
    for j in range(first - first % STRIP, last, STRIP):
        _strip(A, i, A, j, out, 0)


_GROUP = 16


@intrinsic
def _add_product(_typing_context, sums, lane, rows, place, z):
    """Add ``z * rows[place]``, a support vector's feature z times that of sixteen rows, to ``sums[lane]``."""

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
def _fold_lanes(_typing_context, sums, totals):
    """Write the sum over all lanes, for each row of a group of sixteen, into ``totals[0]``; clear the lanes.

    The order of additions is that of `_fold_and_clear`.
    """

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
def sparse_products(block, rows, start, stop, n_b, triangle, lanes, places, out):
    """Write the inner products of all CSR rows in `block` with the first `n_b` CSR rows in `rows` into `out`.

    `block` is ``(data, indices, indptr)``. `rows` is ``(data, indices)``, of the same dtypes; its row b has
    the entries ``start[b] … stop[b] - 1``. `places` is int32 scratch of shape (n_features,), all zeros before
    and after. `out` has shape (n or more, n_b or more). If `triangle`, `rows` must be the rows of `block`. A
    group of sixteen rows is then multiplied with itself and later rows only, not with earlier groups.
    """
    data, indices, indptr = block
    values, columns = rows
    n_a = indptr.shape[0] - 1
    sums, totals = np.zeros((lanes, _GROUP), data.dtype), np.empty((1, _GROUP), data.dtype)
    for first in range(0, n_a, _GROUP):
        last = min(first + _GROUP, n_a)
        # ``spread[places[j]]`` has the values of feature j in this group's rows. ``spread[0]`` is zeros, for
        # features that none of these rows has.
        spread = np.zeros((1 + indptr[last] - indptr[first], _GROUP), data.dtype)
        n_places = 0
        for i in range(first, last):
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if places[j] == 0:
                    n_places += 1
                    places[j] = n_places
                spread[places[j], i - first] = data[k]
        for b in range(first if triangle else 0, n_b):
            for k in range(start[b], stop[b]):
                j = columns[k]
                # The lane is j modulo lanes, because the number of lanes is a power of two.
                _add_product(sums, j & (lanes - 1), spread, places[j], values[k])
            _fold_lanes(sums, totals)
            for i in range(first, last):
                out[i, b] = totals[0, i - first]
        for k in range(indptr[first], indptr[last]):
            places[indices[k]] = 0
