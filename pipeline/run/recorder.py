"""Record a stream: mistakes, counts and seconds at checkpoints, sums for metrics, and the latest examples."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, References, mistakes_of_both, pairs_in_order, sum_losses, tally_classes
from ..counts import COUNTS, LATEST_ERRORS
from ..scoring import AREAS, BY_CLASS, BY_FADING, BY_WINDOW, LOSSES, PRECISIONS, REFERENCES
from ..store.schema import Curve
from ..study.specs import USUAL, Course
from .splits import Codes, Floats, Rows, checkpoints

Column = Sequence[Any] | NDArray[Any]

_NOWHERE = np.empty(0, np.int64)
# Fading areas under the ROC curve and fading average precisions leave out rows whose weight is below this.
# Otherwise all rows of the stream so far would be sorted at every checkpoint.
_LEAST_WEIGHT = 1e-100
# Fading sums need the counts after every row. They are computed for this many rows at a time, which takes
# 1.3 MB with 26 classes.
_PIECE = 1024
# Column of each windowed error, and the count of mistakes from which it is computed.
_WINDOW_ERRORS: dict[str, str] = dict(zip(LATEST_ERRORS[:2], ("mistakes", "mistakes_clean"), strict=True))

# Counts that the recorder makes itself; learners report all others.
MISTAKES = ("mistakes", "mistakes_clean", "ties")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}
_UNCOUNTED: dict[str, int | None] = dict.fromkeys(sorted(LEARNER_COUNTS))
# Counts that add up along the stream. If the first rows are not counted, their sums are subtracted.
_SUMS = frozenset(name for name, count in COUNTS.items() if not count.state)


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return a learner's counts by column of the store; a count that the learner does not keep is None."""
    return _UNCOUNTED | {name: value for name, value in counters.items() if name in LEARNER_COUNTS}


class Recorder:
    """Record the results of a stream, in total and at checkpoints.

    `noisy` and `clean` (int32, shape (n,)) are the labels that the learner gets and those without noise.
    Counting begins after `counted_from` examples. `points` says after which numbers of counted examples the
    curve has a point (see `checkpoints`). `course` sets the window and the fading factor. `tallies` collects
    counts and losses that metrics need in addition.
    """

    def __init__(
        self,
        noisy: Codes,
        clean: Codes,
        points: str | int | tuple[int, ...] = "log",
        course: Course = USUAL,
        counted_from: int = 0,
        tallies: Tallies | None = None,
    ) -> None:
        # `seen` is the number of rows recorded so far.
        self.seen, self.counted_from = 0, counted_from
        self._tallies = tallies
        self._labels = noisy, clean
        self._totals = dict.fromkeys(MISTAKES, 0)
        # One dict of columns per call of `add` or `end`. Later dicts may have counts that the first lack.
        self._stretches: list[dict[str, Column]] = []
        self._window = course.window
        self._fading = None if course.fading is None else Fading(course.fading, counted_from, self._labels)
        # Numbers of rows, ascending: the curve has a point after each of `shown`, and counts are noted after
        # each of `stops`.
        self.shown = checkpoints(len(noisy) - counted_from, points)
        self.stops = self.shown
        # Whether counts are also noted after rows where the curve has no point.
        self._more = bool(counted_from) or self._window is not None
        if self._more:
            self.shown = self.shown + counted_from
            back = np.maximum(self.shown - (self._window or 0), counted_from)
            self.stops = np.unique(np.concatenate([self.shown, back, [counted_from]]))
            self.stops = self.stops[self.stops > 0]

    def add(self, passage: Passage, stops: Rows, seconds: float) -> None:
        """Record the next rows; `seconds` were spent before them.

        `stops` are numbers of these rows, ascending; `passage` has the learner's counts after each stop.
        """
        n, seen = len(passage.scores), self.seen
        noisy, clean = (labels[seen : seen + n] for labels in self._labels)
        counts = np.empty((len(MISTAKES), len(stops)), np.int64)
        totals = mistakes_of_both(passage.scores, noisy, clean, stops, counts)
        points: dict[str, Column] = {"t": stops + seen, "fit_seconds": np.asarray(passage.seconds) + seconds}
        for name, at_stops, total in zip(MISTAKES, counts, totals, strict=True):
            at_stops += self._totals[name]
            points[name] = at_stops
            self._totals[name] += total
        points |= {name: values for name, values in passage.counts.items() if name in LEARNER_COUNTS}
        if self._fading is not None:
            points |= self._fading.errors(passage.scores, stops)
        if self._tallies is not None:
            points |= self._tallies.add(passage.scores, stops)
        # A long stream has many blocks without a checkpoint.
        if len(stops) or not self._stretches:
            self._stretches.append(points)
        self.seen += n

    def end(self, counters: Mapping[str, int], seconds: float) -> None:
        """End the curve with a point after the last row so far, even if no checkpoint is there."""
        self.shown = np.append(self.shown[self.shown < self.seen], self.seen)
        if self._stretches and self.seen in self._stretches[-1]["t"]:
            return
        last: dict[str, Any] = {"t": self.seen, "fit_seconds": seconds, **self._totals, **declared(counters)}
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
        """Return all counts since counting began, by column of the store; `counters` are the learner's."""
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
        """Return the columns at the curve's points; t, sums and seconds begin at 0 where counting began."""
        noted = np.asarray(columns["t"])
        if self._window is not None:
            columns = columns | window_measures(columns, noted, self._window, self.counted_from)
        before = self._before()
        places = np.flatnonzero(np.isin(noted, self.shown) & (noted > self.counted_from)).tolist()
        curve: dict[str, Column] = {name: [values[i] for i in places] for name, values in columns.items()}
        for name in curve.keys() & (_SUMS | {"fit_seconds"}):
            base = before.get(name) or 0
            curve[name] = [None if value is None else value - base for value in curve[name]]
        return curve | {"t": noted[places] - self.counted_from}

    def _columns(self) -> dict[str, Column]:
        """Return the columns that were recorded so far, concatenated."""
        if len(self._stretches) == 1:
            return self._stretches[0]
        columns: dict[str, list[Any]] = {}
        for name in dict.fromkeys(name for stretch in self._stretches for name in stretch):
            columns[name] = []
            for stretch in self._stretches:
                columns[name].extend(stretch.get(name, [None] * len(stretch["t"])))
        return {**columns}

    def _before(self) -> dict[str, Any]:
        """Return the totals of the first `counted_from` rows, which are subtracted from later totals."""
        if not self.counted_from:
            return {}
        columns = self._columns()
        places = np.flatnonzero(np.asarray(columns["t"]) == self.counted_from)
        # The stream ended before counting began, so it has no counted rows.
        if not len(places):
            return dict(self._totals)
        return {name: values[places[0]] for name, values in columns.items()}


