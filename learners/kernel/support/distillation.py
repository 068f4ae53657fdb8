"""A cache of rows from which redundant rows are removed, for two classes and for more.

`rest` contains f_z(x_i) for each coefficient: the score of row i from all other rows. The row's own term is
never added, since subtracting it again would leave ties to rounding. Coefficients have shape (slots,) for two
classes and (K, slots) for more: Numba compiles the branch for their dimension.
"""

import math

from numba.extending import register_jitable

from ...numeric.compiled import INLINE, compiled
from .block_view import move_in_gram, move_row, replace_in_gram, replace_row


@register_jitable(**INLINE)
def _add_term(rest, n, a, values):
    """Add a row's term, with coefficient `a`, to the scores of `n` rows for one class."""
    for i in range(n):
        rest[i] += a * values[i]


@register_jitable(**INLINE)
def _add(view, alpha, rest, n, t, s, a):
    """Add row t with scores s and coefficients a; return the number of rows."""
    replace_in_gram(view, n, n, t)
    replace_row(view, n, t)
    if alpha.ndim == 1:
        alpha[n], rest[n] = a, s
        _add_term(rest, n, a, view.values[t])
    else:
        for z in range(alpha.shape[0]):
            alpha[z, n], rest[z, n] = a[z], s[z]
            if a[z] != 0.0:
                _add_term(rest[z], n, a[z], view.values[t])
    return n + 1


@compiled
def _most_redundant(alpha, rest, born, n):
    """Return the cached row with the largest margin without itself (ties: the oldest), and that margin."""
    chosen, largest = -1, -math.inf
    for i in range(n):
        if alpha.ndim == 1:
            margin = math.copysign(1.0, alpha[i]) * rest[i]
        else:
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
            margin = right - wrong
        if margin > largest or (margin == largest and born[i] < born[chosen]):
            chosen, largest = i, margin
    return chosen, largest


@register_jitable(**INLINE)
def _remove(view, alpha, rest, n, r, t):
    """Remove the row in slot r while row t is learnt; the row in the last slot takes its place."""
    last = n - 1
    if alpha.ndim == 1:
        _add_term(rest, n, -alpha[r], view.square[r])
        alpha[r], rest[r] = alpha[last], rest[last]
    else:
        for z in range(alpha.shape[0]):
            if alpha[z, r] != 0.0:
                _add_term(rest[z], n, -alpha[z, r], view.square[r])
            alpha[z, r], rest[z, r] = alpha[z, last], rest[z, last]
    if r != last:
        move_row(view, last, r, t)
        move_in_gram(view, last, last, r)
    return last


@register_jitable(**INLINE)
def add_and_distill(view, alpha, rest, n, t, s, a, beta, budget):
    """Add row t, then remove rows as figure 2 of Crammer, Kandola and Singer (2003) does.

    Of `n` cached rows, row t joins with scores `s` and coefficients `a`, floats or arrays of shape (K,). A
    row is redundant if its margin without itself is at least `beta`; with a `budget` > 0, rows are removed
    while there are more than `budget` instead. Return the number of rows left, and the kernel evaluations of
    the removals.
    """
    n, cached, evaluations = _add(view, alpha, rest, n, t, s, a), True, 0
    while n > 0:
        r, margin = _most_redundant(alpha, rest, view.born, n)
        # With beta = 0 the printed >= would remove every row at once.
        redundant = margin >= beta if beta > 0.0 else margin > 0.0
        if not (n > budget if budget > 0 else redundant):
            break
        newest = view.born[r] == view.first + t
        n = _remove(view, alpha, rest, n, r, t)
        # Values with row t itself are already computed.
        evaluations += 0 if newest else n - cached
        cached = cached and not newest
    return n, evaluations
