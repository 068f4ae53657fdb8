"""Confidence-Weighted learning, and its step sizes, which Soft Confidence-Weighted learning uses too."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np
from scipy.special import ndtri

from ..estimator.parameters import between
from ..numeric.compiled import register_jitable
from ..numeric.lanes import invert, where
from ..numeric.vector import EPSILON
from .gaussian import GaussianClassifier
from .parts.covariance import Projection, Shape

# Rows with a variance v of at most this cause no update: the step sizes grow like 1/v, and could overflow.
_SMALLEST_VARIANCE = 1e-250


@register_jitable
def variance_step(m, v, phi):
    """Return the step sizes (α, β, γ) of μ, Σ and Σ⁻¹ for the constraint ``m >= φ v`` (Dredze et al. 2008).

    m is the row's margin, v its variance. α is the root of a quadratic equation, computed by the formula that
    avoids cancellation. The discriminant ``(1 + 2φm)² - 8φ(m - φv)`` is computed as ``(1 - 2φm)² + 8φ²v``,
    which rounding cannot make negative.
    """
    b = 1.0 + 2.0 * phi * m
    a = 1.0 - 2.0 * phi * m
    root = math.sqrt(a * a + 8.0 * phi * phi * v)
    alpha = where(b > 0.0, 2.0 * (phi * v - m) / (v * (root + b)), (root - b) / (4.0 * phi * v))
    gamma = 2.0 * alpha * phi
    return alpha, gamma / (1.0 + gamma * v), gamma


@register_jitable
def stdev_alpha(m, v, phi):
    """Return the step size α of the mean for the constraint ``m >= φ √v`` (Crammer et al. 2008)."""
    psi = 1.0 + phi * phi / 2.0
    zeta = 1.0 + phi * phi
    root = math.sqrt(m * m * ((phi * phi) * (phi * phi)) / 4.0 + v * phi * phi * zeta)
    # For m > 0 the difference root - mψ in α would lose digits to cancellation. So the numerator and the
    # denominator of α are multiplied by root + mψ.
    positive = (phi * phi * v - m * m) / (v * (root + m * psi))
    return where(m > 0.0, positive, (root - m * psi) / (v * zeta))


@register_jitable
def stdev_shrinkage(alpha, m, v, phi, is_reduced=False):
    """Return the step sizes (α, β, γ) of μ, Σ and Σ⁻¹ for the constraint ``m >= φ √v``, given `alpha`.

    After the step the margin is φ√u, where u is the new variance. If φ√u is below the rounding error of the
    old margin m, there is no step (α = 0). This is not tested if `is_reduced`: SCW has reduced α, and the
    margin after the step is smaller than φ√u.
    """
    a = alpha * v * phi
    sqrt_u = 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))
    is_lost = invert(is_reduced) & (phi * sqrt_u <= EPSILON * abs(m))
    alpha = where(is_lost, 0.0, alpha)
    return alpha, alpha * phi / (sqrt_u + a), alpha * phi / sqrt_u


@register_jitable
def is_step(v, alpha, gamma):
    """Return whether to make an update: α > 0, the step sizes α and γ are finite, and v is not tiny.

    A margin that overflowed, or a large margin with a tiny variance v, makes α or γ overflow. An update would
    then make the mean or the covariance NaN for good.
    """
    return (v > _SMALLEST_VARIANCE) & (alpha > 0.0) & (alpha < np.inf) & (gamma < np.inf)


class CWRule(NamedTuple):
    """The rule of `ConfidenceWeighted`, with the constraint ``m >= φ √v`` if `stdev`, else ``m >= φ v``."""

    phi: float
    stdev: bool

    def step(self, m, v, weight):
        """Return ``(is_update, α, β, γ)``: the step sizes of μ, Σ and Σ⁻¹ for margin m and variance v."""
        if self.stdev:
            alpha, beta, gamma = stdev_shrinkage(stdev_alpha(m, v, self.phi), m, v, self.phi)
        else:
            alpha, beta, gamma = variance_step(m, v, self.phi)
        return is_step(v, alpha, gamma), alpha, beta, gamma


@dataclass(eq=False, repr=False)
class ConfidenceWeighted(GaussianClassifier):
    """Confidence-Weighted learning: a Gaussian over weights, right on the last row with probability η.

    Every row is fitted at any cost, so noise drives Σ towards 0; with the stdev constraint and the precision
    projection Σ shrinks doubly exponentially. A row is skipped if its new margin would be below the rounding
    error of the old one (stdev), if ``v = xᵀΣx`` is below 1e-250, or if its step overflows.

    The margin of a row is ``m = y μ·x`` with its label y (±1). With more than two classes
    ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the block of class z and ỹ the
    best wrong class.

    Parameters
    ----------
    eta : float, default=0.9
        The probability that a row is right after its update, 0.5 < eta < 1; ``φ = Φ⁻¹(η)``.
    constraint : {"variance", "stdev"}, default="variance"
        ``m >= φ v`` (Dredze et al. 2008) or ``m >= φ √v`` (Crammer et al. 2008).
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" stores a (d, d) matrix, or (Kd, Kd) for K classes; memory and time per row grow with its size.
    projection : {"covariance", "precision"}, default="covariance"
        For a diagonal Σ: keep the diagonal of the updated Σ or that of the updated Σ⁻¹.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
        Σ, or its diagonal; starts at 1.

    References
    ----------
    Dredze, Crammer, Pereira (2008), "Confidence-weighted linear classification", ICML. Crammer, Dredze,
    Pereira (2008), "Exact convex confidence-weighted learning", NIPS.

    Examples
    --------
    >>> ConfidenceWeighted().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[0.0, 2.0]]).tolist()
    [1]
    """

    eta: Annotated[float, between(0.5, 1.0)] = 0.9
    constraint: Literal["variance", "stdev"] = "variance"
    covariance: Shape = "diagonal"
    projection: Projection = "covariance"
    epochs: int = 1

    def _rule(self):
        return CWRule(float(ndtri(float(self.eta))), self.constraint == "stdev")

    @property
    def _scores_poorly(self):
        # The classes of scikit-learn's data overlap. With η = 0.9 the stdev constraint then shrinks Σ to
        # almost 0. (With η = 0.7, 93% of the rows are right.)
        return self.constraint == "stdev"
