"""The kernel Perceptron."""

import numpy as np

from ..numeric.compiled import compiled
from . import multiclass
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import put, score_of


@compiled
def _learn(S, n, codes, scores):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = score_of(S, n, t)
        evaluations += n
        if not y * scores[t] > 0.0:
            mistakes += 1
            if S.own[t] < np.inf:
                put(S, n, t, y)
                n += 1
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

    def __init__(self, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _walk(self, walk, n, codes, scores):
        return _learn(walk, n, codes, scores)

    def _walk_classes(self, walk, n, codes, scores):
        return multiclass.learn_perceptron(walk, n, codes, scores)
