"""Kernel MIRA, the margin infused relaxed algorithm."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Positive
from ..numeric.compiled import register_jitable
from ..numeric.vector import SMALLEST_NORMAL
from .rules import MulticlassRuleClassifier


@register_jitable
def _step_of_classes(s, y, beta, own, τ):
    """Write the ultraconservative step of Crammer and Singer's MIRA into `τ`.

    `s` has the scores of all classes, e_y is 1 for the right class y and 0 for the others. τ minimizes
    ``½ k(x, x) ‖τ‖² + (s - beta e_y)·τ`` under ``τ <= e_y`` and ``Σ τ = 0``. It is e_y minus the projection
    of ``e_y + (s - beta e_y)/k(x, x)`` onto the simplex.
    """
    for z in range(s.shape[0]):
        τ[z] = s[z] / own
    τ[y] += 1.0 - beta / own
    descending = -np.sort(-τ)
    total, θ = -1.0, 0.0
    for rank in range(s.shape[0]):
        total += descending[rank]
        if descending[rank] - total / (rank + 1) > 0.0:
            θ = total / (rank + 1)
    for z in range(s.shape[0]):
        τ[z] = -max(0.0, τ[z] - θ)
    τ[y] += 1.0


class KernelMIRARule(NamedTuple):
    """MIRA's step for a row whose margin is at most `beta`: the α <= 1 that raises the margin to beta."""

    beta: float

    def step(self, m, own, squares):
        if m > self.beta:
            return False, 0.0, 0
        τ = min(max((self.beta - m) / own, 0.0), 1.0) if 0.0 < own < np.inf else 0.0
        return τ > 0.0, τ, 1

    def step_of_classes(self, s, y, z, m, own, a):
        if m > self.beta:
            return False, 0
        if not SMALLEST_NORMAL <= own < np.inf:
            return False, 1
        _step_of_classes(s, y, self.beta, own, a)
        return a[y] > 0.0, 1


@dataclass(eq=False, repr=False)
class KernelMIRA(MulticlassRuleClassifier):
    """Kernel MIRA: a row with ``m <= beta`` becomes a support vector, α = y min(1, (beta - m)/k(x, x)).

    The step raises the row's margin ``m = y f(x)`` to beta, unless that takes ``|α| > 1``. With more than two
    classes the step is the ultraconservative one: the smallest coefficients of all classes (at most 1 for the
    right class, at most 0 for the others, with sum 0) that raise the margin to beta, or as far as the bounds
    allow.

    A row with ``m <= beta`` takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    beta : float, default=0.1
        Largest margin of a row that is learned, > 0 (with 0 every step would be 0).
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    See Also
    --------
    DistillCacheMIRA : With removal of redundant rows.
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Singer (2003), "Ultraconservative online algorithms for multiclass problems", JMLR 3.

    Examples
    --------
    >>> KernelMIRA(beta=0.5).fit([[0.0], [5.0], [0.1], [4.9]], [0, 1, 0, 1]).dual_coef_.round(3).tolist()
    [[-0.5, 0.5, -0.005, 0.005]]
    """

    beta: Positive = 0.1

    only_adds = True

    def _rule(self):
        return KernelMIRARule(float(self.beta))
