"""NORMA: stochastic gradient descent in the feature space."""

import math
from dataclasses import dataclass

from ..estimator.parameters import NonNegative, Positive
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from .kernel_classifier import KernelClassifier
from .support.block_view import add, score_of


@compiled
def _learn(view, n, codes, scores, eta0, lam, decay):
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        η = eta0 / math.sqrt(view.first + t + 1) if decay else eta0
        for i in range(n):
            view.alpha[i] *= 1.0 - η * lam
        if not m > 1.0 and view.own[t] < math.inf:
            n = add(view, n, t, η * y)
            updates += 1
    return n, mistakes, updates, evaluations


@dataclass(eq=False, repr=False)
class NORMA(KernelClassifier):
    """NORMA: each row shrinks all coefficients; a row with ``m <= 1`` joins the support set with ``α = η y``.

    The step is ``f ← (1 - η lam) f - η ∂l/∂f``, the gradient step on the hinge loss ``l = max(0, 1 - m)``
    with the regularizer ``lam/2 ‖f‖²``; ``m = y f(x)`` is the margin.

    Parameters
    ----------
    eta0 : float, default=0.1
        Step size η, > 0.
    lam : float, default=0.01
        Regularization, >= 0, such that ``eta0 lam < 1``.
    decay : bool, default=False
        Whether the step size η at row t is eta0/√t instead of eta0.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

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

    eta0: Positive = 0.1
    lam: NonNegative = 0.01
    decay: bool = False

    only_adds = True

    def _check_parameters(self):
        if not self.eta0 * self.lam < 1.0:
            raise ValueError(
                f"NORMA: eta0 * lam must be < 1, got {self.eta0!r} * {self.lam!r} = {self.eta0 * self.lam:g}"
            )

    def _learn_block(self, view, n, codes, scores):
        return _learn(view, n, codes, scores, float(self.eta0), float(self.lam), bool(self.decay))
