"""Online gradient descent on a loss of the margin, with an L2 norm, a mean and AdaGrad's steps if wanted."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...estimator.parameters import check_bool, check_nonnegative, check_option, check_positive
from ..linear_classifier import LinearClassifier
from ..multiclass_classifier import WeightedClassifier, as_coef
from ..parts.classes import new_class_state, weights_by_code
from ..parts.descent import (
    RATES,
    learn,
    learn_adaptively,
    learn_classes,
    learn_classes_adaptively,
    score_rows,
    score_rows_of_classes,
)
from ..parts.losses import FORMS, LOSSES


class GradientDescent(LinearClassifier):
    """Base of what descends along gradients: its parameters, its state and its loops of two classes."""

    loss: str
    eta: float
    rate: str
    average: bool
    l2: float
    delta: float

    def _check_parameters(self):
        check_option(self, "loss", LOSSES)
        check_positive(self, "eta")
        check_option(self, "rate", RATES)
        check_bool(self, "average")
        check_nonnegative(self, "l2")
        check_nonnegative(self, "delta")

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores are log odds, so that predictions have probabilities."""
        return self.loss == "logistic"

    _state = ("_weights", "_u", "_G", "_scalars")

    def _allocate(self, n_features):
        self._begin_with(np.zeros(n_features))

    def _begin_with(self, zeros):
        # What the state is of is fixed: a mean or sums of squares cannot be begun in the middle of a stream.
        self._weights = zeros
        self._u = np.zeros_like(zeros) if self.average else None
        self._G = np.zeros_like(zeros) if self.rate == "adagrad" else None
        # The scale of the weights, and the sum of the scales so far.
        self._scalars = np.array([1.0, 0.0])

    def _factors(self):
        """Return, by code, what the slopes of the label and of the other one are multiplied by."""
        return np.array([[1.0, 0.0], [1.0, 0.0]])

    def _loop(self):
        loss = LOSSES.index(self.loss)
        u, eta, l2, rounds = self._u_or_empty(), float(self.eta), float(self.l2), np.array([self.n_examples_])
        if self._G is not None:
            return learn_adaptively, (
                self._weights, u, self._G, self._factors(), loss, eta, l2, float(self.delta), rounds
            )  # fmt: skip
        falls = self.rate != "constant"
        return learn, (self._weights, u, self._scalars, self._factors(), loss, falls, eta, l2, rounds)

    def _u_or_empty(self):
        return np.empty((0,) * self._weights.ndim) if self._u is None else self._u

    def _scales(self):
        """Return the scale of the weights and the sum of the scales so far."""
        return (1.0, float(self.n_examples_)) if self._G is not None else self._scalars.tolist()

    def _score(self, X, scores):
        score_rows(X, self._weights, self._u_or_empty(), *self._scales(), self.n_examples_, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        scale, scales = self._scales()
        weights = scale * self._weights
        if self._u is not None:
            weights = (scales * self._weights - self._u) / max(self.n_examples_, 1)
        return as_coef(weights, len(self.classes_))


class OnlineGradientDescent(GradientDescent, WeightedClassifier):
    """Online gradient descent: ``w -= η_t g`` with ``g = -y c(m) x + λ w``.

    c is the slope of a loss ℓ of the margin m, ``c(m) = -dℓ/dm``:

    ================ ================================= ==========================================
    loss             ℓ(m)                              c(m)
    ================ ================================= ==========================================
    "hinge"          max(0, 1 - m)                     1 where m < 1, else 0
    "squared_hinge"  max(0, 1 - m)²                    2 max(0, 1 - m)
    "modified_huber" the same, and -4m where m < -1    the same, and 4 where m < -1
    "logistic"       log(1 + e^-m)                     σ(-m)
    "sigmoid"        σ(-m)                             σ(m) σ(-m)
    "ramp"           min(2, max(0, 1 - m))             1 where -1 <= m < 1, else 0
    "unhinged"       1 - m                             1
    "savage"         1/(1 + e^2m)²                     4 σ(2m) σ(-2m)²
    "tangent"        (2 atan m - 1)²                   4 (1 - 2 atan m)/(1 + m²)
    ================ ================================= ==========================================

    With more than two classes "logistic" is the softmax, ``g_z = (p_z - [z = y]) x`` with
    ``p = softmax(Wx)``. The others, and "logistic" with form="best_wrong", take the margin of the right class
    over the best wrong one, ỹ: ``g_y = -c(m) x``, ``g_ỹ = c(m) x``.

    Parameters
    ----------
    eta : float, default=1.0
        η > 0: the first step, or every one.
    loss : str, default="hinge"
        One of those above.
    rate : {"sqrt", "constant", "adagrad"}, default="sqrt"
        ``η_t = η/√t``, t counting all rows from 1, those without a loss as well; η; or a step for each
        feature, ``G_j += g_j²`` and then ``w_j -= η g_j/(δ + √G_j)``.
    average : bool, default=False
        Predict with the mean of w over all rounds (gradients are still taken at w, so ``n_updates_`` counts
        those of w and ``n_mistakes_`` is the mean's).
    l2 : float, default=0.0
        Weight λ >= 0 of the L2 norm. The shrinkage is not counted as an update.
    delta : float, default=1e-8
        δ >= 0 of rate="adagrad".
    form : {"softmax", "best_wrong"}, default="softmax"
        What "logistic" is with more than two classes.
    class_weight : dict of label to float, default=None
        ω > 0 by label, 1 for those that it does not name: the loss of a row, and so c, is multiplied by ω_y.
    epochs : int, default=1
        Passes that `fit` makes; t goes on counting.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict: w, or its running mean.

    Notes
    -----
    There is no projection: w is free. A row of zeros has no gradient of its loss. Whether there is a mean,
    and whether there are sums of squares, is decided when learning begins.

    With "ramp", "savage" and "sigmoid" one step of ``η ‖x‖²`` far above 1 throws all margins where c is
    nearly 0, and learning stops: scale the features, and let a grid for η reach down to 0.01. "squared_hinge"
    oversteps the margin where ``2η ‖x‖² > 1``; it has no ½, as in scikit-learn. "tangent" pulls too large
    margins back. A slope beyond 1e130 is passed over.

    A row costs its non-zeros; with rate="adagrad" and l2 > 0 it costs d.

    Other programs differ in AdaGrad: River divides by ``√(G + ε)``.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Zinkevich (2003), "Online convex programming and generalized infinitesimal gradient ascent", ICML. Duchi,
    Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization", JMLR
    12. Losses: Zhang (2004), "Solving large scale linear prediction problems using stochastic gradient
    descent algorithms", ICML (modified Huber); Collobert, Sinz, Weston, Bottou (2006), "Trading convexity for
    scalability", ICML (ramp); Masnadi-Shirazi, Vasconcelos (2008), "On the design of loss functions for
    classification", NIPS (savage); Masnadi-Shirazi, Mahadevan, Vasconcelos (2010), "On the design of robust
    classifiers for computer vision", CVPR (tangent); Ghosh, Manwani, Sastry (2015), "Making risk minimization
    tolerant to label noise", Neurocomputing 160 (sigmoid); van Rooyen, Menon, Williamson (2015), "Learning
    with symmetric label noise: the importance of being unhinged", NIPS.

    Examples
    --------
    >>> OnlineGradientDescent().fit([[1.0], [2.0], [-1.0], [2.0]], [0, 0, 1, 1]).coef_.tolist()
    [[0.0]]
    """

    def __init__(
        self,
        eta: float = 1.0,
        loss: str = "hinge",
        rate: str = "sqrt",
        average: bool = False,
        l2: float = 0.0,
        delta: float = 1e-8,
        form: str = "softmax",
        class_weight: Mapping[Any, float] | None = None,
        epochs: int = 1,
    ) -> None:
        self.eta = eta
        self.loss = loss
        self.rate = rate
        self.average = average
        self.l2 = l2
        self.delta = delta
        self.form = form
        self.class_weight = class_weight
        self.epochs = epochs

    def _check_parameters(self):
        super()._check_parameters()
        check_option(self, "form", FORMS)

    def _factors(self):
        weights, factors = weights_by_code(self), super()._factors()
        return factors if weights is None else factors * weights[:, np.newaxis]

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores are log odds, so that predictions have probabilities."""
        return self.loss == "logistic" and self.form == "softmax"

    def _allocate_classes(self, n_features, n_classes):
        self._begin_with(new_class_state(n_features, n_classes))

    def _loop_of_classes(self):
        loss, softmax = LOSSES.index(self.loss), self.loss == "logistic" and self.form == "softmax"
        u, eta, l2, rounds = self._u_or_empty(), float(self.eta), float(self.l2), np.array([self.n_examples_])
        weights = weights_by_code(self)
        if self._G is not None:
            return learn_classes_adaptively, (
                self._weights, u, self._G, loss, softmax, eta, l2, float(self.delta), rounds, weights
            )  # fmt: skip
        falls = self.rate != "constant"
        state = self._weights, u, self._scalars
        return learn_classes, (*state, loss, softmax, falls, eta, l2, rounds, weights)

    def _score_classes(self, X, scores):
        score_rows_of_classes(X, self._weights, self._u_or_empty(), *self._scales(), self.n_examples_, scores)
