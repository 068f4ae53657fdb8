"""Adaptive Regularization of Weights."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import check_count_or_all, check_option, check_scale
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import n_rows, new_state, row
from .multiclass_classifier import WeightedClassifier
from .parts.classes import (
    class_covariance,
    class_variances,
    multipliers,
    new_class_covariance,
    new_class_state,
    pair_variance,
    score_classes,
    update_classes,
    update_pair,
    violated,
    weight_of,
    weights_by_code,
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
def _learn(X, codes, scores, mu, sigma, s, r_of_1, hinge, precision, weights):
    """One pass of Fig. 1 of the paper; equation numbers are those of Crammer et al. (2013)."""
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
            if is_usable(v):
                r = r_of_1 / weight_of(weights, codes[t])
                beta = 1.0 / (v + r)  # eqs. 15, 16: Σ as for the squared hinge in both
                alpha = min(1.0 / (2.0 * r), l / v) if hinge else l * beta  # eq. 23; eqs. 12, 16
                waiting = update(mu, sigma, x, s, alpha * y, beta, 1.0 / r, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, mu, sigma, s, r_of_1, hinge, precision, weights):
    """Fig. 3: the rule of two classes on Δf = f(x, y) - f(x, ỹ)."""
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
            if is_usable(v):
                r = r_of_1 / weight_of(weights, y)
                beta = 1.0 / (v + r)
                alpha = min(1.0 / (2.0 * r), l / v) if hinge else l * beta
                update_pair(mu, sigma, x, y, z, s, alpha, beta, 1.0 / r, precision)
                updates += 1
    return mistakes, updates


@learning_loop
def _learn_top_k(X, codes, scores, mu, sigma, n_constraints, r_of_1, hinge, precision, weights):
    """Fig. 2: μ by eq. 27 over the `n_constraints` best wrong classes, Σ by eqs. 29 and 30."""
    mistakes = updates = 0
    width = mu.shape[1]
    sums, variances, steps, alpha = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            class_variances(sigma, x, variances)
            if is_usable(variances[y] + variances[z]):
                r = r_of_1 / weight_of(weights, y)
                wrong = violated(f, y, n_constraints)
                n = multipliers(f, y, wrong, variances, r, hinge, alpha)
                # μ += Σ Σ_z α_z Δf_z
                steps[:] = 0.0
                for z in wrong[:n]:
                    steps[y] += alpha[z]
                    steps[z] = -alpha[z]
                update_classes(mu, sigma, x, steps, variances[: f.shape[0]].sum(), r, precision)
                updates += 1
    return mistakes, updates


class AROW(WeightedClassifier):
    """Adaptive Regularization of Weights: a Gaussian over weight vectors that yields to noise.

    On a row with hinge loss ``l = 1 - m > 0`` and ``v = xᵀΣx``: ``β = 1/(v + r)``, ``μ += l β y Σx``,
    ``Σ -= β Σx xᵀΣ``.

    With more than two classes, where f(x, z) is x in the block of class z and l the loss of the best wrong
    class ỹ, there are two updates (§3.3 of the paper). Top-1: the rule above with ``Δf = f(x, y) - f(x, ỹ)``
    for y x. Top-k: the μ of least squared distance under Σ⁻¹ plus loss over k wrong classes at once (eq. 27,
    solved exactly), and Σ along ``f = Σ_z f(x, z)`` over all classes (eqs. 29, 30): ``1/σ_zj += x_j²/r`` or,
    with projection "covariance", ``σ_zj -= σ_zj² x_j²/(Σ_u xᵀΣ_u x + r)``.

    Parameters
    ----------
    r : float, default=1.0
        Regularisation, > 0: the larger, the smaller each step. Rounding swamps Σ once ``‖x‖²/r`` comes near
        1e15: scale such features down.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        With "hinge" (AROW-H) ``μ += min(1/(2r), l/v) y Σx``, and Σ as before.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix, or (Kd, Kd) for K classes, and costs that much work and memory per row.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ (``σ_j -= β σ_j² x_j²``) or of the updated Σ⁻¹
        (``1/σ_j += x_j²/r``).
    constraints : int >= 1 or "all", default=1
        Number of best wrong classes that an update considers: top-1, top-k or all. More than one need the
        diagonal: with a full Σ that starts at I, ``Σ_z f(x, z)`` is orthogonal to every Δf. With two classes
        there is only one wrong class.
    class_weight : dict of label to float, default=None
        ω > 0 by label, 1 for those that it does not name: r becomes ``r/ω_y``, in the mean and in Σ, so that
        loss and confidence of a row count ω times.
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
    Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors", Machine Learning 91, Fig. 1,
    eqs. 12, 15, 16 and 23; multi-class: Figs. 2 and 3, eqs. 27 to 32.

    Examples
    --------
    >>> AROW(r=1.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    algorithm_version = 2

    def __init__(
        self,
        r: float = 1.0,
        loss: str = "squared_hinge",
        covariance: str = "diagonal",
        projection: str = "covariance",
        constraints: int | str = 1,
        class_weight: Mapping[Any, float] | None = None,
        epochs: int = 1,
    ) -> None:
        self.r = r
        self.loss = loss
        self.covariance = covariance
        self.projection = projection
        self.constraints = constraints
        self.class_weight = class_weight
        self.epochs = epochs

    def _check_parameters(self):
        check_scale(self, "r")
        check_option(self, "loss", ("squared_hinge", "hinge"))
        check_covariance(self)
        check_count_or_all(self, "constraints")
        if self.covariance == "full" and self.constraints != 1:
            raise ValueError(
                f"AROW: constraints must be 1 with covariance='full', got {self.constraints!r}; "
                "more of them need covariance='diagonal'"
            )

    _state = ("_weights", "_sigma", "_buffer")

    def _allocate(self, n_features):
        self._sigma, self._buffer = new_covariance(self.covariance, n_features)
        self._weights = new_state(n_features)

    def _allocate_classes(self, n_features, n_classes):
        self._sigma, self._buffer = new_class_covariance(self.covariance, n_features, n_classes)
        self._weights = new_class_state(n_features, n_classes)

    def _loop(self):
        state = self._weights, self._sigma, self._buffer
        return _learn, (*state, *self._rule())

    def _loop_of_classes(self):
        if self.constraints == 1:
            state = self._weights, self._sigma, self._buffer
            return _learn_classes, (*state, *self._rule())
        if self._sigma.ndim == 3:
            raise ValueError(
                "AROW: constraints must be 1 for a model begun with covariance='full', got "
                f"{self.constraints!r}; more of them need fit() with covariance='diagonal'"
            )
        n_wrong = len(self.classes_) - 1
        k = n_wrong if self.constraints == "all" else min(int(self.constraints), n_wrong)
        return _learn_top_k, (self._weights, self._sigma, k, *self._rule())

    def _rule(self):
        hinge, precision = self.loss == "hinge", projects_precision(self.projection)
        return float(self.r), hinge, precision, weights_by_code(self)

    @property
    def sigma_(self) -> NDArray[np.float64]:
        if self._weights.ndim == 2:
            return class_covariance(self._sigma, len(self.classes_))
        return covariance_matrix(self._sigma)
