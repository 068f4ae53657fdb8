"""The kernel Perceptron."""

from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import check_nonnegative
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import add, score_of
from .support.support_set import add_pair, score_classes


@compiled
def _learn(view, n, codes, scores, margin):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > margin and view.own[t] < np.inf:
            n = add(view, n, t, y)
            updates += 1
    return n, mistakes, updates, evaluations


@compiled
def _learn_classes(view, n, codes, scores, margin):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        evaluations += n
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if not m > margin and view.own[t] < np.inf:
            n = add_pair(view, n, t, 1.0, y, z)
            updates += 1
    return n, mistakes, updates, evaluations


@dataclass(eq=False, repr=False)
class KernelPerceptron(MulticlassKernelClassifier):
    """The kernel Perceptron: on a mistake the row joins the support set with α = y.

    The support set grows with every mistake, and with a `margin` also with every row inside it. With more
    than two classes, α is 1 for the right and -1 for the best wrong class.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear"}, default="rbf"
        ``exp(-gamma ‖x - z‖²)``, ``(gamma x·z + coef0)^degree`` or ``x·z``.
    gamma : float, default=1.0
        > 0.
    degree : int, default=3
        >= 1.
    coef0 : float, default=1.0
    epochs : int, default=1
        Passes that `fit` makes.
    margin : float, default=0.0
        A row is learnt if its margin is at most this, >= 0. Above 0, rows that are classified correctly but
        with little confidence are learnt as well.

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

    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    epochs: int = 1
    margin: float = 0.0

    def _check_own_parameters(self):
        check_nonnegative(self, "margin")

    def _learn_block(self, view, n, codes, scores):
        return _learn(view, n, codes, scores, float(self.margin))

    def _learn_block_of_classes(self, view, n, codes, scores):
        return _learn_classes(view, n, codes, scores, float(self.margin))
