"""Projections onto the span of the support set, by the inverse of the Cholesky factor of its kernel matrix.

``K_S = L Lᵀ`` and ``M = L⁻¹``. With ``z = M k`` a row x is at squared distance ``δ² = k(x, x) - ‖z‖²`` from
the span, and its projection has the coefficients ``d = Mᵀ z``. Row i of M holds the coefficients of the i-th
vector of an orthonormal basis of the span: a row that joins adds ``[-dᵀ, 1]/δ``, as in Gram-Schmidt.
Unlike solves with L, both products take M row by row, in one pass: half a matrix is read once, and no value
waits for the one before it. As soon as M is larger than the cache next to the processor, reading it is what
takes the time: one reading may serve two rows. What a row gets does not depend on the other.

``view.square`` is the lower triangle of M in blocks of _PANEL × _PANEL values, zeros above the diagonal: each
row of it is a block, first those of the first _PANEL rows of M, and so on. So M is read from front to back,
and nothing of it moves when it grows.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from ...numeric.emitters import fused, spread
from ...numeric.margins import signed
from ...numeric.rows import dot
from ..values.dense_products import LANES, ArrayInCode, fold_together
from .block_view import score_of

# Rows of M taken together, and values to a vector.
_PANEL = LANES[8]

# What a projection works on: k, z and d of two rows, each as long as there are slots.
_K, _Z, _D = 0, 2, 4

# How far ahead a second row is looked for: a score is a tenth of what solving for one row more saves.
_HORIZON = 16

# Support vectors whose values with a row stand for its values with rows like them.
_SAMPLE = 8


def factor_shape(slots):
    """Return the shape of M, as it is kept, with room for so many rows, a multiple of _PANEL."""
    return _first_block(slots), _PANEL * _PANEL


@register_jitable
def _first_block(row):
    """Return the block that a panel begins with, by its first row."""
    panel = row // _PANEL
    return panel * (panel + 1) // 2


def _panel_of(rows):
    """Build the intrinsic that takes a panel of M for so many rows."""

    @intrinsic
    def project_panel(_typing_context, square, block, work, first):
        """Add what rows ``first … first + _PANEL - 1`` of M give to z and d.

        Sums of z have _PANEL lanes, folded upper half onto lower half; each d is one chain, rows ascending.
        """

        def codegen(context, builder, signature, arguments):
            square, work = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 2))
            block, first = arguments[1], arguments[3]
            zero, size = first.type(0), first.type(_PANEL)
            stop = builder.add(first, size)
            columns = [first.type(r * _PANEL) for r in range(_PANEL)]
            parts = ([first.type(part + row) for row in range(rows)] for part in (_K, _Z, _D))
            k_rows, z_rows, d_rows = parts
            nothing = spread(builder, square.pointer.type.pointee(0.0), _PANEL)
            sums = [[cgutils.alloca_once_value(builder, nothing) for _ in columns] for _ in range(rows)]
            with cgutils.for_range_slice(builder, zero, stop, size, first.type) as (j, _):
                place = builder.add(block, builder.udiv(j, size))
                k = [work.load(builder, row, j, _PANEL) for row in k_rows]
                for r, column in enumerate(columns):
                    values = square.load(builder, place, column, _PANEL)
                    for row in range(rows):
                        total = fused(builder, values, k[row], builder.load(sums[row][r]))
                        builder.store(total, sums[row][r])
            vectors = []
            for row in range(rows):
                (z,) = fold_together(builder, [builder.load(place) for place in sums[row]])
                work.store(builder, z_rows[row], first, z)
                lanes = [builder.extract_element(z, ir.IntType(32)(r)) for r in range(_PANEL)]
                vectors.append([spread(builder, lane, _PANEL) for lane in lanes])
            with cgutils.for_range_slice(builder, zero, stop, size, first.type) as (j, _):
                place = builder.add(block, builder.udiv(j, size))
                d = [work.load(builder, row, j, _PANEL) for row in d_rows]
                for r, column in enumerate(columns):
                    values = square.load(builder, place, column, _PANEL)
                    d = [fused(builder, values, vectors[row][r], d[row]) for row in range(rows)]
                for row in range(rows):
                    work.store(builder, d_rows[row], j, d[row])
            return context.get_dummy_value()

        return types.void(square, block, work, first), codegen

    return project_panel


_project_panel = _panel_of(1)
_project_panel_twice = _panel_of(2)


@register_jitable
def room_to_project(view):
    """Return what `project` works on."""
    return np.empty((6, view.born.shape[0]))


@register_jitable
def _begin(view, n, stop, t, place, work):
    # Rows of M and values of k beyond n are zeros: they change nothing.
    for i in range(n):
        work[_K + place, i] = view.values[t, i]
    for i in range(n, stop):
        work[_K + place, i] = 0.0
    for i in range(stop):
        work[_D + place, i] = 0.0


@register_jitable
def project(view, n, t, other, work):
    """Project row t, in place 0, and, in place 1, row `other` unless it is negative."""
    stop = (n + _PANEL - 1) // _PANEL * _PANEL
    _begin(view, n, stop, t, 0, work)
    if other < 0:
        for first in range(0, stop, _PANEL):
            _project_panel(view.square, _first_block(first), work, first)
    else:
        _begin(view, n, stop, other, 1, work)
        for first in range(0, stop, _PANEL):
            _project_panel_twice(view.square, _first_block(first), work, first)


@register_jitable
def projected_norm(n, place, work):
    """Return ``‖z‖² = kᵀ K_S⁻¹ k`` of the row in a place."""
    return dot(work[_Z + place, :n], work[_Z + place, :n])


@register_jitable
def projected(n, place, work):
    """Return ``d = K_S⁻¹ k`` of the row in a place."""
    return work[_D + place, :n]


@register_jitable
def likely_next(view, n, t, y, codes, margin):
    """Return the row after t that is likely to be the next one with a margin <= `margin`, -1 if none is near.

    Once row t is projected and added with sign `y`, f(x) is larger by about y k(x_t, x). It is a guess, of
    which nothing but time depends.
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
    """Add to M the row in a place."""
    reciprocal = 1.0 / np.sqrt(squared_distance)
    block, start = _first_block(n), n % _PANEL * _PANEL
    for i in range(n):
        view.square[block + i // _PANEL, start + i % _PANEL] = -work[_D + place, i] * reciprocal
    view.square[block + n // _PANEL, start + n % _PANEL] = reciprocal
