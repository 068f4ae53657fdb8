"""Coin betting along the whole weight vector."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...estimator.parameters import Scale, one_of
from ...numeric.compiled import compiled, register_jitable
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import add_scaled, dot, entry, n_entries, n_rows, row, squared_norm
from ...numeric.vector import SMALLEST_NORMAL
from ..linear_classifier import MulticlassClassifier, as_coef
from ..parts.classes import score_classes
from ..parts.losses import BOUNDED_LOSSES, LOSSES, add_to_classes, class_gradient, has_gradient, slope
from .feature_learner import RICHEST

_SCALES = ("running", "instance", "none")
_RUNNING, _INSTANCE, _NONE = range(3)


@register_jitable
def _norm(x):
    """Return ‖x‖, also if ‖x‖² is outside the normal range of float64."""
    squares = squared_norm(x)
    if SMALLEST_NORMAL <= squares < np.inf:
        return math.sqrt(squares)
    largest = 0.0
    for k in range(n_entries(x)):
        _, x_j = entry(x, k)
        largest = max(largest, abs(x_j))
    if not 0.0 < largest < np.inf:
        return largest
    squares = 0.0
    for k in range(n_entries(x)):
        _, x_j = entry(x, k)
        squares += (x_j / largest) ** 2
    return largest * math.sqrt(squares)


@register_jitable
def _length(scaling, x, longest):
    """Return the length by which a row is divided; `longest` is the largest length of a row so far."""
    if scaling == _NONE:
        return 1.0
    length = _norm(x)
    if scaling == _RUNNING and length <= longest:
        length = longest
    # A row of zeros has the length 0, and division by a subnormal length can overflow.
    return max(length, SMALLEST_NORMAL)


@register_jitable
def _longer(scaling, length, longest):
    """Return the length of the longest row so far, given a new row's. Callers must skip rows of zeros."""
    return length if scaling == _RUNNING and length > longest else longest


@register_jitable
def _share(scalars, epsilon, t):
    """Return the factor ``(ε + B)/t`` of θ in the weights of round t (from 1); B are the winnings so far."""
    return (epsilon + scalars[0]) / t


