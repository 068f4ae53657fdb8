"""Operations on one row for a learner of K classes: score all classes, update two of them.

State is a (d, width) array with one number per class, padded to whole vectors. The scores of all classes need
the K numbers of each non-zero together, which are in one or a few cache lines; separate arrays per class
would need a line each. An update changes two columns at the row's non-zeros.
"""

import numpy as np
from numba.extending import overload, register_jitable

from ...numeric.compiled import INLINE, compiled
from ...numeric.rows import entry, in_kernels_only, n_entries, n_rows, new_state, row
from ...numeric.vector import class_sums
from .full_covariance import (
    full_matrix,
    n_classes_of,
    new_full_covariance,
    subtract_outer,
    variance_of_difference,
)

_linear_sums = class_sums(lambda ir, w, x: ir.fmul(w, x))
_variances = class_sums(lambda ir, s, x: ir.fmul(ir.fmul(s, x), x))


def new_class_state(n_features, n_classes, value=0.0, place=0):
    """Return a float64 array of shape (n_features, width), where width is n_classes, padded to whole vectors.

    Parameters
    ----------
    n_features, n_classes : int
    value : float, default=0.0
        Fills the array.
    place : {0, 1, 2}, default=0
        See `new_state`.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> new_class_state(5, 10).shape
    (5, 16)
    """
    step = 4 if n_classes <= 4 else 8
    width = -(-n_classes // step) * step
    return new_state(n_features * width, value, place).reshape(n_features, width)


def by_class(state, n_classes):
    """Return a view of shape (n_classes, n_features) of an array from `new_class_state`."""
    return state[:, :n_classes].T


def new_class_covariance(shape, n_features, n_classes, scale=1.0):
    """Return ``scale · I`` over all blocks as a full matrix or as its diagonal.

    Parameters
    ----------
    shape : {"full", "diagonal"}
    n_features, n_classes : int
        d and K.
    scale : float, default=1.0

    Returns
    -------
    sigma : ndarray of float64
        "diagonal": an array like that of `new_class_state`. "full": shape (1, rows, width), the matrix of
        `new_full_covariance` for a vector with one block per class.
    buffer : ndarray of float64
        Kernels store ΣΔf of a full Σ in it.

    Raises
    ------
    ValueError
        If a full matrix would take more than 4 GiB.
    """
    if shape == "diagonal":
        sigma = new_class_state(n_features, n_classes, scale, place=1)
        return sigma, np.empty(sigma.shape[-1])
    sigma, buffer = new_full_covariance(n_features, scale, n_classes)
    return sigma[np.newaxis], buffer


def class_covariance(sigma, n_classes):
    """Return Σ for users: shape (K, d), or (Kd, Kd) with the blocks in the order of the classes."""
    return by_class(sigma, n_classes) if sigma.ndim == 2 else full_matrix(sigma[0])


@register_jitable(**INLINE)
def score_classes(W, x, sums, scores):
    """Write w_z·x of every class into `scores`; `sums` is a buffer as wide as W."""
    _linear_sums((W,), x, (), sums)
    copy_scores(sums, scores)


@register_jitable(**INLINE)
def copy_scores(sums, scores):
    """Copy the scores of the classes, leaving out the padding."""
    for z in range(scores.shape[0]):
        scores[z] = sums[z]


@register_jitable(**INLINE)
def class_variances(sigma, x, variances):
    """Write v_z = xᵀΣ_z x of every class into `variances`, a buffer as wide as a diagonal Σ."""
    _variances((sigma,), x, (), variances)


@compiled
def class_scores(X, W, scores):
    """Write ``w_z·x`` of every row and class into `scores`, of shape (n, K)."""
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        score_classes(W, row(X, t), sums, scores[t])


@register_jitable(**INLINE)
def add_to_pair(W, a, x, y, z):
    """Add ``a Δf = a (f(x, y) - f(x, z))``: a x to block y, -a x to block z."""
    y, z = np.uintp(y), np.uintp(z)
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        W[j, y] += a * x_j
        W[j, z] -= a * x_j


def pair_variance(sigma, x, y, z, s):
    """Return ``v = ΔfᵀΣΔf`` for Δf = f(x, y) - f(x, z), leaving ΣΔf of a full Σ in `s`, in a kernel."""
    raise in_kernels_only("pair_variance")


@overload(pair_variance)
def _pair_variance(sigma, x, y, z, s):
    if sigma.ndim == 2:

        def diagonal(sigma, x, y, z, s):
            # As in `entry`, unsigned numbers save a test for negative indices.
            y, z = np.uintp(y), np.uintp(z)
            v = 0.0
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                v += (sigma[j, y] + sigma[j, z]) * x_j * x_j
            return v

        return diagonal
    return lambda sigma, x, y, z, s: variance_of_difference(sigma[0], x, y, z, s)


def update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance along Δf after `pair_variance` for it, in a kernel.

    ``μ += α ΣΔf``; ``Σ -= β ΣΔf ΔfᵀΣ`` (full), the diagonal of that (diagonal, projection "covariance") or
    the diagonal of the inverse's update ``Σ⁻¹ += γ Δf Δfᵀ`` (`precision` true). A diagonal changes in the
    blocks y and z only.
    """
    raise in_kernels_only("update_pair")


@overload(update_pair)
def _update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
    if sigma.ndim == 2:

        def diagonal(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
            y, z = np.uintp(y), np.uintp(z)
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                # The compiler does not know that y and z differ, so everything is read before anything is
                # written.
                mu_y, mu_z, sigma_y, sigma_z = mu[j, y], mu[j, z], sigma[j, y], sigma[j, z]
                own, other = sigma_y * x_j, sigma_z * x_j
                mu[j, y] = mu_y + alpha * own
                mu[j, z] = mu_z - alpha * other
                if precision:
                    sigma[j, y] = sigma_y / (1.0 + gamma * (own * x_j))
                    sigma[j, z] = sigma_z / (1.0 + gamma * (other * x_j))
                else:
                    # Negative only by rounding.
                    sigma[j, y] = max(sigma_y - (beta * own) * own, 0.0)
                    sigma[j, z] = max(sigma_z - (beta * other) * other, 0.0)

        return diagonal

    def full(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
        d = mu.shape[0]
        for c in range(n_classes_of(sigma[0])):
            for j in range(d):
                mu[j, c] += alpha * s[0, c * d + j]
        subtract_outer(sigma[0], s, beta)

    return full
