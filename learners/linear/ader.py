"""Ader: many learning rates for changing targets, weighted by their success."""

import math
from dataclasses import dataclass
from typing import Literal

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

# Rows with longer gradients (‖g‖² above this) are skipped, before their product with 1/scale overflows.
_LONGEST = 1e100


@register_jitable
def _score(V, experts, x, sums, scores):
    """Write the score of each expert's w into `scores`; return that of their weighted sum."""
    score_classes(V, x, sums, scores)
    s = 0.0
    for i in range(scores.shape[0]):
        scores[i] *= experts[1, i]
        s += experts[0, i] * scores[i]
    return s


@learning_loop
def _learn(X, codes, scores, V, experts, steps, rate, radius, loss):
    """Make one pass of Zhang, Lu & Zhou (2018), Algorithms 3 and 4. Expert i has ``w_i = scale_i V_i``.

    `experts` has rows for the probabilities p_i, the scales and ‖w_i‖²; `steps` the η_i.
    """
    mistakes = updates = 0
    N = steps.shape[0]
    sums, own, which, factors = np.empty(V.shape[1]), np.empty(N), np.arange(N), np.empty(N)
    p, scales, squares = experts[0], experts[1], experts[2]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = scores[t] = _score(V, experts, x, sums, own)
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        gg = c * c * squared_norm(x)
        if has_gradient(c, s, x) and gg < _LONGEST:
            # The meta algorithm: losses g·(w_i - w), from which the least is subtracted. A probability that
            # has underflowed stays 0.
            least = np.inf
            for i in range(N):
                factors[i] = -y * c * (own[i] - s)
                least = min(least, factors[i]) if p[i] > 0.0 else least
            total = 0.0
            for i in range(N):
                p[i] *= exp_of_negative(rate * min(least - factors[i], 0.0))
                total += p[i]
            # The experts: a step each, and back into the ball.
            for i in range(N):
                p[i] /= total
                b = steps[i] * y * c
                squares[i] = max(squares[i] + b * 2.0 * own[i] + steps[i] * steps[i] * gg, 0.0)
                factors[i] = b / scales[i]
            add_to_classes(V, 1.0, x, N, which, factors)
            for i in range(N):
                if squares[i] > radius * radius:
                    scales[i] = folded(V[:, i], scales[i] * (radius / math.sqrt(squares[i])))
                    squares[i] = radius * radius
            updates += 1
    return mistakes, updates


@compiled
def _scores(X, V, experts, scores):
    sums, own = np.empty(V.shape[1]), np.empty(experts.shape[1])
    for t in range(n_rows(X)):
        scores[t] = _score(V, experts, row(X, t), sums, own)


@dataclass(eq=False, repr=False)
class Ader(LinearClassifier):
    """Improved Ader: gradient descent with N step sizes at once, weighted by how well each follows.

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
    One gradient a row serves all experts, so a row takes N times as long as with one step size. ‖w_i‖ is
    updated with each step.

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

    _state = ("_weights", "_experts", "_steps")

    def _allocate(self, n_features):
        T, ratio = int(self.T), float(self.D) / float(self.G)
        N = math.ceil(0.5 * math.log2(1.0 + 4.0 * T / 7.0)) + 1
        i = np.arange(1.0, N + 1.0)
        self._weights = new_class_state(n_features, N)  # V
        self._experts = np.stack([(1.0 + 1.0 / N) / (i * (i + 1.0)), np.ones(N), np.zeros(N)])
        self._steps = 2.0 ** (i - 1.0) * ratio * math.sqrt(7.0 / (2.0 * T))
        self._rate = math.sqrt(2.0 / T) / (float(self.G) * float(self.D))
        self._radius = float(self.D) / 2.0

    @property
    def probabilities_(self) -> NDArray[np.float64]:
        return self._experts[0]

    def _loop(self):
        numbers = self._steps, self._rate, self._radius, LOSSES.index(self.loss)
        return _learn, (self._weights, self._experts, *numbers)

    def _score(self, X, scores):
        _scores(X, self._weights, self._experts, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        p, scales, _ = self._experts
        return as_coef((p * scales) @ by_class(self._weights, len(p)), 2)
