"""A cache of rows that throws out what has become redundant, for two classes and for more.

Coefficients are (K, slots), of two classes (1, slots). Of each of them `rest` has f_z(x_i), the score that
row i gets from the others: without its own term, which is never added, since taking it away again would leave
rounding to decide ties.
"""

import math

from numba.extending import register_jitable

from ...numeric.compiled import compiled
from .block_view import move_in_gram, move_row, replace_in_gram, replace_row


@register_jitable
def _by_class(view, numbers):
    """Return coefficients, or numbers of their shape, as (K, slots)."""
    slots = view.born.shape[0]
    return numbers.reshape((numbers.size // slots, slots))


@register_jitable
def _add(view, alpha, rest, n, t, s, τ):
    """Add row t with scores s and coefficients τ; return how many rows there are then."""
    replace_in_gram(view, n, n, t)
    replace_row(view, n, t)
    for z in range(alpha.shape[0]):
        alpha[z, n] = τ[z]
        if τ[z] != 0.0:
            for i in range(n):
                rest[z, i] += τ[z] * view.values[t, i]
        rest[z, n] = s[z]
    return n + 1


@register_jitable
def _margin_without_itself(alpha, rest, i):
    """Return the margin that cached row i has without its own term."""
    if alpha.shape[0] == 1:
        return math.copysign(1.0, alpha[0, i]) * rest[0, i]
    # Only its own class has a coefficient above 0.
    y, right, wrong = 0, -math.inf, -math.inf
    for z in range(alpha.shape[0]):
        if alpha[z, i] > alpha[y, i]:
            y = z
    for z in range(alpha.shape[0]):
        if z == y:
            right = rest[z, i]
        else:
            wrong = max(wrong, rest[z, i])
    return right - wrong


@register_jitable
def _most_redundant(alpha, rest, born, n):
    """Return the cached row with the largest margin without itself (ties: the oldest), and that margin."""
    chosen, largest = -1, -math.inf
    for i in range(n):
        margin = _margin_without_itself(alpha, rest, i)
        if margin > largest or (margin == largest and born[i] < born[chosen]):
            chosen, largest = i, margin
    return chosen, largest


@register_jitable
def _remove(view, alpha, rest, n, r, t):
    """Remove the row in slot r while row t is learnt; the last slot's takes its place."""
    last = n - 1
    for z in range(alpha.shape[0]):
        if alpha[z, r] != 0.0:
            for i in range(n):
                rest[z, i] -= alpha[z, r] * view.square[r, i]
        alpha[z, r], rest[z, r] = alpha[z, last], rest[z, last]
    if r != last:
        move_row(view, last, r, t)
        move_in_gram(view, last, last, r)
    return last


@compiled
def add_and_distill(view, rest, n, t, s, τ, beta, budget):
    """Add row t, then remove rows as figure 2 of Crammer, Kandola and Singer (2003) does.

    Parameters
    ----------
    view : BlockView
    rest : ndarray
        Of the shape of the coefficients.
    n, t : int
        How many rows are cached, and the row to learn.
    s, τ : ndarray of shape (K,), or (1,)
        The row's scores and its coefficients.
    beta : float
        The margin without itself from which on a row is redundant.
    budget : int
        Where it is > 0 rows are removed, instead, while there are more.

    Returns
    -------
    int, int
        How many rows are left, and the kernel evaluations that removals take.
    """
    alpha, rest = _by_class(view, view.alpha), _by_class(view, rest)
    n, cached, evaluations = _add(view, alpha, rest, n, t, s, τ), True, 0
    while n > 0:
        r, margin = _most_redundant(alpha, rest, view.born, n)
        # With beta = 0 the printed >= would remove the first row at once, and every other.
        redundant = margin >= beta if beta > 0.0 else margin > 0.0
        if not (n > budget if budget > 0 else redundant):
            break
        newest = view.born[r] == view.first + t
        n = _remove(view, alpha, rest, n, r, t)
        # Values with row t itself are at hand.
        evaluations += 0 if newest else n - cached
        cached = cached and not newest
    return n, evaluations
