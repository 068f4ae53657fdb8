"""Two baselines that see labels only: the most frequent class so far, and the previous label."""

from copy import copy
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .compiled import by_size, register_jitable

#: Positions in the counts: correct predictions of the majority class, then of the previous label, each by the
#: given (noisy) and by the clean labels; then the class that each of the two predicts next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)
_COUNTS = LAST + 1


@register_jitable
def _count_rows(given, clean, known, start, stop, class_counts, counts):
    """Count correct predictions of two baselines, majority class and previous label."""
    most, last = counts[MOST], counts[LAST]
    for t in range(start, stop):
        y, z, u = given[t], clean[t], known[t]
        counts[MAJORITY_GIVEN] += most == y
        counts[MAJORITY_CLEAN] += most == z
        counts[BEFORE_GIVEN] += last == y
        counts[BEFORE_CLEAN] += last == z
        if u >= 0:
            class_counts[u] += 1
            # Of several most frequent classes, the one with the lowest code is predicted.
            more = class_counts[u] - class_counts[most]
            if u != most and (more > 0 or (more == 0 and u < most)):
                most = u
            last = u
    counts[MOST], counts[LAST] = most, last


def _count(given, clean, known, stops, class_counts, counts, at_stops):
    start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else given.shape[0]
        _count_rows(given, clean, known, start, stop, class_counts, counts)
        if i < stops.shape[0]:
            at_stops[i] = counts
        start = stop


_count_each = by_size(_count)


def count_baselines(
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    known: NDArray[np.int32],
    stops: NDArray[np.int64],
    class_counts: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count correct predictions of two baselines that see labels only; return `counts` at each of m stops.

    One predicts the most frequent class so far (a tie goes to the lowest class), the other the latest label.
    Both begin with class 0. Predictions are compared with `given` and `clean`, the labels with and without
    noise. After each row both learn a label from `known`, or nothing if it is -1; `known` equals `given`
    unless labels are delayed. `stops` are ascending row counts. `class_counts` (how often each class was
    learned) and `counts` (see `MAJORITY_GIVEN`) are updated in place. The result has shape (m, 6).
    """
    at_stops = np.empty((len(stops), len(counts)), np.int64)
    _count_each(given, clean, known, stops, class_counts, counts, at_stops)
    return at_stops


# Results of counting the baselines along a whole stream: the counts at its checkpoints, and, at its end, how
# often each class occurred and the counts. Runs with the same labels and checkpoints share the arrays.
BaselineCounts: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
# A cache belongs to the labels of one stream, and has results for at most this many sets of checkpoints.
_MOST_CACHED = 16


class References:
    """Count the correct predictions of two baselines along a stream: most frequent class and previous label.

    Parameters
    ----------
    given, clean : ndarray of int32, shape (n,)
        Labels with and without noise.
    n_classes : int
    delay : int, default=0
        Number of rows after which a label becomes known.
    shared : dict, default=None
        Cache to share between objects with the same labels, so that a whole stream is counted only once.
    """

    def __init__(
        self,
        given: NDArray[np.int32],
        clean: NDArray[np.int32],
        n_classes: int,
        delay: int = 0,
        shared: dict[tuple[int, bytes], BaselineCounts] | None = None,
    ) -> None:
        self._labels = given, clean
        self._delay, self._known = delay, given
        if delay:
            self._known = np.full_like(given, -1)
            self._known[delay:] = given[:-delay]
        self._state = np.zeros(n_classes, np.int64), np.zeros(_COUNTS, np.int64)
        self._shared = {} if shared is None else shared
        self._seen = 0

    @property
    def right(self) -> NDArray[np.int64]:
        """Four counts of correct predictions so far, in a writable view of shape (4,).

        They are those of the majority class by given (noisy) and by clean labels, then those of the previous
        label by given and by clean labels. `add` continues from values that a caller writes into the view.
        """
        return self._state[1][:MOST]

    def fork(self) -> "References":
        """Return a copy with the counts so far, which can then count on without changing this object."""
        other = copy(self)
        other._state = self._state[0].copy(), self._state[1].copy()
        return other

    def add(self, n: int, stops: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count correct predictions on the next `n` rows; return the counts at m checkpoints, shape (m, 6).

        Row i of the result has the counts after the first ``stops[i]`` of these rows.
        """
        key = self._delay, stops.tobytes()
        whole = not self._seen and n == len(self._known)
        found = self._shared.get(key) if whole else None
        if found is None:
            part = slice(self._seen, self._seen + n)
            given, clean = (labels[part] for labels in self._labels)
            at_stops = count_baselines(given, clean, self._known[part], stops, *self._state)
            if whole and len(self._shared) < _MOST_CACHED:
                self._shared[key] = at_stops, self._state[0].copy(), self._state[1].copy()
        else:
            at_stops = found[0]
            self._state = found[1].copy(), found[2].copy()
        self._seen += n
        return at_stops
