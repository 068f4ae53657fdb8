"""What is noted of a stream as it goes by: mistakes, counts and seconds at the checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, count_mistakes
from ..counts import COUNTS
from ..store.cell_result import Curve

# Counted here; everything else is counted by learners.
MISTAKES = ("mistakes", "mistakes_clean")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return what a learner has counted by the store's columns, None where it does not count."""
    return {name: counters.get(name) for name in LEARNER_COUNTS}


class Recorder:
    """Notes what a stream came to, in total and at checkpoints.

    Parameters
    ----------
    noisy, clean : ndarray of int32, shape (n,)
        The labels that the learner is given, and those that they were made of.

    Attributes
    ----------
    seen : int
        Rows noted so far.
    """

    def __init__(self, noisy: NDArray[np.int32], clean: NDArray[np.int32]) -> None:
        self.seen = 0
        self._labels = dict(zip(MISTAKES, (noisy, clean), strict=True))
        self._totals = dict.fromkeys(MISTAKES, 0)
        # Column by column, stretches of it.
        self._curve: dict[str, list[Sequence[Any] | NDArray[Any]]] = {}

    def add(self, passage: Passage, stops: NDArray[np.int64], seconds: float) -> None:
        """Note the rows that come next.

        Parameters
        ----------
        passage : Passage
            What the learner says of them.
        stops : ndarray of int64
            After how many of them it said so: points of the curve.
        seconds : float
            Seconds of learning before them.
        """
        n = len(passage.scores)
        scores = passage.scores.reshape(n, -1)
        points: dict[str, Sequence[Any] | NDArray[Any]] = {
            "t": stops + self.seen,
            "fit_seconds": np.asarray(passage.seconds) + seconds,
        }
        for name, labels in self._labels.items():
            at_stops = np.empty(len(stops), np.int64)
            total = count_mistakes(scores, labels[self.seen : self.seen + n], stops, at_stops)
            points[name] = at_stops + self._totals[name]
            self._totals[name] += total
        points.update((name, values) for name, values in passage.counts.items() if name in LEARNER_COUNTS)
        self._extend(points)
        self.seen += n

    def end(self, counters: Mapping[str, int], seconds: float) -> None:
        """Add the point at which the curve ends when no checkpoint is there."""
        last = {"t": self.seen, "fit_seconds": seconds} | self._totals | declared(counters)
        self._extend({name: [value] for name, value in last.items() if value is not None})

    def note_accuracy(self, accuracy: float) -> None:
        """Note the test accuracy at the last point of the curve."""
        self._extend({"test_accuracy": [accuracy]})

    def _extend(self, points: Mapping[str, Sequence[Any] | NDArray[Any]]) -> None:
        for name, values in points.items():
            self._curve.setdefault(name, []).append(values)

    def totals(self) -> dict[str, int]:
        """Return the mistakes so far."""
        return dict(self._totals)

    def curve(self) -> Curve:
        """Return the curve, by column of the store."""
        return {name: _joined(stretches) for name, stretches in self._curve.items()}


def _joined(stretches: list[Sequence[Any] | NDArray[Any]]) -> Sequence[Any] | NDArray[Any]:
    if len(stretches) == 1:
        return stretches[0]
    return [value for stretch in stretches for value in stretch]
