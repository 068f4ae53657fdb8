"""Online gradient descent on the hinge loss."""

import math

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..estimator.parameters import check_positive
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, dot, entry, n_entries, n_rows, new_state, row
from .linear_classifier import LinearClassifier


@register_jitable
def _has_entries(x):
    """Tell whether an entry is not 0: ‖x‖² of small ones may be."""
    for k in range(n_entries(x)):
        _, x_j = entry(x, k)
        if x_j != 0.0:
            return True
    return False


@learning_loop
def _learn(X, codes, scores, w, eta, rounds):
    """One pass of Zinkevich (2003); `rounds` holds the number of rows so far."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        rounds[0] += 1
        scores[t] = dot(w, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        # A row of zeros has no gradient; only for a score of 0 can the row be one.
        if 1.0 - m > 0.0 and (m != 0.0 or _has_entries(x)):
            add_scaled(w, y * eta / math.sqrt(rounds[0]), x)
            updates += 1
    return mistakes, updates


class OnlineGradientDescent(LinearClassifier):
    """Online gradient descent on the hinge loss: where ``l = 1 - m > 0``, ``w += η/√t y x``.

    t counts all rows from 1, those without a loss as well. There is no projection: w is free.

    Parameters
    ----------
    eta : float, default=1.0
        The first step, > 0.
    epochs : int, default=1
        Passes that `fit` makes; t goes on counting.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Zinkevich (2003), "Online convex programming and generalized infinitesimal gradient ascent", ICML.

    Examples
    --------
    >>> OnlineGradientDescent().fit([[1.0], [2.0], [-1.0], [2.0]], [0, 0, 1, 1]).coef_.tolist()
    [[0.0]]
    """

    def __init__(self, eta: float = 1.0, epochs: int = 1) -> None:
        self.eta = eta
        self.epochs = epochs

    def _check_parameters(self):
        check_positive(self, "eta")

    _state = ("_weights",)

    def _allocate(self, n_features):
        self._weights = new_state(n_features)

    def _loop(self):
        return _learn, (self._weights, float(self.eta), np.array([self.n_examples_]))

    @property
    def coef_(self) -> NDArray[np.float64]:
        return self._weights.reshape(1, -1)
