"""BPA-S: the Passive-Aggressive algorithm on a budget."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Positive, Several
from ..numeric.compiled import register_jitable
from .passive_aggressive import KernelPassiveAggressiveRule
from .rules import RuleClassifier
from .support.block_view import add, replace


@register_jitable
def _least_missed(view, own, n, t):
    """Return the slot of the support vector r that costs least to replace by row t (ties: the oldest).

    The cost is ``α_r² (k_rr - k_rt²/k_tt)``, where k_rt is the kernel value of r and row t.
    """
    r, least = 0, np.inf
    for i in range(n):
        k = view.values[t, i]
        cost = view.alpha[i] * view.alpha[i] * (own[i] - k * k / view.own[t])
        if cost < least or (cost == least and view.born[i] < view.born[r]):
            r, least = i, cost
    return r


class _ProjectedReplacement(NamedTuple):
    """Keep the budget: in a full support set, the new row replaces the row that costs least to remove.

    The removed row is projected onto the new row, which changes the coefficient of the new row.
    """

    #: k(x, x) of the support vectors, by slot.
    own: np.ndarray
    budget: int

    def join(self, view, n, t, s, a):
        own = self.own
        if n < self.budget:
            own[n] = view.own[t]
            return add(view, n, t, a), True, 0
        r = _least_missed(view, own, n, t)
        a = a + view.alpha[r] * view.values[t, r] / view.own[t]
        if not abs(a) < np.inf:
            return n, False, 0
        own[r] = view.own[t]
        replace(view, r, t, a)
        return n, True, 0


@dataclass(eq=False, repr=False)
class BPAS(RuleClassifier):
    """BPA-S: kernel PA-I on a budget; a new row replaces the support vector that costs least to remove.

    Row t has the margin ``m = y f(x_t)`` and the hinge loss ``l = 1 - m``; ``k_ij`` is k(x_i, x_j). If l > 0,
    the row joins the support set with ``α = y τ``, where ``τ = min(C, l/k_tt)``. If the set is full, the row
    r with the smallest ``α_r² (k_rr - k_rt²/k_tt)`` (ties: the oldest) is removed and projected onto the new
    row, which then has ``α = y τ + α_r k_rt/k_tt``.

    A row with l > 0 takes one kernel evaluation, k_tt, besides those of its prediction.

    Parameters
    ----------
    budget : int, default=100
        Largest number of support vectors, >= 2.
    C : float, default=1.0
        Aggressiveness, > 0.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    The paper chooses the r with the smallest ``½‖f' - f‖² + C l'``, where f' and l' are the function and the
    loss after the step. As l' is the same for every r, the choice of r is the one above. Checked against
    results of an independent implementation, which agrees with BPAs.m and KOL.

    See Also
    --------
    KernelPassiveAggressive
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Online passive-aggressive algorithms on a budget", AISTATS.

    Examples
    --------
    >>> learner = BPAS(budget=2).fit([[0.0], [3.0], [0.1], [2.9], [0.2]], [0, 1, 0, 1, 1])
    >>> learner.support_.tolist()
    [3, 4]
    """

    budget: Several = 100
    C: Positive = 1.0

    _keeps_companions = True

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # Read once per stream, so that setting `budget` later does not change the size of a full support set.
        self._budget = int(self.budget)

    def _rule(self):
        return KernelPassiveAggressiveRule(float(self.C))

    def _maintenance(self):
        return _ProjectedReplacement(self._support.companions, self._budget)
