"""The Perceptron, last hypothesis or averaged."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..estimator.parameters import check_bool
from ..numeric.compiled import compiled
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, dot, n_rows, row
from .multiclass_classifier import WeightedClassifier, as_coef
from .parts.classes import add_to_pair, new_class_state, score_classes, weight_of, weights_by_code


@learning_loop
def _learn(X, codes, scores, w, weights):
    updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = dot(w, x)
        if not y * scores[t] > 0.0:
            add_scaled(w, weight_of(weights, codes[t]) * y, x)
            updates += 1
    return updates, updates


@learning_loop
def _learn_averaged(X, codes, scores, w, u, rounds, weights):
    """Predict with the mean of the hypotheses so far, ``w - u/rounds``.

    After round T, Σ_{t<=T} w_t = T w - u with u = Σ over updates of (t - 1) y x: an update at round t is
    missing from the t - 1 hypotheses before it. So a round costs the row's non-zeros, never the whole of w.
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = s - dot(u, x) / max(rounds[0], 1)
        mistakes += not y * scores[t] > 0.0
        if not y * s > 0.0:
            step = weight_of(weights, codes[t]) * y
            add_scaled(w, step, x)
            add_scaled(u, step * rounds[0], x)
            updates += 1
        rounds[0] += 1
    return mistakes, updates


@compiled
def _averaged_scores(X, w, u, rounds, scores):
    for t in range(n_rows(X)):
        x = row(X, t)
        scores[t] = dot(w, x) - dot(u, x) / max(rounds, 1)


@learning_loop
def _learn_classes(X, codes, scores, W, weights):
    """On a mistake the right block gains x and the best wrong one loses it."""
    mistakes = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, s)
        z = best_wrong(s, y)
        if not s[y] - s[z] > 0.0:
            add_to_pair(W, weight_of(weights, y), x, y, z)
            mistakes += 1
    return mistakes, mistakes


@register_jitable
def _score_classes_averaged(W, U, x, rounds, sums, missing, scores):
    """Write the scores of the last hypothesis into `sums`, those of the mean into `scores`."""
    score_classes(W, x, sums, scores)
    score_classes(U, x, missing, scores)
    for z in range(scores.shape[0]):
        scores[z] = sums[z] - missing[z] / max(rounds, 1)


@learning_loop
def _learn_classes_averaged(X, codes, scores, W, U, rounds, weights):
    """Predict with the mean of the hypotheses so far, ``W - U/rounds``, as with two classes."""
    mistakes = updates = 0
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes_averaged(W, U, x, rounds[0], sums, missing, s)
        z = best_wrong(s, y)
        mistakes += not s[y] - s[z] > 0.0
        last = sums[: s.shape[0]]
        z = best_wrong(last, y)
        if not last[y] - last[z] > 0.0:
            step = weight_of(weights, y)
            add_to_pair(W, step, x, y, z)
            add_to_pair(U, step * rounds[0], x, y, z)
            updates += 1
        rounds[0] += 1
    return mistakes, updates


@compiled
def _averaged_class_scores(X, W, U, rounds, scores):
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        _score_classes_averaged(W, U, row(X, t), rounds, sums, missing, scores[t])


class Perceptron(WeightedClassifier):
    """The Perceptron: on a mistake, ``w += y x``.

    With more than two classes, on a mistake ``w_y += x`` and ``w_ỹ -= x``, ỹ being the best wrong class.

    Parameters
    ----------
    average : bool, default=False
        Predict with the running mean of w over all rounds (updates still follow w's own mistakes, so
        ``n_updates_`` counts those and ``n_mistakes_`` the mean's).
    class_weight : dict of label to float, default=None
        ω > 0 by label, 1 for those that it does not name: an update is ``w += ω_y y x``.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict: w, or its running mean.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Rosenblatt (1958), "The perceptron", Psychological Review 65. Freund & Schapire (1999), "Large margin
    classification using the perceptron algorithm", Machine Learning 37 (averaging).

    Examples
    --------
    >>> Perceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).predict([[0.0, 2.0]]).tolist()
    [1]
    """

    def __init__(
        self, average: bool = False, class_weight: Mapping[Any, float] | None = None, epochs: int = 1
    ) -> None:
        self.average = average
        self.class_weight = class_weight
        self.epochs = epochs

    def _check_parameters(self):
        check_bool(self, "average")

    _state: tuple[str, ...] = ("_weights", "_u")

    def _allocate(self, n_features):
        self._begin_with(np.zeros(n_features))

    def _allocate_classes(self, n_features, n_classes):
        self._begin_with(new_class_state(n_features, n_classes))

    def _begin_with(self, zeros):
        self._weights = zeros
        # None: learnt without the mean, which cannot be begun in the middle of a stream.
        self._u = np.zeros_like(zeros) if self.average else None

    def _loop(self):
        if self._u is None:
            return _learn, (self._weights, weights_by_code(self))
        return _learn_averaged, self._averaging()

    def _loop_of_classes(self):
        if self._u is None:
            return _learn_classes, (self._weights, weights_by_code(self))
        return _learn_classes_averaged, self._averaging()

    def _averaging(self):
        return self._weights, self._u, np.array([self.n_examples_]), weights_by_code(self)

    def _score(self, X, scores):
        if self._u is None:
            super()._score(X, scores)
        else:
            _averaged_scores(X, self._weights, self._u, self.n_examples_, scores)

    def _score_classes(self, X, scores):
        if self._u is None:
            super()._score_classes(X, scores)
        else:
            _averaged_class_scores(X, self._weights, self._u, self.n_examples_, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._u is None:
            return super().coef_
        return as_coef(self._weights - self._u / max(self.n_examples_, 1), len(self.classes_))
