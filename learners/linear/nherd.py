"""Normal Herd (NHERD)."""

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import check_scale
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import n_rows, new_state, row
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
    variance_at_hand,
)


@learning_loop
def _learn(X, codes, scores, mu, sigma, s, C, precision):
    """One pass of Crammer & Lee (2010)."""
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], v, waiting = update_and_score(mu, sigma, s, waiting, x, False)
        m = y * scores[t]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            v = variance_at_hand(v, sigma, x, s)
            q = 1.0 + C * v
            gamma = C * (1.0 + q)
            # A γ that overflowed would leave NaN in a variance of 0 for good.
            if is_usable(v) and gamma < np.inf:
                alpha = l / (v + 1.0 / C)
                beta = (C / q) * (1.0 + 1.0 / q)  # (C²v + 2C)/(1 + Cv)², which squares nothing large
                waiting = update(mu, sigma, x, s, alpha * y, beta, gamma, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, mu, sigma, s, C, precision):
    """The step along Δf = f(x, y) - f(x, ỹ), with v = ΔfᵀΣΔf."""
    mistakes = updates = 0
    sums = np.empty(mu.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            v = pair_variance(sigma, x, y, z, s)
            q = 1.0 + C * v
            gamma = C * (1.0 + q)
            if is_usable(v) and gamma < np.inf:
                alpha = l / (v + 1.0 / C)
                beta = (C / q) * (1.0 + 1.0 / q)
                update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision)
                updates += 1
    return mistakes, updates


class NHERD(MulticlassClassifier):
    """Normal Herd: a Gaussian over weight vectors, every one of which is moved towards the row's margin.

    On a row with hinge loss ``l = 1 - m > 0`` and ``v = xᵀΣx``: ``μ += l/(v + 1/C) y Σx``,
    ``Σ -= (C²v + 2C)/(1 + Cv)² Σx xᵀΣ``, that is ``Σ⁻¹ += (C²v + 2C) x xᵀ``. The mean moves as AROW's with
    r = 1/C, the covariance shrinks faster.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class. The paper has two classes only, and so has LIBOL.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0. Rounding swamps a full Σ once ``C ‖x‖²`` comes near 1e15: scale such features
        down.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix, or (Kd, Kd) for K classes, and costs that much work and memory per row.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ (the paper's "drop",
        ``σ_j -= (C²v + 2C)/(1 + Cv)² σ_j² x_j²``) or of the updated Σ⁻¹ (its "project",
        ``1/σ_j += (C²v + 2C) x_j²``). Its third, "exact", is not offered.
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
    Crammer, Lee (2010), "Learning via Gaussian herding", NIPS.

    Examples
    --------
    >>> model = NHERD().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> model.coef_.tolist(), model.sigma_.tolist()
    ([[-0.5, 0.5]], [0.25, 0.25])
    """

    algorithm_version = 2

    def __init__(
        self,
        C: float = 1.0,
        covariance: str = "diagonal",
        projection: str = "covariance",
        epochs: int = 1,
    ) -> None:
        self.C = C
        self.covariance = covariance
        self.projection = projection
        self.epochs = epochs

    def _check_parameters(self):
        check_scale(self, "C")
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
        precision = projects_precision(self.projection)
        return self._weights, self._sigma, self._buffer, float(self.C), precision

    @property
    def sigma_(self) -> NDArray[np.float64]:
        if self._weights.ndim == 2:
            return class_covariance(self._sigma, len(self.classes_))
        return covariance_matrix(self._sigma)
