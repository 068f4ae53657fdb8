"""Functions of one number that losses are made of, the same on every machine: the C library's are not."""

from numba.extending import register_jitable

from ...numeric.exponential import exponential

# exp(x) of less is below the normal range; it is then taken as a square.
_LOWEST = -700.0

# fdlibm's arc tangent (Sun Microsystems 1993): atan of 0.5, 1, 1.5 and ∞ with what rounding left of each, and
# the polynomial between them.
_HIGH = (
    4.63647609000806093515e-01,
    7.85398163397448278999e-01,
    9.82793723247329054082e-01,
    1.57079632679489655800,
)
_LOW = (
    2.26987774529616870924e-17,
    3.06161699786838301793e-17,
    1.39033110312309984516e-17,
    6.12323399573676603587e-17,
)
_EVEN = (
    3.33333333333329318027e-01, 1.42857142725034663711e-01, 9.09088713343650656196e-02,
    6.66107313738753120669e-02, 4.97687799461593236017e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_ODD = (
    -1.99999999998764832476e-01, -1.11111104054623557880e-01, -7.69187620504482999495e-02,
    -5.83357013379057348645e-02, -3.65315727442169155270e-02,
)  # fmt: skip


@register_jitable
def exp_of_negative(a):
    """Return ``e^a`` of an a <= 0, down to the smallest float64."""
    if a < _LOWEST:
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
        # The difference would cancel; what the series leaves out is of order a⁶.
        square = a * a
        return a * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)))
    e = exp_of_negative(-2.0 * abs(a))
    value = (1.0 - e) / (1.0 + e)
    return -value if a < 0.0 else value


@register_jitable
def arc_tangent(a):
    """Return ``atan a``."""
    x = abs(a)
    if not x < 1e19:  # π/2 to the last bit, and NaN
        value = _HIGH[3] if x == x else x
        return -value if a < 0.0 else value
    if x < 0.4375:
        place = -1
    elif x < 0.6875:
        place, x = 0, (2.0 * x - 1.0) / (2.0 + x)
    elif x < 1.1875:
        place, x = 1, (x - 1.0) / (x + 1.0)
    elif x < 2.4375:
        place, x = 2, (x - 1.5) / (1.0 + 1.5 * x)
    else:
        place, x = 3, -1.0 / x
    z = x * x
    w = z * z
    even = odd = 0.0
    for k in range(6):
        even = _EVEN[5 - k] + w * even
    for k in range(5):
        odd = _ODD[4 - k] + w * odd
    rest = x * (z * even + w * odd)
    value = x - rest if place < 0 else _HIGH[place] - ((rest - _LOW[place]) - x)
    return -value if a < 0.0 else value
