"""Rules by which each weight goes its own way: what happens to one of them when its gradient is not 0.

The numbers that a rule keeps for a weight lie next to each other, NUMBERS[rule] of them, all 0 at the start.
"""

import math

import numpy as np
from numba.extending import register_jitable

from .special import exp_of_negative, hyperbolic_tangent

FTRL, KT, COCOB, COCOB_BACKPROP, FREEGRAD = range(5)

#: How many numbers each rule keeps for a weight, besides the weight.
NUMBERS = {FTRL: 2, KT: 3, COCOB: 3, COCOB_BACKPROP: 4, FREEGRAD: 4}

# Beyond it a bettor is too rich to go on: what it has won no longer fits into float64 with what is to come.
_RICHEST = 1e150

# FreeGrad's exponent is cut there: e^700 is near the end of float64.
_STEEPEST = 700.0


@register_jitable
def follow(rule, w, numbers, i, g, constants):
    """Let weight i of `w` take note of its gradient g != 0; `constants` are the rule's parameters."""
    if rule == FTRL:
        _ftrl(w, numbers, i, g, constants)
    elif rule == KT:
        _kt(w, numbers, i, g, constants[0])
    elif rule == COCOB:
        _cocob(w, numbers, i, g)
    elif rule == COCOB_BACKPROP:
        _cocob_backprop(w, numbers, i, g, constants[0])
    else:
        _freegrad(w, numbers, i, g, constants[0])


@register_jitable
def _ftrl(w, numbers, i, g, constants):
    """McMahan et al. (2013), Algorithm 1; the numbers are z and n."""
    alpha, beta, l1, l2 = constants
    z, n = numbers[2 * i], numbers[2 * i + 1]
    total = n + g * g
    if not total < np.inf:
        return
    root = math.sqrt(total)
    z += g - (root - math.sqrt(n)) / alpha * w[i]
    numbers[2 * i], numbers[2 * i + 1] = z, total
    strength = (beta + root) / alpha + l2
    beyond = z - l1 if z > l1 else z + l1 if z < -l1 else 0.0
    # Without β and l2, and where g² has underflowed, nothing holds the weight.
    w[i] = -beyond / strength if strength > 0.0 else 0.0


@register_jitable
def _kt(w, numbers, i, g, epsilon):
    """Krichevsky and Trofimov's bettor: the numbers are what it has won, Σr, and how many r there were."""
    won, theta, n = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + 1.0
    if abs(won) < _RICHEST:
        numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, n
        w[i] = (epsilon + won) * theta / (n + 1.0)


@register_jitable
def _cocob(w, numbers, i, g):
    """Orabona and Tommasi (2017), Algorithm 1 with L = 1: what it has won, Σr, Σ|r|."""
    won, theta, total = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + abs(g)
    if abs(won) < _RICHEST:
        numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, total
        # G begins at 1.
        w[i] = (1.0 + won) * hyperbolic_tangent(theta / (total + 2.0))


@register_jitable
def _cocob_backprop(w, numbers, i, g, alpha):
    """Orabona and Tommasi (2017), Algorithm 2: largest |g|, Σ|g|, what it has won, -Σg."""
    largest = max(numbers[4 * i], abs(g))
    total = numbers[4 * i + 1] + abs(g)
    won = max(numbers[4 * i + 2] - g * w[i], 0.0)
    theta = numbers[4 * i + 3] - g
    new = (1.0 + won / largest) * (theta / max(total + largest, alpha * largest))
    if abs(new) < _RICHEST:
        numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3] = (
            largest,
            total,
            won,
            theta,
        )
        w[i] = new


@register_jitable
def _freegrad(w, numbers, i, g, epsilon):
    """Mhammedi and Koolen (2020), eq. 9: first |g|, largest |g|, Σg of clipped g, Σg²."""
    first, largest, total, squares = (
        numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]
    )  # fmt: skip
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
    if not 0.0 < squares < np.inf:
        return
    a = largest * abs(total)
    both = squares + a
    exponent = min(total / (2.0 * both) * total, _STEEPEST)
    new = total / math.sqrt(squares) * (first / both * first) * ((squares + both) / (2.0 * both))
    new *= -epsilon / exp_of_negative(-exponent)
    if abs(new) < _RICHEST:
        numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3] = (
            first, largest, total, squares
        )  # fmt: skip
        w[i] = new
