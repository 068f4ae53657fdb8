"""Confidence-Weighted learning, with the variance or the standard-deviation constraint."""

import math

import numpy as np
from numba.extending import register_jitable
from scipy.special import ndtri

from .._base import OnlineClassifier
from .._covariance import (
    NOTHING_WAITS,
    finish_update,
    is_usable,
    new_covariance,
    projects_precision,
    update,
    update_and_score,
)
from .._jit import kernel
from .._parameters import check_between, check_option
from .._rows import n_rows, new_state, row

# The steps α and γ are of the order of 1/v: below this v they leave the range of float64.
_SMALLEST_VARIANCE = 1e-250
_EPSILON = float(np.finfo(np.float64).eps)


@register_jitable
def _variance_step(m, v, phi):
    """Return (α, β, γ) of the constraint ``m >= φ v`` (Dredze et al. 2008).

    The root of the quadratic is taken in the form that does not cancel, and its discriminant
    ``(1 + 2φm)² - 8φ(m - φv)`` as ``(1 - 2φm)² + 8φ²v``, which rounding cannot make negative.
    """
    b = 1.0 + 2.0 * phi * m
    root = math.sqrt((1.0 - 2.0 * phi * m) ** 2 + 8.0 * phi * phi * v)
    alpha = 2.0 * (phi * v - m) / (v * (root + b)) if b > 0.0 else (root - b) / (4.0 * phi * v)
    gamma = 2.0 * alpha * phi
    return alpha, gamma / (1.0 + gamma * v), gamma


@register_jitable
def _stdev_step(m, v, phi):
    """Return (α, β, γ) of the constraint ``m >= φ √v`` (Crammer et al. 2008).

    The step makes the margin φ√u, u being the new variance. Where that is below the rounding error of the
    old one, it cannot be told from 0: no step (α = 0).
    """
    psi = 1.0 + phi * phi / 2.0
    zeta = 1.0 + phi * phi
    root = math.sqrt(m * m * phi**4 / 4.0 + v * phi * phi * zeta)
    # For m > 0 the numerator root - mψ is multiplied by its conjugate, so that it does not cancel.
    alpha = (phi * phi * v - m * m) / (v * (root + m * psi)) if m > 0.0 else (root - m * psi) / (v * zeta)
    a = alpha * v * phi
    sqrt_u = 2.0 * v / (a + math.sqrt(a * a + 4.0 * v))
    if phi * sqrt_u <= _EPSILON * abs(m):
        alpha = 0.0
    return alpha, alpha * phi / (sqrt_u + a), alpha * phi / sqrt_u


@kernel
def _learn(X, codes, scores, mu, sigma, s, phi, stdev, precision):
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    for t in range(n_rows(X)):
        x = row(X, t)
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t], v = update_and_score(mu, sigma, s, waiting, x, True)
        waiting = NOTHING_WAITS
        m = y * scores[t]
        mistakes += not m > 0.0
        if v > _SMALLEST_VARIANCE and is_usable(v):
            alpha, beta, gamma = _stdev_step(m, v, phi) if stdev else _variance_step(m, v, phi)
            if alpha > 0.0:
                waiting = update(mu, sigma, x, s, alpha * y, beta, gamma, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


class ConfidenceWeighted(OnlineClassifier):
    """Confidence-Weighted learning: a Gaussian over weight vectors, each row right with probability η.

    Every row is fitted at any cost, so noise drives Σ towards 0; with the stdev constraint and the precision
    projection it gets there doubly exponentially. A row after which the margin would be below the rounding
    error of the one before (stdev), or whose ``v = xᵀΣx`` is below 1e-250, is passed over.

    Parameters
    ----------
    eta : float, default=0.9
        The probability, 0.5 < eta < 1; ``φ = Φ⁻¹(η)``.
    constraint : {"variance", "stdev"}, default="variance"
        ``m >= φ v`` (Dredze et al. 2008) or ``m >= φ √v`` (Crammer et al. 2008).
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix: d² work and memory.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ or of the updated Σ⁻¹.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d)
        Σ, or its diagonal; starts at 1.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Dredze, Crammer, Pereira (2008), "Confidence-weighted linear classification", ICML. Crammer, Dredze,
    Pereira (2008), "Exact convex confidence-weighted learning", NIPS.

    Examples
    --------
    >>> ConfidenceWeighted().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[0.0, 2.0]]).tolist()
    [1]
    """

    def __init__(
        self, eta=0.9, constraint="variance", covariance="diagonal", projection="covariance", epochs=1
    ):
        self.eta = eta
        self.constraint = constraint
        self.covariance = covariance
        self.projection = projection
        self.epochs = epochs

    def _check_parameters(self):
        check_between(self, "eta", 0.5, 1.0)
        check_option(self, "constraint", ("variance", "stdev"))
        check_option(self, "covariance", ("diagonal", "full"))
        check_option(self, "projection", ("covariance", "precision"))

    def _allocate(self, n_features):
        self.sigma_, self._buffer = new_covariance(self.covariance, n_features)
        self._mu = new_state(n_features)

    def _pass(self, X, codes, scores):
        phi, stdev = float(ndtri(self.eta)), self.constraint == "stdev"
        precision = projects_precision(self.projection)
        return _learn(X, codes, scores, self._mu, self.sigma_, self._buffer, phi, stdev, precision)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn's check data overlap: at η = 0.9 Σ collapses on them (at 0.7 they are learnt to 93%).
        tags.classifier_tags.poor_score = self.constraint == "stdev"
        return tags

    @property
    def coef_(self):
        return self._mu.reshape(1, -1)
