"""What is noted of a stream as it goes by: mistakes, counts and seconds at the checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, mistakes_of_both
from ..counts import COUNTS
from ..store.cell_result import Curve
from .tallies import Tallies

# Counted here; everything else is counted by learners.
MISTAKES = ("mistakes", "mistakes_clean", "ties")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}
_UNCOUNTED: dict[str, int | None] = dict.fromkeys(sorted(LEARNER_COUNTS))


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return what a learner has counted by the store's columns, None where it does not count."""
    return _UNCOUNTED | {name: value for name, value in counters.items() if name in LEARNER_COUNTS}


class Recorder:
    """Notes what a stream came to, in total and at checkpoints.

    Parameters
    ----------
    noisy, clean : ndarray of int32, shape (n,)
        The labels that the learner is given, and those that they were made of.
    tallies : Tallies, default=None
        Keeps what metrics need besides; None: nothing.

    Attributes
    ----------
    seen : int
        Rows noted so far.
    """

    def __init__(
        self, noisy: NDArray[np.int32], clean: NDArray[np.int32], tallies: Tallies | None = None
    ) -> None:
        self.seen = 0
        self._tallies = tallies
        self._labels = noisy, clean
        self._totals = dict.fromkeys(MISTAKES, 0)
        # Stretch by stretch, the columns of each: what a learner counts may begin to be counted on the way.
        self._stretches: list[dict[str, Sequence[Any] | NDArray[Any]]] = []

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
        n, seen = len(passage.scores), self.seen
        noisy, clean = (labels[seen : seen + n] for labels in self._labels)
        counts = np.empty((len(MISTAKES), len(stops)), np.int64)
        totals = mistakes_of_both(passage.scores, noisy, clean, stops, counts)
        points: dict[str, Sequence[Any] | NDArray[Any]] = {
            "t": stops + seen,
            "fit_seconds": np.asarray(passage.seconds) + seconds,
        }
        for name, at_stops, total in zip(MISTAKES, counts, totals, strict=True):
            at_stops += self._totals[name]
            points[name] = at_stops
            self._totals[name] += total
        points |= {name: values for name, values in passage.counts.items() if name in LEARNER_COUNTS}
        if self._tallies is not None:
            points |= self._tallies.add(passage.scores, stops)
        self._stretches.append(points)
        self.seen += n

    def end(self, counters: Mapping[str, int], seconds: float) -> None:
        """Add the point at which the curve ends when no checkpoint is there."""
        last = {"t": self.seen, "fit_seconds": seconds} | self._totals | declared(counters)
        if self._tallies is not None:
            last |= self._tallies.counts()
        self._stretches.append({name: [value] for name, value in last.items()})

    def note_accuracy(self, accuracy: float) -> None:
        """Note the test accuracy at the last point of the curve, the only one of what was added last."""
        self._stretches[-1]["test_accuracy"] = [accuracy]

    def totals(self) -> dict[str, Any]:
        """Return mistakes so far, and what else is kept."""
        return self._totals | ({} if self._tallies is None else self._tallies.totals())

    def curve(self) -> Curve:
        """Return the curve, by column of the store."""
        columns = self._joined()
        if self._tallies is not None:
            return {**columns, **self._tallies.areas(np.asarray(columns["t"], np.int64))}
        return columns

    def _joined(self) -> Curve:
        """Return the stretches one after the other."""
        if len(self._stretches) == 1:
            return self._stretches[0]
        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for stretch in self._stretches for name in stretch):
            columns[name] = []
            for stretch in self._stretches:
                columns[name].extend(stretch.get(name, [None] * len(stretch["t"])))
        return columns
