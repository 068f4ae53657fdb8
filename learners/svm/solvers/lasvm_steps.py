"""PROCESS and REPROCESS of LASVM, on kept rows (see `_kernel_rows`).

Row s has α_s in ``K.walk.alpha``, g_s = y_s - Σ_j α_j K_sj in ``K.walk.extra`` and y_s in ``K.labels``; α_s
is between A_s = min(0, C y_s) and B_s = max(0, C y_s). With an intercept the steps keep Σ α = 0 and move two
coefficients, i up and j down; without one they move a single one, up or down, and where a pair is asked for
the missing half counts as a row with g = 0 that cannot move.
"""

import numpy as np
from numba.extending import register_jitable

from ...kernel.support.cached_support import append, kernel_row, know_row, remove


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
def move(K, n, i, j, C):
    """Move α_i up and α_j down as far as the dual objective grows, within their limits; -1: none to move."""
    S = K.walk
    step, gap, curvature = np.inf, 0.0, 0.0
    B = A = 0.0
    if i >= 0:
        B = max(0.0, C * K.labels[i])
        step, gap, curvature = B - S.alpha[i], S.extra[i], K.diagonal[i]
    if j >= 0:
        A = min(0.0, C * K.labels[j])
        step, gap, curvature = min(step, S.alpha[j] - A), gap - S.extra[j], curvature + K.diagonal[j]
    # Limits are reached exactly: what is at its limit must not be told from it by rounding.
    to_B, to_A = i >= 0 and step == B - S.alpha[i], j >= 0 and step == S.alpha[j] - A
    for k in range(2):
        moved = j if k else i
        if moved < 0:
            continue
        row = kernel_row(K, n, moved)
        if k == 0 and j >= 0:
            curvature -= 2.0 * row[j]
        if (k == 0 or i < 0) and gap < step * curvature:
            step, to_B, to_A = gap / curvature, False, False
        change = -step if k else step
        for s in range(n):
            S.extra[s] -= change * row[s]
    if i >= 0:
        S.alpha[i] = B if to_B else S.alpha[i] + step
    if j >= 0:
        S.alpha[j] = A if to_A else S.alpha[j] - step


@register_jitable
def let_in(K, n, t, y, g, high, low, intercept, seed):
    """Keep row t of the block, whose gradient is `g`, if a step could move it to its class or it is a seed.

    Returns how many rows are kept then. `high` and `low` are the extremes of g before.
    """
    wanted = (g > low if y > 0.0 else g < high) if intercept else y * g >= 0.0
    if not ((wanted and np.isfinite(high if y < 0.0 else low)) or seed):
        return n
    append(K, n, t, 0.0)
    K.walk.extra[n], K.labels[n] = g, y
    know_row(K, n + 1, n, t)
    return n + 1


@register_jitable
def violating_pair(i, j, high, low, tau, intercept):
    """Return the pair of the extremes, -1 for what cannot move; both -1 if it is not violating by `tau`."""
    if not high - low > tau or (intercept and (i < 0 or j < 0)):
        return -1, -1
    if intercept:
        return i, j
    return (-1, j) if high + low < 0.0 else (i, -1)


@register_jitable
def process_and_reprocess(K, n, t, y, g, C, tau, intercept, seed, processed):
    """PROCESS row t, whose gradient is `g`, if it is to be; then, unless it is a seed, REPROCESS.

    Returns how many rows are kept then; none is evicted. (A loop, so that there is one call of `move`.)
    """
    for k in range(2):
        i, j, high, low = extremes(K, n, C, intercept)
        if k == 0:
            before = n
            if processed:
                n = let_in(K, n, t, y, g, high, low, intercept, seed)
            if n == before:
                continue
            # The new row with its partner; alone where there is no intercept: its step is then of any size.
            if y > 0.0:
                i, high = before, g
            else:
                j, low = before, g
            if not intercept:
                i, j = (i, -1) if y > 0.0 else (-1, j)
            elif i < 0 or j < 0 or not high - low > tau:
                continue
        elif seed:
            continue
        else:
            i, j = violating_pair(i, j, high, low, tau, intercept)
        if i >= 0 or j >= 0:
            move(K, n, i, j, C)
    return n


@register_jitable
def improve(K, n, C, tau, intercept):
    """Make the step on the most violating pair, if it is violating by more than `tau`; return whether."""
    i, j, high, low = extremes(K, n, C, intercept)
    i, j = violating_pair(i, j, high, low, tau, intercept)
    if i >= 0 or j >= 0:
        move(K, n, i, j, C)
    return i >= 0 or j >= 0


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
