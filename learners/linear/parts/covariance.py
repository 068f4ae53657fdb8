"""The covariance Σ of second-order learners: the operations on it, for both of its shapes.

"full" is a 2-D array (see `full_covariance`), "diagonal" a (d,) array σ. The compiler chooses between them,
so an algorithm is written once. `s` is a buffer that passes Σx between the functions: of shape (d,), or row 0
of it for a full Σ. A diagonal with CSR rows does not use it.

For a diagonal with dense rows and the covariance projection, an update is postponed in `s` until the next row
is read. Both then take one pass over the state.
"""

import numpy as np
from numba.extending import overload, register_jitable

from ...estimator.parameters import check_option
from ...numeric.arrays import is_sparse_row
from ...numeric.compiled import INLINE
from ...numeric.emitters import zero_like
from ...numeric.rows import (
    dot,
    dot_and_weighted_squared_norm,
    entry,
    in_kernels_only,
    n_entries,
    new_state,
    weighted_squared_norm,
)
from ...numeric.vector import lane_pass
from .full_covariance import full_matrix, new_full_covariance, subtract_outer, variance_of_row

# A postponed update is (True, α, β).
NOTHING_WAITS = (False, 0.0, 0.0)


def new_covariance(shape, n_features, scale=1.0):
    """Return ``scale · I`` as a full matrix or as its diagonal.

    Parameters
    ----------
    shape : {"full", "diagonal"}
    n_features : int
        d.
    scale : float, default=1.0

    Returns
    -------
    sigma : ndarray of float64, shape (rows, width) or (d,)
    buffer : ndarray of float64, shape (4, width) or (d,)
        Kernels store Σx in it.

    Raises
    ------
    ValueError
        If a full matrix would take more than 4 GiB.
    """
    if shape == "diagonal":
        return new_state(n_features, scale, place=1), new_state(n_features, place=2)
    return new_full_covariance(n_features, scale)


def covariance_matrix(sigma):
    """Return Σ for users: a new array of shape (d, d), or the diagonal itself."""
    return sigma if sigma.ndim == 1 else full_matrix(sigma)


def variance(sigma, x, s):
    """Return ``v = xᵀΣx`` and store Σx in `s`, in a kernel."""
    raise in_kernels_only("variance")


@overload(variance, jit_options=INLINE)
def _variance(sigma, x, s):
    if sigma.ndim == 1:
        return lambda sigma, x, s: weighted_squared_norm(sigma, x)
    return lambda sigma, x, s: variance_of_row(sigma, x, s)


def _shrink(ir, mu, sigma, s, alpha, beta):
    """Emit ``μ += α Σx`` and ``σ_j -= β σ_j² x_j²`` on a diagonal, with the same rounding as `update`."""
    mu = ir.fadd(mu, ir.fmul(alpha, s))
    shrunk = ir.fsub(sigma, ir.fmul(ir.fmul(beta, s), s))
    zero = zero_like(shrunk)
    return mu, ir.select(ir.fcmp_ordered(">", shrunk, zero), shrunk, zero)


def _multiply_and_score(ir, mu, sigma, s, x):
    s = ir.fmul(sigma, x)
    return [None, None, s], [ir.fmul(mu, x), ir.fmul(s, x)]


def _update_and_score(ir, mu, sigma, s, x, alpha, beta):
    mu, sigma = _shrink(ir, mu, sigma, s, alpha, beta)
    s = ir.fmul(sigma, x)
    return [mu, sigma, s], [ir.fmul(mu, x), ir.fmul(s, x)]


_score_dense = lane_pass(2, _multiply_and_score)
_update_and_score_dense = lane_pass(2, _update_and_score)


def update_and_score(mu, sigma, s, waiting, x, with_variance):
    """Apply a postponed update; return μ·x and xᵀΣx of the next row and NOTHING_WAITS, in a kernel.

    `waiting` is the result of `update`, NOTHING_WAITS at first. Σx is stored in `s`. Unless the variance
    comes for free (dense rows with a diagonal), it is computed only `with_variance`; otherwise
    `variance_at_hand` computes it once it is needed.
    """
    raise in_kernels_only("update_and_score")


