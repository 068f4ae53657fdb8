"""Learning along a stream piece by piece, for learners whose loops do not note what they count."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..numeric.rows import Rows, count_rows, row_range


class Passage(NamedTuple):
    """What is known of rows that a learner has learnt.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
        Of each row, before the update on it.
    seconds : sequence of float, length m
        From the first of the rows up to each stop.
    counts : mapping of str to sequence of int, each of length m
        What `StreamLearner.counters` would have returned after each stop, count by count.
    """

    scores: NDArray[np.float64]
    seconds: Sequence[float] | NDArray[np.float64]
    counts: Mapping[str, Sequence[int | None] | NDArray[np.int64]]


class Counting(Protocol):
    """What is asked of a learner here; see `StreamLearner`."""

    def learn_rows(self, X: Any, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Predict each row, then learn from it, in order."""

    def counters(self) -> Mapping[str, int]:
        """Return what the learner has counted so far."""


def learn_in_pieces(
    learner: Counting, X: Rows, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]
) -> Passage:
    """Call `learn_rows` up to each stop, and look at the clock and the counters there.

    Parameters
    ----------
    learner : StreamLearner
    X : ndarray or tuple
        Rows as `as_rows` or `ordered_rows` returns them.
    codes : ndarray of integers, shape (n,)
    stops : ndarray of int64, shape (m,)
        Numbers of rows, ascending, n at the most.

    Returns
    -------
    Passage
    """
    began, start = time.perf_counter(), 0
    scores: list[NDArray[np.float64]] = []
    seconds: list[float] = []
    counted: list[Mapping[str, int]] = []
    for stop in stops.tolist():
        scores.append(learner.learn_rows(row_range(X, start, stop), codes[start:stop]))
        seconds.append(time.perf_counter() - began)
        counted.append(learner.counters())
        start = stop
    if start < count_rows(X) or not scores:
        scores.append(learner.learn_rows(row_range(X, start, count_rows(X)), codes[start:]))
    names = dict.fromkeys(name for counts in counted for name in counts)
    return Passage(
        np.concatenate(scores), seconds, {name: [counts.get(name) for counts in counted] for name in names}
    )
