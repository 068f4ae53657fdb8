"""Two support vectors made one: the point of the line between them that replaces both best (rbf kernel)."""

import math

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import compiled
from ..values.exponential import exponential
from ..values.row_products import products_of_row
from .block_view import move, replace

_SECTION = (math.sqrt(5.0) - 1.0) / 2.0
# The golden section ends when h is known so well.
_BRACKET = 1e-10
# At the first comparison two maxima that are equal, but for rounding, count as equal; so do losses beside the
# smallest, and coefficients.
_EQUAL_MAXIMA, _EQUAL = 1.0 + 1e-12, 1e-9


@register_jitable
def _coefficient(a, b, exponent, h):
    """Return ``a κ^((1-h)²) + b κ^(h²)``, κ being exp(exponent)."""
    return a * exponential(exponent * (1.0 - h) * (1.0 - h)) + b * exponential(exponent * h * h)


@register_jitable
def _best_share(a, b, exponent):
    """Return the h in [0, 1] at which the coefficient of ``h x_a + (1 - h) x_b`` is largest."""
    low, high = 0.0, 1.0
    c, d = 1.0 - _SECTION, _SECTION
    at_c, at_d = abs(_coefficient(a, b, exponent, c)), abs(_coefficient(a, b, exponent, d))
    tolerance = _EQUAL_MAXIMA
    while high - low >= _BRACKET:
        if at_c <= tolerance * at_d:
            low, c, at_c = c, d, at_d
            d = low + _SECTION * (high - low)
            at_d = abs(_coefficient(a, b, exponent, d))
        else:
            high, d, at_d = d, c, at_c
            c = high - _SECTION * (high - low)
            at_c = abs(_coefficient(a, b, exponent, c))
        tolerance = 1.0
    return 0.5 * (low + high)


@register_jitable
def _best_partner(view, n, p, exponents, losses):
    """Return the slot that loses least when it is merged with p, -1 if none has its sign; ties: the oldest."""
    a = view.alpha[p]
    least = np.inf
    for i in range(n):
        losses[i] = np.inf
        b = view.alpha[i]
        if i != p and (b > 0.0) == (a > 0.0):
            merged = _coefficient(a, b, exponents[i], _best_share(a, b, exponents[i]))
            losses[i] = a * a + b * b + 2.0 * a * b * exponential(exponents[i]) - merged * merged
            least = min(least, losses[i])
    best = -1
    for i in range(n):
        if losses[i] <= least + _EQUAL * a * a and losses[i] < np.inf:
            if best < 0 or view.born[i] < view.born[best]:
                best = i
    return best


@register_jitable
def keep_now(view, rows, norms, slot, t):
    """Keep row t in `slot` at once, instead of after the block: its place in the block may then be used."""
    rows[slot] = view.rows[t]
    norms[slot] = view.norms[t]
    view.origin[slot] = slot


@register_jitable
def drop(view, rows, norms, n, slot, t):
    """Drop a support vector while row t is learnt; the last of the `n` takes its slot."""
    last = n - 1
    if slot != last:
        move(view, last, slot, t)
        rows[slot] = rows[last]
        norms[slot] = norms[last]
        view.origin[slot] = slot


@compiled
def merge_or_drop(view, rows, norms, n, p, t):
    """Make the support vector in slot p one with another of its sign, or drop it if there is none.

    ``z = h x_p + (1 - h) x_n`` takes n's place and number. Row t of the block has been kept (`keep_now`): z is put
    in its place there, so that its kernel values with the rows to come are computed as those of any row.

    Returns
    -------
    int
        Kernel evaluations: those of p with the others of its sign, but for the values with row t.
    """
    products, exponents, losses = np.empty((1, rows.shape[0]), rows.dtype), np.empty(n), np.empty(n)
    products_of_row(rows, p, 0, n, products)
    gamma, new = view.function[1], view.first + t
    evaluations = 0
    for i in range(n):
        distance = (norms[p] + norms[i]) - (products[0, i] + products[0, i])
        exponents[i] = -gamma * max(distance, rows.dtype.type(0))
        of_one_sign = i != p and (view.alpha[i] > 0.0) == (view.alpha[p] > 0.0)
        evaluations += of_one_sign and view.born[i] != new and view.born[p] != new
    partner = _best_partner(view, n, p, exponents, losses)
    if partner >= 0:
        a, b = view.alpha[p], view.alpha[partner]
        h = _best_share(a, b, exponents[partner])
        for k in range(rows.shape[1]):
            view.rows[t, k] = h * rows[p, k] + (1.0 - h) * rows[partner, k]
        products_of_row(view.rows, t, t, t + 1, view.later)
        view.norms[t] = view.later[0, t]
        number = view.born[partner]
        replace(view, partner, t, _coefficient(a, b, exponents[partner], h))
        view.born[partner] = number
        keep_now(view, rows, norms, partner, t)
    drop(view, rows, norms, n, p, t)
    return evaluations
