"""The kernel Passive-Aggressive algorithm PA-I."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Positive
from ..numeric.vector import SMALLEST_NORMAL
from .rules import MulticlassRuleClassifier


class KernelPassiveAggressiveRule(NamedTuple):
    """The rule of PA-I: a row with hinge loss l > 0 is learned, with ``α = min(C, l/‖d‖²)``.

    ``‖d‖²`` is the squared norm of the step for α = 1, the argument `squares` of `step`.
    """

    C: float

    def step(self, m, own, squares):
        l = 1.0 - m
        if not l > 0.0:
            return False, 0.0, 0
        return SMALLEST_NORMAL <= own < np.inf, min(self.C, l / squares), 1


@dataclass(eq=False, repr=False)
class KernelPassiveAggressive(MulticlassRuleClassifier):
    """Kernel PA-I: a row with hinge loss ``l = 1 - m > 0`` becomes a support vector, α = y min(C, l/k(x, x)).

    The margin m is ``y f(x)``; with more than two classes, it is the score of the right class minus that of
    the best wrong class. α is then ``min(C, l/(2 k(x, x)))`` for the right class, and minus that for the best
    wrong class.

    A row with l > 0 takes one kernel evaluation, k(x, x), besides those of its prediction.

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

    C: Positive = 1.0

    only_adds = True

    def _rule(self):
        return KernelPassiveAggressiveRule(float(self.C))
