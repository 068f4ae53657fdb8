"""Kernel MIRA, the margin infused relaxed algorithm."""

from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import check_positive
from ..numeric.compiled import compiled, register_jitable
from ..numeric.margins import signed
from ..numeric.vector import SMALLEST_NORMAL
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import add, replace_row, score_of
from .support.support_set import score_classes


@register_jitable
def mira_step_of_two(m, beta, own):
    """Return MIRA's step for a row of margin m and k(x, x) = `own`: it makes the margin beta, but is at most
    1.
    """
    return min(max((beta - m) / own, 0.0), 1.0) if own > 0.0 else 0.0


@register_jitable
def mira_step(s, y, beta, own, τ):
    """Write the ultraconservative step of Crammer and Singer's MIRA into `τ`.

    ``min ½ k(x, x) ‖τ‖² + (s - beta e_y)·τ`` with ``τ <= e_y`` and ``Σ τ = 0``: e_y minus the projection of
    ``e_y + (s - beta e_y)/k(x, x)`` onto the simplex.
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


@compiled
def _learn(view, n, codes, scores, beta):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if m > beta:
            continue
        evaluations += 1
        if not view.own[t] < np.inf:
            continue
        τ = mira_step_of_two(m, beta, view.own[t])
        if τ > 0.0:
            n = add(view, n, t, τ * y)
            updates += 1
    return n, mistakes, updates, evaluations


@compiled
def _learn_classes(view, n, codes, scores, beta):
    mistakes = updates = evaluations = 0
    τ = np.empty(scores.shape[1])
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        evaluations += n
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if m > beta:
            continue
        evaluations += 1
        if not SMALLEST_NORMAL <= view.own[t] < np.inf:
            continue
        mira_step(s, y, beta, view.own[t], τ)
        if τ[y] > 0.0:
            replace_row(view, n, t)
            for z in range(τ.shape[0]):
                view.alpha[z, n] = τ[z]
            n += 1
            updates += 1
    return n, mistakes, updates, evaluations


@dataclass(eq=False, repr=False)
class KernelMIRA(MulticlassKernelClassifier):
    """Kernel MIRA: if ``m <= beta`` the row joins with ``α = y min(1, (beta - m)/k(x, x))``.

    The step makes the row's margin beta, or is 1; the support set grows with every step. With more than two
    classes the step is the ultraconservative one: the smallest change of all classes' α (at most 1 for the
    right class, at most 0 for the others, with sum 0) that raises the margin as far.

    A row with ``m <= beta`` takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    beta : float, default=0.1
        Tolerance, > 0 (with 0 every step would be 0).
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

    beta: float = 0.1
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    epochs: int = 1

    def _check_own_parameters(self):
        check_positive(self, "beta")

    def _learn_block(self, view, n, codes, scores):
        return _learn(view, n, codes, scores, float(self.beta))

    def _learn_block_of_classes(self, view, n, codes, scores):
        return _learn_classes(view, n, codes, scores, float(self.beta))