class Tallies:
    """Add up losses and counts by class; store all scores, which are sorted at the end for ROC curves.

    `given` and `clean` (int32, shape (n,)) are the labels that the learner gets and those without noise.
    `kept` contains "classes", "scores" or both. Only scores that are log odds (`log_odds`) have a log loss.
    `references` are new baseline classifiers for the same labels. The first `first` rows are not counted, but
    the references learn their labels. With a window, curves get areas under the ROC curve of the latest rows;
    `window_measures` computes the other windowed values. With a fading factor, curves also get the fading
    variant of every measure.
    """

    def __init__(
        self,
        given: Codes,
        clean: Codes,
        n_classes: int,
        kept: Collection[str],
        log_odds: bool = False,
        references: References | None = None,
        first: int = 0,
        course: Course = USUAL,
    ) -> None:
        self._log_odds, self._kept, self._first = log_odds, kept, first
        self._labels = given, clean
        self._window, self._fading = course.window, course.fading
        self._faded = FadingCounts(course.fading) if course.fading is not None else None
        self._references = references if "classes" in kept else None
        self._table = np.zeros((len(BY_CLASS), n_classes), np.int64)
        self._sums = np.zeros(len(LOSSES))
        # Only the scores of two classes can be sorted.
        self._ordered = "scores" in kept and n_classes == 2
        # Without noise the two kinds of labels are equal, and scores are sorted only once.
        self._clean_alone = self._ordered and np.array_equal(given, clean)
        self._scores: list[Floats] = []
        # Number of rows added so far.
        self._seen = 0

    def add(self, scores: Floats, stops: Rows) -> dict[str, NDArray[Any]]:
        """Add the scores of the next rows; return columns of the curve after each of `stops`.

        `stops` are numbers of these rows, ascending. Areas under the ROC curve are missing: they are computed
        at the end.
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
            # Before any row is counted the divisor is 0: use 1, as the curve has no points there anyway.
            columns |= self._losses(sums / np.maximum(stops + counted, 1)[:, None])
        if self._ordered:
            self._scores.append(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0])
        return columns

    @property
    def _counted(self) -> int:
        return max(self._seen - self._first, 0)

    def _pass_over(self, scores: Floats) -> None:
        """Let reference classifiers learn the labels of the first rows, which are left out of all counts."""
        self._seen += len(scores)
        if self._references is not None:
            self._references.add(len(scores), _NOWHERE)
            self._references.right[:] = 0

    def _losses(self, means: Floats) -> dict[str, Any]:
        names = LOSSES if self._log_odds else LOSSES[:2]
        return {name: means[..., i] for i, name in enumerate(names)}

    def areas(self, stops: Rows) -> dict[str, Floats]:
        """Return areas under the ROC curve: for each t in `stops`, the area for the first t counted rows.

        An area is NaN if a class does not occur in these rows, or if any score is NaN.
        """
        if not self._ordered:
            return {}
        scores = self._all_scores()
        if np.isnan(scores).any():
            return {name: np.full(len(stops), np.nan) for name in AREAS}
        found: dict[str, Floats] = {}
        for name, labels in zip(AREAS, self._counted_labels(), strict=True):
            if found and self._clean_alone:
                return dict.fromkeys(AREAS, found[AREAS[0]])
            positive = np.concatenate([[0], np.cumsum(labels)])[stops]
            pairs = 2.0 * positive * (stops - positive)
            won = pairs_in_order(scores, labels, stops)
            found[name] = won / np.where(pairs, pairs, np.nan)
        return found

    def latest_areas(self, stops: Rows) -> dict[str, Floats]:
        """Return windowed and fading areas and average precisions after `stops` rows, by column of curves."""
        latest: dict[str, Floats] = {}
        if self._window is not None:
            latest["window"] = np.ones(self._window)
        if self._fading is not None:
            rows = 1 + int(np.log(_LEAST_WEIGHT) / np.log(self._fading))
            latest["fading"] = self._fading ** np.arange(rows - 1, -1, -1.0)
        found: dict[str, Floats] = {}
        for prefix, weights in latest.items() if self._ordered else ():
            for area, precision, codes in zip(AREAS, PRECISIONS, self._counted_labels(), strict=True):
                parts = [self._latest_rows(codes, t, weights) for t in stops.tolist()]
                found[f"{prefix}_{area}"] = np.array([area_under_curve(*part) for part in parts])
                found[f"{prefix}_{precision}"] = np.array([average_precision(*part) for part in parts])
        return found

    def _latest_rows(self, codes: Codes, stop: int, weights: Floats) -> tuple[Floats, Codes, Floats]:
        """Return scores, labels and weights of the latest rows before `stop`, at most one for each weight."""
        part = slice(max(0, stop - len(weights)), stop)
        return self._all_scores()[part], codes[part], weights[len(weights) - (part.stop - part.start) :]

    def _counted_labels(self) -> list[Codes]:
        return [labels[self._first : max(self._first, self._seen)] for labels in self._labels]

    def _all_scores(self) -> Floats:
        if len(self._scores) != 1:
            self._scores = [np.concatenate([*self._scores, np.empty(0)])]
        return self._scores[0]

    def counts(self) -> dict[str, Any]:
        """Return counts and mean losses since counting began, by column of the store."""
        row: dict[str, Any] = {}
        if "classes" in self._kept:
            row |= dict(zip(BY_CLASS, self._table.tolist(), strict=True))
        if self._references is not None:
            row |= dict(zip(REFERENCES, self._references.right.tolist(), strict=True))
        if "scores" in self._kept and self._counted:
            row |= {name: float(mean) for name, mean in self._losses(self._sums / self._counted).items()}
        return row

    def latest(self) -> dict[str, Any]:
        """Return the curve's values after all rows so far, by column, without areas under the ROC curve."""
        return self.counts() | (self._faded.latest() if self._faded is not None else {})

    def totals(self) -> dict[str, Any]:
        """Return all totals since counting began, by column of the store."""
        row = self.counts()
        if self._counted:
            row |= {name: float(area[0]) for name, area in self.areas(np.array([self._counted])).items()}
        if self._ordered and self._counted:
            scores = self._all_scores()
            for name, labels in zip(PRECISIONS, self._counted_labels(), strict=True):
                row[name] = average_precision(scores, labels)
        return row


