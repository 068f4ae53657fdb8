"""IELLIP: the improved ellipsoid method."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import Positive, Share
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import dot, n_rows, row
from ..numeric.vector import SMALLEST_NORMAL
from .linear_classifier import CovarianceClassifier
from .parts.covariance import update, variance
from .parts.full_covariance import scale_matrix

# Part of Σ is stored as a growing factor, ``rates[1]`` of `_learn`. When the factor reaches this limit, it is
# divided by the limit and the matrix multiplied by it. This is exact, since the limit is a power of two.
_LARGE = 2.0**200


@learning_loop
def _learn(X, codes, scores, w, sigma, s, b, rates):
    """Make one pass of IELLIP (Yang, Jin & Ye 2009); `sigma` is Σ divided by the factor ``a · rates[1]``.

    Steps only need ``Σx/v``, in which this factor cancels. ``rates[0]`` is c_t, the depth of the next cut.
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y, c = row(X, t), signed(codes[t]), rates[0]
        rates[0] *= b
        scores[t] = dot(w, x)
        m = y * scores[t]
        if m > 0.0:
            continue
        mistakes += 1
        l = 1.0 - m
        v = variance(sigma, x, s)
        if SMALLEST_NORMAL <= v < np.inf and l < np.inf:
            update(w, sigma, x, s, l / v * y, c / v, 0.0, False)
            updates += 1
            rates[1] /= 1.0 - c
            if rates[1] >= _LARGE:
                scale_matrix(sigma, _LARGE)
                rates[1] /= _LARGE
    return mistakes, updates


@dataclass(eq=False, repr=False)
class IELLIP(CovarianceClassifier):
    """The improved ellipsoid method: a mistake moves w along Σx, and cuts the ellipsoid Σ across x.

    On a mistake with ``v = xᵀΣx > 0``, label y (±1) and margin ``m = y w·x``: ``w += (1 - m)/v y Σx`` and
    ``Σ = (Σ - c_t Σx xᵀΣ/v)/(1 - c_t)``, where ``c_t = c b^(t-1)`` and t counts all rows. The margin of the
    row is 1 afterwards.

    Parameters
    ----------
    c : float, default=0.1
        Depth of the first cut, 0 <= c < 1. With 0 this is the Passive-Aggressive algorithm with updates on
        mistakes only.
    b : float, default=0.3
        The factor, from 0 to 1, by which the depth of cuts decreases with every row. With 0.3, Σ no longer
        changes after about 30 rows.
    a : float, default=1.0
        a > 0: Σ starts at a·I. No score depends on a.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.
    sigma_ : ndarray of float64, shape (d, d)
        Σ.

    Notes
    -----
    LIBOL lets t count all rows, not only mistakes, and so does this class. It reproduces LIBOL's
    results except for rows with a score of exactly 0, which are mistakes here. The paper's text was not
    available to check.

    See Also
    --------
    PassiveAggressive

    References
    ----------
    Yang, Jin, Ye (2009), "Online learning by ellipsoid method", ICML.

    Examples
    --------
    >>> IELLIP(c=0.5).fit([[2.0, 0.0], [0.0, 1.0]], [1, 0]).coef_.tolist()
    [[0.5, -1.0]]
    """

    c: Share = 0.1
    b: Share = 0.3
    a: Positive = 1.0
    epochs: int = 1

    _state = ("_weights", "_sigma", "_buffer", "_rates")
    covariance = "full"
    # An update corrects a mistake fully, whatever the earlier rows, and the classes of scikit-learn's data
    # overlap: after the last mistake, 79% of the rows are right.
    _scores_poorly = True

    def _check_parameters(self):
        if not self.c < 1.0:
            raise ValueError(f"IELLIP: c must be < 1, got {self.c!r}")

    def _begin_with(self, zeros):
        self._weights = zeros
        self._rates = np.array([float(self.c), 1.0])
        self._a = float(self.a)

    def _loop(self):
        return _learn, (self._weights, self._sigma, self._buffer, float(self.b), self._rates)

    @property
    def sigma_(self) -> NDArray[np.float64]:
        return self._a * self._rates[1] * super().sigma_
