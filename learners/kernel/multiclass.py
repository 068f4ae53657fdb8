"""The loops of kernel learners over more than two classes: one row of coefficients a class, (K, slots)."""

import math

import numpy as np
from numba.extending import register_jitable

from ..numeric.compiled import compiled
from ..numeric.margins import best_wrong
from ..numeric.rows import dot
from .support.block_view import move_in_gram, move_row, place, put_in_gram
from .support.cholesky import grow_factor, projection, squared_projection

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@register_jitable
def _score(S, n, t, scores):
    """Write ``f_z(x_t)`` of every class z into `scores`."""
    for z in range(scores.shape[0]):
        scores[z] = dot(S.alpha[z][:n], S.values[t][:n])


@register_jitable
def _put_pair(S, slot, t, a, y, z):
    """Make row t the support vector in `slot`, with coefficient `a` for class y and ``-a`` for class z."""
    place(S, slot, t)
    S.alpha[:, slot] = 0.0
    S.alpha[y, slot] = a
    S.alpha[z, slot] = -a


@compiled
def scores_of_block(values, n_rows, alpha, n, scores):
    """Write the scores of the first `n_rows` rows of kernel values into `scores`."""
    for t in range(n_rows):
        for z in range(scores.shape[1]):
            scores[t, z] = dot(alpha[z][:n], values[t][:n])


@compiled
def learn_perceptron(S, n, codes, scores):
    """On a mistake the row joins, with 1 for its class and -1 for the best wrong one."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        _score(S, n, t, s)
        evaluations += n
        z = best_wrong(s, y)
        if not s[y] - s[z] > 0.0:
            mistakes += 1
            if S.own[t] < np.inf:
                _put_pair(S, n, t, 1.0, y, z)
                n += 1
                updates += 1
    return n, mistakes, updates, evaluations


@compiled
def learn_passive_aggressive(S, n, codes, scores, C):
    """PA-I along f(x, y) - f(x, ỹ), whose squared norm is 2 k(x, x)."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        _score(S, n, t, s)
        evaluations += n
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            evaluations += 1
            if _SMALLEST_NORMAL <= S.own[t] < np.inf:
                _put_pair(S, n, t, min(C, l / (2.0 * S.own[t])), y, z)
                n += 1
                updates += 1
    return n, mistakes, updates, evaluations


@compiled
def learn_projectron(S, n, codes, scores, eta, rounding):
    """As the binary Projectron; the projection is added to the right class, taken from the best wrong one."""
    mistakes = evaluations = updates = 0
    solved = np.empty((1, S.alpha.shape[1]))
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        _score(S, n, t, s)
        evaluations += n
        z = best_wrong(s, y)
        if s[y] - s[z] > 0.0:
            continue
        mistakes += 1
        evaluations += 1
        if not S.own[t] < np.inf:
            continue
        updates += 1
        squared_distance = S.own[t] - squared_projection(S, n, t, solved)
        if squared_distance < rounding * S.own[t]:
            squared_distance = 0.0
        if math.sqrt(squared_distance) <= eta:
            d = projection(S, n, solved)
            for i in range(n):
                S.alpha[y, i] += d[i]
                S.alpha[z, i] -= d[i]
        else:
            grow_factor(S, n, solved, squared_distance)
            _put_pair(S, n, t, 1.0, y, z)
            n += 1
    return n, mistakes, updates, evaluations


@register_jitable
def _mira_step(s, y, beta, own, τ):
    """Write the ultraconservative step of Crammer and Singer's MIRA into `τ`.

    ``min ½ k(x, x) ‖τ‖² + (s - beta e_y)·τ`` with ``τ <= e_y`` and ``Σ τ = 0``: e_y minus the projection of
    ``e_y + (s - beta e_y)/k(x, x)`` onto the simplex.
    """
    for z in range(s.shape[0]):
        τ[z] = s[z] / own
    τ[y] += 1.0 - beta / own
    descending = -np.sort(-τ)
    total, θ = -1.0, 0.0
    for rank in range(s.shape[0]):
        total += descending[rank]
        if descending[rank] - total / (rank + 1) > 0.0:
            θ = total / (rank + 1)
    for z in range(s.shape[0]):
        τ[z] = -max(0.0, τ[z] - θ)
    τ[y] += 1.0


@register_jitable
def _insert(S, n, t, s, τ):
    """Insert row t with coefficients τ; ``S.extra[z, i]`` is f_z(x_i) without the row's own term."""
    put_in_gram(S, n, n, t)
    place(S, n, t)
    for z in range(τ.shape[0]):
        S.alpha[z, n] = τ[z]
        if τ[z] != 0.0:
            for i in range(n):
                S.extra[z, i] += τ[z] * S.values[t, i]
        S.extra[z, n] = s[z]
    return n + 1


@register_jitable
def _most_redundant(S, n):
    """Return the cached row with the largest margin without itself (ties: the oldest), and that margin."""
    chosen, largest = -1, -math.inf
    for i in range(n):
        # Only its own class has a coefficient above 0.
        y, right, wrong = 0, -math.inf, -math.inf
        for z in range(S.alpha.shape[0]):
            if S.alpha[z, i] > S.alpha[y, i]:
                y = z
        for z in range(S.alpha.shape[0]):
            if z == y:
                right = S.extra[z, i]
            else:
                wrong = max(wrong, S.extra[z, i])
        margin = right - wrong
        if margin > largest or (margin == largest and S.born[i] < S.born[chosen]):
            chosen, largest = i, margin
    return chosen, largest


@register_jitable
def _remove(S, n, r, t):
    """Remove the row in slot r while row t is learnt; the last slot's takes its place."""
    last = n - 1
    for z in range(S.alpha.shape[0]):
        if S.alpha[z, r] != 0.0:
            for i in range(n):
                S.extra[z, i] -= S.alpha[z, r] * S.square[r, i]
        S.alpha[z, r] = S.alpha[z, last]
        S.extra[z, r] = S.extra[z, last]
    if r != last:
        move_row(S, last, r, t)
        move_in_gram(S, last, last, r)
    return last


@compiled
def learn_distill_cache(S, n, codes, scores, beta, budget, mira):
    """As the binary one; a step of the Perceptron is 1 for the right class, -1 for the best wrong one."""
    mistakes = updates = evaluations = 0
    τ = np.empty(scores.shape[1])
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        _score(S, n, t, s)
        evaluations += n
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if m > beta:
            continue
        evaluations += mira
        own = S.own[t]
        if not own < np.inf:
            continue
        if not mira:
            τ[:] = 0.0
            τ[y], τ[z] = 1.0, -1.0
        elif own >= _SMALLEST_NORMAL:
            _mira_step(s, y, beta, own, τ)
        else:
            continue
        if not τ[y] > 0.0:
            continue
        updates += 1
        n, cached = _insert(S, n, t, s, τ), True
        while n > 0:
            r, margin = _most_redundant(S, n)
            redundant = margin >= beta if beta > 0.0 else margin > 0.0
            if not (n > budget if budget > 0 else redundant):
                break
            newest = S.born[r] == S.first + t
            n = _remove(S, n, r, t)
            # Values with row t itself are at hand.
            evaluations += 0 if newest else n - cached
            cached = cached and not newest
    return n, mistakes, updates, evaluations
