"""The kernel Passive-Aggressive algorithm PA-I."""

from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import check_positive
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.vector import SMALLEST_NORMAL
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import add, score_of
from .support.support_set import add_pair, score_classes


@compiled
def _learn(view, n, codes, scores, C):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            evaluations += 1
            if SMALLEST_NORMAL <= view.own[t] < np.inf:
                n = add(view, n, t, y * min(C, l / view.own[t]))
                updates += 1
    return n, mistakes, updates, evaluations


@compiled
def _learn_classes(view, n, codes, scores, C):
    """Learn a block by PA-I along f(x, y) - f(x, ỹ), whose squared norm is 2 k(x, x)."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        evaluations += n
        m = s[y] - s[z]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            evaluations += 1
            if SMALLEST_NORMAL <= view.own[t] < np.inf:
                n = add_pair(view, n, t, min(C, l / (2.0 * view.own[t])), y, z)
                updates += 1
    return n, mistakes, updates, evaluations


@dataclass(eq=False, repr=False)
class KernelPassiveAggressive(MulticlassKernelClassifier):
    """Kernel PA-I: if the hinge loss ``l = 1 - m`` is positive, ``α = y min(C, l/k(x, x))``.

    The support set grows with every row inside the margin. With more than two classes, ``m = s_y - s_ỹ``, and
    α is ``min(C, l/(2 k(x, x)))`` for the right class and the negative of it for the best wrong class.

    k(x, x) is one kernel evaluation of a row inside the margin.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), "Online passive-aggressive algorithms", JMLR 7.

    Examples
    --------
    >>> learner = KernelPassiveAggressive(kernel="linear").fit([[2.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> learner.dual_coef_.tolist()
    [[-0.25, 1.0]]
    """

    C: float = 1.0
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    epochs: int = 1

    def _check_own_parameters(self):
        check_positive(self, "C")

    def _learn_block(self, view, n, codes, scores):
        return _learn(view, n, codes, scores, float(self.C))

    def _learn_block_of_classes(self, view, n, codes, scores):
        return _learn_classes(view, n, codes, scores, float(self.C))
