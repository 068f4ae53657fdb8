"""The kernel Perceptron."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import NonNegative
from .rules import MulticlassRuleClassifier


class KernelPerceptronRule(NamedTuple):
    """The Perceptron's rule: a row is learned, with α = 1, if its margin is at most `margin`."""

    margin: float

    def step(self, m, own, squares):
        return not m > self.margin and own < np.inf, 1.0, 0


@dataclass(eq=False, repr=False)
class KernelPerceptron(MulticlassRuleClassifier):
    """The kernel Perceptron: on a mistake the row joins the support set with α = y.

    With `margin` > 0, correctly classified rows with ``y f(x) <= margin`` join, too. With more than two
    classes, α is 1 for the right and -1 for the best wrong class.

    Parameters
    ----------
    margin : float, default=0.0
        A row is learned if its margin is at most this, >= 0. Above 0, rows that are classified correctly but
        with little confidence are learned as well.
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        ``exp(-gamma ‖x - z‖²)``, ``(gamma x·z + coef0)^degree`` or ``x·z``.
    gamma : float, default=1.0
        Factor in the kernels "rbf" and "poly", > 0.
    degree : int, default=3
        Degree of the kernel "poly", >= 1.
    coef0 : float, default=1.0
        Offset in the kernel "poly", >= 0, which makes it positive semidefinite.
    epochs : int, default=1
        Passes that `fit` makes.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Freund, Schapire (1999), "Large margin classification using the Perceptron algorithm", Machine Learning
    37.

    Examples
    --------
    >>> learner = KernelPerceptron(kernel="poly", degree=2, coef0=0.0)
    >>> learner.fit([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]], [1, 0, 1]).n_support_
    2
    """

    margin: NonNegative = 0.0

    only_adds = True

    def _rule(self):
        return KernelPerceptronRule(float(self.margin))
