"""Online gradient descent: the loops for two and for many classes, with one step size or one per feature.

With one step size, w is stored as ``scale v``, so that L2 shrinkage only multiplies the scale. A learner can
predict with the mean of the weights w_t after each round t. The sum of the w_t is stored as ``A v - u``,
where A is the sum of the scales so far (`scales`). An update ``v += a x`` adds A times ``a x`` to u, because
the w_t of earlier rounds lack the update.
So a round changes v and u only at the row's non-zeros. With a step size per feature, scale is 1 and A is the
number of rounds. If the learner does not predict with the mean, `u` is empty.
"""

import math
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...estimator.parameters import NonNegative, Positive, one_of
from ...numeric.compiled import compiled, register_jitable
from ...numeric.loops import learning_loop
from ...numeric.margins import best_wrong, signed
from ...numeric.rows import add_scaled, add_step, copy_into, dot, entry, n_entries, n_rows, row
from ..linear_classifier import LinearClassifier, as_coef
from ..parts.classes import score_classes, weight_of, weights_by_code
from ..parts.losses import LOSSES, add_to_classes, class_gradient, has_gradient, weighted_slope
from ..parts.scale import SMALLEST_SCALE

#: Choices of `rate`, the step size. "sqrt": η/√t; "constant": η; "adagrad": a step size per feature.
RATES = ("sqrt", "constant", "adagrad")


class DescentRule(NamedTuple):
    """The parameters of a gradient step: `loss` is an index of `LOSSES`; two classes do not use `softmax`."""

    loss: int
    softmax: bool
    eta: float
    falls: bool
    l2: float
    delta: float

    def step_size(self, t):
        """Return the η_t of round t (from 1): η/√t if `falls` is true, else η (Zinkevich 2003)."""
        return self.eta / math.sqrt(t) if self.falls else self.eta

    def adagrad_step(self, total, g):
        """Return the step ``-η g/(δ + √G)`` of a feature and its new G, the sum of g² (Duchi et al. 2011)."""
        total += g * g
        # If the square of g underflows, G stays 0 and so does the weight.
        return (-self.eta * (g / (self.delta + math.sqrt(total))) if total > 0.0 else 0.0), total


step_size = register_jitable(DescentRule.step_size)
_adagrad_step = register_jitable(DescentRule.adagrad_step)


# Weights are stored as ``scale v``, and a scale below this is multiplied into v, which takes d operations. A
# scale of 1/1000 costs the sum ``A v - u`` of all weights so far three digits. Learners that do not predict
# with the mean use the lower limit SMALLEST_SCALE: their scale only must not underflow.
_SMALLEST_WITH_MEAN = 2.0**-10


@register_jitable
def _shrunk(v, u, scale, scales, factor):
    """Multiply ``w = scale v`` by `factor`; return the new scale and sum of scales.

    If the scale becomes tiny, it is multiplied into v. Then it restarts from 1, and the sum of scales from 0,
    after the weights summed so far have been moved into u.
    """
    smaller = scale * factor
    if smaller > (_SMALLEST_WITH_MEAN if u.size > 0 else SMALLEST_SCALE):
        return smaller, scales
    if u.size > 0:
        u -= scales * v
    # The new scale is too small, or the factor is <= 0 (η_t l2 >= 1): multiply the new scale into v.
    v *= smaller
    return 1.0, 0.0


@learning_loop
def _learn(X, codes, scores, v, u, scalars, factors, rule, rounds):
    """Make one pass of Zinkevich (2003) with L2 shrinkage; `scalars`: scale of w, sum of scales so far."""
    mistakes = updates = 0
    scale, scales = scalars[0], scalars[1]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        dot_v = dot(v, x)
        s = scale * dot_v
        scores[t] = (scales * dot_v - dot(u, x)) / max(rounds[0], 1) if u.size > 0 else s
        mistakes += not y * scores[t] > 0.0
        rounds[0] += 1
        eta_t = step_size(rule, rounds[0])
        if rule.l2 > 0.0:
            scale, scales = _shrunk(v, u, scale, scales, 1.0 - eta_t * rule.l2)
        c = weighted_slope(rule.loss, y * s, factors[codes[t]])
        if has_gradient(c, s, x):
            a = y * c / scale
            add_step(v, eta_t, a, x)
            if u.size > 0:
                add_step(u, scales * eta_t, a, x)
            updates += 1
        scales += scale
    scalars[0], scalars[1] = scale, scales
    return mistakes, updates


