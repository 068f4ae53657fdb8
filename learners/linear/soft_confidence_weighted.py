"""Soft Confidence-Weighted learning (SCW-I and SCW-II)."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from scipy.special import ndtri

from ..estimator.parameters import between
from ..numeric.compiled import register_jitable
from ..numeric.lanes import where
from .confidence_weighted import is_step, stdev_alpha, stdev_shrinkage
from .gaussian import GaussianClassifier
from .parts.covariance import Projection, Shape


@register_jitable
def _capped_step(m, v, phi, C):
    """Return the step sizes (α, β, γ) of SCW-I, where α is that of `ConfidenceWeighted` but at most C."""
    alpha = stdev_alpha(m, v, phi)
    is_capped = alpha > C
    return stdev_shrinkage(where(is_capped, C, alpha), m, v, phi, is_capped)


@register_jitable
def _slack_step(m, v, phi, slack):
    """Return the step sizes (α, β, γ) of SCW-II; `slack` is 1/(2C), ``n = v + slack``, and `q` is n/v.

    α is the root of a quadratic equation. The paper's formulas for it are divided by v, so that v³ cannot
    overflow. For m > 0 the root is computed by the formula that avoids cancellation.
    """
    n = v + slack
    q = n / v
    b = m * (2.0 * q + phi * phi)
    root = phi * math.sqrt(phi * phi * m * m + 4.0 * n * (q + phi * phi))
    positive = 2.0 * (phi * phi * v - m * m) / (v * (root + b))
    alpha = where(m > 0.0, positive, (root - b) / (2.0 * n * (q + phi * phi)))
    return stdev_shrinkage(alpha, m, v, phi, True)


class SCWRule(NamedTuple):
    """The rule of SCW-I if `capped` (its steps α are at most C), else of SCW-II; `phi` is Φ⁻¹(η)."""

    phi: float
    C: float
    capped: bool

    def step(self, m, v, weight):
        """Return ``(is_update, α, β, γ)``, the step sizes of μ, Σ and Σ⁻¹; only rows with m < φ√v update."""
        if self.capped:
            alpha, beta, gamma = _capped_step(m, v, self.phi, self.C)
        else:
            alpha, beta, gamma = _slack_step(m, v, self.phi, 0.5 / self.C)
        return is_step(v, alpha, gamma), alpha, beta, gamma


@dataclass(eq=False, repr=False)
class SoftConfidenceWeighted(GaussianClassifier):
    """Soft Confidence-Weighted learning: CW that leaves a row wrong if correcting it would cost too much.

    On a row x with label y (±1), margin ``m = y μ·x`` and ``v = xᵀΣx`` the loss is ``φ√v - m``. If it is
    positive, ``μ += α y Σx`` and ``Σ -= β Σx xᵀΣ`` with ``β = αφ/(√u + αvφ)``,
    ``√u = (-αvφ + √(α²v²φ² + 4v))/2``.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class.

    Parameters
    ----------
    variant : {"SCW-I", "SCW-II"}, default="SCW-I"
        α is that of `ConfidenceWeighted` with the stdev constraint, but at most C (SCW-I), or that of a
        squared loss, ``α = (-m(2n + φ²v) + γ)/(2(n² + nvφ²))`` where ``n = v + 1/(2C)`` and
        ``γ = φ√(φ²m²v² + 4nv(n + vφ²))`` (SCW-II). LIBOL's SCW-II has 2v and 2φ in place of v² and φ².
    eta : float, default=0.9
        The probability that a row is right after its update, 0.5 < eta < 1; ``φ = Φ⁻¹(η)``.
    C : float, default=1.0
        Aggressiveness, > 0; as C grows, both variants approach CW.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" stores a (d, d) matrix, or (Kd, Kd) for K classes; memory and time per row grow with its size.
    projection : {"covariance", "precision"}, default="covariance"
        For a diagonal Σ: keep the diagonal of the updated Σ or that of the updated Σ⁻¹
        (``1/σ_j += αφ/√u x_j²``).
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
        Σ, or its diagonal; starts at 1.

    Notes
    -----
    A row whose v is below 1e-250 or whose step overflows is skipped. If α is below C, SCW-I also skips the
    rows that `ConfidenceWeighted` skips.

    LIBOL's multi-class programs have one (d, d) Σ for all classes and take ``v = xᵀΣx``, half the variance of
    Δf; their SCW-I has ``1 + φ²/2`` where the binary rule has ``1 + φ²``, their SCW-II both v and 2v.

    References
    ----------
    Wang, Zhao, Hoi (2012), "Exact soft confidence-weighted learning", ICML.

    Examples
    --------
    >>> SoftConfidenceWeighted(C=0.5).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    variant: Literal["SCW-I", "SCW-II"] = "SCW-I"
    eta: Annotated[float, between(0.5, 1.0)] = 0.9
    # With a smaller C, the square of 1/(2C) overflows.
    C: Annotated[float, between(1e-150, math.inf)] = 1.0
    covariance: Shape = "diagonal"
    projection: Projection = "covariance"
    epochs: int = 1

    def _rule(self):
        return SCWRule(float(ndtri(float(self.eta))), float(self.C), self.variant == "SCW-I")
