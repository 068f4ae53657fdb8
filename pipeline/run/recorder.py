"""Record the results of a learner along a stream: totals, learning curves, and data for further metrics."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, References, mistakes_of_both, pairs_in_order, sum_losses, tally_classes
from ..counts import COUNTS, LATEST_ERRORS
from ..scoring import AREAS, BY_CLASS, BY_FADING, LOSSES, PRECISIONS, REFERENCES
from ..store.schema import Curve
from ..study.specs import USUAL, Course
from .splits import Codes, Floats, Rows, checkpoints

Column = Sequence[Any] | NDArray[Any]

_NOWHERE = np.empty(0, np.int64)
# With fading weights, AUC and average precision leave out old rows whose weight is below this. Otherwise all
# rows so far would be sorted for each point of a learning curve.
_LEAST_WEIGHT = 1e-100
# Fading sums are computed for this many rows at a time. They need the counts after every row, which for so
# many rows take 1.3 MB with 26 classes.
_PIECE = 1024
# Counts and error rates over a window of the latest rows: the column, and the count it is computed from.
_WINDOW_COUNTS: dict[str, str] = {
    **dict(zip(LATEST_ERRORS[:2], ("mistakes", "mistakes_clean"), strict=True)),
    **{f"window_{name}": name for name in (*BY_CLASS, *REFERENCES)},
}

# Counts that the recorder computes itself from the scores; learners report all other counts.
MISTAKES = ("mistakes", "mistakes_clean", "ties")
LEARNER_COUNTS = frozenset(COUNTS) - {*MISTAKES}
_UNCOUNTED: dict[str, int | None] = dict.fromkeys(sorted(LEARNER_COUNTS))
# Counts that add up along the stream. If results leave out the first rows, the counts of these rows are
# subtracted.
_SUMS = frozenset(name for name, count in COUNTS.items() if not count.state)


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return the declared counts of a learner by column name, with None for those that it does not report."""
    return _UNCOUNTED | {name: value for name, value in counters.items() if name in LEARNER_COUNTS}


