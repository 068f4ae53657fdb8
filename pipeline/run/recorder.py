"""Record a stream: mistakes, counts and seconds at checkpoints, sums for metrics, latest examples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, References, mistakes_of_both, pairs_in_order, sum_losses, tally_classes
from ..areas import area_under_curve, average_precision
from ..counts import COUNTS
from ..scoring import AREAS, BY_CLASS, LOSSES, PRECISIONS, REFERENCES
from ..store.schema import Curve
from ..study.specs import USUAL, Course
from .splits import checkpoints
from .windows import Fading, FadingCounts, window_counts, window_errors

_NOWHERE = np.empty(0, np.int64)
# Rows with a smaller weight are left out of fading areas, so that a long stream is not sorted repeatedly.
_LEAST_WEIGHT = 1e-100


class Tallies:
    """Add up counts by class and losses, and keep the scores, which are sorted at the end.

    Parameters
    ----------
    given, clean : ndarray of int32, shape (n,)
        The labels that the learner gets, with noise, and without.
    kept : collection of str
        What to keep: "classes", "scores" or both.
    log_odds : bool, default=False
        Whether scores are log odds and so have a log loss; see `sum_losses`.
    references : References, default=None
        Fresh references for the same labels, if counts by class need them.
    first : int, default=0
        Number of rows that do not count; the references still see their labels.
    window : int, default=None
        Also compute areas of this many latest rows for the curves. Windowed counts need nothing here: they
        are differences of other columns.
    fading : float, default=None
        Also compute everything for the curves with this fading factor.
    """

    def __init__(
        self,
        given: NDArray[np.int32],
        clean: NDArray[np.int32],
        n_classes: int,
        kept: Collection[str],
        log_odds: bool = False,
        references: References | None = None,
        first: int = 0,
        window: int | None = None,
        fading: float | None = None,
    ) -> None:
        self._log_odds, self._kept, self._first = log_odds, kept, first
        self._labels = given, clean
        self._window, self._fading = window, fading
        self._faded = FadingCounts(fading) if fading is not None else None
        self._references = references if "classes" in kept else None
        self._table = np.zeros((len(BY_CLASS), n_classes), np.int64)
        self._sums = np.zeros(len(LOSSES))
        # Only the scores of two classes can be sorted.
        self._ordered = "scores" in kept and n_classes == 2
        # Without noise the two kinds of labels are equal, and scores are sorted only once.
        self._clean_alone = self._ordered and np.array_equal(given, clean)
        self._scores: list[NDArray[np.float64]] = []
        # Number of rows added so far.
        self._seen = 0

    def add(self, scores: NDArray[np.float64], stops: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Add the scores of the next rows; return columns of the curve at the stops, except areas.

        `scores`, of shape (n,) or (n, K), are those before the updates. `stops` holds the numbers of these
        rows after which the curve has a point.
        """
        before = min(max(self._first - self._seen, 0), len(scores))
        if before:
            self._pass_over(scores[:before])
            scores, stops = scores[before:], np.maximum(stops - before, 0)
        start, counted = self._seen, self._counted
        self._seen += len(scores)
        given, clean = (labels[start : self._seen] for labels in self._labels)
        columns: dict[str, NDArray[Any]] = {}
        if self._faded is not None:
            counts = (self._table, self._references) if self._references is not None else None
            losses = (self._sums, self._log_odds) if "scores" in self._kept else None
            columns |= self._faded.add(scores, (given, clean), stops, counts, losses)
        if "classes" in self._kept:
            tables = tally_classes(scores, given, clean, stops, self._table)
            columns |= {name: tables[:, i] for i, name in enumerate(BY_CLASS)}
        if self._references is not None:
            besides = self._references.add(len(scores), stops)
            columns |= {name: besides[:, i] for i, name in enumerate(REFERENCES)}
        if "scores" in self._kept:
            sums = sum_losses(scores, given, clean, self._log_odds, stops, self._sums)
            # Before the first row that counts, the curve has no points.
            columns |= self._losses(sums / np.maximum(stops + counted, 1)[:, None])
        if self._ordered:
            self._scores.append(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0])
        return columns

    @property
    def _counted(self) -> int:
        """The number of rows so far that count."""
        return max(self._seen - self._first, 0)

    def _pass_over(self, scores: NDArray[np.float64]) -> None:
        """Give the references the labels of rows that do not count."""
        self._seen += len(scores)
        if self._references is not None:
            self._references.add(len(scores), _NOWHERE)
            self._references.right[:] = 0

    def _losses(self, means: NDArray[np.float64]) -> dict[str, Any]:
        names = LOSSES if self._log_odds else LOSSES[:2]
        return {name: means[..., i] for i, name in enumerate(names)}

    def areas(self, stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return the areas under the ROC curves of the rows up to each stop, NaN if a class is missing.

        `stops` (int64, ascending) are numbers of rows, counted from the first row that counts.
        """
        if not self._ordered:
            return {}
        scores = self._all_scores()
        if np.isnan(scores).any():
            return {name: np.full(len(stops), np.nan) for name in AREAS}
        found: dict[str, NDArray[np.float64]] = {}
        for name, labels in zip(AREAS, self._counted_labels(), strict=True):
            if found and self._clean_alone:
                found[name] = found[AREAS[0]]
                continue
            positive = np.concatenate([[0], np.cumsum(labels)])[stops]
            pairs = 2.0 * positive * (stops - positive)
            won = pairs_in_order(scores, labels, stops)
            found[name] = won / np.where(pairs, pairs, np.nan)
        return found

    def latest_areas(self, stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return areas and average precisions of the latest rows up to each stop, by column of the curves.

        `stops` are as for `areas`.
        """
        latest: dict[str, NDArray[np.float64]] = {}
        if self._window is not None:
            latest["window"] = np.ones(self._window)
        if self._fading is not None:
            rows = 1 + int(np.log(_LEAST_WEIGHT) / np.log(self._fading))
            latest["fading"] = self._fading ** np.arange(rows - 1, -1, -1.0)
        found: dict[str, NDArray[np.float64]] = {}
        for prefix, weights in latest.items() if self._ordered else ():
            for area, precision, codes in zip(AREAS, PRECISIONS, self._counted_labels(), strict=True):
                parts = [self._latest_rows(codes, t, weights) for t in stops.tolist()]
                found[f"{prefix}_{area}"] = np.array([area_under_curve(*part) for part in parts])
                found[f"{prefix}_{precision}"] = np.array([average_precision(*part) for part in parts])
        return found

    def _latest_rows(
        self, codes: NDArray[np.int32], stop: int, weights: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        """Return scores, labels and weights of the latest rows before `stop`, at most one row per weight."""
        part = slice(max(0, stop - len(weights)), stop)
        return self._all_scores()[part], codes[part], weights[len(weights) - (part.stop - part.start) :]

    def _counted_labels(self) -> list[NDArray[np.int32]]:
        return [labels[self._first : max(self._first, self._seen)] for labels in self._labels]

    def _all_scores(self) -> NDArray[np.float64]:
        if len(self._scores) != 1:
            self._scores = [np.concatenate([*self._scores, np.empty(0)])]
        return self._scores[0]

    def counts(self) -> dict[str, Any]:
        """Return counts and losses of all rows so far that count, by column of the store."""
        row: dict[str, Any] = {}
        if "classes" in self._kept:
            row |= dict(zip(BY_CLASS, self._table.tolist(), strict=True))
        if self._references is not None:
            row |= dict(zip(REFERENCES, self._references.right.tolist(), strict=True))
        if "scores" in self._kept and self._counted:
            row |= {name: float(mean) for name, mean in self._losses(self._sums / self._counted).items()}
        return row

    def latest(self) -> dict[str, Any]:
        """Return the values of the curve after all rows so far, by column, except areas."""
        return self.counts() | (self._faded.latest() if self._faded is not None else {})

    def totals(self) -> dict[str, Any]:
        """Return all totals of the rows so far that count, by column of the store."""
        row = self.counts()
        if self._counted:
            row |= {name: float(area[0]) for name, area in self.areas(np.array([self._counted])).items()}
        if self._ordered and self._counted:
            scores = self._all_scores()
            for name, labels in zip(PRECISIONS, self._counted_labels(), strict=True):
                row[name] = average_precision(scores, labels)
        return row


Column = Sequence[Any] | NDArray[Any]

# Counted here; learners count everything else.
MISTAKES = ("mistakes", "mistakes_clean", "ties")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}
_UNCOUNTED: dict[str, int | None] = dict.fromkeys(sorted(LEARNER_COUNTS))
# Counts that add up along the stream: if counting begins later, the value at that point is subtracted.
_SUMS = frozenset(name for name, count in COUNTS.items() if not count.state)


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return a learner's counts by column of the store, None for those that it does not keep."""
    return _UNCOUNTED | {name: value for name, value in counters.items() if name in LEARNER_COUNTS}


class Recorder:
    """Record the results of a stream, in total and at checkpoints.

    Parameters
    ----------
    noisy, clean : ndarray of int32, shape (n,)
        The labels that the learner gets, with noise, and without.
    points : "log", int or tuple of int, default="log"
        Checkpoints among the counted examples; see `checkpoints`.
    course : Course
        Supplies the window and the fading factor.
    counted_from : int, default=0
        Number of examples before counting begins.
    tallies : Tallies, default=None
        Collects what metrics need in addition.

    Attributes
    ----------
    seen : int
        Rows recorded so far.
    shown : ndarray of int64
        Numbers of rows after which the curve has a point.
    stops : ndarray of int64
        Numbers of rows after which the learner reports its counts.
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
        # One dict of columns per stretch; they differ, because a learner may start a count along the way.
        self._stretches: list[dict[str, Column]] = []
        self._window = course.window
        self._fading = (
            Fading(course.fading, counted_from, self._labels) if course.fading is not None else None
        )
        self.shown = checkpoints(len(noisy) - counted_from, points)
        self.stops = self.shown
        # Whether some stops are not points of the curve.
        self._more = bool(counted_from) or self._window is not None
        if self._more:
            self.shown = self.shown + counted_from
            back = np.maximum(self.shown - (self._window or 0), counted_from)
            self.stops = np.unique(np.concatenate([self.shown, back, [counted_from]]))
            self.stops = self.stops[self.stops > 0]

    def add(self, passage: Passage, stops: NDArray[np.int64], seconds: float) -> None:
        """Record the next rows.

        `passage` is the learner's report on them, `stops` the numbers of these rows after which it reports
        counts, and `seconds` the learning time before them.
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
        """Add the last point of the curve at a row that is no checkpoint."""
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
        """Record the test accuracy at the last point added."""
        last = self._stretches[-1]
        last["test_accuracy"] = [*[None] * (len(last["t"]) - 1), accuracy]

    def counted(self, counters: Mapping[str, int]) -> dict[str, Any]:
        """Return ``n_examples`` and every count since counting began, by column of the store.

        `counters` holds the learner's counts so far. The result includes what the metrics need.
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
        """Return the curve by column of the store."""
        columns = self._columns()
        if self._more:
            columns = self._since(columns)
        if self._tallies is not None:
            shown = np.asarray(columns["t"], np.int64)
            columns = {**columns, **self._tallies.areas(shown), **self._tallies.latest_areas(shown)}
        return columns

    def _since(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return only the curve's points, with counts since counting began."""
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
        """Return the stretches' columns, concatenated."""
        if len(self._stretches) == 1:
            return self._stretches[0]
        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for stretch in self._stretches for name in stretch):
            columns[name] = []
            for stretch in self._stretches:
                columns[name].extend(stretch.get(name, [None] * len(stretch["t"])))
        return {**columns}

    def _before(self) -> dict[str, Any]:
        """Return the values recorded at the point where counting begins."""
        if not self.counted_from:
            return {}
        columns = self._columns()
        places = np.flatnonzero(np.asarray(columns["t"]) == self.counted_from)
        # A stream that ended before that point has no counted rows.
        if not len(places):
            return dict(self._totals)
        return {name: values[places[0]] for name, values in columns.items()}
