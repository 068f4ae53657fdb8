"""Losses of the margin and their gradients: a slope for two classes, a factor per class block for more.

Kernels know a loss by its number and look it up once per row, so one compiled loop serves all losses.
"""

import numpy as np
from numba.extending import register_jitable

from ...numeric.margins import best_wrong
from ...numeric.rows import entry, n_entries
from .arc_tangent import arc_tangent
from .special import exp_of_negative, sigmoid

#: The losses of gradient learners; their positions are the numbers that kernels use.
LOSSES = (
    "hinge", "squared_hinge", "modified_huber", "logistic", "sigmoid", "ramp", "unhinged", "savage",
    "tangent",
)  # fmt: skip
_HINGE, _SQUARED, _HUBER, _LOGISTIC, _SIGMOID, _RAMP, _UNHINGED, _SAVAGE, _TANGENT = range(9)

#: The losses whose slope is at most 1, as coin betting requires.
BOUNDED_LOSSES = ("hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage")

#: The functions whose gradient is taken with more than two classes.
FORMS = ("softmax", "best_wrong")

# Steeper slopes are skipped: times a feature and a step they would leave float64. Only the squared hinge
# reaches them, if rows are many powers of ten apart.
_STEEPEST = 1e130


@register_jitable
def slope(loss, m):
    """Return ``c(m) = -dℓ/dm``, so that a row's gradient is ``-y c(m) x``; 0 or NaN for NaN."""
    if loss == _HINGE:
        return 1.0 if 1.0 - m > 0.0 else 0.0
    if loss == _LOGISTIC:
        return sigmoid(-m)
    if loss == _SQUARED:
        return 2.0 * (1.0 - m) if m < 1.0 else 0.0
    if loss == _HUBER:
        return 4.0 if m < -1.0 else 2.0 * (1.0 - m) if m < 1.0 else 0.0
    if loss == _SIGMOID:
        return sigmoid(m) * sigmoid(-m)
    if loss == _RAMP:
        return 1.0 if -1.0 <= m < 1.0 else 0.0
    if loss == _UNHINGED:
        return 1.0 if m == m else 0.0
    if loss == _SAVAGE:
        other = sigmoid(-2.0 * m)
        return 4.0 * sigmoid(2.0 * m) * other * other
    return 4.0 * (1.0 - 2.0 * arc_tangent(m)) / (1.0 + m * m)


@register_jitable
def weighted_slope(loss, m, factors):
    """Return ``factors[0] c(m) + factors[1] c(-m)``, the slope of a loss that combines both labels."""
    c = slope(loss, m)
    if factors[1] != 0.0:
        return factors[0] * c + factors[1] * slope(loss, -m)
    return factors[0] * c


@register_jitable
def is_step(c):
    """Return whether a slope makes a step: not 0, not NaN, not too steep."""
    return 0.0 < abs(c) < _STEEPEST


@register_jitable
def has_entries(x):
    """Return whether a row has a non-zero entry; ‖x‖² may underflow to 0 for small ones."""
    for k in range(n_entries(x)):
        _, x_j = entry(x, k)
        if x_j != 0.0:
            return True
    return False


@register_jitable
def has_gradient(c, m, x):
    """Return whether a row of slope c has a gradient; a row of zeros has none, and its margin is 0."""
    return is_step(c) and (m != 0.0 or has_entries(x))


@register_jitable
def class_gradient(loss, softmax, s, y, x, which, factors):
    """Return the number of classes whose gradient is not 0, and write these into `which`.

    The gradient of class z is ``a_z x``; the a_z are written into `factors`. For the softmax they are
    ``p_z - [z = y]``, otherwise -c(m) for y and c(m) for the best wrong class. A row of zeros and a row
    whose scores overflowed have no gradient.
    """
    z = best_wrong(s, y)
    m = s[y] - s[z]
    if not softmax:
        c = slope(loss, m)
        if not has_gradient(c, m, x):
            return 0
        which[0], which[1] = y, z
        factors[0], factors[1] = -c, c
        return 2
    if not abs(m) < np.inf or (m == 0.0 and not has_entries(x)):
        return 0
    top = max(s[y], s[z])
    total = 0.0
    for k in range(s.shape[0]):
        factors[k] = exp_of_negative(s[k] - top)
        total += factors[k]
    n, own, others = 0, 0, 0.0
    for k in range(s.shape[0]):
        a = factors[k] / total
        if k == y:
            # p_y - 1 is computed as minus the sum of the others, which does not cancel; its place is
            # reserved.
            own = n
            which[n] = k
            n += 1
        elif a != 0.0:
            which[n], factors[n] = k, a
            others += a
            n += 1
    factors[own] = -others
    return n if others > 0.0 else 0


@register_jitable
def add_to_classes(W, scale, x, n, which, factors):
    """Add ``scale a_z x`` to the blocks of the n classes that `class_gradient` found."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        for i in range(n):
            W[j, np.uintp(which[i])] += scale * factors[i] * x_j
