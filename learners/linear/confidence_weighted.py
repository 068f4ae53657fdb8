"""Confidence-Weighted learning, and its step sizes, which Soft Confidence-Weighted learning uses too."""

from __future__ import annotations

import math

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray
from scipy.special import ndtri

from ..estimator.parameters import check_between, check_option
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import n_rows, new_state, row
from ..numeric.vector import EPSILON
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


@learning_loop
def _learn(X, codes, scores, mu, sigma, s, phi, stdev, precision):
    """One pass of either paper."""
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], v, waiting = update_and_score(mu, sigma, s, waiting, x, True)
        m = y * scores[t]
        mistakes += not m > 0.0
        if v > SMALLEST_VARIANCE and is_usable(v):
            alpha, beta, gamma = stdev_step(m, v, phi) if stdev else variance_step(m, v, phi)
            if is_step(alpha, gamma):
                waiting = update(mu, sigma, x, s, alpha * y, beta, gamma, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, mu, sigma, s, phi, stdev, precision):
    """The step along Δf = f(x, y) - f(x, ỹ), whose variance v is, of a diagonal, the sum over both blocks."""
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
            alpha, beta, gamma = stdev_step(m, v, phi) if stdev else variance_step(m, v, phi)
            if is_step(alpha, gamma):
                update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision)
                updates += 1
    return mistakes, updates


class ConfidenceWeighted(MulticlassClassifier):
    """Confidence-Weighted learning: a Gaussian over weight vectors, each row right with probability η.

    Every row is fitted at any cost, so noise drives Σ towards 0; with the stdev constraint and the precision
    projection it gets there doubly exponentially. A row after which the margin would be below the rounding
    error of the one before (stdev), whose ``v = xᵀΣx`` is below 1e-250, or whose step overflows, is passed
    over.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class.

    Parameters
    ----------
    eta : float, default=0.9
        The probability, 0.5 < eta < 1; ``φ = Φ⁻¹(η)``.
    constraint : {"variance", "stdev"}, default="variance"
        ``m >= φ v`` (Dredze et al. 2008) or ``m >= φ √v`` (Crammer et al. 2008).
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix, or (Kd, Kd) for K classes, and costs that much work and memory per row.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ or of the updated Σ⁻¹.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
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

    algorithm_version = 2

    def __init__(
        self,
        eta: float = 0.9,
        constraint: str = "variance",
        covariance: str = "diagonal",
        projection: str = "covariance",
        epochs: int = 1,
    ) -> None:
        self.eta = eta
        self.constraint = constraint
        self.covariance = covariance
        self.projection = projection
        self.epochs = epochs

    def _check_parameters(self):
        check_between(self, "eta", 0.5, 1.0)
        check_option(self, "constraint", ("variance", "stdev"))
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
        phi, stdev = float(ndtri(self.eta)), self.constraint == "stdev"
        return self._weights, self._sigma, self._buffer, phi, stdev, projects_precision(self.projection)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # scikit-learn's check data overlap: at η = 0.9 Σ collapses on them (at 0.7 they are learnt to 93%).
        tags.classifier_tags.poor_score = self.constraint == "stdev"
        return tags

    @property
    def sigma_(self) -> NDArray[np.float64]:
        if self._weights.ndim == 2:
            return class_covariance(self._sigma, len(self.classes_))
        return covariance_matrix(self._sigma)
