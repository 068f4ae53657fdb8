"""The second-order Perceptron and AROW in a kernel's feature space."""

import math

import numpy as np

from ..estimator.parameters import check_positive
from ..numeric.compiled import compiled
from ..numeric.rows import dot
from .kernel_classifier import KernelClassifier
from .support.block_view import put, score_of
from .support.cholesky import grow_factor, projection, squared_projection

# A ridge below this share of k(x, x) is less than the rounding of kernel values (in that precision).
_ROUNDING = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}


@compiled
def _learn(S, n, codes, scores, ridge, margin, rounding):
    """Ridge regression on the rows whose margin was not above `margin`, row by row.

    `S.square` is the Cholesky factor L (see `_factor.py`) of ``K + ridge I`` over these rows, `S.extra` is
    z = L⁻¹y, α = L⁻ᵀz.
    The inverse itself would do the same work, but loses all digits where `ridge` is small beside K.
    """
    mistakes = updates = evaluations = 0
    w = np.zeros((1, S.alpha.shape[0]))
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
            norm = squared_projection(S, n, t, w)
            # The Schur complement of the bordered K + ridge I: r + v of AROW.
            c = max(ridge, rounding * S.own[t]) + max(0.0, S.own[t] - norm)
            z = (y - dot(w[0, :n], S.extra[:n])) / math.sqrt(c)
            if not abs(z) < np.inf:
                continue
            grow_factor(S, n, w, c)
            put(S, n, t, 0.0)
            S.extra[n] = z
            n += 1
            w[0, :n] = S.extra[:n]
            S.alpha[:n] = projection(S, n, w)
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

    The Cholesky factor of ``K + a I`` is kept in float64: 8 n² bytes for n support vectors. Where a is below
    the rounding of kernel values, 1e-14 k(x, x) (1e-6 k(x, x) where they are float32), it counts as that.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile (2005), "A second-order perceptron algorithm", SIAM J. Comput. 34, section
    4.

    Examples
    --------
    >>> KernelSecondOrderPerceptron(a=3.0).fit([[0.0], [10.0]], [0, 1]).dual_coef_.tolist()
    [[-0.25, 0.25]]
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
        return _learn(walk, n, codes, scores, float(self.a), 0.0, _ROUNDING[walk.values.dtype])


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
    What is kept of π is the Cholesky factor of ``K + r I``, in float64: 8 n² bytes for n support vectors, and
    they are all the rows with m < 1. Where r is below the rounding of kernel values, 1e-14 k(x, x) (1e-6
    k(x, x) where they are float32), it counts as that.

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
        rounding = _ROUNDING[walk.values.dtype]
        return _learn(walk, n, codes, scores, float(self.r), np.nextafter(1.0, 0.0), rounding)