@register_jitable
def _adapt(rule, w, u, G, j, g, rounds):
    """Make AdaGrad's step for the weight at j: a feature, or a pair (feature, class)."""
    step, G[j] = _adagrad_step(rule, G[j], g)
    w[j] += step
    if u.size > 0:
        u[j] += rounds * step


@learning_loop
def _learn_adaptively(X, codes, scores, w, u, G, factors, rule, rounds):
    """Make one pass of AdaGrad (Duchi et al. 2011): ``w_j -= η g_j/(δ + √G_j)``."""
    mistakes = updates = 0
    gradient = np.zeros(w.shape[0] if rule.l2 > 0.0 else 0)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = (rounds[0] * s - dot(u, x)) / max(rounds[0], 1) if u.size > 0 else s
        mistakes += not y * scores[t] > 0.0
        c = weighted_slope(rule.loss, y * s, factors[codes[t]])
        steps = has_gradient(c, s, x)
        if rule.l2 > 0.0:
            # The L2 norm adds λ w to the gradient, so all features take a step, not only the row's.
            for j in range(w.shape[0]):
                gradient[j] = rule.l2 * w[j]
            if steps:
                add_scaled(gradient, -y * c, x)
            for j in range(w.shape[0]):
                _adapt(rule, w, u, G, j, gradient[j], rounds[0])
        elif steps:
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    _adapt(rule, w, u, G, j, -y * c * x_j, rounds[0])
        updates += steps
        rounds[0] += 1
    return mistakes, updates


@compiled
def _score_rows(X, v, u, scale, scales, rounds, scores):
    """Write each row's score into `scores`: by the mean weights, or by the last ones if `u` is empty."""
    for t in range(n_rows(X)):
        x = row(X, t)
        s = dot(v, x)
        scores[t] = (scales * s - dot(u, x)) / max(rounds, 1) if u.size > 0 else scale * s


@register_jitable
def _score_classes(V, U, scale, scales, rounds, x, sums, missing, last, scores):
    """Write class scores: by the last weights into `last`, by the mean (if used, else last) into `scores`."""
    score_classes(V, x, sums, scores)
    for z in range(scores.shape[0]):
        last[z] = scale * scores[z]
    if U.size > 0:
        score_classes(U, x, missing, scores)
        for z in range(scores.shape[0]):
            scores[z] = (scales * sums[z] - missing[z]) / max(rounds, 1)
    else:
        copy_into(scores, last)


