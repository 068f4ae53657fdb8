"""Operations on one row for a learner of K classes: class weights, scores of all classes, updates.

State is a (d, width) array with one number per class, padded to whole vectors. The scores of all classes need
the K numbers of each non-zero together, which are in one or a few cache lines; separate arrays per class
would need a line each. An update changes two columns at the row's non-zeros.
"""

from __future__ import annotations

import numpy as np
from numba import types
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


def weights_by_code(learner):
    """Return the weight ω of each class by its code, None for a learner without ``class_weight``.

    Raises
    ------
    ValueError
        If a label of ``class_weight`` is not a class.
    """
    if learner.class_weight is None:
        return None
    codes = {label: code for code, label in enumerate(learner.classes_.tolist())}
    weights = np.ones(len(codes))
    for label, weight in learner.class_weight.items():
        if label not in codes:
            raise ValueError(
                f"{type(learner).__name__}: class_weight names {label!r}, but the classes are "
                f"{', '.join(map(repr, codes))}"
            )
        weights[codes[label]] = weight
    return weights


def weight_of(weights, code):
    """Return the weight of a row's class, in a kernel; without weights it is the constant 1."""
    raise in_kernels_only("weight_of")


@overload(weight_of, jit_options=INLINE)
def _weight_of_kind(weights, code):
    if isinstance(weights, types.NoneType):
        return lambda weights, code: 1.0
    return lambda weights, code: weights[code]


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


# A class with variance 0 cannot be moved; its multiplier is computed as a limit, with this variance.
_SMALLEST_VARIANCE = 1e-150


@register_jitable
def violated(f, y, n_constraints):
    """Return at most `n_constraints` wrong classes with margins below 1, best first (ties: lowest first)."""
    wrong = np.empty(f.shape[0], np.int64)
    n = 0
    for z in range(f.shape[0]):
        if z != y and 1.0 - (f[y] - f[z]) > 0.0:
            wrong[n] = z
            n += 1
    order = np.argsort(-f[wrong[:n]], kind="mergesort")
    return wrong[:n][order[:n_constraints]]


@register_jitable
def multipliers(f, y, wrong, variances, r, hinge, alpha):
    """Solve the dual of eq. 27 exactly; write α_z of the first n classes of `wrong`, return n; the rest is 0.

    With l_z = 1 - (f_y - f_z) and A = Σα, the optimality conditions are, since Δf_zᵀΣΔf_u = v_y for z ≠
    u, ``α_z = max(0, (l_z - cA)/v_z)`` with c = v_y + r for the squared hinge. For the hinge c = v_y and
    A <= 1/(2r); if that bound is active, ``α_z = max(0, (l_z - θ)/v_z)`` with θ such that A = 1/(2r). So
    the classes with α > 0 are those with the largest l, and adding them one by one finds them all: one
    pass gives the limit of Hildreth's sweeps, which converge more slowly the smaller v_z/c is.
    """
    largest = 1.0 / (2.0 * r)
    n, total = _active(f, y, wrong, variances, variances[y] + (0.0 if hinge else r), 1.0, 0.0, alpha)
    if hinge and total > largest:
        n, total = _active(f, y, wrong, variances, 1.0, 0.0, largest, alpha)
    return n


@register_jitable
def _active(f, y, wrong, variances, c, one, bound, alpha):
    """Add classes while their α is positive; write the α, return how many there are and Σα.

    ``α_z v_z (one + c S) = one l_z + bound + c Σ_u (l_z - l_u)/v_u`` over the active classes u, with
    S = Σ_u 1/v_u. That is (l_z - cA)/v_z for one = 1, bound = 0, and (l_z - θ)/v_z for one = 0, c = 1 and
    A = bound. Losses enter as differences from the largest loss, so that l_z - cA does not cancel.
    """
    first = wrong[0]
    largest = 1.0 - (f[y] - f[first])
    n, inverse, lag = 0, 0.0, 0.0  # of the n classes taken in: Σ 1/v_u and Σ (l_1 - l_u)/v_u
    for z in wrong:
        below = f[first] - f[z]
        if n > 0 and not one * (largest - below) + bound + c * (lag - below * inverse) > 0.0:
            break
        v = max(variances[z], _SMALLEST_VARIANCE)
        inverse += 1.0 / v
        lag += below / v
        n += 1
    total = 0.0
    for z in wrong[:n]:
        below = f[first] - f[z]
        gain = one * (largest - below) + bound + c * (lag - below * inverse)
        alpha[z] = max(gain / (max(variances[z], _SMALLEST_VARIANCE) * (one + c * inverse)), 0.0)
        total += alpha[z]
    return n, total


@register_jitable
def update_classes(mu, sigma, x, steps, v, r, precision):
    """Move the mean, ``μ_z += steps_z Σ_z x``, and shrink all variances along ``f = Σ_z f(x, z)``.

    `v` is the variance of f. Precision: ``1/σ_zj += x_j²/r``. Covariance: the diagonal of eq. 29,
    ``σ_zj -= σ_zj² x_j²/(v + r)``.
    """
    beta, gamma = 1.0 / (v + r), 1.0 / r
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        mu_j, sigma_j = mu[j], sigma[j]
        for z in range(steps.shape[0]):
            sigma_x = sigma_j[z] * x_j
            mu_j[z] += steps[z] * sigma_x
            if precision:
                sigma_j[z] /= 1.0 + gamma * (sigma_x * x_j)
            else:
                # Negative only by rounding.
                shrunk = sigma_j[z] - (beta * sigma_x) * sigma_x
                sigma_j[z] = shrunk if shrunk > 0.0 else 0.0