@learning_loop
def _learn(X, codes, scores, theta, scalars, epsilon, scaling, loss, rounds):
    """Make one pass of Orabona & Pál (2016), Algorithm 1; `scalars`: winnings B, largest length of a row."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        rounds[0] += 1
        length = _length(scaling, x, scalars[1])
        s = scores[t] = _share(scalars, epsilon, rounds[0]) * (dot(theta, x) / length)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        if has_gradient(c, s, x) and abs(scalars[0] + y * c * s) < RICHEST:
            scalars[0] += y * c * s
            add_scaled(theta, y * c / length, x)
            updates += 1
        if has_gradient(1.0, s, x):
            scalars[1] = _longer(scaling, length, scalars[1])
    return mistakes, updates


@compiled
def _scores(X, theta, scalars, epsilon, scaling, rounds, scores):
    share = _share(scalars, epsilon, rounds + 1)
    for t in range(n_rows(X)):
        x = row(X, t)
        scores[t] = share * (dot(theta, x) / _length(scaling, x, scalars[1]))


@register_jitable
def _score_row_of_classes(theta, share, x, length, sums, scores):
    score_classes(theta, x, sums, scores)
    for z in range(scores.shape[0]):
        scores[z] = share * (scores[z] / length)


@learning_loop
def _learn_classes(X, codes, scores, theta, scalars, epsilon, scaling, loss, softmax, rounds):
    """Make one pass for K > 2 classes. Gradients are divided by √2, so that no reward is longer than x̃."""
    mistakes = updates = 0
    K = scores.shape[1]
    sums, which, factors = np.empty(theta.shape[1]), np.empty(K, np.int64), np.empty(K)
    part = 1.0 / math.sqrt(2.0)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        rounds[0] += 1
        length = _length(scaling, x, scalars[1])
        _score_row_of_classes(theta, _share(scalars, epsilon, rounds[0]), x, length, sums, s)
        m = s[y] - s[best_wrong(s, y)]
        mistakes += not m > 0.0
        n = class_gradient(loss, softmax, s, y, x, which, factors)
        won = scalars[0]
        for i in range(n):
            won -= part * factors[i] * s[which[i]]
        if n > 0 and abs(won) < RICHEST:
            scalars[0] = won
            add_to_classes(theta, -part / length, x, n, which, factors)
            updates += 1
        if has_gradient(1.0, m, x):
            scalars[1] = _longer(scaling, length, scalars[1])
    return mistakes, updates


@compiled
def _class_scores(X, theta, scalars, epsilon, scaling, rounds, scores):
    share, sums = _share(scalars, epsilon, rounds + 1), np.empty(theta.shape[1])
    for t in range(n_rows(X)):
        x = row(X, t)
        _score_row_of_classes(theta, share, x, _length(scaling, x, scalars[1]), sums, scores[t])


@dataclass(eq=False, repr=False)
class KT(MulticlassClassifier):
    """Coin betting after Krichevsky and Trofimov, on the whole weight vector, with nothing to tune.

    In round t, from 1, ``w = (ε + B) θ/t``; on a row with reward ``r = y c(m) x̃``: ``B += r·w``, ``θ += r``.
    c(m) is minus the loss's slope at the margin m, as in `OnlineGradientDescent`, and x̃ the row scaled into
    the unit ball.

    With more than two classes the reward is ``-∇/√2`` over the weights of all classes, ∇ being the gradient
    of the softmax ("logistic") or of another loss, which takes the margin over the best wrong class.

    Parameters
    ----------
    epsilon : float, default=1.0
        The initial wealth of the bettor, ε > 0. It matters: the first bets are proportional to it.
    scale : {"running", "instance", "none"}, default="running"
        The divisor of a row. "running": the length of the longest row so far, including this row. "instance":
        the length of this row. "none": 1, for rows that are known to be in the unit ball.
    loss : {"hinge", "logistic", "sigmoid", "ramp", "unhinged", "savage"}, default="hinge"
        The losses of `OnlineGradientDescent` whose slope is at most 1.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w of the next round, the weights of x̃.
    row_coef_ : ndarray of float64, shape (1, d) or (K, d)
        With scale="running", the weights of x: ``coef_`` divided by the length of the longest row so far.

    Notes
    -----
    The score is ``w·x̃``. The longest row so far can be the scored one, but only learning stores its length.
    Lengths below 2.2e-308, the smallest normal float64, count as this number.
    Rows without a reward count in t too. A bettor that has won 1e150, which is possible with an unbounded
    loss, stops betting.

    References
    ----------
    Orabona, Pál (2016), "Coin betting and parameter-free online learning", NIPS, Algorithm 1.

    Examples
    --------
    >>> KT().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.3333, 0.3333]]
    """

    epsilon: Scale = 1.0
    scale: Annotated[str, one_of(_SCALES)] = "running"
    loss: Annotated[str, one_of(BOUNDED_LOSSES)] = "hinge"
    epochs: int = 1

    @property
    def scores_are_linear(self) -> bool:
        """Whether one vector scores all rows; false if each row is divided by its own length."""
        return self._scale_in_use() != "instance"

    @property
    def scores_need_whole_rows(self) -> bool:
        """Whether features without a weight change the score: a row's length may be the longest so far."""
        return self._scale_in_use() != "none"

    _state = ("_weights", "_scalars")

    def _begin_with(self, zeros):
        self._scale_of_stream = self.scale
        self._weights = zeros  # θ, the sum of all rewards
        self._scalars = np.zeros(2)  # winnings B, length of the longest row so far

    def _scale_in_use(self):
        """Return the scale with which the model began, or the parameter if it has not begun."""
        return getattr(self, "_scale_of_stream", self.scale)

    def _loop(self):
        return _learn, (*self._state_and_scaling(), LOSSES.index(self.loss), np.array([self.n_examples_]))

    def _loop_of_classes(self):
        loss, softmax = LOSSES.index(self.loss), self.loss == "logistic"
        return _learn_classes, (*self._state_and_scaling(), loss, softmax, np.array([self.n_examples_]))

    def _state_and_scaling(self):
        return self._weights, self._scalars, float(self.epsilon), _SCALES.index(self._scale_in_use())

    def _score(self, X, scores):
        _scores(X, *self._state_and_scaling(), self.n_examples_, scores)

    def _score_classes(self, X, scores):
        _class_scores(X, *self._state_and_scaling(), self.n_examples_, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        share = (float(self.epsilon) + self._scalars[0]) / (self.n_examples_ + 1)
        return as_coef(share * self._weights, len(self.classes_))

    @property
    def row_coef_(self) -> NDArray[np.float64]:
        # Divide by the length of the longest row. It is 0 before the first row, and always if `scale` is not
        # "running"; then divide by 1.
        return self.coef_ / (self._scalars[1] or 1.0)
