"""The Perceptron, last hypothesis or averaged."""

import numpy as np

from ..estimator.parameters import check_bool
from ..multiclass import perceptron as multiclass
from ..numeric.compiled import compiled
from ..numeric.rows import add_scaled, dot, n_rows, row
from .multiclass_classifier import MulticlassClassifier, as_coef
from .parts.classes import new_class_state


@compiled
def _learn(X, codes, scores, w):
    updates = 0
    for t in range(n_rows(X)):
        x = row(X, t)
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = dot(w, x)
        if not y * scores[t] > 0.0:
            add_scaled(w, y, x)
            updates += 1
    return updates, updates


@compiled
def _learn_averaged(X, codes, scores, w, u, rounds):
    """Predict with the mean of the hypotheses so far, ``w - u/rounds``.

    After round T, Σ_{t<=T} w_t = T w - u with u = Σ over updates of (t - 1) y x: an update at round t is
    missing from the t - 1 hypotheses before it. So a round costs the row's non-zeros, never the whole of w.
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x = row(X, t)
        y = 1.0 if codes[t] == 1 else -1.0
        s = dot(w, x)
        scores[t] = s - dot(u, x) / max(rounds, 1)
        mistakes += not y * scores[t] > 0.0
        if not y * s > 0.0:
            add_scaled(w, y, x)
            add_scaled(u, y * rounds, x)
            updates += 1
        rounds += 1
    return mistakes, updates


@compiled
def _averaged_scores(X, w, u, rounds, scores):
    for t in range(n_rows(X)):
        x = row(X, t)
        scores[t] = dot(w, x) - dot(u, x) / max(rounds, 1)


class Perceptron(MulticlassClassifier):
    """The Perceptron: on a mistake, ``w += y x``.

    With more than two classes, on a mistake ``w_y += x`` and ``w_ỹ -= x``, ỹ being the best wrong class.

    Parameters
    ----------
    average : bool, default=False
        Predict with the running mean of w over all rounds (updates still follow w's own mistakes, so
        ``n_updates_`` counts those and ``n_mistakes_`` the mean's).
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

    def __init__(self, average=False, epochs=1):
        self.average = average
        self.epochs = epochs

    def _check_parameters(self):
        check_bool(self, "average")

    def _allocate(self, n_features):
        self._begin_with(np.zeros(n_features))

    def _allocate_classes(self, n_features, n_classes):
        self._begin_with(new_class_state(n_features, n_classes))

    def _begin_with(self, zeros):
        self._weights = zeros
        # None: learnt without the mean, which cannot be begun in the middle of a stream.
        self._u = np.zeros_like(zeros) if self.average else None

    def _pass(self, X, codes, scores):
        if self._u is None:
            return _learn(X, codes, scores, self._weights)
        return _learn_averaged(X, codes, scores, self._weights, self._u, self.n_examples_)

    def _pass_classes(self, X, codes, scores):
        if self._u is None:
            return multiclass.learn(X, codes, scores, self._weights)
        return multiclass.learn_averaged(X, codes, scores, self._weights, self._u, self.n_examples_)

    def _score(self, X, scores):
        if self._u is None:
            super()._score(X, scores)
        else:
            _averaged_scores(X, self._weights, self._u, self.n_examples_, scores)

    def _score_classes(self, X, scores):
        if self._u is None:
            super()._score_classes(X, scores)
        else:
            multiclass.averaged_scores(X, self._weights, self._u, self.n_examples_, scores)

    @property
    def coef_(self):
        if self._u is None:
            return super().coef_
        return as_coef(self._weights - self._u / max(self.n_examples_, 1), len(self.classes_))
