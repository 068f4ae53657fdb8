"""Experts: linear models that learn from the same gradient, and predict by their mean, weighted by success.

A row's gradient g is taken at ``w = Σ_i p_i w_i``, so all experts take a step along the same row:
``w_i -= η_i g``. A w_i that leaves the ball ``‖w_i‖ <= radius`` is scaled back to its surface. A rule is a
named tuple with the fields `steps`, the η_i, and `radius`. It defines ``weigh(p, losses)``, which changes the
probabilities p_i, given the losses ``g·(w_i - w)``.

Expert i is stored as ``w_i = scale_i V_i``, where V_i is column i of V.
"""

import math

import numpy as np
from numpy.typing import NDArray

from ..numeric.compiled import INLINE, compiled, register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import by_types, n_rows, row, squared_norm
from .linear_classifier import LinearClassifier, as_coef
from .parts.classes import by_class, new_class_state, score_classes
from .parts.losses import LOSSES, add_to_classes, has_gradient, slope
from .parts.scale import folded

# Rows with a gradient g whose ‖g‖² is at least this are skipped, because g/scale could overflow.
_LONGEST = 1e100


@by_types(**INLINE)
def _weigh(self, p, losses):
    return self.instance_class.weigh


@register_jitable
def _score(V, experts, x, sums, scores):
    """Write the score of each expert into `scores`; return the score of their weighted mean w."""
    score_classes(V, x, sums, scores)
    s = 0.0
    for i in range(scores.shape[0]):
        scores[i] *= experts[1, i]
        s += experts[0, i] * scores[i]
    return s


@learning_loop
def _learn(X, codes, scores, V, experts, rule, loss):
    """Make one pass; `experts` has three rows: the experts' probabilities p_i, their scales, and ‖w_i‖²."""
    mistakes = updates = 0
    p, scales, squares = experts[0], experts[1], experts[2]
    N = len(p)
    sums, own, which, factors = np.empty(V.shape[1]), np.empty(N), np.arange(N), np.empty(N)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = scores[t] = _score(V, experts, x, sums, own)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        gg = c * c * squared_norm(x)
        if has_gradient(c, s, x) and gg < _LONGEST:
            for i in range(N):
                factors[i] = -y * c * (own[i] - s)
            _weigh(rule, p, factors)
            for i in range(N):
                eta = rule.steps[i]
                b = eta * y * c
                squares[i] = max(squares[i] + b * 2.0 * own[i] + eta * eta * gg, 0.0)
                factors[i] = b / scales[i]
            add_to_classes(V, 1.0, x, N, which, factors)
            for i in range(N):
                if squares[i] > rule.radius * rule.radius:
                    scales[i] = folded(V[:, i], scales[i] * (rule.radius / math.sqrt(squares[i])))
                    squares[i] = rule.radius * rule.radius
            updates += 1
    return mistakes, updates


@compiled
def _score_rows(X, V, experts, scores):
    sums, own = np.empty(V.shape[1]), np.empty(experts.shape[1])
    for t in range(n_rows(X)):
        scores[t] = _score(V, experts, row(X, t), sums, own)


class ExpertsClassifier(LinearClassifier):
    """Base of learners that average experts: a subclass has a `loss` and defines ``_begin_experts()``."""

    loss: str

    _state = ("_weights", "_experts")

    def _begin_experts(self):
        """Return the update rule, and the probabilities of the experts before the first row."""
        raise self._undefined("_begin_experts")

    def _allocate(self, n_features):
        self._rule_of_stream, p = self._begin_experts()
        self._experts = np.stack([p, np.ones(len(p)), np.zeros(len(p))])
        self._weights = new_class_state(n_features, len(p))  # V: column i belongs to expert i

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        return self._experts[0]

    def _loop(self):
        return _learn, (self._weights, self._experts, self._rule_of_stream, LOSSES.index(self.loss))

    def _score(self, X, scores):
        _score_rows(X, self._weights, self._experts, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        p, scales, _ = self._experts
        return as_coef((p * scales) @ by_class(self._weights, len(p)), 2)
