"""NAROW, AROW with an adaptive regularization."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import Positive
from ..numeric.compiled import compiled, register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, by_types, dot, n_rows, row
from ..numeric.vector import lane_sums, lane_update
from .linear_classifier import CovarianceClassifier
from .parts.covariance import Shape, is_usable, variance
from .parts.full_covariance import subtract_outer


def _term(u, sigma, x, more):
    s = sigma * x
    return [u * s / (more * s * x + 1.0)]


# The score for a diagonal Σ, Σ_j u_j x_j/(1/σ_j + x_j²/r), computed as Σ_j u_j σ_j x_j/(1 + σ_j x_j²/r).
_diagonal_score = lane_sums(1, _term)
# The new σ is 1/(1/σ + γx²), computed without 1/σ, which would overflow for a tiny σ.
_add_to_diagonal = lane_update(lambda sigma, x, gamma: [sigma / (1.0 + gamma * (sigma * x * x))])


@register_jitable
def _weight(v, b):
    """Return the factor 1/r of ``x xᵀ`` in the update of Σ⁻¹, for a row of variance v: 0 if v <= 1/b."""
    return b - 1.0 / v if b * v > 1.0 else 0.0


@by_types()
def _score_with_row(u, sigma, x, s, b):
    """Return the score with x already added to Σ⁻¹, and ``v = xᵀΣx``; for a full Σ, store Σx in `s`."""
    if sigma.ndim == 1:

        def diagonal(u, sigma, x, s, b):
            v = variance(sigma, x, s)
            return _diagonal_score((u, sigma), x, (_weight(v, b),)), v

        return diagonal

    def full(u, sigma, x, s, b):
        v = variance(sigma, x, s)
        score = dot(u, s[0, : u.shape[0]])
        # By the Sherman-Morrison formula the score is r/(v + r) μ·x. With 1/r = b - 1/v this is μ·x/(b v).
        return score / (b * v) if b * v > 1.0 else score, v

    return full


@by_types()
def _add_row(sigma, x, s, v, gamma):
    """Add ``γ x xᵀ`` to Σ⁻¹ or to its diagonal; s and v are from `_score_with_row` for the same row."""
    if sigma.ndim == 1:
        return lambda sigma, x, s, v, gamma: _add_to_diagonal((sigma,), x, (gamma,))
    return lambda sigma, x, s, v, gamma: subtract_outer(sigma, s, gamma / (1.0 + gamma * v))


@learning_loop
def _learn(X, codes, scores, u, sigma, s, b):
    """Make one pass of NAROW (Orabona & Crammer 2010); `u` and `sigma` are the paper's θ and A⁻¹."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], v = _score_with_row(u, sigma, x, s, b)
        m = y * scores[t]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0 and is_usable(v):
            add_scaled(u, y, x)
            if b * v > 1.0:
                _add_row(sigma, x, s, v, _weight(v, b))
            updates += 1
    return mistakes, updates


@compiled
def _scores(X, u, sigma, s, b, scores):
    for t in range(n_rows(X)):
        scores[t], _ = _score_with_row(u, sigma, row(X, t), s, b)


@dataclass(eq=False, repr=False)
class NAROW(CovarianceClassifier):
    """NAROW: AROW with a regularization r that depends on the confidence in the row.

    With ``v = xᵀΣx`` and ``1/r = max(0, b - 1/v)`` the score is ``u·(Σ⁻¹ + x xᵀ/r)⁻¹x``: the row to predict
    is added to Σ⁻¹. On a row x with label y (±1), score s and hinge loss
    ``1 - y s > 0``: ``u += y x`` and ``Σ⁻¹ += x xᵀ/r``. After the
    update the row's variance is at most 1/b (full covariance); if it already was, Σ does not change.

    Parameters
    ----------
    b : float, default=1.0
        Confidence required, > 0. If ``b ‖x‖²`` is near 1e15, rounding errors dominate a full Σ.
    covariance : {"diagonal", "full"}, default="diagonal"
        "diagonal" keeps the diagonal of Σ⁻¹ (``1/σ_j += x_j²/r``), so that the score is
        ``Σ_j u_j x_j/(1/σ_j + x_j²/r)``; "full" stores a (d, d) matrix: memory and time per
        row grow with d².
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        The mean ``μ = Σu``, for which the row to predict is not added to Σ⁻¹. With a full Σ the score
        ``r/(v + r) μ·x = μ·x/max(1, b v)`` has the sign of ``μ·x``; with a diagonal the signs can differ.
    sigma_ : ndarray of float64, shape (d,) or (d, d)
        Σ, or its diagonal; starts at 1.

    References
    ----------
    Orabona, Crammer (2010), "New adaptive algorithms for online classification", NIPS.

    Examples
    --------
    >>> model = NAROW().fit([[2.0, 0.0], [0.0, 0.5]], [0, 1])
    >>> model.coef_.tolist(), model.sigma_.tolist()
    ([[-0.5, 0.5]], [0.25, 1.0])
    """

    b: Positive = 1.0
    covariance: Shape = "diagonal"
    epochs: int = 1

    algorithm_version = 2

    @property
    def scores_are_linear(self) -> bool:
        """Always false: each row is scored with itself added to Σ⁻¹, so each row has a different Σ."""
        return False

    def _loop(self):
        return _learn, (self._weights, self._sigma, self._buffer, float(self.b))

    def _score(self, X, scores):
        # Use a new buffer for Σx, since several threads may predict with one fitted model.
        _scores(X, self._weights, self._sigma, np.empty_like(self._buffer), float(self.b), scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        u, sigma = self._weights, self.sigma_
        return (sigma * u if sigma.ndim == 1 else sigma @ u).reshape(1, -1)