def window_measures(
    columns: Mapping[str, Column], noted: Rows, window: int, first: int
) -> dict[str, list[Any]]:
    """Return errors, counts by class and mean losses of the latest `window` examples, by column of curves.

    Each is a difference of two cumulative values. `columns` has the cumulative values after each number of
    examples in `noted` (int64, ascending). The first `first` examples are not counted, so the first windows
    are shorter. A result is None if `columns` has no value at the start of its window. Measures without a
    column in `columns` are left out.
    """
    # Index -1 is the row of zeros appended below: the cumulative values at the beginning of the stream.
    index = {0: -1} | {int(t): i for i, t in enumerate(noted)}
    starts = np.maximum(first, noted - window).tolist()
    found: dict[str, list[Any]] = {}
    for name, count in {**_WINDOW_ERRORS, **BY_WINDOW}.items():
        if count not in columns:
            continue
        counts, mean = np.asarray(columns[count]), count in LOSSES
        if mean:
            counts = counts * np.maximum(noted - first, 0)
        counts = np.concatenate([counts, np.zeros_like(counts[:1])])
        found[name] = []
        for i, (t, start) in enumerate(zip(noted.tolist(), starts, strict=True)):
            before = index.get(start) if t > first else None
            since = None if before is None else counts[i] - counts[before]
            divided = since is not None and (mean or name in _WINDOW_ERRORS)
            found[name].append(since / (t - start) if divided else since)
    return found


