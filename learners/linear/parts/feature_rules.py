"""Rules by which each weight goes its own way: what happens to one of them when its gradient is not 0.

A rule is a named tuple of its parameters. Which one it is, is chosen when a kernel is compiled: to be asked
for at every feature would cost as much as the rule. The numbers that it keeps for a weight lie next to each
other, NUMBERS[rule] of them, all 0 at the start.
"""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import overload, register_jitable

from ...numeric.compiled import INLINE
from ...numeric.rows import in_kernels_only
from .special import exp_of_negative, hyperbolic_tangent


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