class Recorder:
    """Record a learner's results along a stream: the totals, and a learning curve.

    `noisy` and `clean` (int32, shape (n,)) are the labels that the learner gets and those without noise.
    The first `counted_from` examples are left out of all results. `points` says after which numbers of the
    other examples the curve has a point (see `checkpoints`). `course` sets the window and the fading factor
    of measures of the latest examples. `tallies` computes the counts and losses that only some metrics need.
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
        # The records: a dict of columns for each call of `add` or `end`. Later dicts may have columns
        # that earlier ones lack.
        self._stretches: list[dict[str, Column]] = []
        self._window = course.window
        self._faded = None if course.fading is None else FadingSums(course.fading)
        # Ascending numbers of rows: the curve has a point after each number in `shown`. Counts are recorded
        # after each number in `stops`, which contains `shown`.
        self.shown = checkpoints(len(noisy) - counted_from, points)
        self.stops = self.shown
        # Whether counts are also recorded where the curve has no point: where windows and counting begin.
        self._more = bool(counted_from) or self._window is not None
        if self._more:
            self.shown = self.shown + counted_from
            back = np.maximum(self.shown - (self._window or 0), counted_from)
            self.stops = np.unique(np.concatenate([self.shown, back, [counted_from]]))
            self.stops = self.stops[self.stops > 0]

    def add(self, passage: Passage, stops: Rows, seconds: float) -> None:
        """Record the next rows of the stream; learning took `seconds` before them.

        `passage` has the learner's scores of these rows, and its counts after each number of rows in `stops`.
        These numbers ascend, and count from the first of these rows.
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
        if self._faded is not None:
            points |= self._fading_errors(self._faded, passage.scores, (noisy, clean), stops)
        if self._tallies is not None:
            points |= self._tallies.add(passage.scores, stops)
        # Rows without a stop would add empty columns: keep these once only, at first, so that columns exist.
        if len(stops) or not self._stretches:
            self._stretches.append(points)
        self.seen += n

    def _fading_errors(
        self, sums: FadingSums, scores: Floats, labels: tuple[Codes, Codes], stops: Rows
    ) -> dict[str, Floats]:
        """Return the error rates with fading weights after each number of the next rows in `stops`.

        Rows that are left out have weight 0. An error rate is NaN before any counted row.
        """
        n = len(scores)
        so_far = np.empty((len(MISTAKES), n), np.int64)
        mistakes_of_both(scores, *labels, np.arange(1, n + 1), so_far)
        counts = (np.arange(self.seen, self.seen + n) >= self.counted_from).astype(np.float64)
        terms = {"rows": counts}
        for name, mistakes in zip(LATEST_ERRORS[2:], so_far[:2], strict=True):
            terms[name] = np.diff(mistakes, prepend=0) * counts
        return _shares({name: _after([each], stops) for name, each in sums.add(terms).items()})

    def end(self, counters: Mapping[str, int], seconds: float) -> None:
        """End the learning curve with a point after the last row so far, because the stream stops early."""
        self.shown = np.append(self.shown[self.shown < self.seen], self.seen)
        if self._stretches and self.seen in self._stretches[-1]["t"]:
            return
        last: dict[str, Any] = {"t": self.seen, "fit_seconds": seconds, **self._totals, **declared(counters)}
        if self._faded is not None:
            last |= _shares(self._faded.latest)
        if self._tallies is not None:
            last |= self._tallies.latest()
        self._stretches.append({name: [value] for name, value in last.items()})

    def note_accuracy(self, accuracy: float) -> None:
        """Record the test accuracy at the last point recorded so far."""
        last = self._stretches[-1]
        last["test_accuracy"] = [*[None] * (len(last["t"]) - 1), accuracy]

    def counted(self, counters: Mapping[str, int]) -> dict[str, Any]:
        """Return all counts without those of the first `counted_from` rows, by column name.

        `counters` are the learner's current counts.
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
        """Return the seconds of learning the first `counted_from` rows, which results leave out."""
        return float(self._before().get("fit_seconds") or 0.0)

    def curve(self) -> Curve:
        """Return the learning curve, as columns by name."""
        columns = self._columns()
        if self._more:
            columns = self._since(columns)
        if self._tallies is not None:
            shown = np.asarray(columns["t"], np.int64)
            areas = self._tallies.areas(shown) | self._tallies.latest_areas(shown)
            columns = {**columns, **areas, **self._tallies.window_losses(shown)}
        return columns

    def _since(self, columns: dict[str, Column]) -> dict[str, Column]:
        """Return the columns at the points of the curve, without the first `counted_from` rows.

        The totals of these rows are subtracted: counts, seconds and `t` begin at 0 after them.
        """
        noted = np.asarray(columns["t"])
        if self._window is not None:
            columns = columns | window_counts(columns, noted, self._window, self.counted_from)
        before = self._before()
        places = np.flatnonzero(np.isin(noted, self.shown) & (noted > self.counted_from)).tolist()
        curve: dict[str, Column] = {name: [values[i] for i in places] for name, values in columns.items()}
        for name in curve.keys() & (_SUMS | {"fit_seconds"}):
            base = before.get(name) or 0
            curve[name] = [None if value is None else value - base for value in curve[name]]
        return curve | {"t": noted[places] - self.counted_from}

    def _columns(self) -> dict[str, Column]:
        """Return all that was recorded so far, as one dict of columns."""
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
        # The stream stopped within the first rows, which are left out: subtract everything.
        if not len(places):
            return dict(self._totals)
        return {name: values[places[0]] for name, values in columns.items()}


class Tallies:
    """Compute what only some metrics need: counts by class, losses, AUC and average precision.

    `given` and `clean` (int32, shape (n,)) are the labels that the learner gets and those without noise.
    `kept` names what is needed: "classes" (counts by class), "scores" (the rest) or both. Log loss is only
    computed if scores are log odds (`log_odds`). `references` are new baseline classifiers for these labels.
    The first `first` rows are not counted, but the baselines learn their labels. If `course` has a window,
    curves also get losses, AUC and average precision of the latest rows; `window_counts` computes the other
    values of the window. If it has a fading factor, curves also get each measure with fading weights.
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
        self._faded = None if course.fading is None else FadingSums(course.fading)
        self._references = references if "classes" in kept else None
        self._table = np.zeros((len(BY_CLASS), n_classes), np.int64)
        # Sums of losses: so far, and since the last stop. For windows, the latter are stored with the number
        # of counted rows at each stop.
        self._sums = np.zeros((2, len(LOSSES)))
        self._stops: list[int] = []
        self._lost: list[Floats] = []
        # Whether scores are stored for AUC and average precision, which need two classes.
        self._ordered = "scores" in kept and n_classes == 2
        # Whether given and clean labels are equal, as without noise: AUC is then computed only once.
        self._clean_alone = self._ordered and np.array_equal(given, clean)
        self._scores: list[Floats] = []
        self._stored_ranks = np.empty(0, np.int64)
        # Number of rows added so far.
        self._seen = 0

    def add(self, scores: Floats, stops: Rows) -> dict[str, NDArray[Any]]:
        """Add the scores of the next rows; return columns of the learning curve after each number in `stops`.

        `stops` are ascending numbers of rows, which start at the first of these rows. The columns of AUC are
        not among the returned ones: `areas` computes them at the end of the stream.
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
            columns |= self._fading_measures(self._faded, scores, (given, clean), stops)
        if "classes" in self._kept:
            tables = tally_classes(scores, given, clean, stops, self._table)
            columns |= {name: tables[:, i] for i, name in enumerate(BY_CLASS)}
        if self._references is not None:
            besides = self._references.add(len(scores), stops)
            columns |= {name: besides[:, i] for i, name in enumerate(REFERENCES)}
        if "scores" in self._kept:
            sums = sum_losses(scores, given, clean, self._log_odds, stops, self._sums)
            # Divide by at least 1: before any counted row the curve has no point, so the value is not used.
            columns |= self._losses(sums[:, 0] / np.maximum(stops + counted, 1)[:, None])
            if self._window is not None:
                self._stops.extend((stops + counted).tolist())
                self._lost.extend(sums[:, 1])
        if self._ordered:
            self._scores.append(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0])
        return columns

    def _fading_measures(
        self, faded: FadingSums, scores: Floats, labels: tuple[Codes, Codes], stops: Rows
    ) -> dict[str, Floats]:
        """Return counts and mean losses with fading weights after each number of the next rows in `stops`.

        Copies of the counts so far are used, because `add` updates the originals afterwards.
        """
        parts: list[dict[str, Floats]] = []
        table = self._table.copy()
        references = None if self._references is None else self._references.fork()
        for start in range(0, len(scores), _PIECE):
            part = slice(start, start + _PIECE)
            here, (given, clean) = scores[part], (each[part] for each in labels)
            every = np.arange(1, len(here) + 1)
            terms = {"rows": np.ones(len(here))}
            if references is not None:
                before, right = table.copy(), references.right.copy()
                by_class = _steps(before, tally_classes(here, given, clean, every, table))
                besides = _steps(right, references.add(len(here), every)[:, : len(REFERENCES)])
                terms |= {name: by_class[:, i] for i, name in enumerate(BY_CLASS)}
                terms |= {name: besides[:, i] for i, name in enumerate(REFERENCES)}
            if "scores" in self._kept:
                nothing = np.zeros_like(self._sums)
                terms |= self._losses(sum_losses(here, given, clean, self._log_odds, every, nothing)[:, 1])
            parts.append(faded.add(terms))
        names = parts[0] if parts else ()
        return _faded({name: _after([part[name] for part in parts], stops) for name in names})

    @property
    def _counted(self) -> int:
        return max(self._seen - self._first, 0)

    def _pass_over(self, scores: Floats) -> None:
        """Skip first rows, which are left out of all counts: only baseline classifiers learn their labels."""
        self._seen += len(scores)
        if self._references is not None:
            self._references.add(len(scores), _NOWHERE)
            self._references.right[:] = 0

    def _losses(self, means: Floats) -> dict[str, Any]:
        known = [name for name in LOSSES if self._log_odds or not name.startswith("log_loss")]
        return {name: means[..., LOSSES.index(name)] for name in known}

    def areas(self, stops: Rows) -> dict[str, Floats]:
        """Return areas under the ROC curve: for each t in `stops`, the area for the first t counted rows.

        An area is NaN if a class does not occur in these rows, or if any score is NaN.
        """
        if not self._ordered:
            return {}
        ranks = self._ranks()
        if ranks is None:
            return {name: np.full(len(stops), np.nan) for name in AREAS}

        def measure(codes: Codes) -> Floats:
            positive = np.concatenate([[0], np.cumsum(codes)])[stops]
            pairs = 2.0 * positive * (stops - positive)
            return pairs_in_order(ranks, codes, stops) / np.where(pairs, pairs, np.nan)

        return dict(zip(AREAS, self._of_both_labels(measure), strict=True))

    def latest_areas(self, stops: Rows) -> dict[str, Floats]:
        """Return AUC and average precision of the latest rows, after each number of counted rows in `stops`.

        Columns by name: over the window, and with fading weights, as far as the study asks for these.
        """
        latest: dict[str, Floats] = {}
        if self._window is not None:
            latest["window"] = np.ones(min(self._window, self._seen))
        if self._fading is not None:
            rows = 1 + int(np.log(_LEAST_WEIGHT) / np.log(self._fading))
            latest["fading"] = self._fading ** np.arange(rows - 1, -1, -1.0)
        found: dict[str, Floats] = {}
        for prefix, weights in latest.items() if self._ordered else ():
            measured = self._of_both_labels(partial(self._latest_measures, stops, weights))
            for area, precision, values in zip(AREAS, PRECISIONS, measured, strict=True):
                found[f"{prefix}_{area}"], found[f"{prefix}_{precision}"] = values.T
        return found

    def window_losses(self, stops: Rows) -> dict[str, list[Any]]:
        """Return mean losses over the window, after each number of counted rows in `stops`, by column name.

        A mean is None if no losses were recorded at the start of its window.
        """
        if self._window is None or "scores" not in self._kept:
            return {}
        ends = [0, *self._stops, self._counted]
        lost = np.array([np.zeros(len(LOSSES)), *self._lost, self._sums[1]])
        found = np.full((len(stops), len(LOSSES)), None)
        for i, stop in enumerate(stops.tolist()):
            start = max(0, stop - self._window)
            first, last = bisect_right(ends, start), bisect_right(ends, stop)
            if ends[first - 1] == start:
                found[i] = lost[first:last].sum(axis=0) / (stop - start)
        return {f"window_{name}": means.tolist() for name, means in self._losses(found).items()}

    def _latest_measures(self, stops: Rows, weights: Floats, codes: Codes) -> Floats:
        """Return AUC and average precision of the last rows before each row in `stops`, shape (n, 2).

        There are as many of them as weights. If there are fewer rows, they get the last of the weights.
        """
        found = np.empty((len(stops), 2))
        for i, stop in enumerate(stops.tolist()):
            rows = slice(max(0, stop - len(weights)), stop)
            part = self._all_scores()[rows], codes[rows], weights[len(weights) - (rows.stop - rows.start) :]
            found[i] = area_under_curve(*part), average_precision(*part)
        return found

    def _of_both_labels(self, measure: Callable[[Codes], Any]) -> tuple[Any, Any]:
        """Return `measure` of the counted rows' given and clean labels; equal labels are measured once."""
        given, clean = (labels[self._first : max(self._first, self._seen)] for labels in self._labels)
        first = measure(given)
        return first, first if self._clean_alone else measure(clean)

    def _all_scores(self) -> Floats:
        if len(self._scores) != 1:
            self._scores = [np.concatenate([*self._scores, np.empty(0)])]
        return self._scores[0]

    def _ranks(self) -> Rows | None:
        """Return the rank of each counted row's score, 0 for the lowest; equal scores have one rank.

        It is None if any score is NaN. Ranks are stored, because the totals and the curve both need them.
        """
        scores = self._all_scores()
        if np.isnan(scores).any():
            return None
        if len(self._stored_ranks) != len(scores):
            self._stored_ranks = np.unique(scores, return_inverse=True)[1]
        return self._stored_ranks

    def counts(self) -> dict[str, Any]:
        """Return counts and mean losses over all counted rows so far, by column name."""
        row: dict[str, Any] = {}
        if "classes" in self._kept:
            row |= dict(zip(BY_CLASS, self._table.tolist(), strict=True))
        if self._references is not None:
            row |= dict(zip(REFERENCES, self._references.right.tolist(), strict=True))
        if "scores" in self._kept and self._counted:
            row |= {name: float(mean) for name, mean in self._losses(self._sums[0] / self._counted).items()}
        return row

    def latest(self) -> dict[str, Any]:
        """Return the values of a curve's point after all rows so far, by column name, except AUC."""
        return self.counts() | (_faded(self._faded.latest) if self._faded is not None else {})

    def totals(self) -> dict[str, Any]:
        """Return counts, mean losses, AUC and average precision over all counted rows, by column name."""
        row = self.counts()
        if self._ordered and self._counted:
            found = self._of_both_labels(partial(_area_and_precision, self._ranks()))
            for area, precision, values in zip(AREAS, PRECISIONS, found, strict=True):
                row[area], row[precision] = values
        return row


