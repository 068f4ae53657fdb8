"""Learn rows and record time and counts at checkpoints, for learners whose loops do not record them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

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


def _passage(
    scores: list[NDArray[np.float64]], seconds: Sequence[float], counted: list[Mapping[str, int]]
) -> Passage:
    """Return a `Passage` of the scores of all pieces, and of the counts at each checkpoint."""
    names = dict.fromkeys(name for counts in counted for name in counts)
    return Passage(
        np.concatenate(scores), seconds, {name: [counts.get(name) for counts in counted] for name in names}
    )


def _learn_pieces(
    learn_rows: Callable[..., Any], count: Callable[[], Any], X: Rows, codes: Any, stops: NDArray[np.int64]
) -> tuple[list[Any], list[float], list[Any]]:
    """Learn rows up to each checkpoint and then the rest; return scores by piece, seconds and counts."""
    began, start = time.perf_counter(), 0
    scores, seconds, counted = [], [], []
    for stop in stops.tolist():
        scores.append(learn_rows(row_range(X, start, stop), codes[start:stop]))
        seconds.append(time.perf_counter() - began)
        counted.append(count())
        start = stop
    if start < count_rows(X) or not scores:
        scores.append(learn_rows(row_range(X, start, count_rows(X)), codes[start:]))
    return scores, seconds, counted


def learn_in_pieces(
    learner: Any, X: Rows, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]
) -> Passage:
    """Learn rows, and record the time and the learner's counts at each of m checkpoints.

    `learner` has the methods ``learn_rows(X, codes)`` and ``counters()``. `X` comes from `as_rows` or
    `ordered_rows`. `stops` are the checkpoints: ascending row counts.
    """
    return _passage(*_learn_pieces(learner.learn_rows, learner.counters, X, codes, stops))


class OneByOne:
    """Learners of one class, with different parameters, each of which reads the rows separately."""

    def __init__(self, learners: Sequence[Any]) -> None:
        self.learners = learners

    def learn_rows(self, X: Rows, codes: NDArray[np.int32]) -> Sequence[Any] | NDArray[np.float64]:
        """Let every learner learn the rows; return the scores from the ``learn_rows`` of each learner.

        They are a list of arrays or one array, whose first axis is that of the learners.
        """
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
        scores, seconds, counted = _learn_pieces(
            self.learn_rows, lambda: [each.counters() for each in self.learners], X, codes, stops
        )
        shares = [each / len(self.learners) for each in seconds]
        return [
            _passage([some[g] for some in scores], shares, [counts[g] for counts in counted])
            for g in range(len(self.learners))
        ]
