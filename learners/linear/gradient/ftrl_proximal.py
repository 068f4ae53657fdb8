"""FTRL-Proximal."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import NonNegative, Scale
from ...numeric.formulas import soft_threshold, where
from .lazy_learner import LazyLearner


class FTRLRule(NamedTuple):
    """The rule of `FTRLProximal`; `per_alpha` is 1/α. Stored per weight: z and √n of the class's formulas."""

    per_alpha: float
    beta: float
    l1: float
    l2: float
    size: int = 2

    def now(self, clock):
        """Return the parameters."""
        return self.per_alpha, self.beta, self.l1, self.l2

    @staticmethod
    def weight(z, root, per_alpha, beta, l1, l2):
        """Return the current weight (McMahan et al. 2013, Algorithm 1)."""
        strength = (beta + root) * per_alpha + l2
        # `strength` is 0 if β and λ₂ are 0 and g² has underflowed; the weight is then 0.
        return where(strength > 0.0, soft_threshold(-z, l1) / strength, 0.0)

    @staticmethod
    def step(z, root, w, g, per_alpha, beta, l1, l2):
        """Update z and √n for the gradient g, as in Algorithm 1 of McMahan et al. (2013)."""
        new = (root * root + g * g).root()
        # A gradient is skipped if it is 0, or if the new n, the sum of squared gradients, overflows.
        steps = (g != 0.0) & (new < np.inf)
        moved = z + (g - (new - root) * per_alpha * w)
        return [where(steps, moved, z), where(steps, new, root)]


@dataclass(eq=False, repr=False)
class FTRLProximal(LazyLearner):
    """Follow the regularized leader: a step size for each feature, and weights that are exactly 0.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m), for every j
    with ``g_j != 0``: ``σ = (√(n_j + g_j²) - √n_j)/α``, ``z_j += g_j - σ w_j``, ``n_j += g_j²``. ``w_j = 0``
    if ``|z_j| <= λ₁``, else ``w_j = -(z_j - sgn(z_j) λ₁)/((β + √n_j)/α + λ₂)``.

    With more than two classes "logistic" is the softmax, and the hinge takes the margin over the best wrong
    class; each pair of class and feature has a z and an n.

    Parameters
    ----------
    alpha : float, default=0.1
        Step size α > 0.
    beta : float, default=1.0
        β >= 0: keeps the first steps small.
    l1 : float, default=0.0
        Weight λ₁ >= 0 of the L1 norm.
    l2 : float, default=0.0
        Weight λ₂ >= 0 of the L2 norm.
    loss : {"logistic", "hinge"}, default="logistic"
        As in `OnlineGradientDescent`.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    Vowpal Wabbit's ``--ftrl`` is the same rule in float32. River's rule differs: it computes w before the new
    gradient is added to z, and a feature whose ``|z|`` falls to λ₁ keeps its old weight.

    Changes of α, β, λ₁ and λ₂ by `set_params` take effect at the next `fit`.

    References
    ----------
    McMahan et al. (2013), "Ad click prediction: a view from the trenches", KDD, Algorithm 1.

    Examples
    --------
    >>> FTRLProximal().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.0333, 0.0333]]
    """

    alpha: Scale = 0.1
    beta: NonNegative = 1.0
    l1: NonNegative = 0.0
    l2: NonNegative = 0.0
    loss: Literal["logistic", "hinge"] = "logistic"
    epochs: int = 1

    # Version 1 also stored w, so a model had half as many bytes more.
    algorithm_version = 2

    @property
    def is_sparse(self):
        return self.l1 > 0.0

    def _rule(self):
        return FTRLRule(1.0 / float(self.alpha), float(self.beta), float(self.l1), float(self.l2))
