"""The covariance Σ of second-order learners: the operations on it, for a full and for a diagonal Σ.

For two classes, a full Σ is a 2-D array (see `full_covariance`), and a diagonal Σ is a (d,) array σ. For more
classes, the weight vector has one block per class: a diagonal Σ is then an array of `new_class_state`, and a
full Σ is an array of shape (1, rows, width). Numba selects the code by the array's dimensions, so a learner
is written once. `s` is a buffer in which one function stores Σx for another: an array of shape (d,), or for a
full Σ row 0 of a larger array. A diagonal Σ does not use it with CSR rows or more than two classes.

With two classes, a diagonal Σ, dense rows and the covariance projection, an update is postponed until the
next row is scored; until then `s` contains the Σx of the update's row. The update and the next score then
take one pass over the state.
"""

from typing import Literal, TypeAlias

import numpy as np

from ...numeric.arrays import is_sparse_row
from ...numeric.compiled import INLINE, register_jitable
from ...numeric.formulas import where
from ...numeric.rows import (
    by_types,
    dot,
    dot_and_weighted_squared_norm,
    entry,
    n_entries,
    new_state,
    weighted_squared_norm,
)
from ...numeric.vector import lane_pass, lane_update, single_update
from .classes import by_class, new_class_state
from .full_covariance import (
    full_matrix,
    n_classes_of,
    new_full_covariance,
    subtract_outer,
    variance_of_difference,
    variance_of_row,
    widen_full,
)

#: Types of the parameters ``covariance`` and ``projection``.
Shape: TypeAlias = Literal["diagonal", "full"]
Projection: TypeAlias = Literal["covariance", "precision"]

# A postponed update is (True, α, β); this value means that no update is postponed.
NOTHING_WAITS = (False, 0.0, 0.0)


def new_covariance(shape, n_features, scale=1.0, n_classes=None):
    """Return Σ = ``scale · I``, full or diagonal, and the buffer in which compiled loops store Σx.

    Σ has one block per class. Two classes share a single block, and `n_classes` is None. A full matrix of
    more than 4 GiB raises ValueError.
    """
    if shape == "full":
        sigma, buffer = new_full_covariance(n_features, scale, n_classes or 1)
        return sigma if n_classes is None else sigma[np.newaxis], buffer
    if n_classes is None:
        return new_state(n_features, scale, place=1), new_state(n_features, place=2)
    sigma = new_class_state(n_features, n_classes, scale, place=1)
    return sigma, np.empty(sigma.shape[-1])


def widen_covariance(old, new, n_classes=None):
    """Copy the array of Σ into the array of a new Σ with more features; `new_covariance` has made both."""
    if n_classes is not None and old.ndim == 3:
        old, new = old[0], new[0]
    elif n_classes is not None or old.ndim == 1:
        new[: len(old)] = old
        return
    widen_full(old, new)


def covariance_matrix(sigma, n_classes=None):
    """Return Σ for users: (d, d) or its diagonal (d,); for K > 2 classes (Kd, Kd) or (K, d)."""
    if n_classes is None:
        return sigma if sigma.ndim == 1 else full_matrix(sigma)
    return by_class(sigma, n_classes) if sigma.ndim == 2 else full_matrix(sigma[0])


@register_jitable(**INLINE)
def is_usable(v):
    """Return whether the variance ``v = xᵀΣx`` allows an update.

    If ``v = 0`` (x = 0, or Σ has become 0 in the direction of x), Σx is 0, and v cannot be divided by.
    Rounding can make v slightly negative for a full Σ, and v may overflow. Learners skip rows without a
    usable v; only the second-order Perceptron does not skip v <= 0, but leaves A unchanged.
    """
    return (v > 0.0) & (v < np.inf)


@by_types(**INLINE)
def variance(sigma, x, s):
    """Return ``v = xᵀΣx``; for a full Σ, store Σx in `s`."""
    if sigma.ndim == 1:
        return lambda sigma, x, s: weighted_squared_norm(sigma, x)
    return lambda sigma, x, s: variance_of_row(sigma, x, s)


def shrink(mu, sigma, s, alpha, beta):
    """Return the new ``μ_j += α s`` and ``σ_j -= β s²`` of an `update`, with ``s = σ_j x_j`` (a formula)."""
    # Rounding can make the new variance negative, though β xᵀΣx < 1; it is then set to 0.
    shrunk = sigma - beta * s * s
    return mu + alpha * s, where(shrunk > 0.0, shrunk, 0.0)


def update_covariance(mu, sigma, x, alpha, beta):
    """Return the new ``μ_j += α σ_j x_j`` and ``σ_j -= β σ_j² x_j²`` (a formula)."""
    return shrink(mu, sigma, sigma * x, alpha, beta)


def _update_precision(mu, sigma, x, alpha, gamma):
    s = sigma * x
    # The new σ is 1/(1/σ + γx²), computed without 1/σ, which would overflow for a tiny σ.
    return [mu + alpha * s, sigma / (1.0 + gamma * (s * x))]


def _multiply_and_score(mu, sigma, s, x):
    s = sigma * x
    return [None, None, s], [mu * x, s * x]


