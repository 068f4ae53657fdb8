"""AdaGrad with mirror descent and an L1 norm."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import NonNegative, Scale
from ...numeric.formulas import soft_threshold, where
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
        """Return what the formulas of the next row need: the number of rows learned, λ, η and δ."""
        return clock[0], self.l1, self.eta, self.delta

    @staticmethod
    def weight(stored, size, settled, rows, l1, eta, delta):
        """Return the current weight: the stored one, shrunk by λη/H for each row since it was stored."""
        return soft_threshold(stored, (rows - settled) * (l1 * size))

    @staticmethod
    def step(stored, size, settled, w, g, rows, l1, eta, delta):
        """Make the gradient step (Duchi, Hazan & Singer 2011, sec. 5.1); `weight` shrinks the result."""
        root = where(size > 0.0, eta / size - delta, 0.0)
        total = root * root + g * g
        new = eta / (delta + total.root())
        # A gradient is skipped if the new G, the sum of squared gradients, underflows to 0 or overflows.
        steps = (total > 0.0) & (total < np.inf)
        return [where(steps, w - new * g, stored), where(steps, new, size), where(steps, rows, settled)]


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
