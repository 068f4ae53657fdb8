"""The second-order Perceptron."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import Scale
from ..numeric.compiled import compiled
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, by_types, copy_into, dot, entry, n_entries, n_rows, row
from ..numeric.vector import class_sums, lane_sums, lane_update
from .linear_classifier import CovarianceClassifier, MulticlassClassifier, as_coef
from .parts.classes import add_to_pair, score_classes
from .parts.covariance import Shape, covariance_matrix, is_usable, pair_variance, update_pair, variance
from .parts.full_covariance import subtract_outer


def _term(u, a, x):
    return u * x / (a + x * x)


# The score Σ_j u_j x_j / (A_j + x_j²) for two classes, and the same sum for each of more classes.
_diagonal_score = lane_sums(1, lambda *arguments: [_term(*arguments)])
_diagonal_class_scores = class_sums(_term)
_add_squares = lane_update(lambda a, x: [a + x * x])


@by_types()
def _score_with_row(u, A, x, z):
    """Return the score with x already added to A, and ``q = xᵀA⁻¹x`` with the old A; store A⁻¹x in `z`.

    For a full matrix the argument `A` is the inverse A⁻¹. Otherwise it is the diagonal of A itself; q is then
    not needed and 0, and `z` is not used.
    """
    if A.ndim == 1:
        return lambda u, A, x, z: (_diagonal_score((u, A), x, ()), 0.0)

    def full(u, A, x, z):
        q = variance(A, x, z)
        return dot(u, z[0, : u.shape[0]]) / (1.0 + q), q

    return full


@by_types()
def _add_row(A, x, z, q):
    """Add ``x xᵀ`` to A after `_score_with_row` for the same row; a full matrix is stored as its inverse."""
    if A.ndim == 1:
        return lambda A, x, z, q: _add_squares((A,), x, ())

    def full(A, x, z, q):
        if is_usable(q):
            subtract_outer(A, z, 1.0 / (1.0 + q))

    return full


@learning_loop
def _learn(X, codes, scores, u, A, z):
    """Make one pass of the second-order Perceptron for two classes (Cesa-Bianchi et al. 2005)."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], q = _score_with_row(u, A, x, z)
        if not y * scores[t] > 0.0:
            mistakes += 1
            # Skip a row x whose xᵀA⁻¹x overflows: u and A would become NaN and stay so.
            if q < np.inf:
                add_scaled(u, y, x)
                _add_row(A, x, z, q)
                updates += 1
    return mistakes, updates


@compiled
def _scores(X, u, A, z, scores):
    for t in range(n_rows(X)):
        scores[t], _ = _score_with_row(u, A, row(X, t), z)


@learning_loop
def _learn_classes_diagonal(X, codes, scores, U, A):
    """Make one pass for K > 2 classes with a diagonal A; each class is scored with x added to its own A."""
    mistakes = 0
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _diagonal_class_scores((U, A), x, (), sums)
        copy_into(s, sums)
        z = best_wrong(s, y)
        if not s[y] - s[z] > 0.0:
            add_to_pair(U, 1.0, x, y, z)
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                A[j, y] += x_j * x_j
                A[j, z] += x_j * x_j
            mistakes += 1
    return mistakes, mistakes


@learning_loop
def _learn_classes_full(X, codes, scores, W, sigma, s):
    """Make one pass for K > 2 classes with a full A, stored as Σ = A⁻¹ and W = A⁻¹u.

    On a mistake W becomes ``(A + ΔfΔfᵀ)⁻¹(u + Δf) = W + (1 - m)/(1 + v) ΣΔf`` with Δf = f(x, y) - f(x, ỹ),
    m = W·Δf and v = ΔfᵀΣΔf. Classes are scored without adding Δf to A, because this would only divide each
    margin by its 1 + v > 0, which changes no sign.
    """
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        if not m > 0.0:
            mistakes += 1
            v = pair_variance(sigma, x, y, z, s)
            # Skip a row whose score or variance overflows: W and Σ would become NaN and stay so.
            if v < np.inf and abs(m) < np.inf:
                if is_usable(v):
                    beta = 1.0 / (1.0 + v)
                    update_pair(W, sigma, x, y, z, s, (1.0 - m) * beta, beta, 0.0, False)
                updates += 1
    return mistakes, updates


