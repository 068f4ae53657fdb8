"""Adaptive Regularization of Weights."""

from .._base import OnlineClassifier
from .._covariance import (
    NOTHING_WAITS,
    finish_update,
    is_usable,
    new_covariance,
    projects_precision,
    update,
    update_and_score,
    variance_at_hand,
)
from .._jit import kernel
from .._parameters import check_option, check_positive
from .._rows import n_rows, new_state, row


@kernel
def _learn(X, codes, scores, mu, sigma, s, r, hinge, precision):
    """One pass of Fig. 1 of the paper; equation numbers are those of Crammer et al. (2013)."""
    mistakes = updates = 0
    waiting = NOTHING_WAITS
    for t in range(n_rows(X)):
        x = row(X, t)
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t], v = update_and_score(mu, sigma, s, waiting, x, False)
        waiting = NOTHING_WAITS
        m = y * scores[t]
        mistakes += not m > 0.0
        l = 1.0 - m
        if l > 0.0:
            v = variance_at_hand(v, sigma, x, s)
            if is_usable(v):
                beta = 1.0 / (v + r)  # eqs. 15, 16: Σ as for the squared hinge in both
                alpha = min(1.0 / (2.0 * r), l / v) if hinge else l * beta  # eq. 23; eqs. 12, 16
                waiting = update(mu, sigma, x, s, alpha * y, beta, 1.0 / r, precision)
                updates += 1
    finish_update(mu, sigma, s, waiting)
    return mistakes, updates


class AROW(OnlineClassifier):
    """Adaptive Regularization of Weights: a Gaussian over weight vectors that yields to noise.

    On a row with hinge loss ``l = 1 - m > 0`` and ``v = xᵀΣx``: ``β = 1/(v + r)``, ``μ += l β y Σx``,
    ``Σ -= β Σx xᵀΣ``.

    Parameters
    ----------
    r : float, default=1.0
        Regularisation, > 0: the larger, the smaller each step. Rounding swamps Σ once ``‖x‖²/r`` comes near
        1e15: scale such features down.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        With "hinge" (AROW-H) ``μ += min(1/(2r), l/v) y Σx``, and Σ as before.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" keeps a (d, d) matrix: d² work and memory.
    projection : {"covariance", "precision"}, default="covariance"
        With a diagonal: the diagonal of the updated Σ (``σ_j -= β σ_j² x_j²``) or of the updated Σ⁻¹
        (``1/σ_j += x_j²/r``).
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d)
        Σ, or its diagonal; starts at 1.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors", Machine Learning 91, Fig. 1,
    eqs. 12, 15, 16 and 23.

    Examples
    --------
    >>> AROW(r=1.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    def __init__(self, r=1.0, loss="squared_hinge", covariance="diagonal", projection="covariance", epochs=1):
        self.r = r
        self.loss = loss
        self.covariance = covariance
        self.projection = projection
        self.epochs = epochs

    def _check_parameters(self):
        check_positive(self, "r")
        check_option(self, "loss", ("squared_hinge", "hinge"))
        check_option(self, "covariance", ("diagonal", "full"))
        check_option(self, "projection", ("covariance", "precision"))

    def _allocate(self, n_features):
        self.sigma_, self._buffer = new_covariance(self.covariance, n_features)
        self._mu = new_state(n_features)

    def _pass(self, X, codes, scores):
        hinge, precision = self.loss == "hinge", projects_precision(self.projection)
        return _learn(X, codes, scores, self._mu, self.sigma_, self._buffer, float(self.r), hinge, precision)

    @property
    def coef_(self):
        return self._mu.reshape(1, -1)
