"""Σ, the confidence of the second-order learners: what is done with it, for both of its shapes.

"full": a (d, d) array kept exactly symmetric. "diagonal": a (d,) array σ. Which one a kernel works on is
chosen when it is compiled, so that an algorithm is written once. `s` is a (d,) buffer that holds Σx between
the functions; the diagonal needs none and gets an empty one.
"""

import numpy as np
from numba.extending import overload, register_jitable

from ._rows import (
    dot,
    dot_and_weighted_squared_norm,
    entry,
    in_kernels_only,
    n_entries,
    weighted_squared_norm,
)

# A (d, d) matrix above this is refused: d = 23,170 is far beyond what d² work per example makes sense for,
# and a limit of its own fails alike on every machine, where asking for the free memory would not.
_MAX_BYTES = 4 * 2**30


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
    sigma : ndarray of float64, shape (d, d) or (d,)
    buffer : ndarray of float64, shape (d,) or (0,)
        Where a kernel keeps Σx.

    Raises
    ------
    ValueError
        When a full matrix would take more than 4 GiB.
    """
    if shape == "diagonal":
        return np.full(n_features, scale), np.empty(0)
    n_bytes = 8 * n_features**2
    if n_bytes > _MAX_BYTES:
        raise ValueError(
            f"covariance='full' with {n_features} features needs {n_bytes} bytes ({n_bytes / 2**30:.1f} GiB, "
            f"the limit is {_MAX_BYTES / 2**30:.0f} GiB); use covariance='diagonal'"
        )
    sigma = np.zeros((n_features, n_features))
    np.fill_diagonal(sigma, scale)
    return sigma, np.empty(n_features)


def multiply(sigma, x, s):
    """Write Σx into `s` (full) or do nothing (diagonal), in a kernel."""
    raise in_kernels_only("multiply")


@overload(multiply)
def _multiply(sigma, x, s):
    if sigma.ndim == 1:
        return lambda sigma, x, s: None

    def full(sigma, x, s):
        # Σ is symmetric: its rows are its columns, and only those of the row's non-zeros are read.
        s[:] = 0.0
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            if x_j != 0.0:
                sigma_j = sigma[j]
                for i in range(s.shape[0]):
                    s[i] += x_j * sigma_j[i]

    return full


def variance(sigma, x, s):
    """Return ``v = xᵀΣx``, leaving Σx in `s`, in a kernel."""
    raise in_kernels_only("variance")


@overload(variance)
def _variance(sigma, x, s):
    if sigma.ndim == 1:
        return lambda sigma, x, s: weighted_squared_norm(sigma, x)

    def full(sigma, x, s):
        multiply(sigma, x, s)
        return dot(s, x)

    return full


def score_and_variance(mu, sigma, x, s):
    """Return ``(μ·x, xᵀΣx)``, leaving Σx in `s`, in a kernel."""
    raise in_kernels_only("score_and_variance")


@overload(score_and_variance)
def _score_and_variance(mu, sigma, x, s):
    if sigma.ndim == 1:
        return lambda mu, sigma, x, s: dot_and_weighted_squared_norm(mu, sigma, x)
    return lambda mu, sigma, x, s: (dot(mu, x), variance(sigma, x, s))


def update(mu, sigma, x, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance after `variance` was taken for the same row, in a kernel.

    ``μ += α Σx``; ``Σ -= β Σx xᵀΣ`` (full), the diagonal of that (diagonal, projection "covariance":
    ``σ_j -= β σ_j² x_j²``) or the diagonal of the inverse's update ``Σ⁻¹ += γ x xᵀ`` (`precision` true:
    ``1/σ_j += γ x_j²``).
    """
    raise in_kernels_only("update")


@overload(update)
def _update(mu, sigma, x, s, alpha, beta, gamma, precision):
    if sigma.ndim == 1:

        def diagonal(mu, sigma, x, s, alpha, beta, gamma, precision):
            if precision:
                for k in range(n_entries(x)):
                    j, x_j = entry(x, k)
                    sigma_x = sigma[j] * x_j
                    mu[j] += alpha * sigma_x
                    # 1/(1/σ + γx²) without the inner division, which a collapsed σ would overflow.
                    sigma[j] /= 1.0 + gamma * (sigma_x * x_j)
            else:
                for k in range(n_entries(x)):
                    j, x_j = entry(x, k)
                    sigma_x = sigma[j] * x_j
                    mu[j] += alpha * sigma_x
                    # β v < 1, so this stays positive but for rounding; a variance below 0 would be none.
                    shrunk = sigma[j] - (beta * sigma_x) * sigma_x
                    sigma[j] = shrunk if shrunk > 0.0 else 0.0

        return diagonal

    def full(mu, sigma, x, s, alpha, beta, gamma, precision):
        for i in range(s.shape[0]):
            mu[i] += alpha * s[i]
        rank_one_downdate(sigma, s, beta)

    return full


@register_jitable
def rank_one_downdate(sigma, s, beta):
    """Subtract ``β s sᵀ`` from a full matrix, leaving it exactly symmetric."""
    d = s.shape[0]
    for i in range(d):
        s_i = s[i]
        if s_i != 0.0:
            sigma_i = sigma[i]
            for j in range(d):
                # s_i s_j first: that product commutes exactly, (β s_i) s_j does not.
                sigma_i[j] -= beta * (s_i * s[j])


@register_jitable
def is_usable(v):
    """Tell whether the variance ``v = xᵀΣx`` allows an update.

    ``v = 0`` (x = 0, or a direction in which Σ has collapsed) leaves nothing to move or to divide by;
    rounding can leave a full Σ a v just below 0; a v that overflowed says nothing. Such rows are passed over.
    """
    return 0.0 < v < np.inf


def projects_precision(projection):
    """Return the flag that `update` takes for the parameter ``projection``."""
    return projection == "precision"
