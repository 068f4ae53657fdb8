"""Learners without a step size: each weight is a bettor's bet, and winnings make the next bets larger."""

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, TypeAlias

from ...estimator.parameters import NonNegative, Scale, one_of
from ..parts.losses import BOUNDED_LOSSES, LOSSES, hyperbolic_tangent
from .feature_learner import RICHEST, FeatureLearner


class KTRule(NamedTuple):
    """The rule of `CoordinateKT`. Stored per weight: winnings, sum and number of the rewards ``r = -g``."""

    epsilon: float
    size: int = 3

    def follow(self, w, numbers, i, g):
        """Update weight i, given its gradient g, by the KT bettor of Orabona and Pál (2016)."""
        won, theta, n = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + 1.0
        if abs(won) < RICHEST:
            numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, n
            # The stored number of rewards starts at 0, but n_j in the formula of `CoordinateKT` at 1.
            w[i] = (self.epsilon + won) * theta / (n + 1.0)


class COCOBRule(NamedTuple):
    """The rule of `COCOB`. Stored per weight: winnings, and Σr and Σ|r| over its rewards ``r = -g``."""

    epsilon: float
    size: int = 3

    def follow(self, w, numbers, i, g):
        """Update weight i, given its gradient g, by Orabona and Tommasi (2017), Algorithm 1 with L = 1."""
        won, theta, total = numbers[3 * i] - g * w[i], numbers[3 * i + 1] - g, numbers[3 * i + 2] + abs(g)
        if abs(won) < RICHEST:
            numbers[3 * i], numbers[3 * i + 1], numbers[3 * i + 2] = won, theta, total
            # The stored sum `total` starts at 0, but G_j in the formula of `COCOB` at 1. So G_j + 1 is
            # total + 2.
            w[i] = (self.epsilon + won) * hyperbolic_tangent(theta / (total + 2.0))


class BackpropRule(NamedTuple):
    """The rule of `COCOBBackprop`. Stored per weight: the largest |g|, Σ|g|, its winnings, and -Σg."""

    alpha: float
    size: int = 4

    def follow(self, w, numbers, i, g):
        """Update weight i, given its gradient g, by Orabona and Tommasi (2017), Algorithm 2."""
        largest = max(numbers[4 * i], abs(g))
        total = numbers[4 * i + 1] + abs(g)
        won = max(numbers[4 * i + 2] - g * w[i], 0.0)
        theta = numbers[4 * i + 3] - g
        new = (1.0 + won / largest) * (theta / max(total + largest, self.alpha * largest))
        if abs(new) < RICHEST:
            numbers[4 * i], numbers[4 * i + 1] = largest, total
            numbers[4 * i + 2], numbers[4 * i + 3] = won, theta
            w[i] = new


_Scaling: TypeAlias = Literal["running", "none"]


class _ScaledBettor(FeatureLearner):
    """Base of the learners that can divide features by their largest size, so that rewards are at most 1."""

    loss: Annotated[str, one_of(BOUNDED_LOSSES)]
    scale: _Scaling


@dataclass(eq=False, repr=False)
class CoordinateKT(_ScaledBettor):
    """Coin betting after Krichevsky and Trofimov, with a bettor for each feature and nothing to tune.

    ``w_j = (ε + B_j) θ_j/n_j``; on a row with reward ``r = y c(m) x̃``, for ``r_j != 0``: ``B_j += r_j w_j``,
    ``θ_j += r_j``, ``n_j += 1`` (n_j begins at 1). c(m) is minus the loss's slope at the margin m, as in
    `OnlineGradientDescent`, and x̃ is the row with every feature divided by its largest size so far, the
    row's own included.

    Parameters
    ----------
    epsilon : float, default=1.0
        The initial wealth of each bettor, ε > 0. It matters: the first bets are proportional to it.
    scale : {"running", "none"}, default="running"
        "none": ``x̃ = x``, for features that are known to be within [-1, 1].
    loss : {"hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage"}, default="hinge"
        The losses of `OnlineGradientDescent` whose slope is at most 1. With more than two classes "logistic"
        is the softmax, the others take the margin over the best wrong class, and there is a bettor for each
        class and feature.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w, the weights of x̃.
    row_coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights of x: ``coef_`` divided by the largest size of each feature so far.

    Notes
    -----
    The score is ``w·x̃``. The largest sizes in x̃ can be those of the scored row, but only learning stores
    them. A bettor that has won 1e150, which is possible with an unbounded loss, stops betting.

    References
    ----------
    Orabona, Pál (2016), "Coin betting and parameter-free online learning", NIPS.

    Examples
    --------
    >>> CoordinateKT().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    epsilon: Scale = 1.0
    scale: _Scaling = "running"
    loss: str = "hinge"
    epochs: int = 1

    def _rule(self):
        return KTRule(float(self.epsilon))


@dataclass(eq=False, repr=False)
class COCOB(_ScaledBettor):
    """COCOB, continuous coin betting on each feature, with nothing to tune.

    ``w_j = (1 + B_j) tanh(θ_j/(G_j + 1))``; on a row with reward ``r = y c(m) x̃`` (c(m) is minus the loss's
    slope at the margin m), for ``r_j != 0``: ``G_j += |r_j|`` (G_j begins at 1), ``B_j += r_j w_j``,
    ``θ_j += r_j``. x̃ is the row with every feature divided by its largest size so far, the row's own
    included, so that the L_j of the paper's Algorithm 1 are 1.

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
    row_coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights of x: ``coef_`` divided by the largest size of each feature so far.

    Notes
    -----
    The rule is the published formula, checked by its properties (wealth stays above 0), not against the
    paper's text or public code. A bettor that has won 1e150 stops betting.

    References
    ----------
    Orabona, Tommasi (2017), "Training deep networks without learning rates through coin betting", NIPS,
    Algorithm 1.

    Examples
    --------
    >>> COCOB().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.3215, 0.3215]]
    """

    scale: _Scaling = "running"
    loss: str = "hinge"
    epochs: int = 1

    def _rule(self):
        return COCOBRule(1.0)


@dataclass(eq=False, repr=False)
class COCOBBackprop(FeatureLearner):
    """COCOB for deep networks (COCOB-Backprop): it adapts to the scale of the gradients and starts slowly.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m), for
    ``g_j != 0``: ``L_j = max(L_j, |g_j|)``, ``G_j += |g_j|``, ``B_j = max(B_j - g_j w_j, 0)``, ``θ_j -= g_j``
    and then ``w_j = (L_j + B_j) θ_j/(L_j max(G_j + L_j, α L_j))``.

    Parameters
    ----------
    alpha : float, default=100.0
        α >= 0: the larger, the longer the first weights stay small.
    loss : str, default="hinge"
        One of those of `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the
        others take the margin over the best wrong class; there is a bettor for each class and feature.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    The authors' programs begin with L_j = 1e-8, this class with 0.

    References
    ----------
    Orabona, Tommasi (2017), "Training deep networks without learning rates through coin betting", NIPS,
    Algorithm 2.

    Examples
    --------
    >>> COCOBBackprop().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.01, 0.01]]
    """

    alpha: NonNegative = 100.0
    loss: Annotated[str, one_of(LOSSES)] = "hinge"
    epochs: int = 1

    def _rule(self):
        return BackpropRule(float(self.alpha))
