"""AdaGrad with mirror descent and an L1 norm."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import NonNegative, Scale
from ...numeric.emitters import soft_threshold
from .lazy_learner import LazyLearner


class AdaptiveRule(NamedTuple):
    """The update rule of `AdaGradFOBOS`; H is defined there.

    Stored per weight: its value and its step size η/H after its last gradient step, and the number of rows
    before that step.
    """

    eta: float
    l1: float
    delta: float
    size: int = 3

    def now(self, clock):
        """Return what the weights at the next row depend on: the number of rows learned, and λ."""
        return clock[0], self.l1

    @staticmethod
    def weight(ir, w, step, settled, rows, l1):
        """Emit code for the current weight: the stored w, shrunk by λη/H for each row since it was stored."""
        return soft_threshold(ir, w, ir.fmul(ir.fsub(rows, settled), ir.fmul(l1, step)))

    def follow(self, state, j, w, g, now):
        """Make the gradient step of weight j (Duchi, Hazan & Singer 2011, sec. 5.1); `weight` shrinks it."""
        root = self.eta / state[1][j] - self.delta if state[1][j] > 0.0 else 0.0
        total = root * root + g * g
        # A gradient is skipped if the new G, the sum of squared gradients, underflows to 0 or overflows.
        if 0.0 < total < np.inf:
            step = self.eta / (self.delta + math.sqrt(total))
            state[0][j], state[1][j], state[2][j] = w - step * g, step, now[0]


@dataclass(eq=False, repr=False)
class AdaGradFOBOS(LazyLearner):
    """AdaGrad with mirror descent and an L1 norm: FOBOS with a step size for each feature.

    On every row ``G += g²``, ``H = δ + √G`` and ``w_j = soft(w_j - η g_j/H_j, ηλ/H_j)``, with
    ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m) and
    ``soft(v, a) = sgn(v) max(|v| - a, 0)``. While G_j is 0, so is w_j.

    Parameters
    ----------
    eta : float, default=0.1
        Step size η > 0.
    l1 : float, default=0.001
        λ >= 0, the weight of the L1 norm.
    delta : float, default=1e-8
        δ >= 0: keeps the first steps small.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w after all rows so far, computed on access.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    A row takes time proportional to its non-zeros.

    See Also
    --------
    AdaGradRDA : AdaGrad with dual averaging in place of mirror descent.
    OnlineGradientDescent : With rate="adagrad", the same steps without an L1 norm.

    References
    ----------
    Duchi, Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12, section 5.1.

    Examples
    --------
    >>> AdaGradFOBOS(l1=0.1).fit([[1.0, 0.0], [0.0, 3.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.08, 0.0967]]
    """

    eta: Scale = 0.1
    l1: NonNegative = 0.001
    delta: NonNegative = 1e-8
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    is_sparse = True

    def _rule(self):
        return AdaptiveRule(float(self.eta), float(self.l1), float(self.delta))
