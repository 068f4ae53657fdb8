"""The rows of an exact support vector machine, and the kernel values of some of them with all rows."""

import numpy as np

from ...kernel.support.support_set import SupportSet
from ...kernel.values.functions import apply_kernel, function_in_loops, own_values
from ...kernel.values.products import PADDING
from ...kernel.values.row_storage import DenseRows, SparseRows, grown, padded
from ...numeric.rows import as_rows
from .margin_set import MARGIN, Machine, leave, move

#: Once the stored kernel values take this many bytes, those of rows outside the margin set are overwritten.
#: The limit affects time only.
CACHE_BYTES = 2**27


class IncrementalStore:
    """The learned rows of an `IncrementalSVM`, in places 0 … n - 1 of float64 arrays.

    `machine` has the solver's state: coefficients, margins, and kernel values of some rows with all rows.
    """

    def __init__(self, function, n_features, sparse):
        self._function = function
        self._sparse = sparse
        self._rows = (SparseRows if sparse else DenseRows)(n_features, np.dtype(np.float64))
        self._norms, self._numbers = np.zeros(0), np.zeros(0, np.int64)
        # `_owner`: the row whose kernel values are in each slot of ``machine.values``, -1 if it is free;
        # `_hand`: the slot that was reused last.
        self._owner, self._hand = np.zeros(0, np.int64), 0
        numbers, places = np.zeros(0), np.zeros(0, np.int64)
        matrix = np.zeros((0, 0))
        self.machine = Machine(
            y=numbers,
            alpha=numbers,
            g=numbers,
            own=numbers,
            group=places,
            slot=places,
            values=matrix,
            margin=places,
            place=places,
            inverse=np.zeros((2, 2)),
            beta=np.zeros(2),
            gamma=numbers,
            size=np.zeros(1, np.int64),
            evaluations=np.zeros(1, np.int64),
            b=np.zeros(1),
        )
        self.n = 0
        self._support_vectors = None

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        self._rows.widen(n_features)
        self._support_vectors = None

    def _reserve(self, n):
        """Make room for `n` rows; if arrays must grow, their size is at least doubled."""
        M, capacity = self.machine, len(self._norms)
        if n <= capacity:
            return
        capacity = padded(max(n, 2 * capacity), PADDING)
        self._rows.reserve(capacity)
        self._norms, self._numbers = grown(self._norms, capacity), grown(self._numbers, capacity)
        names = "y", "alpha", "g", "own", "group", "slot", "margin", "place", "gamma"
        larger = {name: grown(getattr(M, name), capacity) for name in names}
        self.machine = M._replace(values=grown(M.values, len(M.values), capacity), **larger)

    def add_block(self, block, n, first):
        """Store the `n` rows of a block, with α = 0, and compute their kernel values.

        `first` is the stream number of the first row. Return the kernel values of each row with all stored
        rows, and the place of each row: -1 if its norm or k(x, x) overflowed, in which case it is not stored.
        """
        self._support_vectors = None
        room, norms, own = self._rows.room(n), np.empty(n), np.empty(n)
        packed = self._rows.pack(block, room)
        self._rows.squared_norms(packed, norms, room)
        own_values(function_in_loops(self._function, norms.dtype), norms, own)
        stored = np.flatnonzero(own < np.inf)
        total = self.n + len(stored)
        places = np.full(n, -1)
        places[stored] = np.arange(self.n, total)
        self._reserve(total)
        new = slice(self.n, total)
        self._rows.keep(places[stored], packed, stored)
        M = self.machine
        self._norms[new], self._numbers[new] = norms[stored], first + stored
        M.own[new], M.slot[new] = own[stored], -1
        values = self._values(packed, n, norms, total)
        used = np.flatnonzero(self._owner >= 0)
        M.values[used, new] = values[stored][:, self._owner[used]].T
        self.n = total
        return values, places

    def _values(self, packed, n, norms, total):
        """Return the kernel values of `n` packed rows with the first `total` stored rows."""
        values = np.empty((padded(n, PADDING), padded(total, PADDING)))
        self._rows.products(packed, n, total, values)
        apply_kernel(self._function, values, n, total, norms, self._norms)
        return values

    def _row_values(self, k):
        """Return the kernel values of row k with all rows."""
        if self.machine.slot[k] >= 0:
            return self.machine.values[self.machine.slot[k], : self.n].copy()
        packed = self._rows.pack(as_rows(self._rows.matrix(np.array([k]))))
        values = self._values(packed, 1, self._norms[k : k + 1], self.n)[0, : self.n]
        values[k] = self.machine.own[k]
        return values

    def fetch(self, k, values=None):
        """Store the kernel values of row k with all rows in the solver; compute them if `values` is None."""
        values = self._row_values(k) if values is None else values[: self.n]
        slot = self._free_slot()
        M = self.machine
        self._owner[slot] = k
        M.slot[k] = slot
        M.values[slot, : self.n] = values
        M.values[slot, k] = M.own[k]

    def _free_slot(self):
        """Return a slot for the kernel values of one row with all rows.

        It is a free or new slot or, once the slots take CACHE_BYTES, that of a row outside the margin set.
        """
        M, slots = self.machine, len(self._owner)
        free = np.flatnonzero(self._owner < 0)
        if len(free):
            return free[0]
        if slots * M.values.shape[1] * 8 >= CACHE_BYTES:
            for _ in range(slots):
                self._hand = (self._hand + 1) % slots
                owner = self._owner[self._hand]
                if M.group[owner] != MARGIN:
                    M.slot[owner] = -1
                    return self._hand
        more = max(16, 2 * slots)
        self._owner = np.append(self._owner, np.full(more - slots, -1))
        self.machine = M._replace(
            values=grown(M.values, more, M.values.shape[1]),
            inverse=grown(M.inverse, more + 2, more + 2),
            beta=grown(M.beta, more + 2),
        )
        return slots

    def unlearn(self, k, C, bias):
        """Remove row k: lower its coefficient to 0, then delete it."""
        self._support_vectors = None
        M = self.machine
        if M.group[k] == MARGIN:
            leave(M, k)
        if M.alpha[k] > 0.0:
            M.evaluations[0] += self.n
            row, joining = self._row_values(k), -1
            while (joining := move(self.machine, row, k, self.n, C, bias, False, joining)) >= 0:
                self.fetch(joining)
        self._delete(k)

    def evaluations(self):
        """Return, then reset, the number of kernel evaluations for joining the margin set and unlearning."""
        taken = int(self.machine.evaluations[0])
        self.machine.evaluations[0] = 0
        return taken

    def _delete(self, k):
        """Delete row k, whose α is 0; the last row takes its place."""
        M, last = self.machine, self.n - 1
        if M.slot[k] >= 0:
            self._owner[M.slot[k]] = -1
        if k != last:
            self._rows.move(np.array([k]), np.array([last]))
            self._norms[k], self._numbers[k] = self._norms[last], self._numbers[last]
            for array in (M.y, M.alpha, M.g, M.own, M.group, M.slot, M.place):
                array[k] = array[last]
            if M.slot[k] >= 0:
                self._owner[M.slot[k]] = k
            if M.group[k] == MARGIN:
                M.margin[M.place[k]] = k
            M.values[:, k] = M.values[:, last]
        M.slot[last], M.alpha[last], M.group[last] = -1, 0.0, 0
        self.n = last
        if last == 0:
            M.b[0] = 0.0

    def place_of(self, number):
        """Return the place of the row with a given number in the stream, -1 if it is not stored."""
        found = np.flatnonzero(self._numbers[: self.n] == number)
        return int(found[0]) if len(found) else -1

    def support_vectors(self):
        """Return the support vectors, in the order of their places, as a `SupportSet`.

        It is cached until rows are added or removed, or features added.
        """
        if self._support_vectors is None:
            places = self._places
            few = SupportSet(self._function, self._rows.n_features, self._rows.dtype, self._sparse)
            few.add_rows(self._rows.matrix(places), self._norms[places], self.alpha)
            self._support_vectors = few
        return self._support_vectors

    @property
    def _places(self):
        """The places of the support vectors among the stored rows, ascending."""
        return np.flatnonzero(self.machine.alpha[: self.n])

    @property
    def alpha(self):
        """The coefficients of the support vectors, with their sign, in the order of their places."""
        places = self._places
        return self.machine.y[places] * self.machine.alpha[places]

    @property
    def born(self):
        """The row numbers that the support vectors have in the stream, in the order of their places."""
        return self._numbers[self._places]

    def matrix(self, order):
        """Return the support vectors at the positions `order` of `born`, in this order, as a matrix."""
        return self._rows.matrix(self._places[order])

    def n_bytes(self):
        """Return the bytes of rows, of their state, and of the margin set's kernel values and inverse."""
        size = int(self.machine.size[0])
        state = 8 * (10 * self.n + size * self.n + (size + 1) ** 2)
        return self._rows.n_bytes(self.n) + state
