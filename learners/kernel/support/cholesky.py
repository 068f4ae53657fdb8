"""Projections onto the span of the support set, by the Cholesky factor of its kernel matrix.

``K_S = L Lᵀ``. With ``z = L⁻¹ k`` a row x is at squared distance ``k(x, x) - ‖z‖²`` from the span, and its
projection has the coefficients ``d = L⁻ᵀ z``. A row that joins adds the row ``[zᵀ, distance]`` to L, and
nothing else changes. Each of z, d reads half a matrix; K_S⁻¹ would be read whole for d, and written whole for
every row that joins.

``view.square`` is L below the diagonal and Lᵀ above it, so that both solves run along rows, and has the
reciprocals of L's diagonal on it.
"""

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from ...numeric.emitters import fused, spread
from ...numeric.rows import dot
from ..values.products import LANES, ArrayInCode

# Unknowns that are solved for together, in whole vectors. The rest of the last panel belongs to free slots:
# rows of zeros, which change nothing.
_PANEL = LANES[8]


def _solve_panel(backwards):
    """Build an intrinsic that solves for the unknowns ``first … first + _PANEL - 1`` and substitutes them.

    Each unknown is a chain of fused multiply-adds: ``z_i = (k_i - Σ_j L_ij z_j)/L_ii`` with j ascending,
    ``d_j = (z_j - Σ_i L_ij d_i)/L_jj`` with i descending.
    """

    @intrinsic
    def solve_panel(_typing_context, square, x, first, n):
        def codegen(context, builder, signature, arguments):
            square, x = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 1))
            first, n = arguments[2:]
            zero, size = first.type(0), first.type(_PANEL)

            def less(total, entry, solved):
                return fused(builder, entry, builder.fneg(solved), total)

            numbers = [builder.add(first, first.type(r)) for r in range(_PANEL)]
            unknowns = [builder.load(x.address(builder, zero, i)) for i in numbers]
            order = list(range(_PANEL))[:: -1 if backwards else 1]
            for place, r in enumerate(order):
                reciprocal = builder.load(square.address(builder, numbers[r], numbers[r]))
                unknowns[r] = builder.fmul(unknowns[r], reciprocal)
                builder.store(unknowns[r], x.address(builder, zero, numbers[r]))
                for q in order[place + 1 :]:
                    entry = builder.load(square.address(builder, numbers[r], numbers[q]))
                    unknowns[q] = less(unknowns[q], entry, unknowns[r])
            vectors = [spread(builder, value, _PANEL) for value in unknowns]
            begin, end = (zero, first) if backwards else (builder.add(first, size), n)
            with cgutils.for_range_slice(builder, begin, end, size, first.type) as (j, _):
                total = x.load(builder, zero, j, _PANEL)
                for r in order:
                    total = less(total, square.load(builder, numbers[r], j, _PANEL), vectors[r])
                x.store(builder, zero, j, total)
            return context.get_dummy_value()

        return types.void(square, x, first, n), codegen

    return solve_panel


_forward, _backward = _solve_panel(backwards=False), _solve_panel(backwards=True)


@register_jitable
def _whole_panels(n):
    return (n + _PANEL - 1) // _PANEL * _PANEL


@register_jitable
def squared_projection(view, n, t, z):
    """Write ``z = L⁻¹ k_t`` into ``z[0]``; return ``‖z‖² = k_tᵀ K_S⁻¹ k_t``."""
    z[0, :n] = view.values[t, :n]
    stop = _whole_panels(n)
    z[0, n:stop] = 0.0
    for first in range(0, stop, _PANEL):
        _forward(view.square, z, first, stop)
    return dot(z[0, :n], z[0, :n])


@register_jitable
def projection(view, n, z):
    """Turn ``z = L⁻¹ k_t`` into ``d = K_S⁻¹ k_t`` in place and return it."""
    stop = _whole_panels(n)
    for first in range(stop - _PANEL, -1, -_PANEL):
        _backward(view.square, z, first, stop)
    return z[0, :n]


@register_jitable
def grow_factor(view, n, z, squared_distance):
    """Add the row to the factor for which `squared_projection` has written z."""
    for i in range(n):
        view.square[n, i] = view.square[i, n] = z[0, i]
    view.square[n, n] = 1.0 / np.sqrt(squared_distance)
