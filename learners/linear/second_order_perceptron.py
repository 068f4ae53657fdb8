"""The second-order Perceptron."""

import numpy as np
from numba.extending import overload
from numpy.typing import NDArray

from ..estimator.parameters import check_scale
from ..numeric.compiled import compiled
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, dot, entry, in_kernels_only, n_entries, n_rows, row
from ..numeric.vector import class_sums, lane_sums
from .multiclass_classifier import MulticlassClassifier, as_coef
from .parts.classes import (
    add_to_pair,
    class_covariance,
    class_scores,
    copy_scores,
    new_class_covariance,
    new_class_state,
    pair_variance,
    score_classes,
    update_pair,
)
from .parts.covariance import check_covariance, covariance_matrix, is_usable, new_covariance, variance
from .parts.full_covariance import subtract_outer


def _term(ir, u, a, x):
    return ir.fdiv(ir.fmul(u, x), ir.fadd(a, ir.fmul(x, x)))


# Σ_j u_j x_j / (A_j + x_j²), and that of each class
_diagonal_score = lane_sums(1, lambda *arguments: [_term(*arguments)])
_diagonal_class_scores = class_sums(_term)


def _score_with_row(u, A, x, z):
    """Return ``(s, q)``: the score with x in the matrix and ``q = xᵀA⁻¹x``, leaving A⁻¹x in `z`.

    `A` is A⁻¹, kept by Sherman and Morrison (full), or the diagonal of A, of which no q is needed.
    """
    raise in_kernels_only("_score_with_row")


@overload(_score_with_row)
def _score_with_row_of_shape(u, A, x, z):
    if A.ndim == 1:
        return lambda u, A, x, z: (_diagonal_score((u, A), x), 0.0)

    def full(u, A, x, z):
        q = variance(A, x, z)
        return dot(u, z[0, : u.shape[0]]) / (1.0 + q), q

    return full


def _add_row(A, x, z, q):
    """Replace A by ``A + x xᵀ`` after `_score_with_row` for the same row, in a kernel."""
    raise in_kernels_only("_add_row")


@overload(_add_row)
def _add_row_of_shape(A, x, z, q):
    if A.ndim == 1:

        def diagonal(A, x, z, q):
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                A[j] += x_j * x_j

        return diagonal

    def full(A, x, z, q):
        if is_usable(q):
            subtract_outer(A, z, 1.0 / (1.0 + q))

    return full


@learning_loop
def _learn(X, codes, scores, u, A, z):
    """One pass of Cesa-Bianchi et al. (2005)."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], q = _score_with_row(u, A, x, z)
        if not y * scores[t] > 0.0:
            mistakes += 1
            # An x whose xᵀA⁻¹x overflows would leave NaN in u and A for good.
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
    """The rule on Δf = f(x, y) - f(x, ỹ): each class is scored with the row in its block."""
    mistakes = 0
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _diagonal_class_scores((U, A), x, (), sums)
        copy_scores(sums, s)
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
    """The rule on Δf with the full matrix, which is kept as Σ = A⁻¹, and the weights as W = A⁻¹u.

    ``(A + ΔfΔfᵀ)⁻¹(u + Δf) = W + (1 - m)/(1 + v) ΣΔf`` with m = W·Δf and v = ΔfᵀΣΔf. With Δf in the matrix
    each margin would be divided by its 1 + v > 0, which turns no sign.
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
            # A score or a variance that overflows would leave NaN in W and Σ for good.
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
        copy_scores(sums, scores[t])


class SecondOrderPerceptron(MulticlassClassifier):
    """The second-order Perceptron: a Perceptron in the geometry of the rows it was wrong on.

    ``s = u·(A + x xᵀ)⁻¹x`` (the current row is in the matrix when predicting); on a mistake ``u += y x`` and
    ``A += x xᵀ``, otherwise nothing.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class. The diagonal score of class z is
    ``Σ_j u_zj x_j/(A_zj + x_j²)``: the row is in the matrix, and the difference of two scores is the binary
    score of their Δf. The full one is ``coef_[z]·x``, without the row: with Δf in the matrix each difference
    would be divided by its own ``1 + ΔfᵀA⁻¹Δf``, which turns no sign.

    Parameters
    ----------
    a : float, default=1.0
        A starts at a·I; > 0. (LIBOL's parameter is 1/a.)
        Rounding swamps the full A⁻¹ once ``‖x‖²/a`` comes near 1e15.
    covariance : {"diagonal", "full"}, default="diagonal"
        "diagonal" keeps the diagonal of A, so that ``s = Σ_j u_j x_j/(A_j + x_j²)``. "full" keeps A⁻¹, a (d,
        d) matrix, or (Kd, Kd) for K classes, and costs that much work and memory per row.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        A⁻¹u, the weights without the row to predict in the matrix. The full score is
        ``coef_·x/(1 + xᵀA⁻¹x)``, of the same sign; the diagonal score can differ from ``coef_·x`` in sign.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
        A⁻¹.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile (2005), "A second-order perceptron algorithm", SIAM J. Comput. 34.

    Examples
    --------
    >>> SecondOrderPerceptron().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    algorithm_version = 2

    def __init__(self, a: float = 1.0, covariance: str = "diagonal", epochs: int = 1) -> None:
        self.a = a
        self.covariance = covariance
        self.epochs = epochs

    def _check_parameters(self):
        check_scale(self, "a")
        check_covariance(self)

    @property
    def scores_are_linear(self) -> bool:
        """No: each row is in the matrix that it is scored with."""
        return False

    _state = ("_u", "_A", "_buffer")

    def _allocate(self, n_features):
        self._A, self._buffer = new_covariance(self.covariance, n_features, self._scale())
        self._u = np.zeros(n_features)

    def _allocate_classes(self, n_features, n_classes):
        self._A, self._buffer = new_class_covariance(self.covariance, n_features, n_classes, self._scale())
        # With the full matrix A⁻¹u.
        self._u = new_class_state(n_features, n_classes)

    def _scale(self):
        return float(self.a) if self.covariance == "diagonal" else 1.0 / float(self.a)

    def _loop(self):
        return _learn, (self._u, self._A, self._buffer)

    def _loop_of_classes(self):
        if self._A.ndim == 2:
            return _learn_classes_diagonal, (self._u, self._A)
        return _learn_classes_full, (self._u, self._A, self._buffer)

    def _score(self, X, scores):
        # A new buffer, since several threads may predict with one fitted model.
        _scores(X, self._u, self._A, np.empty_like(self._buffer), scores)

    def _score_classes(self, X, scores):
        if self._A.ndim == 2:
            _class_scores_diagonal(X, self._u, self._A, scores)
        else:
            class_scores(X, self._u, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._u.ndim == 2:
            return as_coef(self._u / self._A if self._A.ndim == 2 else self._u, len(self.classes_))
        return as_coef(self._u / self._A if self._A.ndim == 1 else self.sigma_ @ self._u, 2)

    @property
    def sigma_(self) -> NDArray[np.float64]:
        diagonal = self._A.ndim == self._u.ndim
        inverse = 1.0 / self._A if diagonal else self._A
        if self._u.ndim == 2:
            return class_covariance(inverse, len(self.classes_))
        return covariance_matrix(inverse)
