"""The second-order Perceptron and AROW in a kernel's feature space."""

import numpy as np

from .._jit import kernel as compiled
from .._parameters import check_positive
from ._base import KernelClassifier
from ._walk import grow_inverse, put, score_of, solve


@compiled
def _learn(S, n, codes, scores, ridge, margin):
    """Ridge regression on the rows whose margin was not above `margin`, row by row.

    `S.square` is ``A⁻¹ = (K + ridge I)⁻¹`` over these rows, and α = A⁻¹y.
    """
    mistakes = updates = evaluations = 0
    d = np.empty(S.alpha.shape[0])
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = score_of(S, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > margin:
            evaluations += 1
            if not S.own[t] < np.inf:
                continue
            # The Schur complement of the bordered K + ridge I: r + v of AROW.
            c = ridge + max(0.0, S.own[t] - solve(S, n, t, d))
            step = (y - scores[t]) / c
            if not abs(step) < np.inf:
                continue
            for i in range(n):
                S.alpha[i] -= step * d[i]
            grow_inverse(S, n, d, c)
            put(S, n, t, step)
            n += 1
            updates += 1
    return n, mistakes, updates, evaluations


class KernelSecondOrderPerceptron(KernelClassifier):
    """The second-order Perceptron with kernels: ridge regression on the rows that were mistakes.

    ``α = (K + a I)⁻¹ y`` over the mistakes. A mistake takes one kernel evaluation, k(x, x), besides those of
    its prediction.

    Parameters
    ----------
    a : float, default=1.0
        > 0; as in `SecondOrderPerceptron`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

    Notes
    -----
    The score is without the current row in the matrix, as in DOGMA: for the linear kernel it is
    ``1 + xᵀA⁻¹x`` times the score of `SecondOrderPerceptron` with full covariance, and of the same sign.

    ``(K + a I)⁻¹`` is kept in float64 and exactly symmetric: 8 n² bytes for n support vectors.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile (2005), "A second-order perceptron algorithm", SIAM J. Comput. 34, section
    4.

    Examples
    --------
    >>> KernelSecondOrderPerceptron().fit([[0.0], [10.0]], [0, 1]).dual_coef_.tolist()
    [[-0.5, 0.5]]
    """

    _keeps_square = True

    def __init__(self, a=1.0, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.a = a
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        check_positive(self, "a")

    def _walk(self, walk, n, codes, scores):
        return _learn(walk, n, codes, scores, float(self.a), 0.0)


class KernelAROW(KernelClassifier):
    """AROW (full covariance, squared hinge) with kernels, by the representer lemma.

    ``μ = Σ ν_i x_i`` and ``Σ = I + Σ π_ij x_i x_jᵀ`` over the rows that were updates (m < 1). With
    ``d = -π k_t`` an update is ``β = 1/(v + r)``, ``v = k(x, x) - k_tᵀd``, ``ν -= l β y d``, ``ν_t = l β y``,
    ``π -= β [d; -1][d; -1]ᵀ``, which makes ``-π`` the inverse of ``K + r I`` and ν ridge regression on these
    rows. `dual_coef_` is ν.

    A row with m < 1 takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    r : float, default=1.0
        Regularisation, > 0.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

    Notes
    -----
    ``-π`` is kept in float64 and exactly symmetric: 8 n² bytes for n support vectors, and they are all the
    rows with m < 1.

    See Also
    --------
    AROW
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors", Machine Learning 91,
    Lemma 1.

    Examples
    --------
    >>> KernelAROW(kernel="linear").fit([[1.0, 0.0], [1.0, 1.0]], [0, 1]).n_support_
    2
    """

    _keeps_square = True

    def __init__(self, r=1.0, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.r = r
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        check_positive(self, "r")

    def _walk(self, walk, n, codes, scores):
        # m < 1: 1 itself is not within the margin.
        return _learn(walk, n, codes, scores, float(self.r), np.nextafter(1.0, 0.0))
