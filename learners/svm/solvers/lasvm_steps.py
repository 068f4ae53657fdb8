"""LASVM's steps PROCESS (for a new row) and REPROCESS (for stored rows), on the arrays of a `CachedView`.

Row s has the coefficient α_s, the gradient ``g_s = y_s - Σ_j α_j K_sj`` in ``view.gradients`` (K has the
kernel values) and the label y_s in ``view.labels``; α_s is between A_s = min(0, C y_s) and B_s = max(0, C
y_s). With an intercept the steps keep Σ α = 0 and move two coefficients, i up and j down. Without an
intercept they move a single coefficient, up or down; functions on pairs (i, j) then treat the missing row as
one with g = 0 that cannot move.
"""

from typing import NamedTuple

import numpy as np

from ...kernel.support.cached_support import add, cache_row, kernel_row, remove
from ...numeric.compiled import register_jitable
from ...numeric.lanes import LANES, holds_anywhere, read_lanes, where


class LasvmSettings(NamedTuple):
    """The parameters of an `LASVM` on which its steps depend."""

    #: Bound of the coefficients.
    C: float
    #: A pair whose gradients differ by no more than this is not moved.
    tau: float
    intercept: bool


@register_jitable
def bounds(y, C):
    """Return the bounds A = min(0, C y) and B = max(0, C y) of the α of rows with label y, -1 or 1."""
    B = where(y > 0.0, C, 0.0)
    return B - C, B


@register_jitable
def extremes(view, n, settings):
    """Return the row i whose α should rise most, the row j whose α should fall most, and their gradients g.

    i has the largest g of the rows with α below its upper bound, j the smallest g of those with α above its
    lower bound. i or j is -1 if there is no such row. Without an intercept, i must have g > 0 and j must have
    g < 0, and the g of a missing row is 0.
    """
    alpha, gradients, labels, C = view.block.alpha, view.gradients, view.labels, settings.C
    i = j = -1
    high = -np.inf if settings.intercept else 0.0
    low = np.inf if settings.intercept else 0.0
    for first in range(0, n, LANES):
        last = min(first + LANES, n)
        # Few groups of LANES rows have a row that beats those before it.
        if last == first + LANES:
            g, a = read_lanes(gradients, first), read_lanes(alpha, first)
            A, B = bounds(read_lanes(labels, first), C)
            if not holds_anywhere(((g > high) & (a < B)) | ((g < low) & (a > A))):
                continue
        for s in range(first, last):
            A, B = bounds(labels[s], C)
            if gradients[s] > high and alpha[s] < B:
                high, i = gradients[s], s
            if gradients[s] < low and alpha[s] > A:
                low, j = gradients[s], s
    return i, j, high, low


@register_jitable
def move(view, n, i, j, C):
    """Raise α_i and lower α_j by the best step within bounds; if i or j is -1, only the other α changes."""
    alpha, gradients = view.block.alpha, view.gradients
    up = kernel_row(view, n, i) if i >= 0 else view.products[0]
    down = kernel_row(view, n, j) if j >= 0 else view.products[0]
    step, gap, curvature = np.inf, 0.0, 0.0
    B = A = 0.0
    if i >= 0:
        B = bounds(view.labels[i], C)[1]
        step, gap, curvature = B - alpha[i], gradients[i], view.diagonal[i]
    if j >= 0:
        A = bounds(view.labels[j], C)[0]
        step, gap, curvature = min(step, alpha[j] - A), gap - gradients[j], curvature + view.diagonal[j]
        if i >= 0:
            curvature -= 2.0 * up[j]
    # Bounds are reached exactly: rounding must not leave a coefficient just next to its bound.
    to_B, to_A = i >= 0 and step == B - alpha[i], j >= 0 and step == alpha[j] - A
    if gap < step * curvature:
        step, to_B, to_A = gap / curvature, False, False
    if i >= 0:
        for s in range(n):
            gradients[s] -= step * up[s]
        alpha[i] = B if to_B else alpha[i] + step
    if j >= 0:
        for s in range(n):
            gradients[s] += step * down[s]
        alpha[j] = A if to_A else alpha[j] - step


@register_jitable
def process(view, n, t, y, g, settings, seed):
    """LASVM's PROCESS: store row t, with gradient `g`, if that is useful, and make the best step with it.

    The row is stored if a step could move α_t towards ``C y``. A `seed` is always stored. Return the number
    of stored rows.
    """
    i, j, high, low = extremes(view, n, settings)
    wanted = (g > low if y > 0.0 else g < high) if settings.intercept else y * g >= 0.0
    if not ((wanted and np.isfinite(high if y < 0.0 else low)) or seed):
        return n
    n, new = add(view, n, t, y, g), n
    cache_row(view, n, new, t)
    # Without an intercept the step moves the new row's α alone, and may be of any size. With an intercept it
    # also moves the α of a second row, and is made only if the gradients differ by more than tau.
    if y > 0.0:
        i, high = new, g
    else:
        j, low = new, g
    if not settings.intercept:
        i, j = (i, -1) if y > 0.0 else (-1, j)
    elif not high - low > settings.tau or i < 0 or j < 0:
        return n
    move(view, n, i, j, settings.C)
    return n


@register_jitable
def reprocess(view, n, settings):
    """LASVM's REPROCESS: make the best step on the most violating pair of stored rows.

    A pair violates if its gradients differ by more than tau. Return False if no pair does.
    """
    i, j, high, low = extremes(view, n, settings)
    if not high - low > settings.tau or (settings.intercept and (i < 0 or j < 0)):
        return False
    if not settings.intercept:
        i, j = (-1, j) if high + low < 0.0 else (i, -1)
    move(view, n, i, j, settings.C)
    return True


@register_jitable
def remove_idle(view, n, t, high, low):
    """Remove the rows with α = 0 that no step would move; return how many rows remain.

    `high` is the largest gradient of a row whose α may rise, `low` the smallest of one whose α may fall.
    """
    alpha, gradients = view.block.alpha, view.gradients
    s = 0
    while s < n:
        if alpha[s] == 0.0 and (gradients[s] >= high if view.labels[s] < 0.0 else gradients[s] <= low):
            remove(view, n, s, t)
            n -= 1
        else:
            s += 1
    return n


@register_jitable
def finish_reprocess(view, n, t, settings, removing, solution):
    """Set the intercept to the mean of the extreme gradients; if `removing`, remove idle rows.

    Idle rows have α = 0, and no step would move them. Return the number of stored rows.
    """
    i, j, high, low = extremes(view, n, settings)
    if not settings.intercept:
        return remove_idle(view, n, t, 0.0, 0.0) if removing else n
    if i < 0 or j < 0:
        return n
    solution[0] = (high + low) / 2.0
    return remove_idle(view, n, t, high, low) if removing else n
