"""Σ, the confidence of the second-order learners: what is done with it, for both of its shapes.

"full": a 2-D array (see `full_covariance`). "diagonal": a (d,) array σ. Which one a kernel works on is chosen
when it is compiled, so that an algorithm is written once. `s` is a buffer that holds Σx between the functions
(not that of a diagonal and CSR rows): of shape (d,), and of a full Σ its row 0.

With a diagonal, dense rows and the covariance projection, an update waits in `s` until the next row is there:
both are then one pass over the state, and memory is read during the update.
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

# An update that waits is (True, α, β).
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
        Where a kernel keeps Σx.

    Raises
    ------
    ValueError
        When a full matrix would take more than 4 GiB.
    """
    if shape == "diagonal":
        return new_state(n_features, scale, place=1), new_state(n_features, place=2)
    return new_full_covariance(n_features, scale)


def covariance_matrix(sigma):
    """Return Σ as users see it: of shape (d, d), in an array of its own, or the diagonal itself."""
    return sigma if sigma.ndim == 1 else full_matrix(sigma)


def variance(sigma, x, s):
    """Return ``v = xᵀΣx``, leaving Σx in `s`, in a kernel."""
    raise in_kernels_only("variance")


@overload(variance, jit_options=INLINE)
def _variance(sigma, x, s):
    if sigma.ndim == 1:
        return lambda sigma, x, s: weighted_squared_norm(sigma, x)
    return lambda sigma, x, s: variance_of_row(sigma, x, s)


def _shrink(ir, mu, sigma, s, alpha, beta):
    """Emit ``μ += α Σx`` and ``σ_j -= β σ_j² x_j²`` on a diagonal, as `update` does it feature by feature."""
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
    """Make the update that waits, if one does; return μ·x and xᵀΣx of the next row and NOTHING_WAITS.

    In a kernel. `waiting` is what `update` returned, NOTHING_WAITS at first. Σx is left in `s`. Where the
    variance is work of its own (all but dense rows with a diagonal) it is taken only `with_variance`; else
    `variance_at_hand` takes it once it is known to be needed.
    """
    raise in_kernels_only("update_and_score")


@overload(update_and_score, jit_options=INLINE)
def _update_and_score_of_shape(mu, sigma, s, waiting, x, with_variance):
    if sigma.ndim == 1 and not is_sparse_row(x):

        def dense(mu, sigma, s, waiting, x, with_variance):
            # A flag of its own, known before the division by which α and β are: the branch waits for neither.
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
    """Return ``xᵀΣx`` after `update_and_score` without it returned `v` for the same row, in a kernel."""
    raise in_kernels_only("variance_at_hand")


@overload(variance_at_hand, jit_options=INLINE)
def _variance_at_hand(v, sigma, x, s):
    if sigma.ndim == 1 and not is_sparse_row(x):
        return lambda v, sigma, x, s: v
    return lambda v, sigma, x, s: variance(sigma, x, s)


def update(mu, sigma, x, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance after the variance was taken for the same row, in a kernel.

    ``μ += α Σx``; ``Σ -= β Σx xᵀΣ`` (full), the diagonal of that (diagonal, projection "covariance":
    ``σ_j -= β σ_j² x_j²``) or the diagonal of the inverse's update ``Σ⁻¹ += γ x xᵀ`` (`precision` true:
    ``1/σ_j += γ x_j²``). Returns what waits for `update_and_score` or, after the last row, `finish_update`.
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
                    # 1/(1/σ + γx²) without the inner division, which a collapsed σ would overflow.
                    sigma[j] /= 1.0 + gamma * (sigma_x * x_j)
            elif sparse:
                for k in range(n_entries(x)):
                    j, x_j = entry(x, k)
                    sigma_x = sigma[j] * x_j
                    mu[j] += alpha * sigma_x
                    # β v < 1, so this stays positive but for rounding; a variance below 0 would be none.
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
    """Make the update that waits after the last row, if one does, in a kernel."""
    raise in_kernels_only("finish_update")


@overload(finish_update, jit_options=INLINE)
def _finish_update(mu, sigma, s, waiting):
    if sigma.ndim == 2:
        return lambda mu, sigma, s, waiting: None

    def diagonal(mu, sigma, s, waiting):
        waits, alpha, beta = waiting
        if waits:
            # A pass over any row does it; its sums go to waste.
            _update_and_score_dense((mu, sigma, s), s, (alpha, beta))

    return diagonal


@register_jitable(**INLINE)
def is_usable(v):
    """Tell whether the variance ``v = xᵀΣx`` allows an update.

    ``v = 0`` (x = 0, or a direction in which Σ has collapsed) leaves nothing to move or to divide by;
    rounding can leave a full Σ a v just below 0; a v that overflowed says nothing. AROW and
    CW pass over such rows; the second-order Perceptron leaves A as it is.
    """
    return 0.0 < v < np.inf


def check_covariance(learner):
    """Raise ValueError for a `covariance` or, where the learner has one, a `projection` that is none."""
    check_option(learner, "covariance", ("diagonal", "full"))
    if hasattr(learner, "projection"):
        check_option(learner, "projection", ("covariance", "precision"))


def projects_precision(projection):
    """Return the flag that `update` takes for the parameter ``projection``."""
    return projection == "precision"
