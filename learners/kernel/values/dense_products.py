"""Inner products of many rows with many support vectors, as explicit vector code.

Every product has one accumulator of L lanes (L values fill a cache line: 16 in float32, 8 in float64): lane l
takes the features l, l + L, l + 2L, … in order by fused multiply-add, and the lanes are folded in a fixed
tree, upper half onto lower half. So a product is a function of its two rows alone: neither the tile it was
computed in, nor the block, nor the machine, nor whether the rows are dense or CSR (an absent feature adds an
exact 0) can change a bit of it. The arithmetic is in the precision of the rows.
"""

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from ...numeric.arrays import prefetch
from ...numeric.compiled import compiled
from ...numeric.emitters import fused, select, zero_like

#: Rows and columns come in multiples of it, whichever tile the machine prefers.
PADDING = 12

#: Lanes of an accumulator by the size of a value in bytes; rows are padded to a multiple.
LANES = {4: 16, 8: 8}


def _tile_shape():
    """Return (rows, support vectors) of a tile: as many accumulators as the machine's registers hold."""
    features = llvm.get_host_cpu_features()
    # 32 registers of 64 bytes, or 16 of 32 (an accumulator is then two of them).
    return (4, 4) if features.get("avx512f") else (2, 3)


TILE_ROWS, TILE_COLUMNS = _tile_shape()

#: Rows that one row is multiplied with at a time: a divisor of PADDING, at most the lanes that their sums
#: are folded into. With fewer, each addition waits longer for the one before it.
STRIP = 6

#: Rows of A that meet the rows of B in turn, a multiple of PADDING: at a few hundred features they stay in
#: the cache that is next to the processor.
ROWS_TOGETHER = 60


def fold_together(builder, vectors):
    """Fold each of the vectors; return their sums in order, in one vector or more.

    Two half-folded vectors share one addition, so that a tile needs hardly more shuffles than one vector.
    """
    lanes = width = vectors[0].type.count
    while len(vectors) & (len(vectors) - 1):  # not a power of two
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
    """A 2-D C-contiguous array while code is generated."""

    def __init__(self, context, builder, kind, value):
        if kind.ndim != 2 or kind.layout != "C":
            raise TypeError("a tile takes 2-D C-contiguous arrays")
        struct = context.make_array(kind)(context, builder, value)
        self.pointer = struct.data
        self.size = kind.dtype.bitwidth // 8
        self.columns = cgutils.unpack_tuple(builder, struct.shape, 2)[1]

    def address(self, builder, row, column):
        return builder.gep(self.pointer, [builder.add(builder.mul(row, self.columns), column)])

    def load(self, builder, row, column, lanes):
        vector = ir.VectorType(self.pointer.type.pointee, lanes)
        value = builder.load(builder.bitcast(self.address(builder, row, column), vector.as_pointer()))
        value.align = self.size
        return value

    def store(self, builder, row, column, value):
        address = builder.bitcast(self.address(builder, row, column), value.type.as_pointer())
        builder.store(value, address).align = self.size


def _tile_of(shape):
    """Build the intrinsic of a tile; `shape()` returns its numbers of rows and columns."""

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
            sums = [cgutils.alloca_once(builder, zero.type) for _ in range(rows * columns)]
            for place in sums:
                builder.store(zero, place)
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

    All arrays are of one dtype; the width of A and B is a multiple of LANES, every other extent one of
    PADDING. What is written beyond `n_a` and `n_b` has no meaning.

    Memory would be idle meanwhile: as much as `source` has is asked for of what lies behind it. That is the
    block to come, where `source` is the stretch of a stream that A was packed from; at the stream's end it is
    anything, which to ask for does no harm. Empty: nothing is asked for.
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
    """Write the inner product of each of the first `n_a` rows of A with itself and those before it."""
    for j in range(0, n_a, TILE_COLUMNS):
        for i in range(j - j % TILE_ROWS, n_a, TILE_ROWS):
            _tile(A, i, A, j, out, i)


@register_jitable
def strip_products(A, i, first, last, out):
    """Write the inner products of row i of A with its rows first … last - 1 into ``out[0]``, in a kernel.

    `out` has one row, as wide as A has rows; what is written up to STRIP places around them has no meaning.
    """
    for j in range(first - first % STRIP, last, STRIP):
        _strip(A, i, A, j, out, 0)
