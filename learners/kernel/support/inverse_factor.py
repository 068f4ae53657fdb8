"""Projections onto the span of the support set, by the inverse of the Cholesky factor of its kernel matrix.

``K_S = L Lᵀ`` and ``M = L⁻¹``. With ``z = M k`` a row x is at squared distance ``δ² = k(x, x) - ‖z‖²`` from
the span, and its projection has the coefficients ``d = Mᵀ z``. Row i of M holds the coefficients of the i-th
vector of an orthonormal basis of the span: a row that joins adds ``[-dᵀ, 1]/δ``, as in Gram-Schmidt.
Unlike solves with L, both products take M row by row, in one pass: half a matrix is read once, and no value
waits for the one before it.

``view.square`` is M, with zeros above the diagonal.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from ...numeric.emitters import spread
from ...numeric.rows import dot
from ..values.dense_products import LANES, ArrayInCode, fold_together, fused

# Rows of M taken together, and values to a vector.
_PANEL = LANES[8]

# The rows of what a projection works on: k, z and d, each as long as there are slots.
_K, _Z, _D = range(3)


@intrinsic
def _project_panel(_typing_context, square, work, first):
    """Add what rows ``first … first + _PANEL - 1`` of M give to z and d.

    Sums of z have _PANEL lanes, folded upper half onto lower half; each d is one chain, rows ascending.
    """

    def codegen(context, builder, signature, arguments):
        square, work = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 1))
        first = arguments[2]
        zero, size = first.type(0), first.type(_PANEL)
        stop = builder.add(first, size)
        numbers = [builder.add(first, first.type(r)) for r in range(_PANEL)]
        nothing = spread(builder, square.pointer.type.pointee(0.0), _PANEL)
        sums = [cgutils.alloca_once_value(builder, nothing) for _ in numbers]
        with cgutils.for_range_slice(builder, zero, stop, size, first.type) as (j, _):
            k = work.load(builder, first.type(_K), j, _PANEL)
            for number, place in zip(numbers, sums, strict=True):
                total = fused(builder, square.load(builder, number, j, _PANEL), k, builder.load(place))
                builder.store(total, place)
        (z,) = fold_together(builder, [builder.load(place) for place in sums])
        work.store(builder, first.type(_Z), first, z)
        vectors = [
            spread(builder, builder.extract_element(z, ir.IntType(32)(r)), _PANEL) for r in range(_PANEL)
        ]
        with cgutils.for_range_slice(builder, zero, stop, size, first.type) as (j, _):
            d = work.load(builder, first.type(_D), j, _PANEL)
            for number, vector in zip(numbers, vectors, strict=True):
                d = fused(builder, square.load(builder, number, j, _PANEL), vector, d)
            work.store(builder, first.type(_D), j, d)
        return context.get_dummy_value()

    return types.void(square, work, first), codegen


@register_jitable
def room_to_project(view):
    """Return what `project` works on."""
    return np.empty((3, view.born.shape[0]))


@register_jitable
def project(view, n, t, work):
    """Return ``‖z‖² = k_tᵀ K_S⁻¹ k_t``; the coefficients of the projection are then `projected`."""
    # Rows of M and values of k beyond n are zeros: they change nothing.
    stop = (n + _PANEL - 1) // _PANEL * _PANEL
    for i in range(n):
        work[_K, i] = view.values[t, i]
    for i in range(n, stop):
        work[_K, i] = 0.0
    for i in range(stop):
        work[_D, i] = 0.0
    for first in range(0, stop, _PANEL):
        _project_panel(view.square, work, first)
    return dot(work[_Z, :n], work[_Z, :n])


@register_jitable
def projected(n, work):
    """Return ``d = K_S⁻¹ k_t`` of the row that `project` was called for."""
    return work[_D, :n]


@register_jitable
def grow_factor(view, n, work, squared_distance):
    """Add to M the row that `project` was called for."""
    reciprocal = 1.0 / np.sqrt(squared_distance)
    for i in range(n):
        view.square[n, i] = -work[_D, i] * reciprocal
    view.square[n, n] = reciprocal
