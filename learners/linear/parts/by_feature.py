"""Rules that update each weight separately, and the loops over them.

A rule is a named tuple of its parameters and says how one weight changes when its gradient is not 0. The
compiler chooses the rule: choosing it at every feature would cost as much as the rule. The numbers that a
rule stores for a weight are next to each other, NUMBERS[rule] of them, all 0 at the start.

If `largest` is not empty, it contains M_j, the largest |x_j| of each feature so far, including the current
row. The learner then reads ``x̃_j = x_j/M_j`` instead of x_j.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba.extending import overload, register_jitable

from ...numeric.compiled import INLINE, compiled
from ...numeric.emitters import constant_like, zero_like
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import dot, entry, in_kernels_only, n_entries, n_rows, row
from ...numeric.vector import lane_sums
from .classes import score_classes
from .losses import class_gradient, exp_of_negative, has_gradient, hyperbolic_tangent, slope


def _scaled(ir, w, largest, x):
    size = ir.select(ir.fcmp_ordered("<", x, zero_like(x)), ir.fneg(x), x)
    scale = ir.select(ir.fcmp_ordered(">", size, largest), size, largest)
    # A feature that never occurred has scale 0; 1 avoids a division by it.
    scale = ir.select(ir.fcmp_ordered("==", scale, zero_like(x)), constant_like(x, 1.0), scale)
    return [ir.fmul(w, ir.fdiv(x, scale))]


_scaled_dot = lane_sums(1, _scaled)


@register_jitable
def _score(w, largest, x):
    return _scaled_dot((w, largest), x) if largest.size > 0 else dot(w, x)


@register_jitable
def _scale_of(largest, j, x_j):
    scale = abs(x_j)
    if not scale > largest[j]:
        scale = largest[j]
    return scale if scale != 0.0 else 1.0


@register_jitable
def _widen(largest, x):
    """Update the scales of the row's features."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        largest[j] = max(largest[j], abs(x_j))


@learning_loop
def learn(X, codes, scores, w, numbers, largest, rule, loss):
    """Make one pass for two classes; the gradient is ``g = -y c(m) x̃``."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = scores[t] = _score(w, largest, x)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        if largest.size > 0:
            _widen(largest, x)
        if has_gradient(c, s, x):
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    g = -y * c * (x_j / largest[j] if largest.size > 0 else x_j)
                    if g != 0.0:
                        follow(rule, w, numbers, j, g)
            updates += 1
    return mistakes, updates


@compiled
def score_rows(X, w, largest, scores):
    """Write the score of every row."""
    for t in range(n_rows(X)):
        scores[t] = _score(w, largest, row(X, t))


@register_jitable
def _score_classes(W, largest, x, sums, scores):
    if largest.size == 0:
        score_classes(W, x, sums, scores)
        return
    sums[:] = 0.0
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        scaled = x_j / _scale_of(largest, j, x_j)
        for z in range(W.shape[1]):
            sums[z] += W[j, z] * scaled
    for z in range(scores.shape[0]):
        scores[z] = sums[z]


@learning_loop
def learn_classes(X, codes, scores, W, numbers, largest, rule, loss, softmax):
    """Make one pass for many classes with the gradients of `class_gradient`."""
    mistakes = updates = 0
    K, width = scores.shape[1], W.shape[1]
    sums, which, factors = np.empty(width), np.empty(K, np.int64), np.empty(K)
    w = W.reshape(W.size)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes(W, largest, x, sums, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        if largest.size > 0:
            _widen(largest, x)
        n = class_gradient(loss, softmax, s, y, x, which, factors)
        for k in range(n_entries(x) if n > 0 else 0):
            j, x_j = entry(x, k)
            if x_j != 0.0:
                scaled = x_j / largest[j] if largest.size > 0 else x_j
                for i in range(n):
                    g = factors[i] * scaled
                    if g != 0.0:
                        follow(rule, w, numbers, j * np.uintp(width) + np.uintp(which[i]), g)
        updates += n > 0
    return mistakes, updates


@compiled
def score_rows_of_classes(X, W, largest, scores):
    """Write the scores of every row and class."""
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        _score_classes(W, largest, row(X, t), sums, scores[t])


class FTRLRule(NamedTuple):
    """FTRL-Proximal: 1/α, β, λ₁ and λ₂."""

    per_alpha: float
    beta: float
    l1: float
    l2: float


class KTRule(NamedTuple):
    """The constants of Krichevsky and Trofimov's bettor."""

    epsilon: float


