"""Losses of the margin m and their gradients: a slope c(m) for two classes, a factor per class for more.

Compiled loops get a loss as its position in `LOSSES` and choose its formula once per row, so one loop serves
all losses.

The exponential, tanh and arc tangent of this module have the same results on every machine; those of C
libraries differ in the last bit. The arc tangent uses a table and a short series: with q near x,
``atan x = atan q + atan((x - q)/(1 + q x))``. The q are the middles of 128 intervals between 0 and 1, and
atan q is stored as a sum of two float64s. The error is at most 0.58 units in the last place. Of several
equally accurate orders of operations, this one rounds like the C library with which the expected results of
the golden test for the tangent loss were computed. The test is chaotic: all later results change if its 631st
arc tangent, which is 0.4997 units below the next float64, is rounded up.
"""

from __future__ import annotations

import numpy as np

from ...numeric.compiled import register_jitable
from ...numeric.formulas import LOWEST_EXPONENT
from ...numeric.margins import best_wrong
from ...numeric.rows import entry, n_entries
from ...numeric.vector import exponential


@register_jitable
def exp_of_negative(a):
    """Return ``e^a`` for a <= 0, down to the smallest float64."""
    if a < LOWEST_EXPONENT:
        root = exponential(0.5 * a)
        return root * root
    return exponential(a)


@register_jitable
def sigmoid(a):
    """Return ``σ(a) = 1/(1 + e^-a)``."""
    if a < 0.0:
        e = exp_of_negative(a)
        return e / (1.0 + e)
    return 1.0 / (1.0 + exp_of_negative(-a))


@register_jitable
def hyperbolic_tangent(a):
    """Return ``tanh a = (1 - e^-2a)/(1 + e^-2a)``."""
    if abs(a) < 1e-3:
        # For small |a| the difference 1 - e^-2|a| would lose digits, so a series is used. Its relative error
        # is of order a⁶.
        square = a * a
        return a * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)))
    e = exp_of_negative(-2.0 * abs(a))
    value = (1.0 - e) / (1.0 + e)
    return -value if a < 0.0 else value


_INTERVALS = 128
# The arc tangent of x uses only its series, with q = 0, in the first 9 intervals of x and the first 8 of 1/x:
# there, x - q would cancel digits of the result. The ninth interval of x, which begins at 1/16, is included
# because up to x = tan(1/16) the result is below 1/16, so that its last digit is finer than that of x.
_WITHOUT = (9, 8)
# Number of terms after the first, u, in the series of atan u. |u| is at most 9/128, so the first omitted
# term, u¹⁷/17, is at most 2e-20 u.
_TERMS = 7
# The table of arc tangents is computed in integers, in units of 2^-120.
_BITS = 120


def _of_ratio(numerator, denominator):
    """Return atan(numerator/denominator) in units of 2^-120, by its series; the ratio is at most 1/128."""
    power, total, odd = (numerator << _BITS) // denominator, 0, 1
    while power:
        total += power // odd if odd % 4 == 1 else -(power // odd)
        power = power * numerator**2 // denominator**2
        odd += 2
    return total


def _two_floats(value):
    high = value / 2**_BITS
    return high, (value - int(high * 2.0**_BITS)) / 2**_BITS


def _tables():
    """Return the middles q of the intervals, and the high and low parts of atan q and of π/2 - atan q.

    The three arrays have a row for the intervals of x and one for those of 1/x.
    """
    size = 2 * _INTERVALS
    # By the addition theorem, atan of a middle is atan of the previous middle plus atan of a ratio. The first
    # ratio is the first middle itself; the last ratio gives atan 1.
    ratios = [(1, size)] + [
        (2 * size, size**2 + (2 * k - 1) * (2 * k + 1)) for k in range(1, _INTERVALS)
    ] + [(1, 2 * size - 1)]  # fmt: skip
    angles = np.cumsum(np.array([_of_ratio(*ratio) for ratio in ratios], object)).tolist()
    right_angle = 2 * angles[-1]
    middles = np.tile([*((2 * k + 1) / size for k in range(_INTERVALS)), 1.0], (2, 1))
    sides = [[*angles], [*angles]]
    for side, without in enumerate(_WITHOUT):
        middles[side, :without] = 0.0
        sides[side][:without] = [0] * without
    parts = np.array([[_two_floats(a) for a in sides[0]], [_two_floats(right_angle - a) for a in sides[1]]])
    return middles, parts[:, :, 0].copy(), parts[:, :, 1].copy()


