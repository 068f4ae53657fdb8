"""Functions that losses need, with the same result on every machine; those of C libraries differ."""

from numba.extending import register_jitable

from ...numeric.exponential import exponential

# Below this, exp(x) is below the normal range; it is then computed as a square.
_LOWEST = -700.0


@register_jitable
def exp_of_negative(a):
    """Return ``e^a`` for a <= 0, down to the smallest float64."""
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
        # The difference would cancel; the series neglects terms of order a⁶.
        square = a * a
        return a * (1.0 - square * (1.0 / 3.0 - square * (2.0 / 15.0)))
    e = exp_of_negative(-2.0 * abs(a))
    value = (1.0 - e) / (1.0 + e)
    return -value if a < 0.0 else value
