"""The support set: stored rows, coefficients (one row per class), and kernel values with a block of rows.

Some learners remove a random support vector: its slot is drawn before the loop over a block runs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numeric.compiled import compiled
from ...numeric.rows import as_rows
from ..values.functions import apply_kernel, function_in_loops, own_values
from ..values.products import LANES, PADDING
from ..values.row_storage import DenseRows, SparseRows, aligned, grown, padded
from .block_view import BlockView, scores_of_block
from .inverse_factor import factor_shape


class RandomSlots:
    """An endless sequence of random slot numbers that depends on the seed and the budget alone."""

    def __init__(self, seed, budget):
        # NumPy guarantees that RandomState draws the same numbers in all versions.
        self._random = np.random.RandomState(seed)
        self._budget = budget
        self._ahead = np.zeros(0, np.int64)

    def next(self, n):
        """Return the next `n` slots without using them up: only `use` moves on to later ones."""
        if len(self._ahead) < n:
            more = self._random.random_sample(n - len(self._ahead))
            slots = np.minimum((more * self._budget).astype(np.int64), self._budget - 1)
            self._ahead = np.append(self._ahead, slots)
        return self._ahead[:n]

    def use(self, n):
        """Move on by `n` slots, because they have been used."""
        self._ahead = self._ahead[n:]


# The number of slots for support vectors is a multiple of this, so that the kernel values of one row with all
# slots fill whole tiles of the matrix product and whole cache lines.
_SLOTS = 4 * PADDING


class BlockRoom:
    """Buffers for the kernel values of blocks of up to `n` rows with up to `slots` support vectors.

    With `together` they also have room for the inner products of a block's rows with one another.
    """

    def __init__(self, rows, n, slots, together=False):
        self.n, self.slots = n, slots
        self.rows = rows.room(n)
        height = padded(n, PADDING)
        self.values = aligned((height, slots), rows.dtype)
        self.later = aligned((height if together else 1, height), rows.dtype)
        self.known, self.scratch = np.zeros(height, np.bool_), np.empty(height, rows.dtype)
        self.norms, self.own = np.empty(height, rows.dtype), np.empty(height)
        self.origin = np.empty(slots, np.int64)


class SupportSet:
    """The rows that a learner stores, in slots, with their squared norms, coefficients and other state.

    `function` is ``(kernel, gamma, coef0, degree)``. `dtype` is the precision of rows and kernel values;
    coefficients are float64, of shape (slots,) for two classes and (n_classes, slots) for more. `square` adds
    a float64 matrix with a row and a column per slot, `factor` a triangular one in blocks instead (see
    `inverse_factor`), `companions` one more number with each coefficient. The number of slots grows by the
    factor `growth`. With `together` the inner products of a block's rows with one another are kept while the
    block is open. They are computed all at once if `at_once` is true, which is faster if most rows become
    support vectors, and otherwise separately for each row that becomes one.

    `size` is the number of support vectors; `norms` and `companions` also have entries for free slots.
    """

    def __init__(
        self,
        function,
        n_features,
        dtype,
        sparse,
        n_classes=2,
        square=False,
        factor=False,
        companions=False,
        growth=2.0,
        together=False,
    ):
        self._function, self._function_in_loops = function, function_in_loops(function, dtype)
        self.rows = (SparseRows if sparse else DenseRows)(n_features, dtype)
        self._sparse, self._dtype, self._growth, self._together = sparse, dtype, growth, together
        self._keeps_square, self._keeps_factor, self._keeps_companions = square, factor, companions
        shape = (0,) if n_classes == 2 else (n_classes, 0)
        self.norms, self._slots = np.zeros(0, dtype), np.arange(0)
        self._alpha, self.companions, self._born = np.zeros(shape), np.zeros(shape), np.zeros(0, np.int64)
        self._square = np.zeros(factor_shape(0) if factor else (0, 0))
        self._open: Any = None
        self._room: BlockRoom | None = None
        self.size = 0
        self.at_once = together

    def __getstate__(self):
        # A pickle leaves out the buffers for blocks: they are created again when needed.
        return vars(self) | {"_room": None}

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        self.rows.widen(n_features)
        self._room = None

    def reserve(self, n, rows=True):
        """Make room for `n` support vectors; if `rows` is False, only for their coefficients and other state.

        Arrays that are too small grow at least by the factor `growth`.
        """
        capacity = len(self.norms)
        if n <= capacity:
            return
        capacity = padded(max(n, int(self._growth * capacity)), _SLOTS)
        shape = *self._alpha.shape[:-1], capacity
        self._slots = np.arange(capacity)
        self.norms, self._born = grown(self.norms, capacity), grown(self._born, capacity)
        self._alpha = grown(self._alpha, *shape)
        if self._keeps_companions:
            self.companions = grown(self.companions, *shape)
        if self._keeps_square:
            self._square = grown(self._square, capacity, capacity)
        if self._keeps_factor:
            # Only the used part of the old array is copied, so that unused memory is not touched: memory that
            # was never touched takes no space.
            used, _ = factor_shape(padded(self.size, LANES[8]))
            self._square = grown(self._square[:used], *factor_shape(capacity))
        if rows:
            self.rows.reserve(capacity)

    def view(self, block, n, first):
        """Compute the kernel values of a block of `n` rows with the support vectors.

        `block` has the rows as `as_rows` returns them; `first` is the stream number of the first row. Return
        ``((packed, norms), view)``: the rows as ``self.rows.pack`` returns them, their squared norms, and a
        `BlockView` that is valid until the next call.
        """
        self.reserve(self.size + n)
        room = self._room
        if room is None or n > room.n or len(self.norms) > room.slots:
            room = self._room = BlockRoom(self.rows, n, len(self.norms), self._together)
        packed, norms, _size = self._fill(block, n, room)
        own = room.own[:n]
        own_values(self._function_in_loops, norms, own)
        if self.at_once:
            self.rows.own_products(packed, n, room.later)
        room.known[:] = self.at_once
        room.origin[:] = self._slots
        rows = self.rows.block_in_loops(packed, room.rows)
        state = self._alpha, self._born, room.origin, self._square
        later = norms, self._function_in_loops, room.later, room.known, room.scratch
        return (packed, norms), BlockView(room.values, own, *state, rows, *later, first)

    def open_block(self, block, n, first):
        """Return a `BlockView` of a block of `n` rows to learn; after the loop over it, call `commit`."""
        packed, view = self.view(block, n, first)
        self._open = *packed, view.origin
        return view

    def commit(self, size):
        """End a block, whose loop has left `size` support vectors: store new rows, and move others."""
        (rows, norms, origin), self._open = self._open, None
        self.size = size
        changed = (origin[:size] != self._slots[:size]).nonzero()[0]
        if not len(changed):
            return
        origin = origin[changed]
        joined = origin < 0
        new, numbers = changed[joined], -1 - origin[joined]
        if len(new) < len(changed):
            old, sources = changed[~joined], origin[~joined]
            self.rows.move(old, sources)
            self.norms[old] = self.norms[sources]
        self.rows.keep(new, rows, numbers)
        self.norms[new] = norms[numbers]

    def append(self, rows, norms, numbers):
        """Add the rows with the indices `numbers` of a packed block, and their squared norms, to the set."""
        if not len(numbers):
            return
        first, self.size = self.size, self.size + len(numbers)
        self.rows.keep(self._slots[first : self.size], rows, numbers)
        self.norms[first : self.size] = norms[numbers]

    def _fill(self, block, n, room):
        """Write the block's kernel values with support vectors into `room`.

        Return packed rows, their norms and the number of support vectors. It is read once and is at most that
        of `room`: another thread may add support vectors meanwhile, and arrays only grow.
        """
        size = min(self.size, room.slots)
        packed, norms = self.rows.pack(block, room.rows), room.norms[:n]
        self.rows.squared_norms(packed, norms, room.rows)
        self.rows.products(packed, n, size, room.values, room.rows, block)
        # The last SIMD vector of a row is computed as a whole; its values beyond `size` are never used.
        width = padded(size, LANES[self._dtype.itemsize])
        apply_kernel(self._function, room.values, n, width, norms, self.norms)
        return packed, norms, size

    def add_rows(self, rows, norms, alpha):
        """Add the rows of a matrix, their squared norms and their coefficients to an empty set."""
        self.size = len(alpha)
        self.reserve(self.size)
        slots = np.arange(self.size)
        self.rows.keep(slots, self.rows.pack(as_rows(rows)), slots)
        self.norms[slots], self._alpha[slots] = norms, alpha

    def subset(self, slots):
        """Return the support vectors of the given slots as a new set, for two classes."""
        part = SupportSet(self._function, self.rows.n_features, self._dtype, self._sparse)
        part.add_rows(self.matrix(slots), self.norms[slots], self.alpha[slots])
        return part

    def room(self, n):
        """Return buffers to score blocks of up to `n` rows; each thread needs separate ones."""
        return BlockRoom(self.rows, n, min(len(self.norms), self.rows.capacity()))

    def scores(self, block, n, scores, room=None):
        """Write the scores of `n` rows, f(x) or those of all classes, into `scores`."""
        room = self.room(n) if room is None else room
        *_, size = self._fill(block, n, room)
        scores_of_block(room.values, n, self._alpha, size, scores)

    @property
    def alpha(self):
        """The coefficients of the support vectors, in the order of their slots."""
        return self._alpha[..., : self.size]

    @property
    def born(self):
        """The row numbers of the support vectors in the stream, by slot."""
        return self._born[: self.size]

    def matrix(self, order):
        """Return the support vectors of the given slots as a matrix, dense or CSR."""
        return self.rows.matrix(order)

    def n_bytes(self):
        """Return the bytes of rows, coefficients and the matrix, but not of `companions`."""
        numbers = self.size * self.size if self._keeps_square else 0
        if self._keeps_factor:
            numbers = self.size * (self.size + 1) // 2
        return self.rows.n_bytes(self.size) + self.alpha.nbytes + numbers * self._square.itemsize


@compiled
def _gather(values, n_rows, slots, out):
    """Write ``values[t, slots]`` of the first `n_rows` rows t into ``out[t]``."""
    for t in range(n_rows):
        source, target = values[t], out[t]
        for i in range(slots.shape[0]):
            target[i] = source[np.uintp(slots[i])]


# Limits for a `Union`, for dense and for CSR rows: if at most this share of a block's rows joined any of its
# sets, the inner products between the next block's rows are computed only for the rows that join, one by one.
# The share is smaller for CSR rows, since sixteen CSR rows together are much faster than one by one.
_SELDOM, _SELDOM_SPARSE = 0.6, 0.1


class Union:
    """The union of several support sets, each row stored once, and the kernel values of a block with it.

    The sets never lose a row, and the learners they belong to learn the same stream. `function` is the kernel
    of all sets or, if their kernels differ, the linear kernel, so that the values are inner products.
    """

    def __init__(self, function, sets):
        first = sets[0]
        arguments = first.rows.n_features, first._dtype, first._sparse
        self.support = SupportSet(function, *arguments, together=True)
        self._sets, self._one_kernel = sets, function == first._function
        #: For each set, the slot in the union of each of its support vectors; there is room for more.
        self._slots = [np.zeros(0, np.intp) for _ in sets]
        # For each set, how many of its support vectors are in the union, and how many were copied to the set.
        self._sizes, self._written = [0 for _ in sets], [0 for _ in sets]
        self._values = np.zeros((0, 0), first._dtype)
        self._origin = np.zeros(0, np.int64)

    def open_block(self, block, n):
        """Compute kernel values, or inner products, of a block's `n` rows with the union and one another."""
        self._packed, self._view = self.support.view(block, n, 0)
        #: `_joined`: whether each row of the block has joined any set; `_new`: the rows that joined each set.
        self._joined, self._new = np.zeros(n, np.bool_), []

    def view_of(self, g, first):
        """Return the open block as a `BlockView` for the learner of set `g`, valid until the next call."""
        own_set, view = self._sets[g], self._view
        norms = self._packed[1]
        n = len(norms)
        own_set.reserve(own_set.size + n, rows=False)
        room = len(own_set.norms)
        if room > len(self._slots[g]):
            self._slots[g] = grown(self._slots[g], room)
        if room > len(self._origin):
            self._origin = np.empty(room, np.int64)
        values = self._values_of(g, view.values, n, norms)
        own = view.own
        if not self._one_kernel:
            own = np.empty(n)
            own_values(own_set._function_in_loops, norms, own)
        return view._replace(
            values=values,
            own=own,
            alpha=own_set._alpha,
            born=own_set._born,
            origin=self._origin,
            square=own_set._square,
            function=own_set._function_in_loops,
            first=first,
        )

    def commit_of(self, g, size):
        """Record which rows of the current block were added to set `g`; it has `size` support vectors now."""
        own_set = self._sets[g]
        rows = -1 - self._origin[own_set.size : size]
        own_set.norms[own_set.size : size] = self._packed[1][rows]
        own_set.size = size
        self._joined[rows] = True
        self._new.append(rows)

    def commit(self):
        """End a block, which all learners have learned: add the rows that joined any set to the union."""
        seldom = _SELDOM_SPARSE if self.support._sparse else _SELDOM
        self.support.at_once = bool(self._joined.mean() > seldom)
        slot_of = np.cumsum(self._joined) + (self.support.size - 1)
        self.support.append(*self._packed, self._joined.nonzero()[0])
        for own_set, slots, rows in zip(self._sets, self._slots, self._new, strict=True):
            slots[own_set.size - len(rows) : own_set.size] = slot_of[rows]
        self._sizes = [each.size for each in self._sets]

    def write_rows(self):
        """Copy new support vectors from the union into each set, except for those of an interrupted block.

        Until this call, a set has the coefficients and norms of its new support vectors, but not their rows.
        """
        for g, (own_set, slots) in enumerate(zip(self._sets, self._slots, strict=True)):
            own_set.size = self._sizes[g]
            new = np.arange(self._written[g], own_set.size)
            own_set.rows.reserve(len(own_set.norms))
            if len(new):
                own_set.rows.copy_rows(new, self.support.rows, slots[new])
        self._written = self._sizes

    def is_complete(self):
        """Return whether the union has all support vectors of its sets, and as many features as they have."""
        return all(
            each.size == known and each.rows.n_features == self.support.rows.n_features
            for each, known in zip(self._sets, self._sizes, strict=True)
        )

    def scores(self, block, scores):
        """Write the scores of a block's rows, by each set, into the arrays `scores`, one array per set."""
        n = len(scores[0])
        room = self.support.room(n)
        _packed, norms, _size = self.support._fill(block, n, room)
        for g, (own_set, made) in enumerate(zip(self._sets, scores, strict=True)):
            values = self._values_of(g, room.values, n, norms)
            scores_of_block(values, n, own_set._alpha, own_set.size, made)

    def _values_of(self, g, values, n, norms):
        """Return the kernel values of `n` rows with set `g`, given those with the union, `values`.

        If the kernels differ, `values` are inner products. The next call overwrites the result.
        """
        own_set = self._sets[g]
        height, width = values.shape[0], len(own_set.norms)
        if self._values.shape[0] < height or self._values.shape[1] < width:
            self._values = aligned((height, max(width, values.shape[1])), own_set._dtype)
        _gather(values, n, self._slots[g][: own_set.size], self._values)
        if not self._one_kernel:
            width = padded(own_set.size, LANES[own_set._dtype.itemsize])
            apply_kernel(own_set._function, self._values, n, width, norms, own_set.norms)
        return self._values
