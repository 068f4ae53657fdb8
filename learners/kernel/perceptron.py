"""The kernel Perceptron."""

import numpy as np

from ..numeric.compiled import compiled
from ..numeric.margins import signed
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import add, score_of
from .support.class_scores import add_pair, score_classes


@compiled
def _learn(view, n, codes, scores):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        if not y * scores[t] > 0.0:
            mistakes += 1
            if view.own[t] < np.inf:
                n = add(view, n, t, y)
                updates += 1
    return n, mistakes, updates, evaluations


@compiled
def _learn_classes(view, n, codes, scores):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        evaluations += n
        if not s[y] - s[z] > 0.0:
            mistakes += 1
            if view.own[t] < np.inf:
                n = add_pair(view, n, t, 1.0, y, z)
                updates += 1
    return n, mistakes, updates, evaluations


class KernelPerceptron(MulticlassKernelClassifier):
    """The kernel Perceptron: on a mistake the row joins the support set with α = y.

    The support set grows with every mistake. Of more than two classes, α is 1 for the right and -1 for the
    best wrong one.

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

    def _learn_block(self, view, n, codes, scores):
        return _learn(view, n, codes, scores)

    def _learn_block_of_classes(self, view, n, codes, scores):
        return _learn_classes(view, n, codes, scores)
