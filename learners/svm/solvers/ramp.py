"""The optimizer of the ramp-loss SVMs, and the examples that they remember, in slots 0 … n - 1.

The concave-convex procedure (CCCP) alternates between forming the active set V and coordinate steps on V. The
optimizer works on a `RampView`: ``g_i = 1 - y_i f(x_i)`` is stored for every example, and each change of a
coefficient updates every g with one row of kernel values. Equations and algorithms are those of Wang and
Vucetic (2010).
"""

from typing import NamedTuple

import numpy as np

from ...kernel.support.cached_support import CachedSupport, CachedView, kernel_row, remove
from ...kernel.values.row_storage import grown
from ...numeric.compiled import compiled, register_jitable
from ...numeric.rows import dot

# Bounds far above what any useful problem needs. In principle an example could enter and leave V forever,
# because steps end early or because kernel values are many orders of magnitude apart.
MOST_ROUNDS = 1000
MOST_STEPS_OF_A_ROW = 100_000
MOST_STEPS = 1_000_000_000


class Rules(NamedTuple):
    """The bound of the coefficients, and the tolerances with which the optimizer stops."""

    C: float
    #: A KKT condition (eq. 3) is violated if g is further than this on the wrong side of 0.
    tol: float
    #: A step that gains less in the dual objective (eq. 13) is not taken.
    min_gain: float


def rules_of(learner):
    """Return a learner's parameters as `Rules`."""
    return Rules(float(learner.C), float(learner.tol), float(learner.min_gain))


# Functions that do not read rows take plain arrays, so they are compiled once, not for each kind of row.


@register_jitable
def best_alpha(α, g, own, C):
    """Return the best value in [0, C] for a coefficient α if all other coefficients stay (eq. 14)."""
    return min(max(α + g / own, 0.0), C)


@register_jitable
def largest(numbers, n):
    """Return the position and value of the largest of `n` numbers (no NaN), or -1 if none is > 0."""
    # Numbers >= 0 are in the same order as their bits read as integers, whose maximum vectorizes.
    bits = numbers.view(np.int64)
    top, first = np.int64(0), 0
    for i in range(n):
        top = max(top, bits[i])
    if top == 0:
        return -1, 0.0
    while bits[first] != top:
        first += 1
    return first, numbers[first]


@compiled
def next_step(alpha, labels, gradient, own, active, gains, n, rules):
    """Return the example to change next and its new α, or -1 if V is optimal.

    First come the examples outside V with α > 0, whose new α is 0. Then comes the example in V that violates
    its KKT condition and whose step gains most in the dual objective (eq. 13). Ties: the first slot. `gains`
    is scratch.
    """
    C, tol = rules.C, rules.tol
    # Most of the time of learning goes into this loop, which vectorizes, and into the search after it.
    for i in range(n):
        α, g = labels[i] * alpha[i], gradient[i]
        step = best_alpha(α, g, own[i], C) - α
        violates = ((α < C) & (g > tol)) | ((α > 0.0) & (g < -tol))
        gain = step * g - 0.5 * step * step * own[i]
        # Exclude gains that rounding made negative, and NaN after an overflow.
        gain = gain if violates & (gain > 0.0) else 0.0
        gains[i] = gain if active[i] else (np.inf if α > 0.0 else 0.0)
    best, most = largest(gains, n)
    if best < 0 or most < rules.min_gain:
        return -1, 0.0
    if not active[best]:
        return best, 0.0
    return best, best_alpha(labels[best] * alpha[best], gradient[best], own[best], C)


@compiled
def change(alpha, labels, g, k, n, i, α):
    """Set the coefficient of example i, with kernel values `k`, to α and update every g (eq. 15)."""
    step = labels[i] * α - alpha[i]
    alpha[i] = labels[i] * α
    for j in range(n):
        g[j] -= step * labels[j] * k[j]


@compiled
def start_over(alpha, g, active, n, n_initial):
    """Set all coefficients to 0; the first `n_initial` examples become the active set V."""
    for i in range(n):
        alpha[i], g[i], active[i] = 0.0, 1.0, i < n_initial


@compiled
def form_active_set(g, active, n):
    """Make the examples with g <= 2 the active set V (Algorithm 1, 16 to 22); return whether it changed."""
    changed = False
    for i in range(n):
        within = g[i] <= 2.0
        changed |= within != active[i]
        active[i] = within
    return changed


@compiled
def objective(alpha, labels, g, n, C):
    """Return ``½ ‖w‖² + C Σ min(2, max(0, 1 - y f(x)))``, eq. 7."""
    total = 0.0
    for i in range(n):
        total += 0.5 * labels[i] * alpha[i] * (1.0 - g[i]) + C * min(2.0, max(0.0, g[i]))
    return total


