"""Projections onto the span of the support set, by the inverse of the Cholesky factor of its kernel matrix.

``K_S = L Lᵀ`` and ``M = L⁻¹``. Let k be the kernel values of a row x with the support vectors, and
``z = M k``. Then x is at squared distance ``δ² = k(x, x) - ‖z‖²`` from the span, and its projection has the
coefficients ``d = Mᵀ z``. Row i of M has the coefficients of the i-th vector of an orthonormal basis of the
span: a new support vector adds the row ``[-dᵀ, 1]/δ`` to M, as in Gram-Schmidt. Unlike solves with L, both
products read M row by row, in one pass: half a matrix is read once, and no result depends on the previous
one. Once M is larger than the cache, reading it takes most of the time, so two rows can be projected in one
reading. The result for a row does not depend on the other row.

``view.square`` is the lower triangle of M in blocks of _PANEL × _PANEL values, with zeros above the diagonal.
Each row of ``view.square`` is a block. The blocks of the first _PANEL rows of M, a panel, come first, then
those of the next panel, and so on. So M is read from front to back, and adding a row moves no other row.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.compiled import INLINE, register_jitable
from ...numeric.emitters import fused, spread
from ...numeric.margins import signed
from ...numeric.rows import dot
from ..values.products import LANES, ArrayInCode, fold_together
from .block_view import score_of

# Number of rows of the inverse factor M that are processed together, a panel: as many as a SIMD vector has
# float64 values.
_PANEL = LANES[8]

# Up to this many rows of the inverse factor M, one loop computes ``z = M k`` for a panel and adds the terms
# of the previous panel, whose part of z is known, to ``d = Mᵀ z``. With more rows, two panels exceed 32 KiB
# of cache, so each panel is read by two loops: first for z, then for d.
_AT_ONCE = 32 * 1024 // (2 * _PANEL * 8)

# The scratch array `work` has shape (6, slots), with two rows each for k, z and d, since two rows can be
# projected together. These are the indices of the first row of each.
_K, _Z, _D = 0, 2, 4

# Projecting two rows together saves time, so a second row is searched among this many following rows.
# Scoring one of them takes a tenth of the time of a projection.
_HORIZON = 16

# The kernel values of a row with later rows are estimated by the mean of this many of its kernel values.
_SAMPLE = 8


def factor_shape(slots):
    """Return the shape of the array that stores ``M = L⁻¹`` for `slots` rows, a multiple of _PANEL."""
    return _first_block(slots), _PANEL * _PANEL


@register_jitable
def _first_block(row):
    """Return the index in ``view.square`` at which the panel with this row of M begins.

    Panel p has p + 1 blocks.
    """
    panel = row // _PANEL
    return panel * (panel + 1) // 2


def _step_of(rows, takes_z, gives_d):
    """Build the Numba intrinsic that processes one panel of M to project one or two rows.

    It computes the panel's part of ``z = M k`` if `takes_z`, and of ``d = Mᵀ z`` if `gives_d`.
    """

    @intrinsic
    def step(_typing_context, square, work, first):
        """Compute elements ``first … first + _PANEL - 1`` of z; add the terms of the panel before to d.

        Each element of z is summed in _PANEL lanes, whose upper half is then added to the lower half, and so
        on. Each element of d is summed in the order of the rows of M. So no result depends on the machine.
        """

        def codegen(context, builder, signature, arguments):
            square, work = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 1))
            first = arguments[2]
            zero, one, size = (first.type(number) for number in (0, 1, _PANEL))
            columns = [first.type(r * _PANEL) for r in range(_PANEL)]
            k_rows, z_rows, d_rows = ([first.type(part + r) for r in range(rows)] for part in (_K, _Z, _D))
            nothing = spread(builder, square.pointer.type.pointee(0.0), _PANEL)
            sums = [[cgutils.alloca_once_value(builder, nothing) for _ in columns] for _ in range(rows)]
            number = builder.udiv(first, size)
            block = builder.lshr(builder.mul(number, builder.add(number, one)), one)
            block_before = builder.sub(block, number)

            def take_z(j, place):
                k = [work.load(builder, row, j, _PANEL) for row in k_rows]
                for r, column in enumerate(columns):
                    values = square.load(builder, place, column, _PANEL)
                    for row in range(rows):
                        total = fused(builder, values, k[row], builder.load(sums[row][r]))
                        builder.store(total, sums[row][r])

            def give_d(j, place, z):
                d = [work.load(builder, row, j, _PANEL) for row in d_rows]
                for r, column in enumerate(columns):
                    values = square.load(builder, place, column, _PANEL)
                    d = [fused(builder, values, z[row][r], d[row]) for row in range(rows)]
                for row in range(rows):
                    work.store(builder, d_rows[row], j, d[row])

            def each(row):
                z = work.load(builder, z_rows[row], builder.sub(first, size), _PANEL)
                lanes = [builder.extract_element(z, ir.IntType(32)(r)) for r in range(_PANEL)]
                return [spread(builder, lane, _PANEL) for lane in lanes]

            with builder.if_then(builder.icmp_signed(">", first, zero)):
                z = [each(row) for row in range(rows)] if gives_d else []
                with cgutils.for_range_slice(builder, zero, first, size, first.type) as (j, _):
                    place = builder.udiv(j, size)
                    if gives_d:
                        give_d(j, builder.add(block_before, place), z)
                    if takes_z:
                        take_z(j, builder.add(block, place))
            if takes_z:
                take_z(first, builder.add(block, number))
                for row in range(rows):
                    (z,) = fold_together(builder, [builder.load(place) for place in sums[row]])
                    work.store(builder, z_rows[row], first, z)
            return context.get_dummy_value()

        return types.void(square, work, first), codegen

    return step


def _steps_of(rows):
    """Build the function that projects one or two rows: it computes their z and d from all panels of M."""
    take_z, give_d = _step_of(rows, True, False), _step_of(rows, False, True)
    both = _step_of(rows, True, True)

    @register_jitable(**INLINE)
    def go_through(square, work, stop):
        if stop <= _AT_ONCE:
            for first in range(0, stop, _PANEL):
                both(square, work, first)
            give_d(square, work, stop)
        else:
            for first in range(0, stop, _PANEL):
                take_z(square, work, first)
                give_d(square, work, first + _PANEL)

    return go_through


_project_one, _project_two = _steps_of(1), _steps_of(2)


@register_jitable(**INLINE)
def room_to_project(view):
    """Return the scratch array that `project` needs as `work`; no SIMD vector in it crosses a cache line."""
    slots = view.born.shape[0]
    memory = np.empty(6 * slots + _PANEL)
    start = -(memory.ctypes.data // memory.itemsize) % _PANEL
    return memory[start : start + 6 * slots].reshape((6, slots))


@register_jitable(**INLINE)
def _begin(view, n, stop, t, place, work):
    # Rows of M and values of k beyond the `n` support vectors are zeros, so that they change nothing when
    # whole panels are computed.
    for i in range(n):
        work[_K + place, i] = view.values[t, i]
    for i in range(n, stop):
        work[_K + place, i] = 0.0
    for i in range(stop):
        work[_D + place, i] = 0.0


@register_jitable(**INLINE)
def project(view, n, t, other, work):
    """Project row t of the block onto the span of the support set, and row `other` unless `other` < 0.

    The results are written into `work`: those of row t as projection 0, those of row `other` as projection 1.
    """
    stop = (n + _PANEL - 1) // _PANEL * _PANEL
    _begin(view, n, stop, t, 0, work)
    if other < 0:
        _project_one(view.square, work, stop)
    else:
        _begin(view, n, stop, other, 1, work)
        _project_two(view.square, work, stop)


@register_jitable(**INLINE)
def projected_norm(n, place, work):
    """Return ``‖z‖² = kᵀ K_S⁻¹ k``, the squared norm of projection `place` (0 or 1) that `project` made."""
    return dot(work[_Z + place, :n], work[_Z + place, :n])


@register_jitable(**INLINE)
def projected(n, place, work):
    """Return ``d = K_S⁻¹ k``, the coefficients of projection `place` (0 or 1) that `project` made."""
    return work[_D + place, :n]


@register_jitable(**INLINE)
def likely_next(view, n, t, y, codes, margin):
    """Return the row after t that is likely to be the next with a margin <= `margin`, or -1 if none is near.

    When row t is learned with label `y`, f(x) changes by about y k(x_t, x). The result is a guess that
    affects time only.
    """
    sample = min(n, _SAMPLE)
    step = 0.0
    for i in range(sample):
        step += y * view.values[t, i] / sample
    for s in range(t + 1, min(t + 1 + _HORIZON, codes.shape[0])):
        if signed(codes[s]) * (score_of(view, n, s) + step) <= margin:
            return s
    return -1


@register_jitable
def grow_factor(view, n, place, work, squared_distance):
    """Add a row to M for a new support vector at this squared distance from the span of the others.

    `place` is the number (0 or 1) of its projection in `work`.
    """
    reciprocal = 1.0 / np.sqrt(squared_distance)
    block, start = _first_block(n), n % _PANEL * _PANEL
    for i in range(n):
        view.square[block + i // _PANEL, start + i % _PANEL] = -work[_D + place, i] * reciprocal
    view.square[block + n // _PANEL, start + n % _PANEL] = reciprocal
