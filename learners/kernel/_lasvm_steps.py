"""PROCESS and REPROCESS of LASVM, on kept rows (see `_kernel_rows`).

Row s has α_s in ``K.walk.alpha``, g_s = y_s - Σ_j α_j K_sj in ``K.walk.extra`` and y_s in ``K.labels``; α_s
is between A_s = min(0, C y_s) and B_s = max(0, C y_s). With an intercept the steps keep Σ α = 0 and move two
coefficients, i up and j down; without one they move a single one, up or down, and where a pair is asked for
the missing half counts as a row with g = 0 that cannot move.
"""

import numpy as np
from numba.extending import register_jitable

from ._kernel_rows import append, kernel_row, know_row, remove


@register_jitable
def extremes(K, n, C, intercept):
    """Return i with the largest g of α < B, j with the smallest of α > A, -1 for none, and both g.

    Without an intercept g is at least 0 or at most 0.
    """
    alpha, gradient, labels = K.walk.alpha, K.walk.extra, K.labels
    i = j = -1
    high = -np.inf if intercept else 0.0
    low = np.inf if intercept else 0.0
    for s in range(n):
        g = gradient[s]
        if g > high and alpha[s] < max(0.0, C * labels[s]):
            high, i = g, s
        if g < low and alpha[s] > min(0.0, C * labels[s]):
            low, j = g, s
    return i, j, high, low


@register_jitable
def move_one(K, n, i, C):
    """Move α_i to where the dual objective is largest, within its limits."""
    S = K.walk
    a, g = S.alpha[i], S.extra[i]
    # Limits are reached exactly: what is at its limit must not be told from it by rounding.
    target = max(0.0, C * K.labels[i]) if g > 0.0 else min(0.0, C * K.labels[i])
    step = target - a
    if abs(g) < abs(step) * K.diagonal[i]:
        step = g / K.diagonal[i]
        target = a + step
    S.alpha[i] = target
    row = kernel_row(K, n, i)
    for s in range(n):
        S.extra[s] -= step * row[s]


@register_jitable
def move_pair(K, n, i, j, C):
    """Move α_i up and α_j down as far as the dual objective grows, within their limits."""
    S = K.walk
    up, down = kernel_row(K, n, i), kernel_row(K, n, j)
    B, A = max(0.0, C * K.labels[i]), min(0.0, C * K.labels[j])
    step = min(B - S.alpha[i], S.alpha[j] - A)
    to_B, to_A = step == B - S.alpha[i], step == S.alpha[j] - A
    curvature = K.diagonal[i] + K.diagonal[j] - 2.0 * up[j]
    if S.extra[i] - S.extra[j] < step * curvature:
        step = (S.extra[i] - S.extra[j]) / curvature
        to_B = to_A = False
    S.alpha[i] = B if to_B else S.alpha[i] + step
    S.alpha[j] = A if to_A else S.alpha[j] - step
    for s in range(n):
        S.extra[s] -= step * (np.float64(up[s]) - np.float64(down[s]))


@register_jitable
def process(K, n, t, y, g, C, tau, intercept, seed):
    """PROCESS row t of the block, whose gradient is `g`; return how many rows are kept then.

    A row that could not be moved towards its class is not kept, unless it is a seed.
    """
    partner = -1
    if intercept:
        i, j, high, low = extremes(K, n, C, intercept)
        partner = j if y > 0.0 else i
        gap = g - low if y > 0.0 else high - g
        if not (seed or (partner >= 0 and gap > 0.0)):
            return n
    elif not y * g >= 0.0:
        return n
    append(K, n, t, 0.0)
    K.walk.extra[n], K.labels[n] = g, y
    new, n = n, n + 1
    know_row(K, n, new, t)
    if not intercept:
        move_one(K, n, new, C)
    elif partner >= 0 and gap > tau:
        if y > 0.0:
            move_pair(K, n, new, partner, C)
        else:
            move_pair(K, n, partner, new, C)
    return n


@register_jitable
def improve(K, n, C, tau, intercept):
    """Make the step on the most violating pair, if it is violating by more than `tau`; return whether."""
    i, j, high, low = extremes(K, n, C, intercept)
    if intercept:
        violating = i >= 0 and j >= 0 and high - low > tau
        if violating:
            move_pair(K, n, i, j, C)
        return violating
    violating = high - low > tau
    if violating:
        move_one(K, n, j if high + low < 0.0 else i, C)
    return violating


@register_jitable
def evict(K, n, t, high, low):
    """Drop the rows with α = 0 that no step would move, given the extremes of g; return how many are left."""
    S = K.walk
    s = 0
    while s < n:
        if S.alpha[s] == 0.0 and (S.extra[s] >= high if K.labels[s] < 0.0 else S.extra[s] <= low):
            remove(K, n, s, t)
            n -= 1
        else:
            s += 1
    return n


@register_jitable
def settle(K, n, t, C, intercept, evicting, solution):
    """Evict, if so, and take the intercept from the extremes; return how many rows are kept."""
    i, j, high, low = extremes(K, n, C, intercept)
    if not intercept:
        return evict(K, n, t, 0.0, 0.0) if evicting else n
    if i < 0 or j < 0:
        return n
    solution[0] = (high + low) / 2.0
    return evict(K, n, t, high, low) if evicting else n