@overload(update_and_score, jit_options=INLINE)
def _update_and_score_of_shape(mu, sigma, s, waiting, x, with_variance):
    if sigma.ndim == 1 and not is_sparse_row(x):

        def dense(mu, sigma, s, waiting, x, with_variance):
            # A separate flag, known before the division that gives α and β, so that the branch need not wait
            # for it.
            waits, alpha, beta = waiting
            if waits:
                score, v = _update_and_score_dense((mu, sigma, s), x, (alpha, beta))
            else:
                score, v = _score_dense((mu, sigma, s), x, ())
            return score, v, NOTHING_WAITS

        return dense

    if sigma.ndim == 1:

        def sparse(mu, sigma, s, waiting, x, with_variance):
            if with_variance:
                score, v = dot_and_weighted_squared_norm(mu, sigma, x)
            else:
                score, v = dot(mu, x), 0.0
            return score, v, NOTHING_WAITS

        return sparse

    def full(mu, sigma, s, waiting, x, with_variance):
        return dot(mu, x), variance(sigma, x, s) if with_variance else 0.0, NOTHING_WAITS

    return full


def variance_at_hand(v, sigma, x, s):
    """Return ``xᵀΣx``, given the `v` that `update_and_score` returned for the same row, in a kernel."""
    raise in_kernels_only("variance_at_hand")


@overload(variance_at_hand, jit_options=INLINE)
def _variance_at_hand(v, sigma, x, s):
    if sigma.ndim == 1 and not is_sparse_row(x):
        return lambda v, sigma, x, s: v
    return lambda v, sigma, x, s: variance(sigma, x, s)


def update(mu, sigma, x, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance, after the variance of the same row, in a kernel.

    ``μ += α Σx``. Full: ``Σ -= β Σx xᵀΣ``. Diagonal with projection "covariance": the diagonal of that,
    ``σ_j -= β σ_j² x_j²``. Diagonal with `precision`: the diagonal of ``Σ⁻¹ += γ x xᵀ``,
    ``1/σ_j += γ x_j²``. Returns the postponed update for `update_and_score` or, after the last row,
    `finish_update`.
    """
    raise in_kernels_only("update")


@overload(update, jit_options=INLINE)
def _update(mu, sigma, x, s, alpha, beta, gamma, precision):
    if sigma.ndim == 1:
        sparse = is_sparse_row(x)

        def diagonal(mu, sigma, x, s, alpha, beta, gamma, precision):
            if precision:
                for k in range(n_entries(x)):
                    j, x_j = entry(x, k)
                    sigma_x = sigma[j] * x_j
                    mu[j] += alpha * sigma_x
                    # Equals 1/(1/σ + γx²) without the inner division, which would overflow for a collapsed σ.
                    sigma[j] /= 1.0 + gamma * (sigma_x * x_j)
            elif sparse:
                for k in range(n_entries(x)):
                    j, x_j = entry(x, k)
                    sigma_x = sigma[j] * x_j
                    mu[j] += alpha * sigma_x
                    # β v < 1, so this is negative only by rounding.
                    shrunk = sigma[j] - (beta * sigma_x) * sigma_x
                    sigma[j] = shrunk if shrunk > 0.0 else 0.0
            else:
                return True, alpha, beta
            return NOTHING_WAITS

        return diagonal

    def full(mu, sigma, x, s, alpha, beta, gamma, precision):
        for i in range(mu.shape[0]):
            mu[i] += alpha * s[0, i]
        subtract_outer(sigma, s, beta)
        return NOTHING_WAITS

    return full


def finish_update(mu, sigma, s, waiting):
    """Apply a postponed update after the last row, in a kernel."""
    raise in_kernels_only("finish_update")


@overload(finish_update, jit_options=INLINE)
def _finish_update(mu, sigma, s, waiting):
    if sigma.ndim == 2:
        return lambda mu, sigma, s, waiting: None

    def diagonal(mu, sigma, s, waiting):
        waits, alpha, beta = waiting
        if waits:
            # A pass over any row applies it; the sums are discarded.
            _update_and_score_dense((mu, sigma, s), s, (alpha, beta))

    return diagonal


@register_jitable(**INLINE)
def is_usable(v):
    """Return whether the variance ``v = xᵀΣx`` allows an update.

    With ``v = 0`` (x = 0, or Σ collapsed in this direction) there is nothing to move and nothing to
    divide by. Rounding can make v slightly negative for a full Σ, and v may overflow. AROW and CW skip
    such rows; the second-order Perceptron does not change A.
    """
    return 0.0 < v < np.inf


def check_covariance(learner):
    """Raise ValueError for an invalid `covariance` or, if the learner has one, `projection`."""
    check_option(learner, "covariance", ("diagonal", "full"))
    if hasattr(learner, "projection"):
        check_option(learner, "projection", ("covariance", "precision"))


def projects_precision(projection):
    """Return the flag `precision` of `update` for the parameter ``projection``."""
    return projection == "precision"
