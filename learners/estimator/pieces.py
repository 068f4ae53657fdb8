"""Learn rows and record time and counts at checkpoints, for learners whose loops do not record them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..numeric.rows import Rows, count_rows, row_range


class Passage(NamedTuple):
    """Scores, seconds and counts from learning some rows.

    Attributes
    ----------
    scores : ndarray of float64, shape (n,) or, with K > 2 classes, (n, K)
        Score of each row before the update on it.
    seconds : sequence of float, length m
        Seconds from the first row to each checkpoint.
    counts : mapping of str to sequence of int or None, each of length m
        The learner's counts at each checkpoint, by name; None if not counted yet.
    """

    scores: NDArray[np.float64]
    seconds: Sequence[float] | NDArray[np.float64]
    counts: Mapping[str, Sequence[int | None] | NDArray[np.int64]]


class Counting(Protocol):
    """The methods of a learner that `learn_in_pieces` calls."""

    def learn_rows(self, X: Any, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Predict each row, then learn from it, in order."""

    def counters(self) -> Mapping[str, int]:
        """Return the learner's counts so far."""


def learn_in_pieces(
    learner: Counting, X: Rows, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]
) -> Passage:
    """Learn rows, and record the time and the learner's counts at each of m checkpoints.

    `X` comes from `as_rows` or `ordered_rows`. `stops` are the checkpoints: ascending row counts.
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


class OneByOne:
    """Learners of one class, with different parameters, each of which reads the rows separately."""

    def __init__(self, learners: Sequence[Any]) -> None:
        self.learners = learners

    def learn_rows(self, X: Rows, codes: NDArray[np.int32]) -> list[NDArray[np.float64]]:
        """Let every learner learn the rows; return the scores from the ``learn_rows`` of each learner."""
        return [each.learn_rows(X, codes) for each in self.learners]

    def learn_along(self, X: Rows, codes: NDArray[np.int32], stops: NDArray[np.int64]) -> list[Passage]:
        """Let every learner learn the rows; return the `Passage` from the ``learn_along`` of each learner."""
        return [each.learn_along(X, codes, stops) for each in self.learners]

    def score_rows(self, X: Rows) -> list[NDArray[np.float64]]:
        """Return each learner's scores of the rows under its current model."""
        return [each.score_rows(X) for each in self.learners]

    def write_back(self) -> None:
        """Copy the models back into the learners' arrays; here each learner already has its own model."""

    def goes_on(self) -> bool:
        """Return whether this object can learn further rows after `write_back`; if not, create a new one."""
        return False


class Reading(OneByOne):
    """Learners of one class that share one pass over the rows; a subclass defines ``learn_rows``."""

    def learn_along(self, X: Rows, codes: NDArray[np.int32], stops: NDArray[np.int64]) -> list[Passage]:
        """Do the same as each learner's ``learn_along``; every `Passage` has an equal share of seconds."""
        began, start, n = time.perf_counter(), 0, len(self.learners)
        scores, seconds, counted = [], [], []
        for stop in stops.tolist():
            scores.append(self.learn_rows(row_range(X, start, stop), codes[start:stop]))
            seconds.append((time.perf_counter() - began) / n)
            counted.append([each.counters() for each in self.learners])
            start = stop
        if start < count_rows(X) or not scores:
            scores.append(self.learn_rows(row_range(X, start, count_rows(X)), codes[start:]))
        names = counted[0][0] if counted else ()
        return [
            Passage(
                np.concatenate([some[g] for some in scores]),
                seconds,
                {name: [counts[g][name] for counts in counted] for name in names},
            )
            for g in range(n)
        ]
