"""Step sizes of gradient descent."""

import math

from numba.extending import register_jitable

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
