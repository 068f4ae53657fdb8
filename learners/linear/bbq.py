"""BBQ, the bound on bias query: least squares that chooses from the rows alone which labels to query."""

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..estimator.parameters import between
from ..numeric.compiled import register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import dot, n_rows, row
from .linear_classifier import CovarianceClassifier
from .parts.covariance import is_usable, variance
from .parts.full_covariance import subtract_outer


@register_jitable
def _power(t, kappa):
    """Return ``t^κ`` for t >= 1, by square roots: the result of C's ``pow`` differs between machines."""
    power, root = 1.0, t
    while kappa > 0.0 and root > 1.0:
        root, kappa = math.sqrt(root), 2.0 * kappa
        if kappa >= 1.0:
            power, kappa = power * root, kappa - 1.0
    return power


@learning_loop
def _learn(X, codes, scores, w, sigma, s, kappa, rounds):
    """Make one pass of BBQ (Cesa-Bianchi, Gentile & Orabona 2009); `sigma` is A⁻¹, `rounds` counts rows."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        rounds[0] += 1.0
        f = scores[t] = dot(w, x)
        mistakes += not y * f > 0.0
        v = variance(sigma, x, s)
        # Skip a score f that overflowed: w would become NaN and stay so.
        if is_usable(v) and -np.inf < f < np.inf and v / (1.0 + v) > 1.0 / _power(rounds[0], kappa):
            step = (y - f) / (1.0 + v)
            for j in range(w.shape[0]):
                w[j] += step * s[0, j]
            subtract_outer(sigma, s, 1.0 / (1.0 + v))
            updates += 1
    return mistakes, updates


@dataclass(eq=False, repr=False)
class BBQ(CovarianceClassifier):
    """BBQ: query the labels of rows in rarely queried directions, and fit least squares to these rows.

    With ``v = xᵀA⁻¹x`` and the score ``f = w·x``, the label y (±1) of row t is queried if
    ``v/(1 + v) > t^-κ``; then ``w += (y - f)/(1 + v) A⁻¹x`` and ``A += x xᵀ``, A being the identity at first.
    The decision uses no label and no random number.

    Parameters
    ----------
    kappa : float, default=0.5
        κ, between 0 and 1: the larger, the more labels are queried.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w: the regularized least-squares solution on the queried rows.
    sigma_ : ndarray of float64, shape (d, d)
        A⁻¹.
    n_queried_ : int
        Number of queried labels; every queried row is an update.

    Notes
    -----
    t counts all rows from 1 on. After T rows at most ``T^κ ln det A`` labels have been queried.

    The threshold is the published rule, which was not checked against the paper's text; the authors' DOGMA
    toolbox queries if ``v/(1 + v) > t^-κ/2``. Rows whose score or v overflows are skipped.

    See Also
    --------
    SelectiveSampling : Queries at random, with any learner.

    References
    ----------
    Cesa-Bianchi, Gentile, Orabona (2009), "Robust bounds for classification via selective sampling", ICML.

    Examples
    --------
    >>> model = BBQ().fit([[2.0, 0.0], [0.0, 2.0], [0.0, 2.0]], [1, 0, 0])
    >>> model.coef_.tolist(), model.n_queried_
    ([[0.0, -0.4]], 1)
    """

    kappa: Annotated[float, between(0.0, 1.0)] = 0.5
    epochs: int = 1

    _state = ("_weights", "_sigma", "_buffer", "_rounds")
    covariance = "full"

    asks_for_labels = True

    def _begin_with(self, zeros):
        self._weights = zeros
        self._rounds = np.zeros(1)

    def _loop(self):
        return _learn, (self._weights, self._sigma, self._buffer, float(self.kappa), self._rounds)

    def counters(self) -> dict[str, int]:
        """Return the counts so far, including the queried labels."""
        return super().counters() | {"queried": self.n_queried_}

    @property
    def n_queried_(self) -> int:
        return self.n_updates_
