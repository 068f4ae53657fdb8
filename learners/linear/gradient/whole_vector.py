"""Learners without a step size: they compute the length of each step from norms and inner products.

The weights are ``w = scale · v``, and a row with gradient g causes the step ``v += b g``. A rule is a named
tuple of parameters that computes the number b, so a step takes time proportional to the row's non-zeros. The
array `numbers` contains ‖v‖², the scale, two sums for the mean of all w (the sum of its weights p, and the Q
below), and then the numbers that the rule defines. A rule has the methods

- ``step(numbers, gv, gg)``: update the rule's numbers, given ``g·v`` and ``‖g‖²``, and return b. The loop
  updates ‖v‖² afterwards;
- ``weight(numbers)``, if the learner can predict with the mean: return the weight p of the current w in the
  mean. It is called for every row, before the step.

The mean is ``Σ p_k w_k/Σ p_k = (Q v - u)/Σ p_k``, where Q is the sum of the p_k of all w_k other than 0. The
w_k before a step ``v += b g`` lack this step, so ``Q b g``, with the Q so far, is added to u. The scale is 1
in a learner with a mean.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...numeric.compiled import compiled, register_jitable
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import add_scaled, dot, method, n_rows, row, squared_norm
from ...numeric.vector import SMALLEST_NORMAL
from ..linear_classifier import MulticlassClassifier, as_coef
from ..parts.classes import score_classes
from ..parts.losses import LOGISTIC, LOSSES, add_to_classes, class_gradient, has_gradient, slope

# Positions in `numbers`: ‖v‖²; the scale; the sum of the mean's weights p; Q, the sum of the p of all w other
# than 0; and the first number that the rule defines.
NORM, SCALE, TOTAL, SINCE, OWN = range(5)

# Rows with a gradient g of larger ‖g‖² or |g·v| are skipped, because ‖v‖² could overflow.
_LONGEST = 1e300


_weight = method("weight", lambda self, numbers: 0.0)
_step = method("step")


@register_jitable
def _is_in_range(gv, gg):
    """Return whether ‖g‖² (`gg`) and g·v (`gv`) are in a range where the step cannot under- or overflow."""
    return SMALLEST_NORMAL <= gg < _LONGEST and abs(gv) < _LONGEST


@register_jitable
def _lengthen(numbers, b, gv, gg):
    """Update the stored ‖v‖² for the step ``v += b g``, given g·v and ‖g‖²."""
    numbers[NORM] = max(numbers[NORM] + b * (2.0 * gv + b * gg), 0.0)


@register_jitable
def _mean_score(numbers, sv, su):
    # The mean divides by the sum of its weights, which is 0 before the first row. The score is then v·x: 0,
    # or NaN if a feature is NaN.
    return (numbers[SINCE] * sv - su) / numbers[TOTAL] if numbers[TOTAL] > 0.0 else sv


@register_jitable
def _weigh(rule, numbers):
    """Add p, the current w's weight in the mean, to the sums in `numbers` from which the mean is computed."""
    weight = _weight(rule, numbers)
    numbers[TOTAL] += weight
    # A w that is 0 does not count in the second sum, Q, so the mean is exactly 0 until it includes another w.
    if numbers[NORM] > 0.0:
        numbers[SINCE] += weight