def window_counts(
    columns: Mapping[str, Column], noted: Rows, window: int, first: int
) -> dict[str, list[Any]]:
    """Return error rates and counts by class over the latest `window` examples, by column name.

    They are differences of the cumulative counts in `columns`, which were recorded after each number of
    examples in `noted` (int64, ascending). The result has a value for each of these numbers; it is None if no
    cumulative count was recorded at the start of the window. Windows leave out the first `first` examples, so
    the first windows are shorter. Measures without a column in `columns` are left out.
    """
    # Position of the cumulative counts after t rows. After 0 rows it is -1: a zero is appended to them below.
    index = {0: -1} | {int(t): i for i, t in enumerate(noted)}
    starts = np.maximum(first, noted - window).tolist()
    found: dict[str, list[Any]] = {}
    for name, count in _WINDOW_COUNTS.items():
        if count not in columns:
            continue
        counts = np.asarray(columns[count])
        counts = np.concatenate([counts, np.zeros_like(counts[:1])])
        found[name] = []
        for i, (t, start) in enumerate(zip(noted.tolist(), starts, strict=True)):
            before = index.get(start) if t > first else None
            since = None if before is None else counts[i] - counts[before]
            divided = since is not None and name in LATEST_ERRORS
            found[name].append(since / (t - start) if divided else since)
    return found


