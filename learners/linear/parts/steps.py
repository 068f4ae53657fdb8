"""The steps of Confidence-Weighted learning, also used by Soft Confidence-Weighted learning."""

import math

import numpy as np
from numba.extending import register_jitable

from ...numeric.floats import EPSILON

# The steps α and γ are of the order of 1/v, which overflows for smaller v.
SMALLEST_VARIANCE = 1e-250


@register_jitable
def variance_step(m, v, phi):
    """Return (α, β, γ) of the constraint ``m >= φ v`` (Dredze et al. 2008).

    The root of the quadratic is computed in the form that does not cancel, and its discriminant
    ``(1 + 2φm)² - 8φ(m - φv)`` as ``(1 - 2φm)² + 8φ²v``, which rounding cannot make negative.
    """
    b = 1.0 + 2.0 * phi * m
    root = math.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
    alpha = 2.0 * (phi * v - m) / (v * (root + b)) if b > 0.0 else (root - b) / (4.0 * phi * v)
    gamma = 2.0 * alpha * phi
    return alpha, gamma / (1.0 + gamma * v), gamma


@register_jitable
def stdev_alpha(m, v, phi):
    """Return α of the constraint ``m >= φ √v`` (Crammer et al. 2008)."""
    psi = 1.0 + phi * phi / 2.0
    zeta = 1.0 + phi * phi
    root = math.sqrt(m * m * phi**4 / 4.0 + v * phi * phi * zeta)
    # For m > 0 the numerator root - mψ is multiplied by its conjugate to avoid cancellation.
    return (phi * phi * v - m * m) / (v * (root + m * psi)) if m > 0.0 else (root - m * psi) / (v * zeta)


@register_jitable
def stdev_shrinkage(alpha, m, v, phi):
    """Return (α, β, γ) of a step α from `stdev_alpha`.

    The step makes the margin φ√u, where u is the new variance. If u is below the rounding error of the
    old variance, there is no step (α = 0).
    """
    a = alpha * v * phi
    sqrt_u = 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))
    if phi * sqrt_u <= EPSILON * abs(m):
        alpha = 0.0
    return alpha, alpha * phi / (sqrt_u + a), alpha * phi / sqrt_u


@register_jitable
def stdev_step(m, v, phi):
    """Return (α, β, γ) of the constraint ``m >= φ √v``: `stdev_alpha` and `stdev_shrinkage`."""
    return stdev_shrinkage(stdev_alpha(m, v, phi), m, v, phi)


@register_jitable
def is_step(alpha, gamma):
    """Return whether there is a step (α > 0) and it is finite.

    A margin that overflowed, or a large margin with a tiny v, makes α or γ overflow. Then μ or Σ would
    become NaN for good.
    """
    return 0.0 < alpha < np.inf and gamma < np.inf