_MIDDLES, _HIGH, _LOW = _tables()


@register_jitable
def arc_tangent(a):
    """Return ``atan a`` by the table and the series that the module docstring describes."""
    x = abs(a)
    if not x < 1e19:  # atan |a| is π/2 to the last bit, or NaN if a is NaN.
        value = _HIGH[1, 0] if x == x else x
        return -value if a < 0.0 else value
    if x <= 1.0:
        side, k = 0, np.uintp(_INTERVALS * x)
        q = _MIDDLES[0, k]
        u = (x - q) / (1.0 + x * q)
    else:
        side, k = 1, np.uintp(_INTERVALS / x)
        q = _MIDDLES[1, k]
        # x is split into `first` and the rest. q has eight binary digits, so its products with both parts are
        # exact.
        first = np.float64(np.float32(x))
        u = ((q * first - 1.0) + q * (x - first)) / (q + x)
    square, series = u * u, 0.0
    for n in range(_TERMS, 0, -1):
        series = series * square + (1.0 - 2.0 * (n % 2)) / (2 * n + 1)
    value = _HIGH[side, k] + (_LOW[side, k] + (u + u * (square * series)))
    return -value if a < 0.0 else value


#: The losses of gradient learners; compiled loops get a loss as its position here.
LOSSES = (
    "hinge", "squared_hinge", "modified_huber", "logistic", "sigmoid", "ramp", "unhinged", "savage",
    "tangent",
)  # fmt: skip
_HINGE, _SQUARED, _HUBER, LOGISTIC, _SIGMOID, _RAMP, _UNHINGED, _SAVAGE, _TANGENT = range(9)

#: The losses whose slope is at most 1, as coin betting requires.
BOUNDED_LOSSES = ("hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage")

#: Forms of the logistic loss for more than two classes: softmax, or with the margin over the best wrong one.
FORMS = ("softmax", "best_wrong")

# A row is skipped if the slope of its loss is above this: the slope times a feature and a step size could
# overflow. Only the squared hinge has such slopes, if the lengths of rows differ by many powers of ten.
_STEEPEST = 1e130


@register_jitable
def slope(loss, m):
    """Return ``c(m) = -dℓ/dm``, so that a row's gradient is ``-y c(m) x``; if m is NaN, return 0 or NaN."""
    if loss == _HINGE:
        return 1.0 if 1.0 - m > 0.0 else 0.0
    if loss == LOGISTIC:
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
def has_entries(x):
    """Return whether a row has a non-zero entry; ‖x‖² does not show it, because it can underflow to 0."""
    for k in range(n_entries(x)):
        _, x_j = entry(x, k)
        if x_j != 0.0:
            return True
    return False


@register_jitable
def has_gradient(c, m, x):
    """Return whether a row x of margin m has a gradient: c is not 0, NaN or too large, and x is not 0."""
    return 0.0 < abs(c) < _STEEPEST and (m != 0.0 or has_entries(x))


@register_jitable
def class_gradient(loss, softmax, s, y, x, which, factors):
    """Write the classes whose gradient is not 0 into `which`, and return their number.

    The gradient of class z is ``a_z x``; the a_z are written into `factors`. For the softmax they are
    ``p_z - [z = y]``, otherwise -c(m) for y and c(m) for the best wrong class. The result is 0 for a row of
    zeros and for a row whose scores overflowed.
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
            # The factor of class y is p_y - 1. The line after the loop computes it without cancellation,
            # as minus the sum of the other factors.
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
    """Add ``scale a_z x`` to the weights of the n classes z in `which`, with the a_z in `factors`."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        for i in range(n):
            W[j, np.uintp(which[i])] += scale * factors[i] * x_j
