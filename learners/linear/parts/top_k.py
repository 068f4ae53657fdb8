"""AROW's update with several constraints: the multipliers of eq. 27, solved exactly."""

import numpy as np
from numba.extending import register_jitable

from ...numeric.rows import entry, n_entries

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
