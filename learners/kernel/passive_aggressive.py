"""The kernel Passive-Aggressive algorithm PA-I."""

import numpy as np

from ..estimator.parameters import check_positive
from ..numeric.compiled import compiled
from . import multiclass
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import put, score_of

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@compiled
def _learn(S, n, codes, scores, C):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = score_of(S, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            evaluations += 1
            if _SMALLEST_NORMAL <= S.own[t] < np.inf:
                put(S, n, t, y * min(C, l / S.own[t]))
                n += 1
                updates += 1
    return n, mistakes, updates, evaluations


class KernelPassiveAggressive(MulticlassKernelClassifier):
    """Kernel PA-I: where the hinge loss ``l = 1 - m`` is positive, ``α = y min(C, l/k(x, x))``.

    The support set grows with every row inside the margin. Of more than two classes, with ``m = s_y - s_ỹ``,
    α is ``min(C, l/(2 k(x, x)))`` for the right and the negative of it for the best wrong one.

    k(x, x) is one kernel evaluation of a row inside the margin.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

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

    def __init__(self, C=1.0, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.C = C
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        check_positive(self, "C")

    def _walk(self, walk, n, codes, scores):
        return _learn(walk, n, codes, scores, float(self.C))

    def _walk_classes(self, walk, n, codes, scores):
        return multiclass.learn_passive_aggressive(walk, n, codes, scores, float(self.C))
