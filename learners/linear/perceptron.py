"""The Perceptron, which predicts with its last hypothesis or with the mean of all hypotheses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..numeric.compiled import compiled, register_jitable
from ..numeric.lanes import invert
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, borrowed, dot, method, n_rows, row
from .first_order import FirstOrderClassifier, is_moved_by, squares_at, step
from .linear_classifier import WeightedClassifier, as_coef
from .parts.classes import add_to_pair, score_classes, weight_of, weights_by_code


class PerceptronRule(NamedTuple):
    """Update on every mistake, by the class weight times x; another step size would only scale w."""

    def step(self, y, m, squares, weight):
        """Return ``(is_update, step)`` for a row with margin m; the step is the class weight."""
        return invert(m > 0.0), weight


class Mean(NamedTuple):
    """Predicts with the mean of the weights after each round so far, ``w - u/rounds``.

    After round T, the sum of the weights w_t of all rounds is T w - u. Here u is the sum of (t - 1) α y x
    over all updates ``w += α y x``, where t is the update's round: the t - 1 earlier w_t lack the update. So
    a round changes w and u at the row's non-zeros only.
    """

    u: NDArray[np.float64]
    rounds: NDArray[np.int64]

    def predict(self, s, x):
        """Return the score by the mean of the weights so far, given the score s by the last weights w."""
        return s - dot(self.u, x) / max(self.rounds[0], 1)

    def update(self, w, a, x):
        """Add the update ``w += a x`` to u, times the number of earlier rounds."""
        add_scaled(self.u, a * self.rounds[0], x)

    def end_round(self):
        """Add 1 to the number of rounds."""
        self.rounds[0] += 1


_predict = method("predict")
_record = method("update")
_end_round = method("end_round")


@learning_loop
def _learn(X, codes, scores, w, output, rule, weights):
    """Make one pass: the rule updates w; `output` predicts from all w so far (mean, votes or the longest)."""
    mistakes = updates = 0
    output = borrowed(output)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = _predict(output, s, x)
        mistakes += not y * scores[t] > 0.0
        m = y * s
        is_update, alpha = step(rule, y, m, squares_at(rule, m, x), weight_of(weights, codes[t]))
        if is_update and is_moved_by(rule, m, x):
            _record(output, w, alpha * y, x)
            add_scaled(w, alpha * y, x)
            updates += 1
        _end_round(output)
    return mistakes, updates


@compiled
def _score(X, w, output, scores):
    for t in range(n_rows(X)):
        x = row(X, t)
        scores[t] = _predict(output, dot(w, x), x)


@register_jitable
def _score_classes(W, mean, x, sums, missing, scores):
    """Write class scores: by the last weights into `sums`, by the mean of all weights into `scores`."""
    score_classes(W, x, sums, scores)
    score_classes(mean.u, x, missing, scores)
    for z in range(scores.shape[0]):
        scores[z] = sums[z] - missing[z] / max(mean.rounds[0], 1)


@learning_loop
def _learn_classes(X, codes, scores, W, mean, rule, weights):
    mistakes = updates = 0
    mean = borrowed(mean)
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        _score_classes(W, mean, x, sums, missing, f)
        mistakes += not f[y] - f[best_wrong(f, y)] > 0.0
        last = sums[: f.shape[0]]
        z = best_wrong(last, y)
        m = last[y] - last[z]
        squares = 2.0 * squares_at(rule, m, x)
        is_update, alpha = step(rule, 1.0, m, squares, weight_of(weights, y))
        if is_update and is_moved_by(rule, m, x):
            add_to_pair(W, alpha, x, y, z)
            add_to_pair(mean.u, alpha * mean.rounds[0], x, y, z)
            updates += 1
        mean.rounds[0] += 1
    return mistakes, updates


@compiled
def _scores_of_classes(X, W, mean, scores):
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        _score_classes(W, mean, row(X, t), sums, missing, scores[t])


class VotingClassifier(FirstOrderClassifier, WeightedClassifier):
    """Base of the Perceptrons: ``_output()`` returns an object that predicts, or None if w predicts.

    With `to_learn`, the object is for a loop that learns and changes it.
    """

    _state: tuple[str, ...] = ("_weights", "_u")
    average: bool

    def _begin_with(self, zeros):
        self._weights = zeros
        # Later changes of `average` have no effect: the mean must include the weights of all rounds.
        self._u = np.zeros_like(zeros) if self.average else None

    def _output(self, to_learn=False):
        return None if self._u is None else Mean(self._u, np.array([self.n_examples_]))

    def _loop(self):
        output = self._output(to_learn=True)
        if output is None:
            return super()._loop()
        return _learn, (self._weights, output, self._rule(), weights_by_code(self))

    def _loop_of_classes(self):
        output = self._output(to_learn=True)
        if output is None:
            return super()._loop_of_classes()
        return _learn_classes, (self._weights, output, self._rule(), weights_by_code(self))

    def _scores_by_weights(self):
        return self._output() is None

    def _score(self, X, scores):
        output = self._output()
        if output is None:
            super()._score(X, scores)
        else:
            _score(X, self._weights, output, scores)

    def _score_classes(self, X, scores):
        output = self._output()
        if output is None:
            super()._score_classes(X, scores)
        else:
            _scores_of_classes(X, self._weights, output, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._u is None:
            return super().coef_
        return as_coef(self._weights - self._u / max(self.n_examples_, 1), len(self.classes_))


@dataclass(eq=False, repr=False)
class Perceptron(VotingClassifier):
    """The Perceptron: on a mistake, ``w += y x``.

    With more than two classes, on a mistake ``w_y += x`` and ``w_ỹ -= x``, ỹ being the best wrong class.

    Parameters
    ----------
    average : bool, default=False
        Predict with the running mean of w over all rounds. Updates still follow the mistakes of w, so
        ``n_updates_`` counts the mistakes of w, and ``n_mistakes_`` those of the mean.
    class_weight : dict of label to float, default=None
        Weight ω > 0 by label, 1 for labels not named: an update is ``w += ω_y y x``.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict: w, or its running mean.

    References
    ----------
    Rosenblatt (1958), "The perceptron", Psychological Review 65. Freund & Schapire (1999), "Large margin
    classification using the perceptron algorithm", Machine Learning 37 (averaging).

    Examples
    --------
    >>> Perceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[0.0, 2.0]]).tolist()
    [1]
    """

    average: bool = False
    class_weight: Mapping[Any, float] | None = None
    epochs: int = 1

    def _rule(self):
        return PerceptronRule()
