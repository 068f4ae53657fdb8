"""What is noted of a stream as it goes by: mistakes, counts and seconds at the checkpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, mistakes_of_both
from ..counts import COUNTS
from ..store.cell_result import Curve
from ..study.course import USUAL, Course
from .splits import checkpoints
from .tallies import Tallies
from .windows import Fading, window_counts, window_errors

Column = Sequence[Any] | NDArray[Any]

# Counted here; everything else is counted by learners.
MISTAKES = ("mistakes", "mistakes_clean", "ties")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}
_UNCOUNTED: dict[str, int | None] = dict.fromkeys(sorted(LEARNER_COUNTS))
# What adds up along the stream: where counting begins later, what was there before is taken off.
_SUMS = frozenset(name for name, count in COUNTS.items() if not count.state)


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return what a learner has counted by the store's columns, None where it does not count."""
    return _UNCOUNTED | {name: value for name, value in counters.items() if name in LEARNER_COUNTS}


class Recorder:
    """Notes what a stream came to, in total and at checkpoints.

    Parameters
    ----------
    noisy, clean : ndarray of int32, shape (n,)
        The labels that the learner is given, and those that they were made of.
    points : "log", int or tuple of int, default="log"
        See `checkpoints`; of the examples that are counted.
    course : Course
        Its windows count here.
    counted_from : int, default=0
        How many examples go by before counting begins.
    tallies : Tallies, default=None
        Keeps what metrics need besides; None: nothing.

    Attributes
    ----------
    seen : int
        Rows noted so far.
    shown : ndarray of int64
        After how many rows there is a point of the curve.
    stops : ndarray of int64
        After how many rows the learner is to say what it has counted.
    """

    def __init__(
        self,
        noisy: NDArray[np.int32],
        clean: NDArray[np.int32],
        points: str | int | tuple[int, ...] = "log",
        course: Course = USUAL,
        counted_from: int = 0,
        tallies: Tallies | None = None,
    ) -> None:
        self.seen, self.counted_from = 0, counted_from
        self._tallies = tallies
        self._labels = noisy, clean
        self._totals = dict.fromkeys(MISTAKES, 0)
        # Stretch by stretch, the columns of each: what a learner counts may begin to be counted on the way.
        self._stretches: list[dict[str, Column]] = []
        self._window = course.window
        self._fading = (
            Fading(course.fading, counted_from, self._labels) if course.fading is not None else None
        )
        self.shown = checkpoints(len(noisy) - counted_from, points)
        self.stops = self.shown
        # Whether points are noted besides those of the curve.
        self._more = bool(counted_from) or self._window is not None
        if self._more:
            self.shown = self.shown + counted_from
            back = np.maximum(self.shown - (self._window or 0), counted_from)
            self.stops = np.unique(np.concatenate([self.shown, back, [counted_from]]))
            self.stops = self.stops[self.stops > 0]

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
        points: dict[str, Column] = {
            "t": stops + seen,
            "fit_seconds": np.asarray(passage.seconds) + seconds,
        }
        for name, at_stops, total in zip(MISTAKES, counts, totals, strict=True):
            at_stops += self._totals[name]
            points[name] = at_stops
            self._totals[name] += total
        points |= {name: values for name, values in passage.counts.items() if name in LEARNER_COUNTS}
        if self._fading is not None:
            points |= self._fading.errors(passage.scores, stops)
        if self._tallies is not None:
            points |= self._tallies.add(passage.scores, stops)
        self._stretches.append(points)
        self.seen += n

    def end(self, counters: Mapping[str, int], seconds: float) -> None:
        """Add the point at which the curve ends when no checkpoint is there."""
        self.shown = np.append(self.shown[self.shown < self.seen], self.seen)
        if self._stretches and self.seen in self._stretches[-1]["t"]:
            return
        last = {"t": self.seen, "fit_seconds": seconds} | self._totals | declared(counters)
        if self._fading is not None:
            last |= self._fading.latest()
        if self._tallies is not None:
            last |= self._tallies.latest()
        self._stretches.append({name: [value] for name, value in last.items()})

    def note_accuracy(self, accuracy: float) -> None:
        """Note the test accuracy at the last point of what was added last."""
        last = self._stretches[-1]
        last["test_accuracy"] = [*[None] * (len(last["t"]) - 1), accuracy]

    def counted(self, counters: Mapping[str, int]) -> dict[str, Any]:
        """Return what came to pass since counting began.

        Parameters
        ----------
        counters : mapping of str to int
            What the learner has counted by now.

        Returns
        -------
        dict of str to any
            ``n_examples``, every count and what metrics need besides, by the store's columns.
        """
        found: dict[str, Any] = {**self._totals, **declared(counters)}
        before = self._before()
        for name, value in found.items():
            if value is not None and name in _SUMS:
                found[name] = value - (before.get(name) or 0)
        if self._tallies is not None:
            found |= self._tallies.totals()
        return {"n_examples": max(0, self.seen - self.counted_from), **found}

    def seconds_before(self) -> float:
        """Return the seconds of learning before counting began."""
        return float(self._before().get("fit_seconds") or 0.0)

    def curve(self) -> Curve:
        """Return the curve, by column of the store."""
        columns = self._columns()
        if self._more:
            columns = self._since(columns)
        if self._tallies is not None:
            shown = np.asarray(columns["t"], np.int64)
            columns = {**columns, **self._tallies.areas(shown), **self._tallies.latest_areas(shown)}
        return columns

    def _since(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return the points of the curve alone, with what came to pass since counting began."""
        noted = np.asarray(columns["t"])
        if self._window is not None:
            columns = columns | window_errors(columns, noted, self._window, self.counted_from)
            columns = columns | window_counts(columns, noted, self._window, self.counted_from)
        before = self._before()
        places = np.flatnonzero(np.isin(noted, self.shown) & (noted > self.counted_from)).tolist()
        curve: dict[str, Column] = {name: [values[i] for i in places] for name, values in columns.items()}
        for name in curve.keys() & (_SUMS | {"fit_seconds"}):
            base = before.get(name) or 0
            curve[name] = [None if value is None else value - base for value in curve[name]]
        return curve | {"t": noted[places] - self.counted_from}

    def _columns(self) -> dict[str, Column]:
        """Return the stretches one after the other."""
        if len(self._stretches) == 1:
            return self._stretches[0]
        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for stretch in self._stretches for name in stretch):
            columns[name] = []
            for stretch in self._stretches:
                columns[name].extend(stretch.get(name, [None] * len(stretch["t"])))
        return {**columns}

    def _before(self) -> dict[str, Any]:
        """Return what there was when counting began."""
        if not self.counted_from:
            return {}
        columns = self._columns()
        places = np.flatnonzero(np.asarray(columns["t"]) == self.counted_from)
        # A stream that ended before it has nothing that counts.
        if not len(places):
            return dict(self._totals)
        return {name: values[places[0]] for name, values in columns.items()}