class COCOBRule(NamedTuple):
    """The constants of COCOB's bettors."""

    epsilon: float


class BackpropRule(NamedTuple):
    """COCOB-Backprop: α."""

    alpha: float


class FreeGradRule(NamedTuple):
    """FreeGrad: ε."""

    epsilon: float


#: How many numbers each rule keeps for a weight, besides the weight.
NUMBERS = {FTRLRule: 2, KTRule: 3, COCOBRule: 3, BackpropRule: 4, FreeGradRule: 4}

# A bettor with more wealth stops, since further winnings would overflow float64.
_RICHEST = 1e150

# FreeGrad's exponent is cut there: e^700 is near the end of float64.
_STEEPEST = 700.0


def follow(rule, w, numbers, i, g):
    """Let weight i of `w` take note of its gradient g != 0, in a kernel."""
    raise in_kernels_only("follow")


@overload(follow, jit_options=INLINE)
def _follow(rule, w, numbers, i, g):
    return _FUNCTIONS[rule.instance_class]


def _ftrl(rule, w, numbers, i, g):
    """McMahan et al. (2013), Algorithm 1; the numbers are z and √n."""
    z, root = numbers[2 * i], numbers[2 * i + 1]
    new = math.sqrt(root * root + g * g)
    # A g whose square overflows is passed over.
    if new < np.inf:
        z += g - (new - root) * rule.per_alpha * w[i]
        numbers[2 * i], numbers[2 * i + 1] = z, new
        strength = (rule.beta + new) * rule.per_alpha + rule.l2
        beyond = max(abs(z) - rule.l1, 0.0)
        # Without β and λ₂, and where g² has underflowed, nothing holds the weight.
        w[i] = -math.copysign(beyond, z) / strength if strength > 0.0 else 0.0


def _kt(rule, w, numbers, i, g):
    """Orabona and Pál (2016): the numbers are what was won, Σr, and how many r there were."""
    won, theta, n = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + 1.0
    if abs(won) < _RICHEST:
        numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, n
        # n begins at 1.
        w[i] = (rule.epsilon + won) * theta / (n + 1.0)


def _cocob(rule, w, numbers, i, g):
    """Bet as in Orabona and Tommasi (2017), Algorithm 1 with L = 1; numbers: winnings, Σr, Σ|r|."""
    won, theta, total = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + abs(g)
    if abs(won) < _RICHEST:
        numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, total
        # G begins at 1.
        w[i] = (rule.epsilon + won) * hyperbolic_tangent(theta / (total + 2.0))


def _backprop(rule, w, numbers, i, g):
    """Orabona and Tommasi (2017), Algorithm 2: largest |g|, Σ|g|, what was won, -Σg."""
    largest = max(numbers[4 * i], abs(g))
    total = numbers[4 * i + 1] + abs(g)
    won = max(numbers[4 * i + 2] - g * w[i], 0.0)
    theta = numbers[4 * i + 3] - g
    new = (1.0 + won / largest) * (theta / max(total + largest, rule.alpha * largest))
    if abs(new) < _RICHEST:
        numbers[4 * i], numbers[4 * i + 1] = largest, total
        numbers[4 * i + 2], numbers[4 * i + 3] = won, theta
        w[i] = new


def _freegrad(rule, w, numbers, i, g):
    """Mhammedi and Koolen (2020), eq. 9: first |g|, largest |g|, Σg and Σg² of clipped g."""
    first, largest, total, squares = _four(numbers, i)
    clipped = g
    if first == 0.0:
        first = largest = abs(g)
        squares = g * g
    else:
        clipped = min(max(g, -largest), largest)
        largest = max(largest, abs(g))
    total += clipped
    squares += clipped * clipped
    # A g whose square is out of range is passed over.
    if 0.0 < squares < np.inf:
        both = squares + largest * abs(total)
        exponent = min(total / (2.0 * both) * total, _STEEPEST)
        new = total / math.sqrt(squares) * (first / both * first) * ((squares + both) / (2.0 * both))
        new *= -rule.epsilon / exp_of_negative(-exponent)
        if abs(new) < _RICHEST:
            numbers[4 * i], numbers[4 * i + 1] = first, largest
            numbers[4 * i + 2], numbers[4 * i + 3] = total, squares
            w[i] = new


@register_jitable(**INLINE)
def _four(numbers, i):
    return numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]


_FUNCTIONS = {
    FTRLRule: _ftrl,
    KTRule: _kt,
    COCOBRule: _cocob,
    BackpropRule: _backprop,
    FreeGradRule: _freegrad,
}
