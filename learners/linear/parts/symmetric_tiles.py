"""Vector code for a symmetric matrix: a matrix-vector product and a sum of outer products.

Matrices are float64, C-contiguous and a multiple of LANES wide. The order of all terms is fixed, so results
are the same on every machine.
"""

import llvmlite.binding as llvm
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.emitters import fold, select, spread

#: Matrices are divided into blocks with this many rows and columns: a cache line of float64.
LANES = 8

#: Rows that `multiply_rows` processes together, so that s is loaded and stored once for four rows. Eight are
#: no faster and do not fit into 16 registers of 32 bytes.
STRIP = 4

# Rows of a block whose sums are in registers at the same time; there are 32 of 64 bytes or 16 of 32.
_TILE = LANES if llvm.get_host_cpu_features().get("avx512f") else LANES // 2

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_ZERO = ir.Constant(_VECTOR, [0.0] * LANES)


def _load(builder, pointer, index):
    value = builder.load(builder.bitcast(builder.gep(pointer, [index]), _VECTOR.as_pointer()))
    # In an unpickled model only the alignment of one element is guaranteed.
    value.align = 8
    return value


def _store(builder, pointer, index, value):
    address = builder.gep(pointer, [index])
    builder.store(value, builder.bitcast(address, value.type.as_pointer())).align = 8


def _load_spread(builder, pointer, index):
    """Return a vector with one number of an array in all lanes."""
    scalar = builder.load(builder.gep(pointer, [index]))
    return spread(builder, scalar, LANES)


def _transpose(builder, rows):
    """Return the columns of a block: swap its off-diagonal quarters, then those of each quarter, …"""
    half = LANES
    while half > 1:
        half //= 2
        for r in (r for r in range(LANES) if not r & half):
            low, high = rows[r], rows[r + half]
            upper = [LANES + lane - half if lane & half else lane for lane in range(LANES)]
            lower = [LANES + lane if lane & half else lane + half for lane in range(LANES)]
            rows[r], rows[r + half] = select(builder, low, high, upper), select(builder, low, high, lower)
    return rows


@intrinsic
def multiply_rows(_typing_context, B, i, x, s):
    """Add the contribution of rows i … i + STRIP - 1 of a symmetric B to ``s = B x``, reading its lower
    triangle.

        Each number is used twice, for its row and for its column. Call it with i = 0, STRIP, 2 STRIP, …. Row
        i starts s_i as the sum over its columns up to the end of its block, in LANES lanes that are folded in
        a fixed tree; later rows add their terms one by one. The previous content of `s` does not matter.
    """

    def codegen(context, builder, signature, arguments):
        B, x, s = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 2, 3))
        i = arguments[1]
        step = i.type(LANES)
        rows = [builder.add(i, i.type(r)) for r in range(STRIP)]
        stride = cgutils.unpack_tuple(builder, B.shape, 2)[1]
        starts = [builder.mul(r, stride) for r in rows]
        block = builder.mul(builder.udiv(i, step), step)
        sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in rows]
        x_rows = [_load_spread(builder, x.data, r) for r in rows]
        for total in sums:
            builder.store(_ZERO, total)
        with cgutils.for_range_slice(builder, i.type(0), block, step, i.type) as (j, _):
            x_j, s_j = _load(builder, x.data, j), _load(builder, s.data, j)
            for start, total, x_r in zip(starts, sums, x_rows, strict=True):
                B_rj = _load(builder, B.data, builder.add(start, j))
                builder.store(builder.fadd(builder.load(total), builder.fmul(B_rj, x_j)), total)
                s_j = builder.fadd(s_j, builder.fmul(B_rj, x_r))
            _store(builder, s.data, j, s_j)
        x_j = _load(builder, x.data, block)
        for row, start, total in zip(rows, starts, sums, strict=True):
            B_rj = _load(builder, B.data, builder.add(start, block))
            whole = builder.fadd(builder.load(total), builder.fmul(B_rj, x_j))
            _store(builder, s.data, row, fold(builder, whole))
        return context.get_dummy_value()

    return types.void(B, types.intp, x, s), codegen


@intrinsic
def subtract_products(_typing_context, B, i, j, U, n_terms):
    """Subtract ``Σ_t u_t u_tᵀ`` from the block of B at (i, j) and write its transpose to (j, i).

    The u_t are the first `n_terms` rows of U, which is as wide as B. Their products are summed in the
    order of t and subtracted at once.
    """

    def codegen(context, builder, signature, arguments):
        B, U = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 3))
        i, j, n_terms = arguments[1], arguments[2], arguments[4]
        stride = cgutils.unpack_tuple(builder, B.shape, 2)[1]
        block = []
        for first in range(0, LANES, _TILE):
            rows = [builder.add(i, i.type(r)) for r in range(first, first + _TILE)]
            sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in rows]
            for total in sums:
                builder.store(_ZERO, total)
            with cgutils.for_range(builder, n_terms, intp=i.type) as loop:
                start = builder.mul(loop.index, stride)
                u_j = _load(builder, U.data, builder.add(start, j))
                for row, total in zip(rows, sums, strict=True):
                    u_r = _load_spread(builder, U.data, builder.add(start, row))
                    builder.store(builder.fadd(builder.load(total), builder.fmul(u_r, u_j)), total)
            for row, total in zip(rows, sums, strict=True):
                place = builder.add(builder.mul(row, stride), j)
                block.append(builder.fsub(_load(builder, B.data, place), builder.load(total)))
                _store(builder, B.data, place, block[-1])
        for lane, column in enumerate(_transpose(builder, block)):
            place = builder.add(builder.mul(builder.add(j, j.type(lane)), stride), i)
            _store(builder, B.data, place, column)
        return context.get_dummy_value()

    return types.void(B, types.intp, types.intp, U, types.intp), codegen
