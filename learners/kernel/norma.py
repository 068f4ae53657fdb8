"""NORMA: stochastic gradient descent in the feature space."""

import math

from ..estimator.parameters import check_bool, check_nonnegative, check_positive
from ..numeric.compiled import compiled
from .kernel_classifier import KernelClassifier
from .support.block_view import put, score_of


@compiled
def _learn(S, n, codes, scores, eta0, lam, decay):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = score_of(S, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        η = eta0 / math.sqrt(S.first + t + 1) if decay else eta0
        for i in range(n):
            S.alpha[i] *= 1.0 - η * lam
        if not m > 1.0 and S.own[t] < math.inf:
            put(S, n, t, η * y)
            n += 1
            updates += 1
    return n, mistakes, updates, evaluations


class NORMA(KernelClassifier):
    """NORMA: each row shrinks all coefficients; one with ``m <= 1`` joins with ``α = η y``.

    ``f ← (1 - η lam) f - η ∂l/∂f``, the gradient step on the hinge loss with the regulariser ``lam/2 ‖f‖²``.

    Parameters
    ----------
    eta0 : float, default=0.1
        Step, > 0.
    lam : float, default=0.01
        Regularisation, >= 0, such that ``eta0 lam < 1``.
    decay : bool, default=False
        η is eta0/√t at row t instead of eta0.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Kivinen, Smola, Williamson (2004), "Online learning with kernels", IEEE Trans. Signal Processing 52.

    Examples
    --------
    >>> NORMA(eta0=0.5, lam=0.1).fit([[0.0], [10.0]], [0, 1]).dual_coef_.tolist()
    [[-0.475, 0.5]]
    """

    def __init__(
        self, eta0=0.1, lam=0.01, decay=False, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1
    ):
        self.eta0 = eta0
        self.lam = lam
        self.decay = decay
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        check_positive(self, "eta0")
        check_nonnegative(self, "lam")
        check_bool(self, "decay")
        if not self.eta0 * self.lam < 1.0:
            raise ValueError(
                f"NORMA: eta0 * lam must be < 1, got {self.eta0!r} * {self.lam!r} = {self.eta0 * self.lam:g}"
            )

    def _walk(self, walk, n, codes, scores):
        return _learn(walk, n, codes, scores, float(self.eta0), float(self.lam), bool(self.decay))
