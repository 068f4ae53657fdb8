"""Soft Confidence-Weighted learning (SCW-I and SCW-II)."""

import math

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray
from scipy.special import ndtri

from ..estimator.parameters import check_between, check_option, check_positive
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import n_rows, new_state, row
from .confidence_weighted import SMALLEST_VARIANCE, is_step, stdev_alpha, stdev_shrinkage
from .multiclass_classifier import MulticlassClassifier
from .parts.classes import (
    class_covariance,
    new_class_covariance,
    new_class_state,
    pair_variance,
    score_classes,
    update_pair,
)
from .parts.covariance import (
    NOTHING_WAITS,
    check_covariance,
    covariance_matrix,
    finish_update,
    is_usable,
    new_covariance,
    projects_precision,
    update,
    update_and_score,
)


@register_jitable
def _shrinkage(alpha, v, phi):
    """Return (β, γ) of a step α: ``β = αφ/(√u + αvφ)`` and ``γ = αφ/√u``, u being the new variance."""
    a = alpha * v * phi
    sqrt_u = 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))
    return alpha * phi / (sqrt_u + a), alpha * phi / sqrt_u


@register_jitable
def _capped_step(m, v, phi, C):
    """Return (α, β, γ) of SCW-I: the step of CW, but no longer than C."""
    alpha = stdev_alpha(m, v, phi)
    if alpha > C:
        # Its margin stays away from φ√u: nothing is lost in rounding.
        beta, gamma = _shrinkage(C, v, phi)
        return C, beta, gamma
    return stdev_shrinkage(alpha, m, v, phi)


@register_jitable
def _slack_step(m, v, phi, slack):
    """Return (α, β, γ) of SCW-II; `slack` is 1/(2C), ``n = v + slack``, and `q` is n/v.

    The paper's γ and its quadratic are divided by v, so that no v³ overflows; for m > 0 the root is taken in
    the form that does not cancel.
    """
    n = v + slack
    q = n / v
    b = m * (2.0 * q + phi * phi)
    root = phi * math.sqrt(phi * phi * m * m + 4.0 * n * (q + phi * phi))
    if m > 0.0:
        alpha = 2.0 * (phi * phi * v - m * m) / (v * (root + b))
    else:
        alpha = (root - b) / (2.0 * n * (q + phi * phi))
    beta, gamma = _shrinkage(alpha, v, phi)
    return alpha, beta, gamma


@learning_loop
def _learn(X, codes, scores, mu, sigma, s, phi, C, capped, precision):
    """One pass of Wang, Zhao, Hoi (2012): SCW-I if `capped`, else SCW-II."""
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], v, waiting = update_and_score(mu, sigma, s, waiting, x, True)
        m = y * scores[t]
        mistakes += not m > 0.0
        if v > SMALLEST_VARIANCE and is_usable(v):
            alpha, beta, gamma = _capped_step(m, v, phi, C) if capped else _slack_step(m, v, phi, 0.5 / C)
            # α > 0 where the loss φ√v - m is.
            if is_step(alpha, gamma):
                waiting = update(mu, sigma, x, s, alpha * y, beta, gamma, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, mu, sigma, s, phi, C, capped, precision):
    """The step along Δf = f(x, y) - f(x, ỹ), with v = ΔfᵀΣΔf."""
    mistakes = updates = 0
    sums = np.empty(mu.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        v = pair_variance(sigma, x, y, z, s)
        if v > SMALLEST_VARIANCE and is_usable(v):
            alpha, beta, gamma = _capped_step(m, v, phi, C) if capped else _slack_step(m, v, phi, 0.5 / C)
            if is_step(alpha, gamma):
                update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision)
                updates += 1
    return mistakes, updates


class SoftConfidenceWeighted(MulticlassClassifier):
    """Soft Confidence-Weighted learning: CW that may leave a row wrong where it would cost too much.

    With ``v = xᵀΣx`` the loss is ``φ√v - m``. If it is positive, ``μ += α y Σx`` and ``Σ -= β Σx xᵀΣ`` with
    ``β = αφ/(√u + αvφ)``, ``√u = (-αvφ + √(α²v²φ² + 4v))/2``.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class.

    Parameters
    ----------
    variant : {"SCW-I", "SCW-II"}, default="SCW-I"
        α is that of `ConfidenceWeighted` with the stdev constraint, but at most C (SCW-I), or that of a
        squared loss, ``α = (-m(2n + φ²v) + γ)/(2(n² + nvφ²))`` where ``n = v + 1/(2C)`` and
        ``γ = φ√(φ²m²v² + 4nv(n + vφ²))`` (SCW-II). LIBOL's SCW-II has 2v and 2φ where the squares are.
    eta : float, default=0.9
        The probability with which a row shall be right, 0.5 < eta < 1; ``φ = Φ⁻¹(η)``.
    C : float, default=1.0
        Aggressiveness, > 0; without limit both variants are CW.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix, or (Kd, Kd) for K classes, and costs that much work and memory per row.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ or of the updated Σ⁻¹ (``1/σ_j += αφ/√u x_j²``).
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
    A row whose v is below 1e-250 or whose step overflows is passed over, and with SCW-I, where α is below C,
    what `ConfidenceWeighted` passes over.

    LIBOL's multi-class files share one (d, d) Σ among the classes and take ``v = xᵀΣx``, which Δf has twice;
    its SCW-I has ``1 + φ²/2`` where the binary rule has ``1 + φ²``, its SCW-II both v and 2v.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Wang, Zhao, Hoi (2012), "Exact soft confidence-weighted learning", ICML.

    Examples
    --------
    >>> SoftConfidenceWeighted(C=0.5).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    algorithm_version = 2

    def __init__(
        self,
        variant: str = "SCW-I",
        eta: float = 0.9,
        C: float = 1.0,
        covariance: str = "diagonal",
        projection: str = "covariance",
        epochs: int = 1,
    ) -> None:
        self.variant = variant
        self.eta = eta
        self.C = C
        self.covariance = covariance
        self.projection = projection
        self.epochs = epochs

    def _check_parameters(self):
        check_option(self, "variant", ("SCW-I", "SCW-II"))
        check_between(self, "eta", 0.5, 1.0)
        check_positive(self, "C")
        check_covariance(self)

    _state = ("_weights", "_sigma", "_buffer")

    def _allocate(self, n_features):
        self._sigma, self._buffer = new_covariance(self.covariance, n_features)
        self._weights = new_state(n_features)

    def _allocate_classes(self, n_features, n_classes):
        self._sigma, self._buffer = new_class_covariance(self.covariance, n_features, n_classes)
        self._weights = new_class_state(n_features, n_classes)

    def _loop(self):
        return _learn, self._state_and_rule()

    def _loop_of_classes(self):
        return _learn_classes, self._state_and_rule()

    def _state_and_rule(self):
        phi, C, capped = float(ndtri(self.eta)), float(self.C), self.variant == "SCW-I"
        precision = projects_precision(self.projection)
        return self._weights, self._sigma, self._buffer, phi, C, capped, precision

    @property
    def sigma_(self) -> NDArray[np.float64]:
        if self._weights.ndim == 2:
            return class_covariance(self._sigma, len(self.classes_))
        return covariance_matrix(self._sigma)
