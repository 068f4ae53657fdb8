"""The arc tangent from a table and a short series, with the same result on every machine.

C libraries differ in the last bit. With q near x, ``atan x = atan q + atan((x - q)/(1 + q x))``. The q are
the middles of 128 intervals between 0 and 1, and atan q is stored with twice the digits. The error is at most
0.58 units in the last place. Among equally accurate arrangements this one rounds like the C library that made
the golden run of the tangent loss. That run is chaotic: it diverges if its 631st arc tangent, which is 0.4997
units from the float64 above, is rounded up.
"""

import numpy as np
from numba.extending import register_jitable

_INTERVALS = 128
# Intervals without a table, for x and for 1/x: their numerators x - q would cancel digits of the result. That
# includes the interval of x that begins at 1/16, since up to tan(1/16) the result has smaller units than x.
_WITHOUT = (9, 8)
# |u| is at most 9/128, so the next term, u¹⁷/17, would add 2e-20 of u.
_TERMS = 7
# The table is computed in integers, in units of 2^-120.
_BITS = 120


def _of_ratio(numerator, denominator):
    """Return atan of a ratio of at most 1/128, in units of 2^-120, by its series."""
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
    """Return q, and the high and low parts of atan q (first rows) and of π/2 - atan q (second)."""
    size = 2 * _INTERVALS
    # The addition theorem leads from one middle to the next, and finally from the last middle to 1.
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
    """Return ``atan a``."""
    x = abs(a)
    if not x < 1e19:  # π/2 to the last bit, and NaN
        value = _HIGH[1, 0] if x == x else x
        return -value if a < 0.0 else value
    if x <= 1.0:
        side, k = 0, np.uintp(_INTERVALS * x)
        q = _MIDDLES[0, k]
        u = (x - q) / (1.0 + x * q)
    else:
        side, k = 1, np.uintp(_INTERVALS / x)
        q = _MIDDLES[1, k]
        # q has eight digits, so its products with either part of x are exact.
        first = np.float64(np.float32(x))
        u = ((q * first - 1.0) + q * (x - first)) / (q + x)
    square, series = u * u, 0.0
    for n in range(_TERMS, 0, -1):
        series = series * square + (1.0 - 2.0 * (n % 2)) / (2 * n + 1)
    value = _HIGH[side, k] + (_LOW[side, k] + (u + u * (square * series)))
    return -value if a < 0.0 else value
