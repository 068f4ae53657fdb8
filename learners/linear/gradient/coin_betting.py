"""Learners without a step size: each weight is bet on, and what is won makes the next bet larger."""

from ...estimator.parameters import check_nonnegative, check_option, check_scale
from ..parts.by_feature import BackpropRule, COCOBRule, KTRule
from ..parts.losses import BOUNDED_LOSSES, LOSSES
from .feature_learner import FeatureLearner


class _ScaledBettor(FeatureLearner):
    """A bettor on features divided by their largest size so far: rewards are at most 1 then."""

    scale: str

    def _check_parameters(self):
        check_option(self, "loss", BOUNDED_LOSSES)
        check_option(self, "scale", ("running", "none"))

    def _is_scaled(self):
        return self.scale == "running"


class CoordinateKT(_ScaledBettor):
    """Coin betting after Krichevsky and Trofimov, a bettor for each feature: nothing to tune.

    ``w_j = (ε + B_j) θ_j/n_j``; on a row with reward ``r = y c(m) x̃``, for ``r_j != 0``: ``B_j += r_j w_j``,
    ``θ_j += r_j``, ``n_j += 1`` (n_j begins at 1). c is the slope of the loss, as in `OnlineGradientDescent`,
    and x̃ is the row with every feature divided by its largest size so far, the row's own included.

    Parameters
    ----------
    epsilon : float, default=1.0
        What each bettor begins with, ε > 0. Not free of effect: the first bets are of its size.
    scale : {"running", "none"}, default="running"
        "none": ``x̃ = x``, for features that are known to be within [-1, 1].
    loss : {"hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage"}, default="hinge"
        Those whose slope is at most 1. With more than two classes "logistic" is the softmax, and the others
        are of the margin over the best wrong class; there is a bettor for each class and feature.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w, the weights of x̃.

    Notes
    -----
    The score is ``w·x̃``, with the row's own size among the largest; asking for a score alone stores nothing.
    A bettor that has won 1e150 (which a loss without a bound makes possible) bets no more.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Orabona, Pál (2016), "Coin betting and parameter-free online learning", NIPS.

    Examples
    --------
    >>> CoordinateKT().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    def __init__(
        self, epsilon: float = 1.0, scale: str = "running", loss: str = "hinge", epochs: int = 1
    ) -> None:
        self.epsilon = epsilon
        self.scale = scale
        self.loss = loss
        self.epochs = epochs

    def _check_parameters(self):
        super()._check_parameters()
        check_scale(self, "epsilon")

    def _rule(self):
        return KTRule(float(self.epsilon))


class COCOB(_ScaledBettor):
    """COCOB, continuous coin betting on each feature: no parameter that would have to be tuned.

    ``w_j = (1 + B_j) tanh(θ_j/(G_j + 1))``; on a row with reward ``r = y c(m) x̃``, for ``r_j != 0``:
    ``G_j += |r_j|`` (G_j begins at 1), ``B_j += r_j w_j``, ``θ_j += r_j``. x̃ is the row with every feature
    divided by its largest size so far, the row's own included, so that the algorithm's L_j are 1.

    Parameters
    ----------
    scale : {"running", "none"}, default="running"
        "none": ``x̃ = x``, for features that are known to be within [-1, 1].
    loss : {"hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage"}, default="hinge"
        As for `CoordinateKT`.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w, the weights of x̃.

    Notes
    -----
    The rule is the published formula, checked by its properties (what is owned stays above 0), not against
    the paper's text or public code. A bettor that has won 1e150 bets no more.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Orabona, Tommasi (2017), "Training deep networks without learning rates through coin betting", NIPS,
    Algorithm 1.

    Examples
    --------
    >>> COCOB().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.3215, 0.3215]]
    """

    def __init__(self, scale: str = "running", loss: str = "hinge", epochs: int = 1) -> None:
        self.scale = scale
        self.loss = loss
        self.epochs = epochs

    def _rule(self):
        return COCOBRule(1.0)


class COCOBBackprop(FeatureLearner):
    """COCOB for deep networks (COCOB-Backprop): it learns the scale of gradients and starts slowly.

    On a row with gradient ``g = -y c(m) x``, for ``g_j != 0``: ``L_j = max(L_j, |g_j|)``, ``G_j += |g_j|``,
    ``B_j = max(B_j - g_j w_j, 0)``, ``θ_j -= g_j`` and then
    ``w_j = (L_j + B_j) θ_j/(L_j max(G_j + L_j, α L_j))``.

    Parameters
    ----------
    alpha : float, default=100.0
        α >= 0: how long first weights are kept small.
    loss : str, default="hinge"
        One of those of `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the
        others are of the margin over the best wrong class; there is a bettor for each class and feature.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    The authors' programs begin with L_j = 1e-8, this with 0.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Orabona, Tommasi (2017), "Training deep networks without learning rates through coin betting", NIPS,
    Algorithm 2.

    Examples
    --------
    >>> COCOBBackprop().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.01, 0.01]]
    """

    def __init__(self, alpha: float = 100.0, loss: str = "hinge", epochs: int = 1) -> None:
        self.alpha = alpha
        self.loss = loss
        self.epochs = epochs

    def _check_parameters(self):
        check_nonnegative(self, "alpha")
        check_option(self, "loss", LOSSES)

    def _rule(self):
        return BackpropRule(float(self.alpha))
