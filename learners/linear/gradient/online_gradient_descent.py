"""Online gradient descent on a loss of the margin, with an L2 norm, a mean and AdaGrad's steps as options."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ...estimator.parameters import one_of
from ..linear_classifier import WeightedClassifier
from ..parts.classes import weights_by_code
from ..parts.losses import FORMS
from .gradient_descent import GradientDescent


@dataclass(eq=False, repr=False)
class OnlineGradientDescent(GradientDescent, WeightedClassifier):
    """Online gradient descent: ``w -= η_t g`` with ``g = -y c(m) x + λ w``.

    ``c(m) = -dℓ/dm`` is minus the slope of a loss ℓ of the margin ``m = y w·x``, with the label y = ±1:

    ================ ================================= ==========================================
    loss             ℓ(m)                              c(m)
    ================ ================================= ==========================================
    "hinge"          max(0, 1 - m)                     1 where m < 1, else 0
    "squared_hinge"  max(0, 1 - m)²                    2 max(0, 1 - m)
    "modified_huber" as above, but -4m where m < -1    as above, but 4 where m < -1
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
        η > 0 in the formulas of `rate`.
    loss : str, default="hinge"
        One of those above.
    rate : {"sqrt", "constant", "adagrad"}, default="sqrt"
        "sqrt": ``η_t = η/√t``, where t counts all rows from 1, including rows without a loss. "constant":
        ``η_t = η``. "adagrad": a step size per feature, ``G_j += g_j²`` and then
        ``w_j -= η g_j/(δ + √G_j)``.
    average : bool, default=False
        Predict with the mean of w over all rounds. Gradients are still taken at w, so ``n_updates_`` counts
        the updates of w, and ``n_mistakes_`` the mistakes of the mean.
    l2 : float, default=0.0
        Weight λ >= 0 of the L2 norm. The shrinkage is not counted as an update.
    delta : float, default=1e-8
        δ >= 0 in the formula of rate="adagrad".
    form : {"softmax", "best_wrong"}, default="softmax"
        The form of "logistic" with more than two classes.
    class_weight : dict of label to float, default=None
        Weight ω > 0 by label, 1 for labels not named: the loss of a row, and so c, is multiplied by ω_y.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict: w, or its running mean.

    Notes
    -----
    w is not projected. The loss of a row of zeros has no gradient. Changes of `average` and `rate` by
    `set_params` take effect at the next `fit`.

    With "ramp", "savage" and "sigmoid", one step with ``η ‖x‖²`` far above 1 makes all margins so large that
    c is nearly 0, and learning stops: scale the features, and let a grid for η include 0.01. "squared_hinge"
    steps beyond the margin 1 if ``2η ‖x‖² > 1``; as in scikit-learn it has no factor ½. "tangent" reduces
    margins that are too large. A row is skipped if ``|c|`` is above 1e130.

    A row takes time proportional to its non-zeros, or to d with rate="adagrad" and l2 > 0.

    Other programs differ in AdaGrad: River divides by ``√(G + ε)``.

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

    eta: float = 1.0
    loss: str = "hinge"
    rate: str = "sqrt"
    average: bool = False
    l2: float = 0.0
    delta: float = 1e-8
    form: Annotated[str, one_of(FORMS)] = "softmax"
    class_weight: Mapping[Any, float] | None = None
    epochs: int = 1

    def _factors(self):
        weights, factors = weights_by_code(self), super()._factors()
        return factors if weights is None else factors * weights[:, np.newaxis]

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores are log odds, so that predictions have probabilities."""
        return self.loss == "logistic" and self.form == "softmax"