class FadingSums:
    """Compute named sums along a stream that fade by a factor α in (0, 1): S_t = term_t + α S_{t-1}.

    Gama, Sebastião, Rodrigues (2013), "On evaluating stream learning algorithms", Machine Learning 90.
    """

    def __init__(self, factor: float) -> None:
        self._factor = factor
        # The sums after the last row so far, by name.
        self.latest: dict[str, Floats] = {}

    def add(self, terms: Mapping[str, Floats]) -> dict[str, Floats]:
        """Add the terms of the next n > 0 rows, of shape (n,) or (n, K); return the sums after each row."""
        # Imported only if needed, because importing SciPy's filters takes as long as a small cell.
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


def _shares(sums: Mapping[str, Floats]) -> dict[str, Floats]:
    n = np.where(sums["rows"] > 0, sums["rows"], np.nan)
    return {name: each / n for name, each in sums.items() if name != "rows"}


def _faded(sums: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return fading counts and mean losses by column name, given their fading sums.

    Sums of losses are divided by the sum of the rows' weights; counts are returned unchanged.
    """
    own = {column: name for column, name in BY_FADING.items() if name in sums}
    return {name: sums[of] / sums["rows"] if of in LOSSES else sums[of] for name, of in own.items()}


def _steps(before: NDArray[Any], so_far: NDArray[Any]) -> Floats:
    """Return what each row adds to running sums, given their values `so_far` after each row.

    `before` has the sums before the first of these rows.
    """
    return np.diff(so_far, axis=0, prepend=before[np.newaxis]).astype(np.float64)


def _area_and_precision(ranks: Rows | None, codes: Codes) -> tuple[float, float]:
    """Return the area under the ROC curve and the average precision of rows with equal weights.

    `ranks` are those of the scores, None if a score is NaN. See `area_under_curve` and `average_precision`.
    """
    if ranks is None or not codes.any():
        return float("nan"), float("nan")
    rows = np.bincount(ranks)
    positive = np.bincount(ranks[codes == 1], minlength=len(rows))
    negative = rows - positive
    # Twice the number of pairs in which the row of class 1 has the larger score, and of all pairs.
    won = int(np.sum(positive * (2 * np.cumsum(negative) - negative)))
    pairs = 2.0 * int(positive.sum()) * int(negative.sum())
    falling = positive[::-1]
    found, seen = np.cumsum(falling), np.cumsum(rows[::-1])
    return won / pairs if pairs else float("nan"), float(np.sum(falling * (found / seen)) / found[-1])


def area_under_curve(scores: Floats, codes: Codes, weights: Floats) -> float:
    """Return the area under the ROC curve, NaN if a class does not occur or a score is NaN.

    `codes` are 0 or 1, `weights` weight the rows. Ties count half, as in scikit-learn.
    """
    if not codes.any() or codes.all() or np.isnan(scores).any():
        return float("nan")
    values, places = np.unique(scores, return_inverse=True)
    positive = np.bincount(places, weights * codes, len(values))
    negative = np.bincount(places, weights * (1 - codes), len(values))
    won = np.sum(positive * (np.cumsum(negative) - negative / 2))
    return float(won / (positive.sum() * negative.sum()))


def average_precision(scores: Floats, codes: Codes, weights: Floats) -> float:
    """Return the average precision as scikit-learn defines it, NaN if class 1 is missing or a score is NaN.

    `codes` are 0 or 1, `weights` weight the rows.
    """
    if not codes.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    # Positions of the last row of each run of equal scores: precision has one value for the whole run.
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
    seen = np.cumsum(weights[order])[last]
    found = np.cumsum((weights * codes)[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * (found / seen)) / found[-1])
