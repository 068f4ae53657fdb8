"""Loops of online gradient descent, for two and for many classes, with one step size or one per feature.

With one step size, ``w = scale v``, so that the L2 shrinkage of a round is one product. The mean of the
hypotheses is not summed explicitly either: with A, the sum of the scales so far, ``Σ_t w_t = A v - u``. An
update ``v += a x`` adds A times ``a x`` to u, because the earlier hypotheses lack it. So a round costs only
the row's non-zeros. With a step size per feature, scale is 1 and A is the number of rounds. `u` is empty if
there is no mean.
"""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import compiled
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import add_scaled, add_step, dot, entry, n_entries, n_rows, row
from .classes import score_classes, weight_of
from .losses import add_to_classes, class_gradient, has_gradient, weighted_slope

#: "sqrt": η/√t; "constant": η; "adagrad": a step size per feature.
RATES = ("sqrt", "constant", "adagrad")


@register_jitable
def step_size(falls, eta, t):
    """Return η_t, the step size of round t (from 1): ``η/√t`` if it `falls`, else η."""
    return eta / math.sqrt(t) if falls else eta


@register_jitable
def adagrad_step(total, g, eta, delta):
    """Return the step ``-η g/(δ + √G)`` of one feature and its new G, the sum of squared gradients."""
    total += g * g
    # If the square of g underflows, G stays 0 and so does the weight.
    return (-eta * (g / (delta + math.sqrt(total))) if total > 0.0 else 0.0), total


# A smaller scale is multiplied into v, which costs d operations. Without the mean only the range of float64
# requires it. With the mean, ``A v - u`` loses as many digits as the scale has lost, here three.
_SMALLEST_SCALE, _SMALLEST_WITH_MEAN = 2.0**-300, 2.0**-10


@register_jitable
def _shrunk(v, u, scale, scales, factor):
    """Return ``(scale, A)`` after w is shrunk by a factor; multiply a scale that is too small into v."""
    smaller = scale * factor
    if smaller > (_SMALLEST_WITH_MEAN if u.size > 0 else _SMALLEST_SCALE):
        return smaller, scales
    if u.size > 0:
        u -= scales * v
    # A factor <= 0 means that the step is too long for its l2; it is applied literally.
    v *= smaller
    return 1.0, 0.0


@register_jitable
def _score(v, u, scale, scales, rounds, x):
    """Return the score of the mean of the hypotheses so far, or of the last one if there is no mean."""
    s = dot(v, x)
    return (scales * s - dot(u, x)) / max(rounds, 1) if u.size > 0 else scale * s


@learning_loop
def learn(X, codes, scores, v, u, scalars, factors, loss, falls, eta, l2, rounds):
    """Make one pass of Zinkevich (2003) with L2 shrinkage; `scalars` are the scale and A."""
    mistakes = updates = 0
    scale, scales = scalars[0], scalars[1]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        dot_v = dot(v, x)
        s = scale * dot_v
        scores[t] = (scales * dot_v - dot(u, x)) / max(rounds[0], 1) if u.size > 0 else s
        mistakes += not y * scores[t] > 0.0
        rounds[0] += 1
        eta_t = step_size(falls, eta, rounds[0])
        if l2 > 0.0:
            scale, scales = _shrunk(v, u, scale, scales, 1.0 - eta_t * l2)
        c = weighted_slope(loss, y * s, factors[codes[t]])
        if has_gradient(c, s, x):
            a = y * c / scale
            add_step(v, eta_t, a, x)
            if u.size > 0:
                add_step(u, scales * eta_t, a, x)
            updates += 1
        scales += scale
    scalars[0], scalars[1] = scale, scales
    return mistakes, updates


@register_jitable
def _adapt(w, u, G, j, g, eta, delta, rounds):
    """Make AdaGrad's step for feature j."""
    step, G[j] = adagrad_step(G[j], g, eta, delta)
    w[j] += step
    if u.size > 0:
        u[j] += rounds * step


@learning_loop
def learn_adaptively(X, codes, scores, w, u, G, factors, loss, eta, l2, delta, rounds):
    """Make one pass of Duchi et al. (2011) in the primal form, ``w_j -= η g_j/(δ + √G_j)``."""
    mistakes = updates = 0
    gradient = np.zeros(w.shape[0] if l2 > 0.0 else 0)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = (rounds[0] * s - dot(u, x)) / max(rounds[0], 1) if u.size > 0 else s
        mistakes += not y * scores[t] > 0.0
        c = weighted_slope(loss, y * s, factors[codes[t]])
        steps = has_gradient(c, s, x)
        if l2 > 0.0:
            # The gradient of the norm is non-zero in every feature.
            gradient[:] = l2 * w
            if steps:
                add_scaled(gradient, -y * c, x)
            for j in range(w.shape[0]):
                _adapt(w, u, G, j, gradient[j], eta, delta, rounds[0])
        elif steps:
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    _adapt(w, u, G, j, -y * c * x_j, eta, delta, rounds[0])
        updates += steps
        rounds[0] += 1
    return mistakes, updates


