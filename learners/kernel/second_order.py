"""The second-order Perceptron and AROW in a kernel's feature space."""

import math

import numpy as np

from ..estimator.parameters import check_positive
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import dot
from .kernel_classifier import KernelClassifier
from .support.block_view import add, score_of
from .support.cholesky import grow_factor, projection, squared_projection

# A ridge below this share of k(x, x) is less than the rounding of kernel values (in that precision).
_ROUNDING = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}


@compiled
def _learn(view, whitened, n, codes, scores, ridge, margin, rounding):
    """Learn a block: ridge regression on the rows whose margin was not above `margin`, row by row.

    ``view.square`` is the Cholesky factor L (see `cholesky`) of ``K + ridge I`` over these rows, `whitened`
    is z = L⁻¹y, and α = L⁻ᵀz. The inverse would cost the same work, but it loses all digits if `ridge` is
    small compared with K.
    """
    mistakes = updates = evaluations = 0
    w = np.zeros((1, view.alpha.shape[0]))
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > margin:
            evaluations += 1
            if not view.own[t] < np.inf:
                continue
            norm = squared_projection(view, n, t, w)
            # The Schur complement of the bordered K + ridge I: r + v of AROW.
            c = max(ridge, rounding * view.own[t]) + max(0.0, view.own[t] - norm)
            z = (y - dot(w[0, :n], whitened[:n])) / math.sqrt(c)
            if not abs(z) < np.inf:
                continue
            grow_factor(view, n, w, c)
            whitened[n] = z
            n = add(view, n, t, 0.0)
            w[0, :n] = whitened[:n]
            view.alpha[:n] = projection(view, n, w)
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
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    The score leaves the current row out of the matrix, as in DOGMA: for the linear kernel it is ``1 +
    xᵀA⁻¹x`` times the score of `SecondOrderPerceptron` with full covariance, and of the same sign.

    The Cholesky factor of ``K + a I`` is stored in float64: 8 n² bytes for n support vectors. An a below the
    rounding of kernel values, 1e-14 k(x, x) (1e-6 k(x, x) for float32), is replaced by that.

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

    _keeps_square = _keeps_companions = True

    def __init__(
        self,
        a: float = 1.0,
        kernel: str = "rbf",
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        epochs: int = 1,
    ) -> None:
        super().__init__(kernel, gamma, degree, coef0, epochs)
        self.a = a

    def _check_own_parameters(self):
        check_positive(self, "a")

    def _learn_block(self, view, n, codes, scores):
        return _learn(
            view, self._support.companions, n, codes, scores, float(self.a), 0.0, _ROUNDING[view.values.dtype]
        )


class KernelAROW(KernelClassifier):
    """AROW (full covariance, squared hinge) with kernels, by the representer lemma.

    ``μ = Σ ν_i x_i`` and ``Σ = I + Σ π_ij x_i x_jᵀ`` over the rows that were updates (m < 1). With ``d = -π
    k_t`` an update is ``β = 1/(v + r)``, ``v = k(x, x) - k_tᵀd``, ``ν -= l β y d``, ``ν_t = l β y``, ``π -= β
    [d; -1][d; -1]ᵀ``, which makes ``-π`` the inverse of ``K + r I`` and ν ridge regression on these rows.
    `dual_coef_` is ν.

    A row with m < 1 takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    r : float, default=1.0
        Regularisation, > 0.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    π is stored as the Cholesky factor of ``K + r I``, in float64: 8 n² bytes for n support vectors, which are
    all rows with m < 1. An r below the rounding of kernel values, 1e-14 k(x, x) (1e-6 k(x, x) for float32),
    is replaced by that.

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

    _keeps_square = _keeps_companions = True

    def __init__(
        self,
        r: float = 1.0,
        kernel: str = "rbf",
        gamma: float = 1.0,
        degree: int = 3,
        coef0: float = 1.0,
        epochs: int = 1,
    ) -> None:
        super().__init__(kernel, gamma, degree, coef0, epochs)
        self.r = r

    def _check_own_parameters(self):
        check_positive(self, "r")

    def _learn_block(self, view, n, codes, scores):
        # The largest number below 1, since a margin of 1 is no update.
        rounding = _ROUNDING[view.values.dtype]
        return _learn(
            view, self._support.companions, n, codes, scores, float(self.r), np.nextafter(1.0, 0.0), rounding
        )