def are_mistakes(scores: Floats, codes: Codes) -> NDArray[np.bool_]:
    """Return which rows are mistakes: those whose signed margin is <= 0 or NaN."""
    if scores.ndim == 1:
        return ~(np.where(codes == 1, scores, -scores) > 0.0)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    wrong: NDArray[np.bool_] = ~(scores[rows, codes] > others.max(axis=1))
    return wrong


class FadingSums:
    """Add up terms with a fading factor α in (0, 1), one sum per name: S_t = term_t + α S_{t-1}.

    Gama, Sebastião, Rodrigues (2013), "On evaluating stream learning algorithms", Machine Learning 90.
    """

    def __init__(self, factor: float) -> None:
        self._factor = factor
        # The sums after the last row so far.
        self.latest: dict[str, Floats] = {}

    def add(self, terms: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the sums after each of the next rows; terms have shape (n,) or (n, K), with n > 0."""
        # Imported here, because the import takes as long as a small cell.
        from scipy.signal import lfilter

        sums: dict[str, Floats] = {}
        for name, each in terms.items():
            before = self.latest.get(name, np.zeros(each.shape[1:]))[np.newaxis]
            sums[name], _ = lfilter([1.0], [1.0, -self._factor], each, axis=0, zi=self._factor * before)
            self.latest[name] = sums[name][-1]
        return sums


def _after(sums: Sequence[Floats], stops: Rows) -> Floats:
    """Return the running sum after each number of rows in `stops`, NaN after 0 rows.

    `sums` has the running sum after every row of the stream, cut into arrays of consecutive rows.
    """
    return np.concatenate([np.full_like(sums[0][:1], np.nan), *sums])[stops]


class Fading:
    """Compute fading errors: the fading sum of mistakes divided by the fading number of rows.

    The first `first` rows are left out. Each array of `labels` (int32, shape (n,)) gives one error.
    """

    def __init__(self, factor: float, first: int, labels: Sequence[Codes]) -> None:
        self._sums, self._first, self._labels = FadingSums(factor), first, labels
        self._seen = 0

    def errors(self, scores: Floats, stops: Rows) -> dict[str, Floats]:
        """Add rows; return the errors after each of `stops`, by column of curves; NaN before any counted row.

        `scores` has shape (n,) or (n, K). `stops` are numbers of these rows, ascending, at most n.
        """
        rows = slice(self._seen, self._seen + len(scores))
        self._seen = rows.stop
        counts = (np.arange(rows.start, rows.stop) >= self._first).astype(np.float64)
        terms = {"rows": counts}
        for name, labels in zip(LATEST_ERRORS[2:], self._labels, strict=True):
            terms[name] = are_mistakes(scores, labels[rows]) * counts
        sums = self._sums.add(terms)
        return _shares({name: _after([each], stops) for name, each in sums.items()})

    def latest(self) -> dict[str, Floats]:
        """Return the errors after the last row so far."""
        return _shares(self._sums.latest)


def _shares(sums: Mapping[str, Floats]) -> dict[str, Floats]:
    n = np.where(sums["rows"] > 0, sums["rows"], np.nan)
    return {name: each / n for name, each in sums.items() if name != "rows"}


class FadingCounts:
    """Compute the fading sums that metrics need: a row's weight is `factor` times that of the next row."""

    def __init__(self, factor: float) -> None:
        self._sums = FadingSums(factor)

    def add(
        self,
        scores: Floats,
        labels: tuple[Codes, Codes],
        stops: Rows,
        counted: tuple[Rows, References] | None,
        losses: tuple[Floats, bool] | None,
    ) -> dict[str, Floats]:
        """Add rows; return the fading sums and mean losses after each of `stops`, by column of the curves.

        `scores` has shape (n,) or (n, K); `labels` are the given and the clean ones, shape (n,); `stops` are
        numbers of these rows, ascending, at most n. `counted` has the counts by class and the baselines,
        `losses` the sums of losses and whether scores are log odds. Counts and sums are those of all rows
        before these; this call does not change them.
        """
        parts: list[dict[str, Floats]] = []
        table = None if counted is None else counted[0].copy()
        references = None if counted is None else counted[1].fork()
        sums, log_odds = (None, False) if losses is None else (losses[0].copy(), losses[1])
        for start in range(0, len(scores), _PIECE):
            part = slice(start, start + _PIECE)
            here, (given, clean) = scores[part], (each[part] for each in labels)
            every = np.arange(1, len(here) + 1)
            terms = {"rows": np.ones(len(here))}
            if table is not None and references is not None:
                before, right = table.copy(), references.right.copy()
                by_class = _steps(before, tally_classes(here, given, clean, every, table))
                besides = _steps(right, references.add(len(here), every)[:, : len(REFERENCES)])
                terms |= {name: by_class[:, i] for i, name in enumerate(BY_CLASS)}
                terms |= {name: besides[:, i] for i, name in enumerate(REFERENCES)}
            if sums is not None:
                so_far = sums.copy()
                lost = _steps(so_far, sum_losses(here, given, clean, log_odds, every, sums))
                terms |= {name: lost[:, i] for i, name in enumerate(LOSSES if log_odds else LOSSES[:2])}
            parts.append(self._sums.add(terms))
        names = parts[0] if parts else ()
        return _faded({name: _after([part[name] for part in parts], stops) for name in names})

    def latest(self) -> dict[str, Floats]:
        """Return the fading sums and mean losses after the last row so far."""
        return _faded(self._sums.latest)


def _faded(sums: Mapping[str, Floats]) -> dict[str, Floats]:
    """Turn fading sums into columns of the curves: counts unchanged, losses divided by the sum of weights."""
    own = {column: name for column, name in BY_FADING.items() if name in sums}
    return {name: sums[of] / sums["rows"] if of in LOSSES else sums[of] for name, of in own.items()}


def _steps(before: NDArray[Any], so_far: NDArray[Any]) -> Floats:
    """Return what each row adds to sums that are `so_far` after each row and `before` at the start."""
    return np.diff(so_far, axis=0, prepend=before[np.newaxis]).astype(np.float64)


def area_under_curve(scores: Floats, codes: Codes, weights: Floats | None = None) -> float:
    """Return the area under the ROC curve, NaN if a class does not occur or a score is NaN.

    `codes` are 0 or 1, `weights` weight the rows. Ties count half, as in scikit-learn.
    """
    if not codes.any() or codes.all() or np.isnan(scores).any():
        return float("nan")
    values, places = np.unique(scores, return_inverse=True)
    each = np.ones(len(scores)) if weights is None else weights
    positive = np.bincount(places, each * codes, len(values))
    negative = np.bincount(places, each * (1 - codes), len(values))
    won = np.sum(positive * (np.cumsum(negative) - negative / 2))
    return float(won / (positive.sum() * negative.sum()))


def average_precision(scores: Floats, codes: Codes, weights: Floats | None = None) -> float:
    """Return the average precision as scikit-learn defines it, NaN if class 1 is missing or a score is NaN.

    `codes` are 0 or 1, `weights` weight the rows.
    """
    if not codes.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    # Precision is computed once for rows with equal scores, after the last of them.
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
    seen = last + 1 if weights is None else np.cumsum(weights[order])[last]
    found = np.cumsum(codes[order] if weights is None else (weights * codes)[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * (found / seen)) / found[-1])