@compiled
def _class_scores_diagonal(X, U, A, scores):
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        _diagonal_class_scores((U, A), row(X, t), (), sums)
        copy_into(scores[t], sums)


@dataclass(eq=False, repr=False)
class SecondOrderPerceptron(CovarianceClassifier, MulticlassClassifier):
    """The second-order Perceptron: a Perceptron in coordinates whitened by the rows it misclassified.

    The score is ``s = u·(A + x xᵀ)⁻¹x``, with the scored row x added to A; on a mistake, with the label y
    (±1), ``u += y x`` and ``A += x xᵀ``. Other rows change nothing.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class. With a diagonal, the score of class z is
    ``Σ_j u_zj x_j/(A_zj + x_j²)``: the row is added to A, and the difference of two scores is the binary
    score of their Δf. With a full matrix the score is ``coef_[z]·x``: adding Δf to A would divide each
    difference by its own ``1 + ΔfᵀA⁻¹Δf`` and change no sign.

    Parameters
    ----------
    a : float, default=1.0
        a > 0: A starts at a·I. (LIBOL's parameter is 1/a.) If ``‖x‖²/a`` is near 1e15, rounding errors
        dominate a full A⁻¹.
    covariance : {"diagonal", "full"}, default="diagonal"
        "diagonal" keeps the diagonal of A, so that ``s = Σ_j u_j x_j/(A_j + x_j²)``. "full" stores A⁻¹, a
        (d, d) matrix, or (Kd, Kd) for K classes; memory and time per row grow with its size.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        A⁻¹u, for which the row to predict is not added to A. With a full matrix the score
        ``coef_·x/(1 + xᵀA⁻¹x)`` has the sign of ``coef_·x``; with a diagonal the signs can differ.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
        A⁻¹.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile (2005), "A second-order perceptron algorithm", SIAM J. Comput. 34.

    Examples
    --------
    >>> SecondOrderPerceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    a: Scale = 1.0
    covariance: Shape = "diagonal"
    epochs: int = 1

    algorithm_version = 2

    @property
    def scores_are_linear(self) -> bool:
        """Always false: each row is scored with itself added to A, so each row has a different A."""
        return False

    # `_weights` is u, except that it is A⁻¹u for more than two classes with a full matrix. `_sigma` is the
    # diagonal of A, or the full A⁻¹.

    def _scale(self):
        return float(self.a) if self.covariance == "diagonal" else 1.0 / float(self.a)

    @property
    def _is_diagonal(self):
        return self._sigma.ndim == self._weights.ndim

    def _loop(self):
        return _learn, (self._weights, self._sigma, self._buffer)

    def _loop_of_classes(self):
        if self._is_diagonal:
            return _learn_classes_diagonal, (self._weights, self._sigma)
        return _learn_classes_full, (self._weights, self._sigma, self._buffer)

    def _score(self, X, scores):
        # Use a new buffer for A⁻¹x, since several threads may predict with one fitted model.
        _scores(X, self._weights, self._sigma, np.empty_like(self._buffer), scores)

    def _score_classes(self, X, scores):
        if self._is_diagonal:
            _class_scores_diagonal(X, self._weights, self._sigma, scores)
        else:
            super()._score_classes(X, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        weights = self._weights
        if self._is_diagonal:
            weights = weights / self._sigma
        elif weights.ndim == 1:
            weights = self.sigma_ @ weights
        return as_coef(weights, len(self.classes_))

    @property
    def sigma_(self) -> NDArray[np.float64]:
        inverse = 1.0 / self._sigma if self._is_diagonal else self._sigma
        return covariance_matrix(inverse, self._n_blocks)
