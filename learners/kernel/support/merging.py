"""Merge two support vectors: find the point on the line between them that replaces both best (rbf kernel)."""

import math

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import compiled
from ...numeric.vector import exponential
from ..values.products import products_of_row
from .block_view import move, replace

_SECTION = (math.sqrt(5.0) - 1.0) / 2.0
# The golden section ends with a bracket of h that is shorter than this.
_BRACKET = 1e-10
# Numbers that differ by rounding only count as equal: maxima in the first comparison, and losses.
_EQUAL_MAXIMA, _EQUAL = 1.0 + 1e-12, 1e-9


@register_jitable
def _coefficient(a, b, exponent, h):
    """Return ``a κ^((1-h)²) + b κ^(h²)``, κ being exp(exponent)."""
    return a * exponential(exponent * (1.0 - h) * (1.0 - h)) + b * exponential(exponent * h * h)


@compiled
def _best_shares(a, b, exponents, shares):
    """Write for each partner the h in [0, 1] at which the coefficient of ``h x_a + (1 - h) x_b`` is largest.

    All brackets have the same width, and a pass over the partners has no branch, so that it is vector code.
    """
    width, tolerance = 1.0, _EQUAL_MAXIMA
    low, at_c, at_d = np.zeros_like(b), np.empty_like(b), np.empty_like(b)
    for i in range(b.shape[0]):
        at_c[i] = abs(_coefficient(a, b[i], exponents[i], 1.0 - _SECTION))
        at_d[i] = abs(_coefficient(a, b[i], exponents[i], _SECTION))
    while width >= _BRACKET:
        shorter = _SECTION * width
        for i in range(b.shape[0]):
            is_upper = at_c[i] <= tolerance * at_d[i]
            first = low[i] + (1.0 - _SECTION) * width if is_upper else low[i]
            h = first + (_SECTION if is_upper else 1.0 - _SECTION) * shorter
            value, kept = abs(_coefficient(a, b[i], exponents[i], h)), at_d[i] if is_upper else at_c[i]
            low[i], at_c[i], at_d[i] = first, kept if is_upper else value, value if is_upper else kept
        width, tolerance = shorter, 1.0
    for i in range(b.shape[0]):
        shares[i] = low[i] + 0.5 * width


@register_jitable
def _best_partner(a, b, exponents, numbers):
    """Return the place of the partner with which `a` loses least (ties: the oldest), and h."""
    shares, losses = np.empty_like(b), np.empty_like(b)
    _best_shares(a, b, exponents, shares)
    least, best = np.inf, 0
    for i in range(b.shape[0]):
        merged = _coefficient(a, b[i], exponents[i], shares[i])
        losses[i] = a * a + b[i] * b[i] + 2.0 * a * b[i] * exponential(exponents[i]) - merged * merged
        if losses[i] < least:
            least, best = losses[i], i
    for i in range(b.shape[0]):
        if losses[i] <= least + _EQUAL * a * a and numbers[i] < numbers[best]:
            best = i
    return best, shares[best]


@register_jitable
def keep_now(view, rows, norms, slot, t):
    """Store row t in `slot` at once instead of after the block, to free its place in the block."""
    rows[slot] = view.rows[t]
    norms[slot] = view.norms[t]
    view.origin[slot] = slot


@register_jitable
def drop(view, rows, norms, n, slot, t):
    """Remove a support vector while row t is learnt; the last of the `n` takes its slot."""
    last = n - 1
    if slot != last:
        move(view, last, slot, t)
        rows[slot] = rows[last]
        norms[slot] = norms[last]
        view.origin[slot] = slot


@compiled
def merge_or_drop(view, rows, norms, n, p, t):
    """Merge the support vector in slot p with another one of the same sign, or remove it if there is none.

    ``z = h x_p + (1 - h) x_n`` takes n's place and number. Row t of the block has already been stored
    (`keep_now`), so z is written into its place in the block, and its kernel values with later rows are
    computed like those of any row. Return the kernel evaluations: those of p with the others of its sign,
    without the cached values of row t.
    """
    products = np.empty((1, rows.shape[0]), rows.dtype)
    products_of_row(rows, p, 0, n, products)
    slots, exponents = np.empty(n, np.int64), np.empty(n)
    count = evaluations = 0
    gamma, a, new = view.function[1], view.alpha[p], view.first + t
    for i in range(n):
        if i != p and (view.alpha[i] > 0.0) == (a > 0.0):
            distance = (norms[p] + norms[i]) - (products[0, i] + products[0, i])
            slots[count], exponents[count] = i, -gamma * max(distance, rows.dtype.type(0))
            count += 1
            evaluations += view.born[i] != new and view.born[p] != new
    if count > 0:
        slots = slots[:count]
        best, h = _best_partner(a, view.alpha[slots], exponents[:count], view.born[slots])
        partner = slots[best]
        merged = _coefficient(a, view.alpha[partner], exponents[best], h)
        for k in range(rows.shape[1]):
            view.rows[t, k] = h * rows[p, k] + (1.0 - h) * rows[partner, k]
        products_of_row(view.rows, t, t, t + 1, view.later)
        view.norms[t] = view.later[0, t]
        number = view.born[partner]
        replace(view, partner, t, merged)
        view.born[partner] = number
        keep_now(view, rows, norms, partner, t)
    drop(view, rows, norms, n, p, t)
    return evaluations