@register_jitable
def take_steps(view, n, rules, i, α, rounds, most):
    """Set the coefficient of example i to α, unless i is -1. Then optimize on V and form V again, in turn,
    until V does not change (Algorithm 1, lines 9 to 27).

    The loop also stops if the objective has not fallen since V was last formed. The exact optimum on the new
    V would have lowered it, so the violations that remain are within the tolerance, and examples with g of
    about 2 would enter and leave V for hundreds of rounds. It stops as well after `rounds` optimizations on V
    or after `most` changes. Return the number of changes of a coefficient.
    """
    # The tuples are unpacked once: each access to one changes the reference counts of all its arrays.
    cached, active, scratch = view.cached, view.active, view.scratch
    alpha, g, labels, own = cached.block.alpha, cached.gradients, cached.labels, cached.diagonal
    changes, lowest = 0, np.inf
    while True:
        if i >= 0:
            change(alpha, labels, g, kernel_row(cached, n, i), n, i, α)
            changes += 1
        i, α = next_step(alpha, labels, g, own, active, scratch, n, rules)
        if i < 0:
            rounds -= 1
            reached = objective(alpha, labels, g, n, rules.C)
            if rounds == 0 or not reached < lowest or not form_active_set(g, active, n):
                return changes
            lowest = reached
        elif changes >= most:
            return changes


class RampView(NamedTuple):
    """The stored examples and a block of the stream, as arrays for the compiled solver."""

    #: ``cached.block.alpha`` is y α, with 0 <= α <= C, and ``cached.gradients`` is g = 1 - y f(x).
    cached: CachedView
    #: Whether each example is in the active set V.
    active: np.ndarray
    #: Scratch, in float64 and in the precision of the kernel values.
    scratch: np.ndarray
    picked: np.ndarray


class RampSupport(CachedSupport):
    """All remembered examples with their state; those with α > 0 are the support vectors."""

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        super().__init__(function, n_features, dtype, sparse, cache_mb)
        self._active = np.zeros(0, np.bool_)
        self._support_vectors = None

    def open_block(self, block, n, first):
        """Return a block of `n` rows, with its kernel values, as a `RampView`; `commit` closes it."""
        self._support_vectors = None
        cached_view = super().open_block(block, n, first)
        slots = len(cached_view.labels)
        if slots > len(self._active):
            self._active = grown(self._active, slots)
        return RampView(cached_view, self._active, np.empty(slots), np.empty(slots, self._dtype))

    @property
    def active(self):
        """Whether each example is in the active set, by slot."""
        return self._active[: self.support.size]

    def objective(self, C):
        """Return the objective of eq. 7."""
        return objective(self.support.alpha, self.labels, self.gradients, self.support.size, C)

    def support_vectors(self):
        """Return the support vectors as a `SupportSet`, by slot; cached until the next block."""
        if self._support_vectors is None:
            self._support_vectors = self.support.subset(np.flatnonzero(self.support.alpha))
        return self._support_vectors

    def n_bytes(self):
        """Return the bytes of rows and of their state."""
        return super().n_bytes() + self.active.nbytes


@register_jitable
def score_of_support(view, n, t):
    """Return f(x_t), and the number of support vectors.

    The sum goes over the support vectors in the order of their slots, as if no other examples were stored.
    """
    alpha, values = view.cached.block.alpha, view.cached.block.values[t]
    size = 0
    for i in range(n):
        if alpha[i] != 0.0:
            view.scratch[size], view.picked[size] = alpha[i], values[i]
            size += 1
    return dot(view.scratch[:size], view.picked[:size]), size


@compiled
def _furthest_idle(alpha, g, born, n):
    """Return the number of examples with α = 0, and which of them has the largest |1 - g| (ties: oldest)."""
    idle, worst, furthest = 0, -1, 0.0
    for i in range(n):
        if alpha[i] == 0.0:
            idle += 1
            distance = abs(1.0 - g[i])
            older = distance == furthest and born[i] < born[worst]
            if worst < 0 or distance > furthest or older:
                worst, furthest = i, distance
    return idle, worst


@register_jitable
def remove_far_ones(view, n, t, most):
    """Of the examples with α = 0 keep the `most` of smallest |1 - g| (Algorithm 2); return the new n."""
    alpha, g, born = view.cached.block.alpha, view.cached.gradients, view.cached.block.born
    idle, worst = _furthest_idle(alpha, g, born, n)
    while idle > most:
        remove(view.cached, n, worst, t)
        n -= 1
        view.active[worst] = view.active[n]
        idle, worst = _furthest_idle(alpha, g, born, n)
    return n
