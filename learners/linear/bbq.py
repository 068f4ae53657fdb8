"""BBQ, the bound on bias query: least squares that decides by the rows alone which labels to ask for."""

import math

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..estimator.parameters import check_between
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import dot, n_rows, new_state, row
from .linear_classifier import LinearClassifier
from .parts.covariance import covariance_matrix, is_usable, new_covariance, variance
from .parts.full_covariance import subtract_outer


@register_jitable
def _power(t, kappa):
    """Return ``t^κ``, t >= 1, by the binary digits of κ: the C library's power differs between machines."""
    power, root = 1.0, t
    while kappa > 0.0 and root > 1.0:
        root, kappa = math.sqrt(root), 2.0 * kappa
        if kappa >= 1.0:
            power, kappa = power * root, kappa - 1.0
    return power


@learning_loop
def _learn(X, codes, scores, w, sigma, s, kappa, rounds):
    """One pass of Cesa-Bianchi, Gentile & Orabona (2009); Σ is their A⁻¹, `rounds` holds the rows so far."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        rounds[0] += 1.0
        f = scores[t] = dot(w, x)
        mistakes += not y * f > 0.0
        v = variance(sigma, x, s)
        # A score that overflowed would leave NaN in w for good.
        if is_usable(v) and -np.inf < f < np.inf and v / (1.0 + v) > 1.0 / _power(rounds[0], kappa):
            step = (y - f) / (1.0 + v)
            for j in range(w.shape[0]):
                w[j] += step * s[0, j]
            subtract_outer(sigma, s, 1.0 / (1.0 + v))
            updates += 1
    return mistakes, updates


class BBQ(LinearClassifier):
    """BBQ: ask for the labels of rows in whose direction few have been asked for, and fit least squares.

    With ``v = xᵀA⁻¹x`` the label of row t is asked for where ``v/(1 + v) > t^-κ``; then
    ``w += (y - f)/(1 + v) A⁻¹x`` and ``A += x xᵀ``, A being the identity at first. No label enters the
    decision, and nothing is drawn.

    Parameters
    ----------
    kappa : float, default=0.5
        κ, between 0 and 1: the more, the more labels.
    epochs : int, default=1
        Passes that `fit` makes; t goes on counting.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w: the regularised least-squares solution on the rows asked for.
    sigma_ : ndarray of float64, shape (d, d)
        A⁻¹.
    n_queried_ : int
        Labels asked for; every row asked for is an update.

    Notes
    -----
    t counts all rows from 1 on. After T of them at most ``T^κ ln det A`` labels have been asked for.

    The threshold is the published rule, which could not be checked against the paper's text; the authors'
    DOGMA toolbox asks where ``v/(1 + v) > t^-κ/2``. Rows whose score or v overflowed are passed over.

    See Also
    --------
    SelectiveSampling : Asks by chance, around any learner.
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Cesa-Bianchi, Gentile, Orabona (2009), "Robust bounds for classification via selective sampling", ICML.

    Examples
    --------
    >>> model = BBQ().fit([[2.0, 0.0], [0.0, 2.0], [0.0, 2.0]], [1, 0, 0])
    >>> model.coef_.tolist(), model.n_queried_
    ([[0.0, -0.4]], 1)
    """

    _state = ("_weights", "_sigma", "_buffer", "_rounds")

    asks_for_labels = True

    def __init__(self, kappa: float = 0.5, epochs: int = 1) -> None:
        self.kappa = kappa
        self.epochs = epochs

    @property
    def indifferent_to_absent_features(self) -> bool:
        # Too large a matrix is refused by the number of all features.
        return False

    def _check_parameters(self):
        check_between(self, "kappa", 0.0, 1.0)

    def _allocate(self, n_features):
        self._sigma, self._buffer = new_covariance("full", n_features)
        self._weights = new_state(n_features)
        self._rounds = np.zeros(1)

    def _loop(self):
        return _learn, (self._weights, self._sigma, self._buffer, float(self.kappa), self._rounds)

    def counters(self) -> dict[str, int]:
        """Return what has been counted, the labels asked for among it."""
        return super().counters() | {"queried": self.n_queried_}

    @property
    def n_queried_(self) -> int:
        return self.n_updates_

    @property
    def coef_(self) -> NDArray[np.float64]:
        return self._weights.reshape(1, -1)

    @property
    def sigma_(self) -> NDArray[np.float64]:
        return covariance_matrix(self._sigma)
