"""The optimiser of the ramp-loss SVMs: coordinate steps on the active set, and the CCCP around them.

All examples are in slots 0 … n - 1; ``g_i = 1 - y_i f(x_i)`` is kept for each of them, and each change of a
coefficient brings all up to date with one row of kernel values.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ...estimator.parameters import check_nonnegative, check_positive
from ...kernel.support.cached_support import Kept, KernelRows, append, kernel_row, remove
from ...kernel.support.support_set import SupportSet
from ...numeric.compiled import compiled
from ...numeric.rows import dot

# Bounds that no problem of use comes near. Steps that end early may in principle let an example come and go
# for ever, and so may the rounding of kernel values that are many orders of magnitude apart.
MOST_ROUNDS = 1000
MOST_STEPS_OF_A_ROW = 100_000
MOST_STEPS = 1_000_000_000


class Examples(NamedTuple):
    """What a ramp-loss SVM remembers, by slot, as a loop takes it.

    ``kept.walk.alpha`` is y α, with 0 <= α <= C, and ``kept.walk.extra`` is g.
    """

    kept: Kept
    #: Whether the example is in the active set V.
    active: np.ndarray
    #: Scratch, in float64 and in the precision of the kernel values.
    scratch: np.ndarray
    picked: np.ndarray


class Rules(NamedTuple):
    """When the optimiser is done, and the bound of the coefficients."""

    C: float
    #: A KKT condition (eq. 3) is violated where g is further than this on the wrong side of 0.
    tol: float
    #: A step that gains less in the dual objective (eq. 13) is not taken.
    min_gain: float


def check_rules(learner):
    """Raise ValueError for a parameter of the optimiser that makes no sense."""
    check_positive(learner, "C")
    check_nonnegative(learner, "tol")
    check_nonnegative(learner, "min_gain")


def rules_of(learner):
    """Return the `Rules` that the parameters of a learner ask for."""
    return Rules(float(learner.C), float(learner.tol), float(learner.min_gain))


class ExampleRows(KernelRows):
    """The rows of all remembered examples, with what `Examples` has besides."""

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        super().__init__(function, n_features, dtype, sparse, cache_mb)
        self._active = np.zeros(0, np.bool_)
        self._few = None

    def _reserve(self, n):
        super()._reserve(n)
        more = np.zeros(len(self._norms) - len(self._active), np.bool_)
        self._active = np.append(self._active, more)

    def examples(self, kept):
        """Return the `Examples` of a `Kept`."""
        slots = len(self._active)
        return Examples(kept, self._active, np.empty(slots), np.empty(slots, self._dtype))

    @property
    def active(self):
        """Which examples are in the active set, by slot."""
        return self._active[: self.size]

    def objective(self, C):
        """Return the objective of eq. 7."""
        return objective(self.alpha, self.labels, self.gradients, self.size, C)

    def meet(self, block, n, first):
        """Do as `KernelRows.meet` does."""
        self._few = None
        return super().meet(block, n, first)

    def of_prediction(self):
        """Return the support set alone, in the order of the slots; put together once for all calls."""
        if self._few is None:
            slots = np.flatnonzero(self.alpha)
            self._few = SupportSet(
                self._function, self._rows.n_features, self._dtype, self._sparse, square=False
            )
            self._few.adopt(self.matrix(slots), self._norms[slots], self.alpha[slots])
        return self._few

    def n_bytes(self):
        """Return the bytes of rows and of what is kept with them."""
        return super().n_bytes() + self.active.nbytes


@register_jitable
def score_of_support(S, n, t):
    """Return f(x_t), and the number of support vectors.

    The sum goes over the support vectors in the order of their slots, as if there were no other examples.
    """
    alpha, values = S.kept.walk.alpha, S.kept.walk.values[t]
    size = 0
    for i in range(n):
        if alpha[i] != 0.0:
            S.scratch[size], S.picked[size] = alpha[i], values[i]
            size += 1
    return dot(S.scratch[:size], S.picked[:size]), size


@register_jitable
def is_remembered(S, n, t):
    """Tell whether row t of the block, which comes again, is an example."""
    born, number, found = S.kept.walk.born, S.kept.walk.first + t, False
    for i in range(n):
        found |= born[i] == number
    return found


@register_jitable
def remember(S, n, t, y, g):
    """Make row t of the block, with label `y`, example n, not in V and with α = 0."""
    append(S.kept, n, t, 0.0)
    S.kept.walk.extra[n], S.kept.labels[n], S.active[n] = g, y, False


# What needs no kernel values is a function of plain arrays: it is compiled once for all kinds of rows.


@compiled
def furthest_idle(alpha, g, born, n):
    """Return how many examples have α = 0, and which of these has the largest |1 - g| (ties: the oldest)."""
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
def forget_far_ones(S, n, t, most):
    """Keep of the examples with α = 0 the `most` with the smallest |1 - g| (Algorithm 2).

    Return the number of examples.
    """
    walk = S.kept.walk
    idle, worst = furthest_idle(walk.alpha, walk.extra, walk.born, n)
    while idle > most:
        remove(S.kept, n, worst, t)
        n -= 1
        S.active[worst] = S.active[n]
        idle, worst = furthest_idle(walk.alpha, walk.extra, walk.born, n)
    return n


@register_jitable
def best_alpha(α, g, own, C):
    """Return the coefficient in [0, C] that is best while all others stay (eq. 14)."""
    return min(max(α + g / own, 0.0), C)


@register_jitable
def largest(numbers, n):
    """Return the first place of the largest of `n` numbers, none of them NaN, and it; -1 if none is > 0."""
    # Numbers >= 0 have the order of their bits, and a maximum of integers vectorises.
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
    """Return the example to change next and its new α; -1 where V is optimal.

    First come those outside V that still have a coefficient: they are unlearnt. Then it is the KKT violator
    in V whose step gains most in the dual objective (eq. 13). Ties: the first slot. `gains` is scratch.
    """
    C, tol = rules.C, rules.tol
    # Most of the time of learning goes into this loop, which vectorises, and into the search after it.
    for i in range(n):
        α, g = labels[i] * alpha[i], gradient[i]
        step = best_alpha(α, g, own[i], C) - α
        violates = ((α < C) & (g > tol)) | ((α > 0.0) & (g < -tol))
        gain = step * g - 0.5 * step * step * own[i]
        # Neither what rounding made negative nor a NaN of numbers that overflowed.
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
    """Give example i, of kernel values `k`, the coefficient α and bring every g up to date (eq. 15)."""
    step = labels[i] * α - alpha[i]
    alpha[i] = labels[i] * α
    for j in range(n):
        g[j] -= step * labels[j] * k[j]


@compiled
def begin_anew(alpha, g, active, n, n_initial):
    """Forget what was learnt; V is the first `n_initial` examples."""
    for i in range(n):
        alpha[i], g[i], active[i] = 0.0, 1.0, i < n_initial


@compiled
def form_active_set(g, active, n):
    """Make V the examples with g <= 2 (steps 16 to 22 of Algorithm 1); return whether it changed."""
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
def take_steps(S, n, rules, i, α, rounds, most):
    """Give example i the coefficient α; optimise on V and form V anew, until it stays (Algorithm 1, 9 to 27).

    It also ends, before V is formed anew, when the objective has not fallen since V was last formed. The
    optimum on the new V would have let it fall: what is left is a matter of the tolerance, for which
    examples with g of about 2 would come and go for hundreds of rounds.

    Parameters
    ----------
    i : int
        -1: begin with the best step.
    rounds : int
        Return, before V is formed anew, when it was optimised so many times.
    most : int
        Return after so many changes.

    Returns
    -------
    int
        Changes of a coefficient.
    """
    # Taken out of the tuples once: each time costs a count of references of every array in them.
    K, active, scratch = S.kept, S.active, S.scratch
    alpha, g, labels, own = K.walk.alpha, K.walk.extra, K.labels, K.diagonal
    changes, lowest = 0, np.inf
    while True:
        if i >= 0:
            change(alpha, labels, g, kernel_row(K, n, i), n, i, α)
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
