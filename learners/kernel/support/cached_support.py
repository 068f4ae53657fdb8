"""The rows that a learner stores, and the kernel values of a row with all of them, computed on demand.

The loop over a block gets a `CachedView` and may call

- ``add(view, n, t, y, g)``: row t of the block becomes the stored row n, with label y, gradient g and α = 0;
  returns n + 1;
- ``remove(view, n, i, t)``: drops row i of the n stored rows while row t of the block is learned; row n - 1
  moves to slot i;
- ``kernel_row(view, n, i)``: returns k(x_i, x_j) of all j < n, read-only. Only the two arrays that
  were returned last are valid, and only until the next ``add`` or ``remove``;
- ``cache_row(view, n, i, t)``: caches the kernel values of row i, which is row t of the block and was just
  added, with the n stored rows. The block already has these values.

Coefficients and kernel values of the block are in ``view.block``, a `BlockView`. Of the functions in
`block_view`, such a loop may call `score_of` only.

The cache has lines of equal width, one value per slot: the line of slot i has k(x_i, x_0), k(x_i, x_1), …,
of which the first `filled` are computed. The memory of the cache is one array, which grows only if it is too
short for two lines; the least recently used line is replaced. A value depends on its two rows alone, to the
last bit, whether it was cached or computed.
"""

from typing import NamedTuple

import numpy as np

from ...numeric.compiled import register_jitable
from ...numeric.rows import as_rows
from ..values.functions import apply_to_row
from ..values.products import keep_row, move_kept_row, products_of_row
from ..values.row_storage import grown
from . import block_view
from .block_view import BlockView
from .support_set import SupportSet

#: Number of lines of the smallest cache, because a loop uses two rows of kernel values at a time.
SMALLEST = 2

_FREE = -1


class CacheLines(NamedTuple):
    """The arrays of a `RowCache`, for compiled loops; a line has the kernel values of one stored row."""

    #: The kernel values of all lines, one line after the other.
    values: np.ndarray
    #: (slots,): which line has the kernel values of the row in each slot, -1 if none has them.
    line: np.ndarray
    #: (lines,): the slot of the row that each line belongs to, -1 if the line is free.
    slot: np.ndarray
    #: (lines,): how many values of each line have been computed.
    filled: np.ndarray
    #: (lines,): time of the last use of each line, as `clock` counts it; -1 if the line is free.
    used: np.ndarray
    #: (1,): the current time, counted in uses of lines.
    clock: np.ndarray


@register_jitable
def line_values(cache, line):
    """Return the kernel values of a cache line; those beyond the line's number in `filled` are undefined."""
    width = cache.line.shape[0]
    return cache.values[line * width : (line + 1) * width]


@register_jitable
def take_line(cache, i):
    """Return the index of the cache line of slot i, and mark the line as used.

    If slot i has no line, it gets the least recently used one, without its values.
    """
    line = cache.line[i]
    if line == _FREE:
        line = cache.used.argmin()
        if cache.slot[line] != _FREE:
            cache.line[cache.slot[line]] = _FREE
        cache.line[i], cache.slot[line], cache.filled[line] = line, i, 0
    cache.used[line] = cache.clock[0]
    cache.clock[0] += 1
    return line


@register_jitable
def free_line(cache, i):
    """Free the cache line of slot i, if it has one."""
    line = cache.line[i]
    if line != _FREE:
        cache.line[i] = cache.slot[line] = cache.used[line] = _FREE


@register_jitable
def rename_line(cache, i, j):
    """Give the cache line of slot i, if it has one, to slot j, which has none."""
    line = cache.line[i]
    cache.line[j], cache.line[i] = line, _FREE
    if line != _FREE:
        cache.slot[line] = j