@learning_loop
def _learn_classes(X, codes, scores, V, U, scalars, rule, rounds, weights):
    """Make one pass for K > 2 classes; `scalars`: the scale of the weights, and the sum of scales so far."""
    mistakes = updates = 0
    scale, scales = scalars[0], scalars[1]
    K = scores.shape[1]
    sums, missing = np.empty(V.shape[1]), np.empty(V.shape[1])
    last, which, factors = np.empty(K), np.empty(K, np.int64), np.empty(K)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes(V, U, scale, scales, rounds[0], x, sums, missing, last, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        rounds[0] += 1
        eta_t = step_size(rule, rounds[0])
        if rule.l2 > 0.0:
            scale, scales = _shrunk(V, U, scale, scales, 1.0 - eta_t * rule.l2)
        n = class_gradient(rule.loss, rule.softmax, last, y, x, which, factors)
        if n > 0:
            step = weight_of(weights, y) * eta_t / scale
            add_to_classes(V, -step, x, n, which, factors)
            if U.size > 0:
                add_to_classes(U, -scales * step, x, n, which, factors)
            updates += 1
        scales += scale
    scalars[0], scalars[1] = scale, scales
    return mistakes, updates


@learning_loop
def _learn_classes_adaptively(X, codes, scores, W, U, G, rule, rounds, weights):
    """Make one pass for many classes, with an AdaGrad step size for each class and feature."""
    mistakes = updates = 0
    K = scores.shape[1]
    gradient = np.zeros(W.shape if rule.l2 > 0.0 else (0, 0))
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    last, which, factors = np.empty(K), np.empty(K, np.int64), np.empty(K)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes(W, U, 1.0, rounds[0], rounds[0], x, sums, missing, last, s)
        mistakes += not s[y] - s[best_wrong(s, y)] > 0.0
        n = class_gradient(rule.loss, rule.softmax, last, y, x, which, factors)
        if rule.l2 > 0.0:
            for j in range(W.shape[0]):
                for z in range(K):
                    gradient[j, z] = rule.l2 * W[j, z]
            add_to_classes(gradient, weight_of(weights, y), x, n, which, factors)
            for j in range(W.shape[0]):
                for z in range(K):
                    _adapt(rule, W, U, G, (j, z), gradient[j, z], rounds[0])
        else:
            for k in range(n_entries(x) if n > 0 else 0):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    for i in range(n):
                        g = weight_of(weights, y) * factors[i] * x_j
                        _adapt(rule, W, U, G, (j, np.uintp(which[i])), g, rounds[0])
        updates += n > 0
        rounds[0] += 1
    return mistakes, updates


@compiled
def _score_rows_of_classes(X, V, U, scale, scales, rounds, scores):
    """Write the scores of every row of X, one for each class, into `scores`, without learning."""
    sums, missing, last = np.empty(V.shape[1]), np.empty(V.shape[1]), np.empty(scores.shape[1])
    for t in range(n_rows(X)):
        _score_classes(V, U, scale, scales, rounds, row(X, t), sums, missing, last, scores[t])


class GradientDescent(LinearClassifier):
    """Base of `OnlineGradientDescent` and its variants: their parameters, state and learning loops."""

    loss: Annotated[str, one_of(LOSSES)]
    eta: Positive
    rate: Annotated[str, one_of(RATES)]
    average: bool
    l2: NonNegative
    delta: NonNegative

    _state = ("_weights", "_u", "_G", "_scalars")

    def _begin_with(self, zeros):
        # Later changes of `average` and `rate` have no effect: the mean of the weights, and AdaGrad's
        # sums of squares, must include all rows from the first one on.
        self._weights = zeros
        self._u = np.zeros_like(zeros) if self.average else None
        self._G = np.zeros_like(zeros) if self.rate == "adagrad" else None
        # The scale of the weights, and the sum of the scales of all rows so far.
        self._scalars = np.array([1.0, 0.0])
        self._falls = self.rate != "constant"

    def _factors(self):
        """Return the factors of c(m) and c(-m) in the slope of a row's loss, for each of the two classes."""
        return np.array([[1.0, 0.0], [1.0, 0.0]])

    def _arguments(self, *first):
        u = np.empty((0,) * self._weights.ndim) if self._u is None else self._u
        return self._weights, u, self._scalars if self._G is None else self._G, *first

    def _rule(self):
        softmax = self.scores_are_log_odds
        numbers = float(self.eta), self._falls, float(self.l2), float(self.delta)
        return DescentRule(LOSSES.index(self.loss), softmax, *numbers)

    def _loop(self):
        loop = _learn if self._G is None else _learn_adaptively
        return loop, self._arguments(self._factors(), self._rule(), np.array([self.n_examples_]))

    def _loop_of_classes(self):
        loop = _learn_classes if self._G is None else _learn_classes_adaptively
        return loop, self._arguments(self._rule(), np.array([self.n_examples_]), weights_by_code(self))

    def _scales(self):
        """Return the scale of the weights and the sum of the scales so far."""
        return (1.0, float(self.n_examples_)) if self._G is not None else self._scalars.tolist()

    def _scores_by_weights(self):
        # A row's score is its product with `_weights` if there is no mean, and the scale is 1 and stays 1. It
        # is not 1 after learning with another `l2`.
        return self._u is None and (self._G is not None or (self.l2 == 0.0 and self._scalars[0] == 1.0))

    def _score(self, X, scores):
        _score_rows(X, *self._arguments()[:2], *self._scales(), self.n_examples_, scores)

    def _score_classes(self, X, scores):
        _score_rows_of_classes(X, *self._arguments()[:2], *self._scales(), self.n_examples_, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        scale, scales = self._scales()
        weights = scale * self._weights
        if self._u is not None:
            weights = (scales * self._weights - self._u) / max(self.n_examples_, 1)
        return as_coef(weights, len(self.classes_))
