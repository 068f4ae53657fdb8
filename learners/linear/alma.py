"""ALMA with the Euclidean norm."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..estimator.parameters import between
from ..numeric.compiled import compiled, register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, n_rows, row
from ..numeric.vector import SMALLEST_NORMAL, lane_sums
from .linear_classifier import ScaledClassifier
from .parts.scale import folded

_dot_and_squares = lane_sums(2, lambda w, x: [w * x, x * x])


@register_jitable
def _score(v, scale, x):
    """Return a row's score ``w·x/‖x‖`` and ‖x‖, or ``(w·x, 0)`` if ‖x‖² is 0 or not a normal float64."""
    s, squares = _dot_and_squares((v,), x, ())
    if SMALLEST_NORMAL <= squares < np.inf:
        length = math.sqrt(squares)
        return scale * s / length, length
    return scale * s, 0.0


@learning_loop
def _learn(X, codes, scores, v, scalars, alpha, next_update):
    """Make one pass of ALMA (Gentile 2001, ``B = 1/α``, ``C = √2``), with w stored as ``scale v``."""
    mistakes = updates = 0
    scale, norm = scalars[0], scalars[1]  # `norm` is ‖w‖², the squared length of w
    k = next_update[0]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], length = _score(v, scale, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        gamma = 1.0 / (alpha * math.sqrt(k))
        if m <= (1.0 - alpha) * gamma and length > 0.0:
            eta = math.sqrt(2.0 / k)
            add_scaled(v, y * eta / (length * scale), x)
            norm += eta * (2.0 * m + eta)
            if norm > 1.0:
                scale /= math.sqrt(norm)
                norm = 1.0
            # Multiply a tiny scale into v. This takes d operations, but is rare, because the scale falls only
            # as a power of k, the number of updates.
            scale = folded(v, scale)
            k += 1
            updates += 1
    scalars[0], scalars[1], next_update[0] = scale, norm, k
    return mistakes, updates


@compiled
def _scores(X, v, scale, scores):
    for t in range(n_rows(X)):
        scores[t], _ = _score(v, scale, row(X, t))


@dataclass(eq=False, repr=False)
class ALMA(ScaledClassifier):
    """ALMA₂: an approximation of the maximal margin classifier, on rows scaled to length 1.

    With ``x̂ = x/‖x‖`` the score is ``w·x̂``, and the margin ``m = y w·x̂``. If ``m <= (1 - α) γ_k``:
    ``w += η_k y x̂``, then w is scaled to length 1 if it is longer; ``γ_k = 1/(α√k)``, ``η_k = √(2/k)`` and k
    counts the updates from 1.

    Parameters
    ----------
    alpha : float, default=0.9
        The margin reached is at least 1 - α times the largest possible one; 0 < alpha <= 1. With 1, only
        mistakes cause updates.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w, of length 1 at most.

    Notes
    -----
    A row whose ‖x‖² is not a normal float64 (2.2e-308 to 1.8e308), such as a row of zeros, is skipped; its
    score is ``w·x``. The constants are the paper's, ``B = 1/α`` and ``C = √2``; DOGMA's defaults differ, and
    LIBOL does not scale the rows.

    References
    ----------
    Gentile (2001), "A new approximate maximal margin classification algorithm", JMLR 2.

    Examples
    --------
    >>> ALMA().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(3).tolist()
    [[-0.707, 0.707]]
    """

    alpha: Annotated[float, between(0.0, 1.0, include_high=True)] = 0.9
    epochs: int = 1

    @property
    def scores_are_linear(self) -> bool:
        """Always false: each row is divided by its own length, so no single vector scores all rows."""
        return False

    def _loop(self):
        return _learn, (self._weights, self._scalars, float(self.alpha), np.array([self.n_updates_ + 1]))

    def _score(self, X, scores):
        _scores(X, self._weights, self._scalars[0], scores)