class RowCache:
    """A cache of rows of kernel values, one row per line; its size is `n_bytes`, but at least two lines."""

    def __init__(self, n_bytes, dtype):
        self._n_bytes, self._dtype = n_bytes, dtype
        self._lines = None

    def __getstate__(self):
        # A pickle leaves out the cached kernel values, because they can be computed again.
        return vars(self) | {"_lines": None}

    def in_loops(self, n_slots):
        """Return the cache as `CacheLines` with a value for each of `n_slots` slots, or more, in each line.

        If lines must become longer, the values of those used last are copied; others are lost.
        """
        old = self._lines
        if old is not None and len(old.line) >= n_slots:
            return old
        limit = self._n_bytes // self._dtype.itemsize
        n_lines = min(max(SMALLEST, limit // n_slots), max(SMALLEST, n_slots))
        if old is None:
            values = np.empty(max(limit, SMALLEST * n_slots), self._dtype)
        elif len(old.values) < n_lines * n_slots:
            values = np.empty(n_lines * n_slots, self._dtype)
        else:
            values = old.values
        free = [np.full(n, _FREE) for n in (n_slots, n_lines, n_lines)]
        new = CacheLines(
            values, free[0], free[1], np.zeros(n_lines, np.int64), free[2], np.zeros(1, np.int64)
        )
        if old is not None:
            _widen(old, new)
        self._lines = new
        return new


def _widen(old, new):
    """Copy the lines used last from an old cache to a new one with longer lines; both may share memory."""
    before, after = len(old.line), len(new.line)
    latest = np.argsort(old.used)[::-1][: len(new.slot)]
    # As memory may be shared, the lines to keep are first packed densely, from the front, then spread out,
    # from the back: so no line is overwritten before it is copied.
    kept = np.sort(latest[old.used[latest] != _FREE])
    for line, source in enumerate(kept.tolist()):
        n = old.filled[source]
        old.values[line * before : line * before + n] = old.values[source * before : source * before + n]
        new.slot[line], new.filled[line], new.used[line] = old.slot[source], n, old.used[source]
        new.line[old.slot[source]] = line
    for line in reversed(range(len(kept))):
        n = new.filled[line]
        new.values[line * after : line * after + n] = old.values[line * before : line * before + n]
    new.clock[0] = old.clock[0]


class CachedView(NamedTuple):
    """The stored rows, their kernel values and a block of new rows, as arrays for compiled loops."""

    #: The kernel values of the block's rows with the stored rows, and the coefficients of the stored rows.
    #: A stored row has a slot: its column in ``block.values``, and its index in the arrays of stored rows.
    block: BlockView
    #: The rows of the block, in the layout of the stored rows.
    block_rows: object
    #: The stored rows (padded matrix or CSR tuple), their squared norms and their k(x, x).
    rows: object
    norms: np.ndarray
    diagonal: np.ndarray
    #: The label of each stored row, -1.0 or 1.0.
    labels: np.ndarray
    #: The gradient of each stored row, as the learner defines and writes it.
    gradients: np.ndarray
    cache: CacheLines
    #: (1, slots): scratch for the inner products of one stored row with the others.
    products: np.ndarray


class CachedSupport:
    """A support set with a label and a gradient for each row, and kernel values between its rows on demand.

    The kernel values of each row with all others are cached, up to `cache_mb` MiB, but at least of two rows.
    """

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        # A cache line has room for a value of every slot, even a free one, so slots are added in small steps.
        self.support = SupportSet(function, n_features, dtype, sparse, growth=1.25, together=True)
        self._dtype = dtype
        self._diagonal, self._labels, self._gradients = (np.zeros(0) for _ in range(3))
        self._cache = RowCache(int(cache_mb * 2**20), dtype)

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        self.support.widen(n_features)

    def open_block(self, block, n, first):
        """Return a `CachedView` of a block of `n` rows to learn; after the loop over it, call `commit`."""
        self.support.reserve(max(self.support.size + n, 1))
        (packed, _), view = self.support.view(block, n, first)
        slots = len(self.support.norms)
        if slots > len(self._labels):
            kept = self._diagonal, self._labels, self._gradients
            self._diagonal, self._labels, self._gradients = (grown(array, slots) for array in kept)
        rows = self.support.rows.in_loops(packed), self.support.norms
        kept = self._diagonal, self._labels, self._gradients
        products = np.empty((1, slots), self._dtype)
        cache = self._cache.in_loops(slots)
        return CachedView(view, packed, *rows, *kept, cache, products)

    def open_empty_block(self):
        """Return a `CachedView` with an empty block, for a loop over the stored rows."""
        return self.open_block(as_rows(self.support.matrix(np.arange(0))), 0, 0)

    def commit(self, size):
        """End a block: set the number of stored rows to `size`; the loop itself stored and removed rows."""
        self.support.size = size

    @property
    def gradients(self):
        """The gradients of the stored rows, by slot."""
        return self._gradients[: self.support.size]

    @property
    def labels(self):
        """The labels of the stored rows, by slot."""
        return self._labels[: self.support.size]

    def n_bytes(self):
        """Return the bytes of rows, coefficients, labels and gradients, without the cache."""
        return self.support.n_bytes() + self.gradients.nbytes + self.labels.nbytes


@register_jitable
def add(view, n, t, y, g):
    """Store row t of the block as row n, with label `y`, gradient `g`, α = 0; return n + 1."""
    block_view.replace(view.block, n, t, 0.0)
    view.labels[n], view.gradients[n] = y, g
    view.norms[n] = view.block.norms[t]
    view.diagonal[n] = view.block.own[t]
    keep_row(view.rows, n, view.block_rows, t)
    return n + 1


@register_jitable
def is_stored(view, n, t):
    """Return whether row t of the block is already stored: whether a stored row has its row number."""
    number, found = view.block.first + t, False
    for i in range(n):
        found |= view.block.born[i] == number
    return found


@register_jitable
def cache_row(view, n, i, t):
    """Cache the kernel values of stored row `i`, which is row t of the block, with all `n` stored rows."""
    cache = view.cache
    line = take_line(cache, i)
    values = line_values(cache, line)
    for j in range(n):
        values[j] = view.block.values[t, j]
    values[i] = view.block.own[t]
    cache.filled[line] = n


@register_jitable
def _compute(view, i, first, last, values):
    """Compute k(x_i, x_j) for first <= j < last and write them into `values`."""
    products_of_row(view.rows, i, first, last, view.products)
    apply_to_row(view.block.function, view.products[0][first:last], view.norms[i], view.norms[first:last])
    # This is a loop because Numba needs seconds to compile the assignment of a slice.
    for j in range(first, last):
        values[j] = view.products[0, j]


@register_jitable
def kernel_row(view, n, i):
    """Return the kernel values k(x_i, x_j) of stored row i with all rows j < n; compute those not cached."""
    cache = view.cache
    line = take_line(cache, i)
    values = line_values(cache, line)
    known = cache.filled[line]
    # The cache line of row i lacks its values with rows that were stored since the line was last used. Most
    # of these rows have a line, too, which contains the same value. The other values are computed, those of
    # neighboring slots together. `_compute` is called in one place only, as each call is compiled separately.
    first = known
    for j in range(known, n + 1):
        other = cache.line[j] if known > 0 and j < n else -1
        if j == n or (other >= 0 and cache.filled[other] > i):
            if first < j:
                _compute(view, i, first, j, values)
            if j < n:
                values[j] = cache.values[other * cache.line.shape[0] + i]
            first = j + 1
    cache.filled[line] = max(known, n)
    return values[:n]


@register_jitable
def remove(view, n, i, t):
    """Remove row `i` of the `n` stored rows while row t is learned; the last stored row moves to slot `i`."""
    cache, last = view.cache, n - 1
    free_line(cache, i)
    # The last row moves to slot i, so every other line needs its kernel value with that row at position i.
    # The last row's line has these values.
    row = kernel_row(view, n, last) if i < last else view.products[0]
    width = cache.line.shape[0]
    for line in range(cache.slot.shape[0]):
        if i < cache.filled[line] and i < last and cache.slot[line] >= 0:
            cache.values[line * width + i] = row[cache.slot[line]]
        cache.filled[line] = min(cache.filled[line], last)
    if i < last:
        rename_line(cache, last, i)
        block_view.move(view.block, last, i, t)
        view.norms[i], view.diagonal[i] = view.norms[last], view.diagonal[last]
        view.labels[i], view.gradients[i] = view.labels[last], view.gradients[last]
    move_kept_row(view.rows, last, i)
