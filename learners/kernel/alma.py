"""ALMA₂, an approximate maximal margin classifier, with kernels."""

import math
from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import Positive, Share
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.vector import SMALLEST_NORMAL
from .kernel_classifier import KernelClassifier
from .support.block_view import add, score_of


@compiled
def _learn(view, n, codes, scores, margin, C, k, squared_norm):
    """Learn a block of rows by ALMA₂; `k` is the next update's number, `squared_norm` is ‖w‖² so far."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n + 1
        m = y * scores[t]
        mistakes += not m > 0.0
        if not SMALLEST_NORMAL <= view.own[t] < np.inf:
            continue
        length = math.sqrt(view.own[t])
        m /= length
        if not m > margin / math.sqrt(k):
            η = C / math.sqrt(k)
            n = add(view, n, t, η * y / length)
            # Update ‖w‖² for the new w. If it is above 1, all coefficients are scaled so that ‖w‖ is 1.
            squared_norm += 2.0 * η * m + η * η
            if squared_norm > 1.0:
                shrink = math.sqrt(squared_norm)
                for i in range(n):
                    view.alpha[i] /= shrink
                squared_norm = 1.0
            k += 1
            updates += 1
    return n, mistakes, updates, evaluations, k, squared_norm


@dataclass(eq=False, repr=False)
class KernelALMA(KernelClassifier):
    """ALMA₂ with kernels: an approximation to the largest margin, on normalized rows.

    Let ``m = y f(x)`` be the margin of a row x, and k the number of the next update, counted from 1. If
    ``m/‖x‖ <= (1 - alpha) B/√k``, the update is ``w += C/√k y x/‖x‖``; then w is scaled back into the unit
    ball. ``‖x‖² = k(x, x)`` is one kernel evaluation per row.

    Parameters
    ----------
    alpha : float, default=0.9
        From 0 to 1. The learner aims at a margin of (1 - alpha) times the largest possible one.
    B : float, default=None
        Factor B of the limit for m/‖x‖, > 0; None: 1/alpha, as in the paper.
    C : float, default=√2
        Factor of the step size, > 0; the default is the paper's.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    The score is f(x), whereas `ALMA` returns the score of the normalized row, ``f(x)/‖x‖``.

    See Also
    --------
    ALMA
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Gentile (2001), "A new approximate maximal margin classification algorithm", JMLR 2, with p = 2. DOGMA's
    defaults are alpha = 0, B = 1, C = √2 - 1.

    Examples
    --------
    >>> learner = KernelALMA(alpha=1.0).fit([[0.0], [10.0], [0.1]], [0, 1, 0])
    >>> learner.n_mistakes_, learner.n_support_
    (2, 2)
    """

    alpha: Share = 0.9
    B: Positive | None = None
    C: Positive = 2**0.5

    only_adds = True

    def _check_parameters(self):
        if self.B is None and self.alpha == 0:
            raise ValueError("KernelALMA: alpha must be > 0 if B is None (B is then 1/alpha), got 0")

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._next_update, self._squared_norm = 1, 0.0

    def _learn_block(self, view, n, codes, scores):
        alpha = float(self.alpha)
        margin = (1.0 - alpha) * (1.0 / alpha if self.B is None else float(self.B))
        *outcome, self._next_update, self._squared_norm = _learn(
            view, n, codes, scores, margin, float(self.C), self._next_update, self._squared_norm
        )
        return outcome
