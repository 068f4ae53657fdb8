"""A full covariance Σ, stored as a symmetric matrix B minus the sum of its latest updates ``u_t u_tᵀ``.

Subtracting each outer product immediately would read and write all of B per update. Instead the u_t are
stored, and every MOST_TERMS updates all of them are subtracted together, at the speed of a matrix product. A
product Σx reads half of B once, and that is all memory traffic of an update. The number of stored updates is
part of the state, so splitting the rows into several calls does not change when updates are subtracted.

One array stores everything, so that compiled loops take the same arguments as for a diagonal: the rows of B,
MOST_TERMS rows for the u_t, and a last row with the numbers of stored updates, features and classes. B is
padded with zeros to whole blocks.

The vector code for a symmetric matrix (a matrix-vector product and a sum of outer products) takes float64,
C-contiguous matrices whose size is a multiple of LANES. The order of all terms is fixed, so results are the
same on every machine.
"""

from __future__ import annotations

import math

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.arrays import is_sparse_row
from ...numeric.compiled import INLINE, compiled, register_jitable
from ...numeric.emitters import fold, load_vector, select, spread, store_vector
from ...numeric.rows import by_types, dot, entry, n_entries, new_state

#: Matrices are divided into blocks with this many rows and columns: a cache line of float64.
LANES = 8

#: Rows that `multiply_rows` processes together, so that the result s is loaded and stored once for four rows.
#: Eight rows are no faster and do not fit into 16 registers of 32 bytes.
STRIP = 4

# Number of rows of a block whose sums are in registers at the same time. AVX-512 has 32 registers of 64
# bytes, AVX2 has 16 of 32 bytes.
_TILE = LANES if llvm.get_host_cpu_features().get("avx512f") else LANES // 2

_ZERO = ir.Constant(ir.VectorType(ir.DoubleType(), LANES), [0.0] * LANES)


def _load_spread(builder, pointer, index):
    """Load one number of an array; return a SIMD vector with this number in all lanes."""
    scalar = builder.load(builder.gep(pointer, [index]))
    return spread(builder, scalar, LANES)


