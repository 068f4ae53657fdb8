"""Learners that update each weight separately: FreeGrad and coin betting by feature.

A rule is a named tuple of parameters with a method ``follow(w, numbers, i, g)`` that changes weight i of `w`,
given its gradient g != 0. The rule stores `size` numbers for each weight, from ``numbers[size * i]`` on, all
0 at the start. Loops are compiled for each rule: choosing a rule at every feature would take as long as
applying it.

If the array `largest` is not empty, it contains M_j, the largest |x_j| of each feature so far, including the
current row. The learner then uses ``x̃_j = x_j/M_j`` instead of x_j.
"""

import numpy as np
from numpy.typing import NDArray

from ...numeric.compiled import compiled, register_jitable
from ...numeric.formulas import where
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import dot, entry, method, n_entries, n_rows, new_state, row
from ...numeric.vector import lane_sums
from ..linear_classifier import MulticlassClassifier
from ..parts.classes import score_classes
from ..parts.losses import LOGISTIC, LOSSES, class_gradient, has_gradient, slope

# An update is skipped if it takes a weight, or the winnings of a coin bettor, to this size: float64 could
# overflow.
RICHEST = 1e150


_follow = method("follow")


def _scaled(w, largest, x):
    scale = where(abs(x) > largest, abs(x), largest)
    # x is divided by the largest size of its feature so far. For a feature that never occurred this is 0, and
    # is replaced by 1.
    return [w * (x / where(scale == 0.0, 1.0, scale))]


_scaled_dot = lane_sums(1, _scaled)


@register_jitable
def _score(w, largest, x):
    return _scaled_dot((w, largest), x, ()) if largest.size > 0 else dot(w, x)


@register_jitable
def _scale_of(largest, j, x_j):
    scale = abs(x_j)
    if not scale > largest[j]:
        scale = largest[j]
    return scale if scale != 0.0 else 1.0


@register_jitable
def _widen(largest, x):
    """Update M_j, the largest ``|x_j|`` so far, for the features of the row x."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        largest[j] = max(largest[j], abs(x_j))


@learning_loop
def _learn(X, codes, scores, w, numbers, largest, rule, loss):
    """Make one pass for two classes. The gradient is ``-y c x̃`` with the `slope` c and the scaled row x̃."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = scores[t] = _score(w, largest, x)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        if largest.size > 0:
            _widen(largest, x)
        if has_gradient(c, s, x):
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    g = -y * c * (x_j / largest[j] if largest.size > 0 else x_j)
                    if g != 0.0:
                        _follow(rule, w, numbers, j, g)
            updates += 1
    return mistakes, updates


@compiled
def _score_rows(X, w, largest, scores):
    """Write the score of every row of X into `scores`, without learning."""
    for t in range(n_rows(X)):
        scores[t] = _score(w, largest, row(X, t))


@register_jitable
def _score_classes(W, largest, x, sums, scores):
    if largest.size == 0:
        score_classes(W, x, sums, scores)
        return
    sums[:] = 0.0
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        scaled = x_j / _scale_of(largest, j, x_j)
        for z in range(W.shape[1]):
            sums[z] += W[j, z] * scaled
    for z in range(scores.shape[0]):
        scores[z] = sums[z]


@learning_loop
def _learn_classes(X, codes, scores, W, numbers, largest, rule, loss):
    """Make one pass for more than two classes, with the gradients that `class_gradient` returns."""
    mistakes = updates = 0
    K, width = scores.shape[1], W.shape[1]
    sums, which, factors = np.empty(width), np.empty(K, np.int64), np.empty(K)
    w = W.reshape(W.size)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes(W, largest, x, sums, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        if largest.size > 0:
            _widen(largest, x)
        n = class_gradient(loss, loss == LOGISTIC, s, y, x, which, factors)
        for k in range(n_entries(x) if n > 0 else 0):
            j, x_j = entry(x, k)
            if x_j != 0.0:
                scaled = x_j / largest[j] if largest.size > 0 else x_j
                for i in range(n):
                    g = factors[i] * scaled
                    if g != 0.0:
                        _follow(rule, w, numbers, j * np.uintp(width) + np.uintp(which[i]), g)
        updates += n > 0
    return mistakes, updates


@compiled
def _score_rows_of_classes(X, W, largest, scores):
    """Write the scores of every row of X, one for each class, into `scores`, without learning."""
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        _score_classes(W, largest, row(X, t), sums, scores[t])


class FeatureLearner(MulticlassClassifier):
    """Base of the learners that update each weight separately.

    A subclass has the parameter `loss` and defines ``_rule()``, which returns the update rule (see the module
    docstring). It is used until the next `fit`, even if `set_params` changes parameters. If a subclass has a
    parameter `scale` with the value "running", features are divided by their largest size so far. With more
    than two classes "logistic" is the softmax, any other loss takes the margin over the best wrong class.
    """

    loss: str
    scale = "none"

    _state = ("_weights", "_numbers", "_largest")

    def _begin_with(self, zeros):
        self._weights = zeros
        self._rule_of_stream = self._rule()
        self._numbers = new_state(self._rule_of_stream.size * zeros.size, place=1)
        self._largest = new_state(len(zeros), place=2) if self.scale == "running" else None

    def _largest_or_empty(self):
        return np.empty(0) if self._largest is None else self._largest

    def _loop(self):
        return _learn, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss))

    def _loop_of_classes(self):
        return _learn_classes, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss))

    def _arrays(self):
        return self._weights, self._numbers, self._largest_or_empty()

    def _score(self, X, scores):
        _score_rows(X, self._weights, self._largest_or_empty(), scores)

    def _score_classes(self, X, scores):
        _score_rows_of_classes(X, self._weights, self._largest_or_empty(), scores)

    @property
    def row_coef_(self) -> NDArray[np.float64]:
        if self._largest is None:
            return self.coef_
        # A feature that never occurred has the largest size 0 and the weight 0; divide by 1 instead of 0.
        return self.coef_ / np.where(self._largest == 0.0, 1.0, self._largest)
