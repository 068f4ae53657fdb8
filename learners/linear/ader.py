"""Ader: many learning rates for changing targets, weighted by their success.

All experts w_i take a step along one gradient g, taken at their mean ``w = Σ_i p_i w_i``. Expert i is stored
as ``w_i = scale_i V_i``, where V_i is column i of V.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import Count, Scale
from ..numeric.compiled import compiled, register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import n_rows, row, squared_norm
from .linear_classifier import LinearClassifier, as_coef
from .parts.classes import by_class, new_class_state, score_classes
from .parts.losses import LOSSES, add_to_classes, exp_of_negative, has_gradient, slope
from .parts.scale import folded

# Rows with a gradient g whose ‖g‖² is at least this are skipped, because g/scale could overflow.
_LONGEST = 1e100


class AderRule(NamedTuple):
    """The numbers of `Ader`: its step sizes η_i (`steps`), a (`rate`) and D/2 (`radius`)."""

    steps: NDArray[np.float64]
    rate: float
    radius: float


@register_jitable
def _score(V, experts, x, sums, scores):
    """Write the score of each expert into `scores`; return the score of their weighted mean w."""
    score_classes(V, x, sums, scores)
    s = 0.0
    for i in range(scores.shape[0]):
        scores[i] *= experts[1, i]
        s += experts[0, i] * scores[i]
    return s


@register_jitable
def _weigh(p, losses, rate):
    """Update the probabilities p of the experts, given their losses ``g·(w_i - w)``."""
    least, total = np.inf, 0.0
    for i in range(len(p)):
        least = min(least, losses[i]) if p[i] > 0.0 else least
    for i in range(len(p)):
        # The least loss is subtracted, so that not all factors can underflow to 0.
        p[i] *= exp_of_negative(rate * min(least - losses[i], 0.0))
        total += p[i]
    for i in range(len(p)):
        p[i] /= total


@learning_loop
def _learn(X, codes, scores, V, experts, rule, loss):
    """Make one pass of Zhang, Lu & Zhou (2018), Algorithms 3 and 4.

    `experts` has three rows: the experts' probabilities p_i, their scales, and ‖w_i‖².
    """
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
            _weigh(p, factors, rule.rate)
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


@dataclass(eq=False, repr=False)
class Ader(LinearClassifier):
    """Improved Ader: gradient descent with N step sizes at once, weighted by the success of each.

    ``w = Σ_i p_i w_i``. On a row with gradient g at w: ``p_i ∝ p_i exp(-a g·(w_i - w))`` with
    ``a = √(2/T)/(GD)``, then ``w_i -= η_i g``, scaled back to norm D/2 if it is longer.
    ``N = ⌈½ log₂(1 + 4T/7)⌉ + 1``, ``η_i = 2^(i-1) (D/G) √(7/(2T))`` and at first
    ``p_i = (1 + 1/N)/(i(i + 1))``.

    Parameters
    ----------
    T : int, default=1000
        The number of rows for which step sizes are chosen, T >= 1; the stream may be longer.
    D : float, default=10.0
        D > 0: the diameter of the ball that the w_i are in.
    G : float, default=10.0
        G > 0: the largest norm of a gradient, which is not checked.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.
    probabilities_ : ndarray of float64, shape (N,)
        The p_i.

    Notes
    -----
    All N models take a step along one gradient per row, so a row takes N times as long as with one step size.
    ‖w_i‖ is computed from its last value and the step.

    References
    ----------
    Zhang, Lu, Zhou (2018), "Adaptive online learning in dynamic environments", NeurIPS, Algorithms 3 and 4.

    Examples
    --------
    >>> Ader(T=100).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(3).tolist()
    [[-0.366, 0.366]]
    """

    T: Count = 1000
    D: Scale = 10.0
    G: Scale = 10.0
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    _state = ("_weights", "_experts")

    def _allocate(self, n_features):
        T, D, G = int(self.T), float(self.D), float(self.G)
        N = math.ceil(0.5 * math.log2(1.0 + 4.0 * T / 7.0)) + 1
        i = np.arange(1.0, N + 1.0)
        steps = 2.0 ** (i - 1.0) * (D / G) * math.sqrt(7.0 / (2.0 * T))
        self._rule_of_stream = AderRule(steps, math.sqrt(2.0 / T) / (G * D), D / 2.0)
        self._experts = np.stack([(1.0 + 1.0 / N) / (i * (i + 1.0)), np.ones(N), np.zeros(N)])
        self._weights = new_class_state(n_features, N)  # V: column i belongs to expert i

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