def _transpose(builder, rows):
    """Return the columns of a block, given its rows: swap its off-diagonal quarters, then recurse."""
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
    """Add the contribution of rows i … i + STRIP - 1 of a symmetric B to ``s = B x``.

    Only the lower triangle is read; each number of it is used for its row and for its column. To get s, call
    this with i = 0, STRIP, 2 STRIP, …. The call for row r sets s_r to the sum over the columns up to the end
    of r's block, computed in LANES lanes that are added in a fixed tree. Calls for later rows add their terms
    to s_r one by one. The previous content of `s` does not matter.
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
        with cgutils.for_range_slice(builder, i.type(0), block, step, i.type) as (j, _):
            x_j, s_j = load_vector(builder, x.data, j, LANES), load_vector(builder, s.data, j, LANES)
            for start, total, x_r in zip(starts, sums, x_rows, strict=True):
                B_rj = load_vector(builder, B.data, builder.add(start, j), LANES)
                builder.store(builder.fadd(builder.load(total), builder.fmul(B_rj, x_j)), total)
                s_j = builder.fadd(s_j, builder.fmul(B_rj, x_r))
            store_vector(builder, s.data, j, s_j)
        x_j = load_vector(builder, x.data, block, LANES)
        for row, start, total in zip(rows, starts, sums, strict=True):
            B_rj = load_vector(builder, B.data, builder.add(start, block), LANES)
            whole = builder.fadd(builder.load(total), builder.fmul(B_rj, x_j))
            store_vector(builder, s.data, row, fold(builder, whole))
        return context.get_dummy_value()

    return types.void(B, types.intp, x, s), codegen


@intrinsic
def subtract_products(_typing_context, B, i, j, U, n_terms):
    """Subtract the sum of all ``u_t u_tᵀ`` from B's block at (i, j); write the block's transpose to (j, i).

    The u_t are the first `n_terms` rows of U, which is as wide as B. Their products are added in the
    order of t, and the sum is then subtracted.
    """

    def codegen(context, builder, signature, arguments):
        B, U = (context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 3))
        i, j, n_terms = arguments[1], arguments[2], arguments[4]
        stride = cgutils.unpack_tuple(builder, B.shape, 2)[1]
        block = []
        for first in range(0, LANES, _TILE):
            rows = [builder.add(i, i.type(r)) for r in range(first, first + _TILE)]
            sums = [cgutils.alloca_once_value(builder, _ZERO) for _ in rows]
            with cgutils.for_range(builder, n_terms, intp=i.type) as loop:
                start = builder.mul(loop.index, stride)
                u_j = load_vector(builder, U.data, builder.add(start, j), LANES)
                for row, total in zip(rows, sums, strict=True):
                    u_r = _load_spread(builder, U.data, builder.add(start, row))
                    builder.store(builder.fadd(builder.load(total), builder.fmul(u_r, u_j)), total)
            for row, total in zip(rows, sums, strict=True):
                place = builder.add(builder.mul(row, stride), j)
                before = load_vector(builder, B.data, place, LANES)
                block.append(builder.fsub(before, builder.load(total)))
                store_vector(builder, B.data, place, block[-1])
        for lane, column in enumerate(_transpose(builder, block)):
            place = builder.add(builder.mul(builder.add(j, j.type(lane)), stride), i)
            store_vector(builder, B.data, place, column)
        return context.get_dummy_value()

    return types.void(B, types.intp, types.intp, U, types.intp), codegen


# Larger matrices (d > 23,170) are refused: d² operations per row would take far too long. The limit does not
# depend on free memory, so that every machine refuses the same matrices.
_MAX_BYTES = 4 * 2**30

#: The stored updates are subtracted when there are this many. Each stored update makes every product a little
#: slower, but a subtraction is a pass over B. Measured at d = 784: an update takes 40 µs with a limit of 8,
#: and 36 µs with 16, 24 or 32. At d = 256 and d = 123, 16 is fastest.
MOST_TERMS = 16

# Positions in the last row of the array of Σ: the numbers of stored updates, of features and of classes.
_NOTED, _FEATURES, _CLASSES = 0, 1, 2

# Rows of the buffer for a product Σx, which is in row 0: x, its non-zero values, their positions as integers.
_DIRECTION, _VALUES, _PLACES = 1, 2, 3

# If fewer than 1/2 of the entries of x are non-zero, Σx is computed from the whole rows of B that belong to
# these entries, otherwise from the lower half of all rows. (Measured: the former is faster up to a share of
# 0.45 at d = 123, 0.5 at 256 and 784.)
_FEW = 2


def check_full_size(n_features, n_classes=1):
    """Raise ValueError if a full matrix with a block for each of `n_classes` would take more than 4 GiB."""
    n_bytes = 8 * (n_features * n_classes) ** 2
    if n_bytes > _MAX_BYTES:
        classes = f" and {n_classes} classes" if n_classes > 1 else ""
        raise ValueError(
            f"covariance='full' with {n_features} features{classes} needs {n_bytes} bytes "
            f"({n_bytes / 2**30:.1f} GiB, the limit is {_MAX_BYTES / 2**30:.0f} GiB); "
            "use covariance='diagonal'"
        )


def new_full_covariance(n_features, scale=1.0, n_classes=1):
    """Return ``scale · I`` over the blocks of all classes (one block for two classes), and a buffer.

    The module docstring describes the array of the matrix. In the four rows of the buffer, compiled loops
    store Σx, x as a dense vector, and the values and positions of its non-zeros. A matrix of more than 4 GiB
    raises ValueError.
    """
    check_full_size(n_features, n_classes)
    n = n_features * n_classes
    n_blocks = -(-n // LANES)
    # Rows start an odd number of cache lines apart. With a power of two, the same column of all rows would
    # share a few cache sets (d = 512: a tile of the subtraction takes twice as long).
    width = LANES * (n_blocks | 1)
    n_rows = LANES * n_blocks + MOST_TERMS + 1
    sigma = new_state(n_rows * width, place=1).reshape(n_rows, width)
    np.fill_diagonal(sigma[:n, :n], scale)
    sigma[-1, [_FEATURES, _CLASSES]] = n_features, n_classes
    # The buffer is wider than Σ: for a product Σx it lists the non-zeros of x, and after them one entry for
    # each stored update of Σ.
    width += MOST_TERMS
    return sigma, new_state(4 * width, place=2).reshape(4, width)


def widen_full(old, new):
    """Copy Σ and its stored updates into the array of a new Σ over more features."""
    (d, K), more = old[-1, [_FEATURES, _CLASSES]].astype(int), int(new[-1, _FEATURES])
    places = np.add.outer(np.arange(K) * more, np.arange(d)).ravel()
    terms = slice(-1 - MOST_TERMS, -1)
    new[np.ix_(places, places)] = old[: K * d, : K * d]
    new[terms, places] = old[terms, : K * d]
    new[-1, _NOTED] = old[-1, _NOTED]


def full_matrix(sigma):
    """Return Σ as a new, exactly symmetric array of shape (Kd, Kd)."""
    n = int(sigma[-1, _FEATURES]) * int(sigma[-1, _CLASSES])
    whole = sigma.copy()
    subtract_noted(whole)
    return np.ascontiguousarray(whole[:n, :n])


@register_jitable(**INLINE)
def n_classes_of(sigma):
    """Return the number of blocks of Σ: one for each class, but only one for two classes."""
    return int(sigma[sigma.shape[0] - 1, _CLASSES])


@register_jitable
def variance_of_row(sigma, x, buffer):
    """Return xᵀΣx and store Σx in ``buffer[0]``."""
    buffer[_DIRECTION] = 0.0
    return _multiply(sigma, buffer, _place_row(x, 1.0, 0, buffer, 0), _is_listed(x))


@register_jitable
def variance_of_difference(sigma, x, y, z, buffer):
    """Return ΔfᵀΣΔf and store ΣΔf in ``buffer[0]``, where Δf is x in block y and -x in block z."""
    d = int(sigma[sigma.shape[0] - 1, _FEATURES])
    buffer[_DIRECTION] = 0.0
    # Non-zeros are listed in the vector's order: the block of the lower class comes first.
    first, sign = (y, 1.0) if y < z else (z, -1.0)
    n_nonzeros = _place_row(x, sign, first * d, buffer, 0)
    n_nonzeros = _place_row(x, -sign, (y + z - first) * d, buffer, n_nonzeros)
    return _multiply(sigma, buffer, n_nonzeros, _is_listed(x))


@by_types()
def _is_listed(x):
    """Return whether the buffer stores x as a list of non-zeros (CSR), not as a vector (dense)."""
    listed = is_sparse_row(x)
    return lambda x: listed


@by_types()
def _place_row(x, a, start, buffer, n_nonzeros):
    """Write ``a x`` into the buffer from position `start` on: a dense x as a vector, a CSR x as a list.

    The list contains the positions and values of non-zeros. Returns the number of non-zeros after this call,
    given the number before it. The vector must be 0 before the first call, and `start` must increase.
    """
    if is_sparse_row(x):

        def csr(x, a, start, buffer, n_nonzeros):
            values, places = buffer[_VALUES], buffer[_PLACES].view(np.int64)
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                values[n_nonzeros], places[n_nonzeros] = a * x_j, start + np.intp(j)
                n_nonzeros += x_j != 0.0
            return n_nonzeros

        return csr

    def dense(x, a, start, buffer, n_nonzeros):
        part = buffer[_DIRECTION, start : start + n_entries(x)]
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            part[j] = a * x_j
            n_nonzeros += x_j != 0.0
        return n_nonzeros

    return dense


@compiled
def _multiply(sigma, buffer, n_nonzeros, listed):
    """Write Σx into ``buffer[0]`` and return xᵀΣx, for the x in the other rows of the buffer.

    The order of the terms depends only on the number of non-zeros, not on whether x is `listed` (CSR). So a
    CSR row and the equal dense row have the same result, to the last bit.
    """
    n = sigma.shape[0] - MOST_TERMS - 1
    s, x = buffer[0, :n], buffer[_DIRECTION, :n]
    values, places = buffer[_VALUES], buffer[_PLACES].view(np.int64)
    nonzeros = values[:n_nonzeros], places[:n_nonzeros]
    few = n_nonzeros * _FEW < n
    if few and not listed:
        at = 0
        for j in range(n):
            values[at], places[at] = x[j], j
            at += x[j] != 0.0
    elif listed and not few:
        for k in range(n_nonzeros):
            x[places[k]] = values[k]
    first = last = n_nonzeros
    if few:
        # Bx is a sum of columns of B, and these equal its rows, since B is symmetric.
        s[:] = 0.0
        first = 0
    else:
        for i in range(0, n, STRIP):
            multiply_rows(sigma, i, x, s)
    # Σ is B minus the stored u_t u_tᵀ, so add each stored u_t, which is a row of the array, to s with the
    # factor -u_t·x.
    for u in range(n, n + int(sigma[sigma.shape[0] - 1, _NOTED])):
        values[last] = -(dot(sigma[u], nonzeros) if few else dot(sigma[u, :n], x))
        places[last] = u
        last += 1
    _add_rows(sigma, values[first:last], places[first:last], s)
    return dot(s, nonzeros) if few else dot(s, x)


@register_jitable
def _add_rows(sigma, values, places, s):
    """Add the rows `places` of the array, times `values`, to `s` in this order, four rows at a time."""
    whole = len(values) // 4 * 4
    for k in range(0, whole, 4):
        a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
        row_a, row_b = sigma[places[k]], sigma[places[k + 1]]
        row_c, row_d = sigma[places[k + 2]], sigma[places[k + 3]]
        for i in range(len(s)):
            s[i] = (((s[i] + a * row_a[i]) + b * row_b[i]) + c * row_c[i]) + d * row_d[i]
    for k in range(whole, len(values)):
        a, row_a = values[k], sigma[places[k]]
        for i in range(len(s)):
            s[i] += a * row_a[i]


@register_jitable
def subtract_outer(sigma, buffer, beta):
    """Replace Σ by ``Σ - β s sᵀ`` with s = ``buffer[0]`` and β >= 0: store √β s, to subtract it later."""
    n = sigma.shape[0] - MOST_TERMS - 1
    last = sigma[sigma.shape[0] - 1]
    noted = int(last[_NOTED])
    s, u, root = buffer[0], sigma[n + noted], math.sqrt(beta)
    for i in range(n):
        u[i] = root * s[i]
    last[_NOTED] = noted + 1
    if noted + 1 == MOST_TERMS:
        subtract_noted(sigma)


@register_jitable
def _any_nonzero(terms, i):
    """Return whether a stored update has a non-zero entry in columns i … i + LANES - 1."""
    for t in range(terms.shape[0]):
        for j in range(i, i + LANES):
            if terms[t, j] != 0.0:
                return True
    return False


@register_jitable
def scale_matrix(sigma, factor):
    """Replace Σ by ``factor Σ``; this is exact if the factor is a power of two."""
    subtract_noted(sigma)
    n = sigma.shape[0] - MOST_TERMS - 1
    for i in range(n):
        for j in range(n):
            sigma[i, j] *= factor


@compiled
def subtract_noted(sigma):
    """Subtract the stored updates from B, which stays exactly symmetric; none is stored afterwards."""
    n = sigma.shape[0] - MOST_TERMS - 1
    last = sigma[sigma.shape[0] - 1]
    noted = int(last[_NOTED])
    terms = sigma[n : n + noted]
    # With CSR rows, the first updates of a model are nearly all zeros. Skip blocks of columns that are all 0.
    blocks, n_blocks = np.empty(n // LANES, np.intp), 0
    for i in range(0, n, LANES):
        if _any_nonzero(terms, i):
            blocks[n_blocks] = i
            n_blocks += 1
    for a in range(n_blocks):
        for b in range(a + 1):
            subtract_products(sigma, blocks[a], blocks[b], terms, noted)
    last[_NOTED] = 0.0