@learning_loop
def _learn(X, codes, scores, v, u, numbers, rule, loss):
    """Make one pass for two classes; `u` is empty if the learner does not predict with the mean of all w."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        sv = dot(v, x)
        s = numbers[SCALE] * sv
        scores[t] = _mean_score(numbers, sv, dot(u, x)) if u.size > 0 else s
        mistakes += not y * scores[t] > 0.0
        c = slope(loss, y * s)
        _weigh(rule, numbers)
        if has_gradient(c, s, x):
            g = -y * c
            gv, gg = g * sv, g * g * squared_norm(x)
            if _is_in_range(gv, gg):
                b = _step(rule, numbers, gv, gg)
                _lengthen(numbers, b, gv, gg)
                add_scaled(v, b * g, x)
                if u.size > 0:
                    add_scaled(u, numbers[SINCE] * b * g, x)
                updates += 1
    return mistakes, updates


@compiled
def _score_rows(X, v, u, numbers, scores):
    for t in range(n_rows(X)):
        x = row(X, t)
        sv = dot(v, x)
        scores[t] = _mean_score(numbers, sv, dot(u, x)) if u.size > 0 else numbers[SCALE] * sv


@register_jitable
def _score_classes(V, U, numbers, x, sums, missing, last, scores):
    """Write scores of w to `last`, of v to `sums`; to `scores` those of the mean or, without a mean, of w."""
    score_classes(V, x, sums, scores)
    for z in range(scores.shape[0]):
        last[z] = scores[z] = numbers[SCALE] * sums[z]
    if U.size > 0:
        score_classes(U, x, missing, scores)
        for z in range(scores.shape[0]):
            scores[z] = _mean_score(numbers, sums[z], missing[z])


@learning_loop
def _learn_classes(X, codes, scores, V, U, numbers, rule, loss):
    """Make one pass for many classes; norms and inner products are those of the (K, d) matrices."""
    mistakes = updates = 0
    K = scores.shape[1]
    sums, missing = np.empty(V.shape[1]), np.empty(V.shape[1])
    last, which, factors = np.empty(K), np.empty(K, np.int64), np.empty(K)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes(V, U, numbers, x, sums, missing, last, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        _weigh(rule, numbers)
        n = class_gradient(loss, loss == LOGISTIC, last, y, x, which, factors)
        if n > 0:
            gv = squares = 0.0
            for i in range(n):
                gv += factors[i] * sums[which[i]]
                squares += factors[i] * factors[i]
            gg = squares * squared_norm(x)
            if _is_in_range(gv, gg):
                b = _step(rule, numbers, gv, gg)
                _lengthen(numbers, b, gv, gg)
                add_to_classes(V, b, x, n, which, factors)
                if U.size > 0:
                    add_to_classes(U, numbers[SINCE] * b, x, n, which, factors)
                updates += 1
    return mistakes, updates


@compiled
def _score_rows_of_classes(X, V, U, numbers, scores):
    sums, missing, last = np.empty(V.shape[1]), np.empty(V.shape[1]), np.empty(scores.shape[1])
    for t in range(n_rows(X)):
        _score_classes(V, U, numbers, row(X, t), sums, missing, last, scores[t])


class WholeVectorLearner(MulticlassClassifier):
    """Base of the learners with a computed step length: subclasses have a parameter `loss` and ``_start()``.

    With more than two classes "logistic" is the softmax, and the hinge takes the margin over the best wrong
    class. `set_params` changes `loss` at once, and other parameters at the next `fit`.
    """

    loss: str
    average = False

    _state = ("_weights", "_u", "_numbers")

    def _start(self) -> tuple[Any, Sequence[float]]:
        """Return the update rule, a named tuple of parameters, and the start values of its own numbers."""
        raise self._undefined("_start")

    def _begin_with(self, zeros):
        self._rule_of_stream, numbers = self._start()
        self._weights = zeros  # v; the weights w are ``scale · v``
        self._u = np.zeros_like(zeros) if self.average else None
        self._numbers = np.array([0.0, 1.0, 0.0, 0.0, *numbers])

    def _arrays(self):
        u = np.empty((0,) * self._weights.ndim) if self._u is None else self._u
        return self._weights, u, self._numbers

    def _loop(self):
        return _learn, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss))

    def _loop_of_classes(self):
        return _learn_classes, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss))

    def _score(self, X, scores):
        _score_rows(X, *self._arrays(), scores)

    def _score_classes(self, X, scores):
        _score_rows_of_classes(X, *self._arrays(), scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        w = self._numbers[SCALE] * self._weights
        if self._u is not None:
            total = self._numbers[TOTAL]
            w = (self._numbers[SINCE] * self._weights - self._u) / (total or 1.0)
        return as_coef(w, len(self.classes_))
