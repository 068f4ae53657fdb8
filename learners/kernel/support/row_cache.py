"""Rows of kernel values cached in a bounded number of bytes; the least recently used row is replaced.

The cache has lines of equal width, one value per slot: the line of slot i holds k(x_i, x_0), k(x_i, x_1), …,
of which the first `filled` are known. Its memory is one array that never grows.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

#: Rows that can be used together, even with the smallest cache.
SMALLEST = 2

_FREE = -1


class CacheLines(NamedTuple):
    """The cache as loops take it."""

    #: All lines, one after the other.
    values: np.ndarray
    #: (slots,): line of each slot, -1 if it has none.
    line: np.ndarray
    #: (lines,): slot of each line, -1 if it is free.
    slot: np.ndarray
    #: (lines,): number of known values of each line.
    filled: np.ndarray
    #: (lines,): time of the last use of each line; -1 if it is free.
    used: np.ndarray
    #: (1,): the time, which is the number of uses.
    clock: np.ndarray


@register_jitable
def line_values(cache, line):
    """Return the values of a line, known or not."""
    width = cache.line.shape[0]
    return cache.values[line * width : (line + 1) * width]


@register_jitable
def take_line(cache, i):
    """Return the line of slot i and mark it used; a slot without a line gets the least recently used line,
    emptied.
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
    """Free the line of slot i, if it has one."""
    line = cache.line[i]
    if line != _FREE:
        cache.line[i] = cache.slot[line] = cache.used[line] = _FREE


@register_jitable
def rename_line(cache, i, j):
    """Give the line of slot i to slot j, which has none."""
    line = cache.line[i]
    cache.line[j], cache.line[i] = line, _FREE
    if line != _FREE:
        cache.slot[line] = j


class RowCache:
    """The memory of the lines, limited to `n_bytes` but large enough for two lines."""

    def __init__(self, n_bytes, dtype):
        self._n_bytes, self._dtype = n_bytes, dtype
        self._lines = None

    def __getstate__(self):
        # Values can be computed again, so a pickle leaves them out.
        return vars(self) | {"_lines": None}

    def reserve(self, n_slots):
        """Allocate lines for `n_slots` slots, keeping the values of the most recently used ones."""
        limit = self._n_bytes // self._dtype.itemsize
        n_lines = min(max(SMALLEST, limit // n_slots), max(SMALLEST, n_slots))
        old = self._lines
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

    def in_loops(self, n_slots):
        """Return the `CacheLines` for `n_slots` slots."""
        if self._lines is None or len(self._lines.line) < n_slots:
            self.reserve(n_slots)
        return self._lines


def _widen(old, new):
    """Copy the lines used last from the old cache to the new one, which may have the same memory."""
    before, after = len(old.line), len(new.line)
    latest = np.argsort(old.used)[::-1][: len(new.slot)]
    # The lines to keep are packed densely first, from the front; then they are spread out, from the back.
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
