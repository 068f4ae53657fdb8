"""Regularized dual averaging with an L1 norm."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...estimator.parameters import NonNegative
from ...numeric.formulas import soft_threshold
from .lazy_learner import LazyLearner


class DualAveragingRule(NamedTuple):
    """The rule of `RDA`. Stored per weight: u, the sum of its gradients."""

    l1: float
    gamma: float
    rho: float
    sigma: float
    size: int = 1

    def now(self, clock):
        """Return what weights depend on: threshold λt + γρ√t, factor 1/(σt + γ√t); at first both are 0."""
        t, root = clock[0], math.sqrt(clock[0])
        factor = 1.0 / (self.sigma * t + self.gamma * root) if t > 0.0 else 0.0
        return self.l1 * t + self.gamma * self.rho * root, factor

    @staticmethod
    def weight(u, threshold, factor):
        """Return the current weight, ``-soft(u, threshold) factor`` (Xiao 2010, eq. 10, 24, 26)."""
        return -(soft_threshold(u, threshold) * factor)

    @staticmethod
    def step(u, w, g, threshold, factor):
        """Add a gradient to the sum u of the weight's gradients."""
        return [u + g]


@dataclass(eq=False, repr=False)
class RDA(LazyLearner):
    """Regularized dual averaging (RDA) with an L1 norm: weights from the sum u of all gradients so far.

    After row t, ``w = -soft(u, λt + γρ√t)/(σt + γ√t)``, with ``soft(v, a) = sgn(v) max(|v| - a, 0)``; before
    the first row w is 0. A positive `rho` gives the paper's enhanced form; ``gamma=0, sigma=1`` gives its
    mixed form, with an L1 norm and a squared L2 norm.

    Parameters
    ----------
    l1 : float, default=0.01
        λ >= 0: a feature whose mean gradient is at most λ in size has weight 0.
    gamma : float, default=1.0
        γ >= 0: the larger, the smaller the weights.
    rho : float, default=0.0
        ρ >= 0: an additional threshold for early rows.
    sigma : float, default=0.0
        σ >= 0: the weight of the squared L2 norm; γ + σ >= 1e-150.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w, computed from u and t on access.
    n_nonzero_ : int
        Number of weights that are not 0.

    See Also
    --------
    AdaGradRDA : A step size for each feature.

    References
    ----------
    Xiao (2010), "Dual averaging methods for regularized stochastic learning and online optimization", JMLR
    11, Algorithms 1 and 2.

    Examples
    --------
    >>> RDA(l1=0.1).fit([[1.0, 0.0], [0.0, 3.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.5657, 1.9799]]
    """

    l1: NonNegative = 0.01
    gamma: NonNegative = 1.0
    rho: NonNegative = 0.0
    sigma: NonNegative = 0.0
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    is_sparse = True

    def _check_parameters(self):
        # With a smaller sum, weights could become NaN; see `check_scale`.
        if not self.gamma + self.sigma >= 1e-150:
            raise ValueError(
                f"RDA: gamma + sigma must be at least 1e-150, got {self.gamma!r} + {self.sigma!r}"
            )

    def _rule(self):
        return DualAveragingRule(float(self.l1), float(self.gamma), float(self.rho), float(self.sigma))
