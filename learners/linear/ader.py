"""Ader: many learning rates for changing targets, weighted by their success."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import Count, Scale
from .experts import ExpertsClassifier
from .parts.losses import exp_of_negative


class AderRule(NamedTuple):
    """The update rule of `Ader`, with its step sizes η_i (`steps`), a (`rate`) and D/2 (`radius`)."""

    steps: NDArray[np.float64]
    rate: float
    radius: float

    def weigh(self, p, losses):
        """Update the probabilities p of the models, given their losses (Zhang, Lu & Zhou 2018, Alg. 3)."""
        least, total = np.inf, 0.0
        for i in range(len(p)):
            least = min(least, losses[i]) if p[i] > 0.0 else least
        for i in range(len(p)):
            # The least loss is subtracted, so that not all factors can underflow to 0.
            p[i] *= exp_of_negative(self.rate * min(least - losses[i], 0.0))
            total += p[i]
        for i in range(len(p)):
            p[i] /= total


@dataclass(eq=False, repr=False)
class Ader(ExpertsClassifier):
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

    def _begin_experts(self):
        T, D, G = int(self.T), float(self.D), float(self.G)
        N = math.ceil(0.5 * math.log2(1.0 + 4.0 * T / 7.0)) + 1
        i = np.arange(1.0, N + 1.0)
        steps = 2.0 ** (i - 1.0) * (D / G) * math.sqrt(7.0 / (2.0 * T))
        rule = AderRule(steps, math.sqrt(2.0 / T) / (G * D), D / 2.0)
        return rule, (1.0 + 1.0 / N) / (i * (i + 1.0))
