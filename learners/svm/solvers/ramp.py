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

# Limits of the optimizer, far above the needs of any useful problem. Without them an example could enter and
# leave the active set V forever, because steps end early or because kernel values are many orders of
# magnitude apart.
MOST_ROUNDS = 1000
MOST_STEPS_OF_A_ROW = 100_000
MOST_STEPS = 1_000_000_000


class Rules(NamedTuple):
    """The bound of the coefficients, and the tolerances with which the optimizer stops."""

    C: float
    #: An example violates its KKT condition (eq. 3) if its g is on the wrong side of 0 by more than this.
    tol: float
    #: A step that gains less in the dual objective (eq. 13) is not taken.
    min_gain: float


def rules_of(learner):
    """Return a learner's parameters as `Rules`."""
    return Rules(float(learner.C), float(learner.tol), float(learner.min_gain))


# The functions below that do not read rows take arrays instead of a `RampView`, so that they are compiled
# once, not separately for dense and CSR rows.


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
    """Return the example to change next and its new α, or -1 if the active set V is optimal.

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
    """Form the active set V of examples with g <= 2 (Algorithm 1, lines 16 to 22); return if V changed."""
    changed = False
    for i in range(n):
        within = g[i] <= 2.0
        changed |= within != active[i]
        active[i] = within
    return changed


@compiled
def objective(alpha, labels, g, n, C):
    """Return the ramp-loss objective ``½ ‖w‖² + C Σ min(2, max(0, 1 - y f(x)))`` over the examples, eq. 7."""
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
    # The named tuples are unpacked here, not in the loop, because each access to such a tuple changes the
    # reference counts of all its arrays, which takes time.
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
    """The stored examples and a block of new rows, as arrays for the compiled solver."""

    #: ``cached.block.alpha`` is y α, with 0 <= α <= C, and ``cached.gradients`` is g = 1 - y f(x).
    cached: CachedView
    #: Whether each example is in the active set V.
    active: np.ndarray
    #: Scratch arrays: `scratch` in float64, `picked` in the precision of the kernel values.
    scratch: np.ndarray
    picked: np.ndarray


class RampSupport(CachedSupport):
    """All remembered examples with their state; those with α > 0 are the support vectors."""

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        super().__init__(function, n_features, dtype, sparse, cache_mb)
        self._active = np.zeros(0, np.bool_)
        self._support_vectors = None

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        super().widen(n_features)
        self._support_vectors = None

    def open_block(self, block, n, first):
        """Return a `RampView` of a block of `n` rows to learn; after the loop over it, call `commit`."""
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
        """Return the ramp-loss objective (eq. 7) over the remembered examples."""
        return objective(self.support.alpha, self.labels, self.gradients, self.support.size, C)

    def support_vectors(self):
        """Return the support vectors, in the order of their slots, as a `SupportSet`.

        It is cached until the next block is opened, or features are added.
        """
        if self._support_vectors is None:
            self._support_vectors = self.support.subset(np.flatnonzero(self.support.alpha))
        return self._support_vectors

    def n_bytes(self):
        """Return the bytes of the remembered rows and of their state, without the cache of kernel values."""
        return super().n_bytes() + self.active.nbytes


@register_jitable
def score_of_support(view, n, t):
    """Return the score f(x_t) of row t of the block, and the number of support vectors.

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
    """Keep only the `most` examples with α = 0 whose |1 - g| is smallest (Algorithm 2); return the new n."""
    alpha, g, born = view.cached.block.alpha, view.cached.gradients, view.cached.block.born
    idle, worst = _furthest_idle(alpha, g, born, n)
    while idle > most:
        remove(view.cached, n, worst, t)
        n -= 1
        view.active[worst] = view.active[n]
        idle, worst = _furthest_idle(alpha, g, born, n)
    return n