def _update_and_score(mu, sigma, s, x, alpha, beta):
    mu, sigma = shrink(mu, sigma, s, alpha, beta)
    s = sigma * x
    return [mu, sigma, s], [mu * x, s * x]


_row_by_covariance, _row_by_precision = lane_update(update_covariance), lane_update(_update_precision)
_one_by_covariance, _one_by_precision = single_update(update_covariance), single_update(_update_precision)
_score_dense = lane_pass(2, _multiply_and_score)
_update_and_score_dense = lane_pass(2, _update_and_score)


@by_types(**INLINE)
def update_and_score(mu, sigma, s, waiting, x, with_variance):
    """Apply the postponed update, if any; then return ``(μ·x, xᵀΣx, NOTHING_WAITS)`` for the row x.

    `waiting` is the result of the last `update`, NOTHING_WAITS at first. For a diagonal Σ with dense rows,
    xᵀΣx costs nothing and is always computed. In other cases it is 0 if `with_variance` is false, and
    `variance_at_hand` computes it later.
    """
    if sigma.ndim == 1 and not is_sparse_row(x):

        def dense(mu, sigma, s, waiting, x, with_variance):
            # `waits` is known before the division that gives α and β, so the branch below need not wait for
            # the division.
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


@by_types(**INLINE)
def variance_at_hand(v, sigma, x, s, with_variance):
    """Return ``xᵀΣx``: `v` if `update_and_score` has computed it for this row, otherwise compute it."""
    if sigma.ndim == 1 and not is_sparse_row(x):
        return lambda v, sigma, x, s, with_variance: v
    return lambda v, sigma, x, s, with_variance: v if with_variance else variance(sigma, x, s)


@by_types(**INLINE)
def update(mu, sigma, x, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance along x, the row whose variance was computed last.

    ``μ += α Σx``. A full Σ: ``Σ -= β Σx xᵀΣ``. A diagonal with projection "covariance": the diagonal of that,
    ``σ_j -= β σ_j² x_j²``. A diagonal with `precision`: the diagonal of ``Σ⁻¹ += γ x xᵀ``,
    ``1/σ_j += γ x_j²``. Returns the postponed update or NOTHING_WAITS, to be passed as `waiting` to
    `update_and_score` or, after the last row, to `finish_update`.
    """
    if sigma.ndim == 1:
        sparse = is_sparse_row(x)

        def diagonal(mu, sigma, x, s, alpha, beta, gamma, precision):
            if precision:
                _row_by_precision((mu, sigma), x, (alpha, gamma))
            elif sparse:
                _row_by_covariance((mu, sigma), x, (alpha, beta))
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


@by_types(**INLINE)
def finish_update(mu, sigma, s, waiting):
    """Apply a postponed update after the last row."""
    if sigma.ndim == 2:
        return lambda mu, sigma, s, waiting: None

    def diagonal(mu, sigma, s, waiting):
        waits, alpha, beta = waiting
        if waits:
            # The code that applies an update also scores a row. Here it scores `s`, and the score is not
            # used.
            _update_and_score_dense((mu, sigma, s), s, (alpha, beta))

    return diagonal


@by_types()
def pair_variance(sigma, x, y, z, s):
    """Return ``v = ΔfᵀΣΔf``, where Δf is x in block y and -x in block z; for a full Σ, store ΣΔf in `s`."""
    if sigma.ndim == 2:

        def diagonal(sigma, x, y, z, s):
            # With unsigned indices, as in `entry`, compiled code does not test whether an index is negative.
            y, z = np.uintp(y), np.uintp(z)
            v = 0.0
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                v += (sigma[j, y] + sigma[j, z]) * x_j * x_j
            return v

        return diagonal
    return lambda sigma, x, y, z, s: variance_of_difference(sigma[0], x, y, z, s)


@register_jitable(**INLINE)
def update_one(mu, sigma, place, x_j, alpha, beta, gamma, precision):
    """Make the update of one mean and variance at this place in the arrays, as `update` does for a row."""
    if precision:
        _one_by_precision((mu, sigma), place, (x_j, alpha, gamma))
    else:
        _one_by_covariance((mu, sigma), place, (x_j, alpha, beta))


@by_types()
def update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
    """Move the mean and shrink the covariance along the Δf for which `pair_variance` was called last.

    ``μ += α ΣΔf``; ``Σ -= β ΣΔf ΔfᵀΣ`` (full), the diagonal of that (diagonal, projection "covariance") or
    the diagonal of the inverse's update ``Σ⁻¹ += γ Δf Δfᵀ`` (`precision` true). A diagonal changes only in
    the blocks of the classes y and z.
    """
    if sigma.ndim == 2:

        def diagonal(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
            width = np.uintp(mu.shape[1])
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                own, other = j * width + np.uintp(y), j * width + np.uintp(z)
                update_one(mu, sigma, own, x_j, alpha, beta, gamma, precision)
                update_one(mu, sigma, other, x_j, -alpha, beta, gamma, precision)

        return diagonal

    def full(mu, sigma, x, y, z, s, alpha, beta, gamma, precision):
        d = mu.shape[0]
        for c in range(n_classes_of(sigma[0])):
            for j in range(d):
                mu[j, c] += alpha * s[0, c * d + j]
        subtract_outer(sigma[0], s, beta)

    return full
