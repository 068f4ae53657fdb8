"""The examples that a ramp-loss SVM remembers, support vectors or not, in slots 0 … n - 1."""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ...kernel.support.cached_support import CachedSupport, CachedView, add, remove
from ...kernel.values.row_storage import grown
from ...numeric.compiled import compiled
from ...numeric.rows import dot
from .ramp import objective


class RampView(NamedTuple):
    """The examples and a block of the stream, as a loop takes them."""

    #: ``cached.block.alpha`` is y α, with 0 <= α <= C, and ``cached.gradients`` is g = 1 - y f(x).
    cached: CachedView
    #: Whether the example is in the active set V.
    active: np.ndarray
    #: Scratch, in float64 and in the precision of the kernel values.
    scratch: np.ndarray
    picked: np.ndarray


class RampSupport:
    """The rows of all examples with their state; examples with a coefficient are the support vectors."""

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        self.cached = CachedSupport(function, n_features, dtype, sparse, cache_mb)
        self.support = self.cached.support
        self._dtype, self._active = dtype, np.zeros(0, np.bool_)
        self._support_vectors = None

    def open_block(self, block, n, first):
        """Return the `RampView` of `n` rows, see `CachedSupport.open_block`; call `commit` after the loop."""
        return self._view(self.cached.open_block(block, n, first))

    def open_empty_block(self):
        """Return a `RampView` with an empty block, for a loop over the examples."""
        return self._view(self.cached.open_empty_block())

    def _view(self, cached_view):
        self._support_vectors = None
        slots = len(cached_view.labels)
        if slots > len(self._active):
            self._active = grown(self._active, slots)
        return RampView(cached_view, self._active, np.empty(slots), np.empty(slots, self._dtype))

    def commit(self, size):
        """Record that `size` examples are left after the loop."""
        self.cached.commit(size)

    @property
    def active(self):
        """Whether each example is in the active set, by slot."""
        return self._active[: self.support.size]

    def objective(self, C):
        """Return the objective of eq. 7."""
        cached = self.cached
        return objective(self.support.alpha, cached.labels, cached.gradients, self.support.size, C)

    def support_vectors(self):
        """Return the support vectors as a `SupportSet`, in the order of the slots; cached until a block is
        opened.
        """
        if self._support_vectors is None:
            self._support_vectors = self.support.subset(np.flatnonzero(self.support.alpha))
        return self._support_vectors

    def n_bytes(self):
        """Return the bytes of rows and of their state."""
        return self.cached.n_bytes() + self.active.nbytes


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


@register_jitable
def is_remembered(view, n, t):
    """Return whether row t of the block is already stored, by its number."""
    block = view.cached.block
    number, found = block.first + t, False
    for i in range(n):
        found |= block.born[i] == number
    return found


@register_jitable
def add_example(view, n, t, y, g):
    """Store row t of the block, with label `y`, as example n, outside V and with α = 0; return n + 1."""
    view.active[n] = False
    return add(view.cached, n, t, y, g)


@compiled
def _furthest_idle(alpha, g, born, n):
    """Return the number of examples with α = 0, and the one of them with the largest |1 - g| (ties: the
    oldest).
    """
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
    """Of the examples with α = 0 keep the `most` with the smallest |1 - g| (Algorithm 2); return the number
    left.
    """
    alpha, g, born = view.cached.block.alpha, view.cached.gradients, view.cached.block.born
    idle, worst = _furthest_idle(alpha, g, born, n)
    while idle > most:
        remove(view.cached, n, worst, t)
        n -= 1
        view.active[worst] = view.active[n]
        idle, worst = _furthest_idle(alpha, g, born, n)
    return n