@compiled
def score_rows(X, v, u, scale, scales, rounds, scores):
    """Write the score of every row."""
    for t in range(n_rows(X)):
        scores[t] = _score(v, u, scale, scales, rounds, row(X, t))


@register_jitable
def _score_classes(V, U, scale, scales, rounds, x, sums, missing, last, scores):
    """Write the scores of the last hypothesis into `last`, those used for prediction into `scores`."""
    score_classes(V, x, sums, scores)
    for z in range(scores.shape[0]):
        last[z] = scale * scores[z]
    if U.size > 0:
        score_classes(U, x, missing, scores)
        for z in range(scores.shape[0]):
            scores[z] = (scales * sums[z] - missing[z]) / max(rounds, 1)
    else:
        scores[:] = last


@register_jitable
def _is_mistake(s, y):
    return not s[y] - s[best_wrong(s, y)] > 0.0


@learning_loop
def learn_classes(X, codes, scores, V, U, scalars, loss, softmax, falls, eta, l2, rounds, weights):
    """Make one pass for many classes with the gradients of `class_gradient`; see `learn`."""
    mistakes = updates = 0
    scale, scales = scalars[0], scalars[1]
    K = scores.shape[1]
    sums, missing = np.empty(V.shape[1]), np.empty(V.shape[1])
    last, which, factors = np.empty(K), np.empty(K, np.int64), np.empty(K)
    for t in range(n_rows(X)):
        x, y = row(X, t), codes[t]
        _score_classes(V, U, scale, scales, rounds[0], x, sums, missing, last, scores[t])
        mistakes += _is_mistake(scores[t], y)
        rounds[0] += 1
        eta_t = step_size(falls, eta, rounds[0])
        if l2 > 0.0:
            scale, scales = _shrunk(V, U, scale, scales, 1.0 - eta_t * l2)
        n = class_gradient(loss, softmax, last, y, x, which, factors)
        if n > 0:
            step = weight_of(weights, y) * eta_t / scale
            add_to_classes(V, -step, x, n, which, factors)
            if U.size > 0:
                add_to_classes(U, -scales * step, x, n, which, factors)
            updates += 1
        scales += scale
    scalars[0], scalars[1] = scale, scales
    return mistakes, updates


@learning_loop
def learn_classes_adaptively(X, codes, scores, W, U, G, loss, softmax, eta, l2, delta, rounds, weights):
    """Do as `learn_adaptively` does, with a step size for each class and feature."""
    mistakes = updates = 0
    K = scores.shape[1]
    gradient = np.zeros(W.shape if l2 > 0.0 else (0, 0))
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    last, which, factors = np.empty(K), np.empty(K, np.int64), np.empty(K)
    for t in range(n_rows(X)):
        x, y = row(X, t), codes[t]
        _score_classes(W, U, 1.0, rounds[0], rounds[0], x, sums, missing, last, scores[t])
        mistakes += _is_mistake(scores[t], y)
        n = class_gradient(loss, softmax, last, y, x, which, factors)
        if l2 > 0.0:
            gradient[:] = l2 * W
            add_to_classes(gradient, weight_of(weights, y), x, n, which, factors)
            for j in range(W.shape[0]):
                for z in range(K):
                    _adapt(W, U, G, (j, z), gradient[j, z], eta, delta, rounds[0])
        else:
            for k in range(n_entries(x) if n > 0 else 0):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    for i in range(n):
                        place = (j, np.uintp(which[i]))
                        _adapt(
                            W, U, G, place, weight_of(weights, y) * factors[i] * x_j, eta, delta, rounds[0]
                        )
        updates += n > 0
        rounds[0] += 1
    return mistakes, updates


@compiled
def score_rows_of_classes(X, V, U, scale, scales, rounds, scores):
    """Write the scores of every row and class."""
    sums, missing, last = np.empty(V.shape[1]), np.empty(V.shape[1]), np.empty(scores.shape[1])
    for t in range(n_rows(X)):
        _score_classes(V, U, scale, scales, rounds, row(X, t), sums, missing, last, scores[t])
