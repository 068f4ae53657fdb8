"""Compute measures of the latest examples: over a window, and with a fading factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import References, sum_losses, tally_classes
from ..counts import LATEST_ERRORS
from ..scoring import BY_CLASS, BY_FADING, BY_WINDOW, LOSSES, REFERENCES

# Column of each windowed error, and the count of mistakes from which it is computed.
WINDOW_ERRORS = dict(zip(LATEST_ERRORS[:2], ("mistakes", "mistakes_clean"), strict=True))
FADING_ERRORS = LATEST_ERRORS[2:]
# Counts after every row are computed for this many rows at a time: with 26 classes they take 1.3 MB.
_PIECE = 1024


def window_errors(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], noted: NDArray[np.int64], window: int, first: int
) -> dict[str, list[float | None]]:
    """Return the shares of mistakes among the latest `window` examples, by column of the curves.

    `columns` holds the cumulative mistakes by column, `noted` (int64, ascending) the numbers of examples
    after which they were noted, and `first` the number of examples that do not count. Near the beginning
    fewer examples are used. A value is None if the count at the start of its window was not noted.
    """
    errors: dict[str, list[float | None]] = {name: [] for name in WINDOW_ERRORS}
    for name, count in WINDOW_ERRORS.items():
        mistakes = [*np.asarray(columns[count]).tolist(), 0]
        for i, start, n in _stretches(noted, window, first):
            errors[name].append(None if start is None else (mistakes[i] - mistakes[start]) / n)
    return errors


def window_counts(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], noted: NDArray[np.int64], window: int, first: int
) -> dict[str, list[Any]]:
    """Return counts by class, of references and mean losses of the latest examples, by column of the curves.

    `columns` holds their cumulative values; the other arguments are those of `window_errors`. A value is None
    if the one at the start of its window was not noted. Columns that are not kept are left out.
    """
    found: dict[str, list[Any]] = {}
    for name, count in BY_WINDOW.items():
        if count in columns:
            counts, mean = np.asarray(columns[count]), count in LOSSES
            if mean:
                counts = counts * np.maximum(noted - first, 0)
            counts = np.concatenate([counts, np.zeros_like(counts[:1])])
            latest: list[Any] = []
            for i, start, n in _stretches(noted, window, first):
                since = None if start is None else counts[i] - counts[start]
                latest.append(since / n if mean and since is not None else since)
            found[name] = latest
    return found


def _stretches(noted: NDArray[np.int64], window: int, first: int) -> Iterator[tuple[int, int | None, int]]:
    """Yield each noted point's index, that of its window's start (-1: beginning), and the rows between."""
    place = {0: -1} | {int(t): i for i, t in enumerate(noted)}
    for i, t in enumerate(noted.tolist()):
        began = max(first, t - window)
        yield i, place.get(began) if t > first else None, t - began


def are_mistakes(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which rows are mistakes: those with signed margin not above 0, as in `count_mistakes`."""
    if scores.ndim == 1:
        return ~(np.where(codes == 1, scores, -scores) > 0.0)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    wrong: NDArray[np.bool_] = ~(scores[rows, codes] > others.max(axis=1))
    return wrong


class Fading:
    """Errors with a fading factor: S_t = 1[mistake] + α S_{t-1}, N_t = 1 + α N_{t-1}, error S_t / N_t.

    `factor` is α in (0, 1). `first` is the number of rows that do not count. `labels` holds arrays of labels
    (int32, shape (n,)); each gives one error.

    References
    ----------
    Gama, Sebastião, Rodrigues (2013), "On evaluating stream learning algorithms", Machine Learning 90.
    """

    def __init__(self, factor: float, first: int, labels: Sequence[NDArray[np.int32]]) -> None:
        self._factor, self._first, self._labels = factor, first, labels
        self._seen = 0
        # S for each kind of labels, then N: N is the sum with the constant term 1.
        self._sums = np.zeros(len(labels) + 1)

    def errors(self, scores: NDArray[np.float64], stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return the errors after some of the next rows, by column of the curves; NaN if no row counts yet.

        `scores` has shape (n,) or (n, K). `stops` holds numbers of these rows, ascending, at most n.
        """
        # Imported here, because the import takes as long as a small cell.
        from scipy.signal import lfilter

        n, seen = len(scores), self._seen
        counts = (np.arange(seen, seen + n) >= self._first).astype(np.float64)
        terms = np.array(
            [*(are_mistakes(scores, labels[seen : seen + n]) * counts for labels in self._labels), counts]
        )
        sums, _ = lfilter([1.0], [1.0, -self._factor], terms, zi=self._factor * self._sums[:, np.newaxis])
        if n:
            self._sums = sums[:, -1]
        self._seen += n
        at_stops = np.concatenate([np.full((len(sums), 1), np.nan), sums], axis=1)[:, stops]
        return self._shares(at_stops)

    def latest(self) -> dict[str, float]:
        """Return the errors after the last row so far."""
        return {name: float(value[0]) for name, value in self._shares(self._sums[:, np.newaxis]).items()}

    def _shares(self, sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        n = np.where(sums[-1] > 0, sums[-1], np.nan)
        return {name: each / n for name, each in zip(FADING_ERRORS, sums[:-1], strict=True)}


class FadingCounts:
    """Fading sums from which metrics are computed: each row weighs `factor`, α in (0, 1), times the next."""

    def __init__(self, factor: float) -> None:
        self._factor = factor
        # One sum per column, in the order of the terms; the last is N, the sum of the weights.
        self._sums: NDArray[np.float64] | None = None
        self._latest: dict[str, Any] = {}

    def add(
        self,
        scores: NDArray[np.float64],
        labels: tuple[NDArray[np.int32], NDArray[np.int32]],
        stops: NDArray[np.int64],
        counted: tuple[NDArray[np.int64], References] | None,
        losses: tuple[NDArray[np.float64], bool] | None,
    ) -> dict[str, NDArray[np.float64]]:
        """Return the fading sums and mean losses after some of the next rows, by column of the curves.

        `scores` has shape (n,) or (n, K); `labels` are the given and the clean ones, shape (n,); `stops`
        holds numbers of these rows, ascending, at most n. `counted` holds the table of `tally_classes` and
        the references, `losses` the sums of `sum_losses` and whether scores are log odds, all as before these
        rows; none of them is changed.
        """
        found = []
        own = None if counted is None else counted[0].copy()
        references = None if counted is None else counted[1].fork()
        sums = None if losses is None else losses[0].copy()
        for start in range(0, len(scores), _PIECE):
            part = slice(start, start + _PIECE)
            here, (given, clean) = scores[part], (each[part] for each in labels)
            every = np.arange(1, len(here) + 1)
            terms = [np.ones((len(here), 1))]
            if losses is not None and sums is not None:
                before = sums.copy()
                terms.insert(0, _steps(before, sum_losses(here, given, clean, losses[1], every, sums)))
            if own is not None and references is not None:
                right, before_table = references.right.copy(), own.copy()
                besides = references.add(len(here), every)[:, : len(REFERENCES)]
                terms.insert(0, _steps(right, besides))
                by_class = _steps(before_table, tally_classes(here, given, clean, every, own))
                terms.insert(0, by_class.reshape(len(here), -1))
            found.append(self._faded(np.concatenate(terms, axis=1)))
        if not found:
            return {}
        after = np.concatenate([np.full_like(found[0][:1], np.nan), *found])
        n_classes = counted[0].shape[1] if counted is not None else 0
        named = (n_classes, losses is not None, losses is not None and losses[1])
        self._latest = {name: values[0] for name, values in _named(after[-1:], *named).items()}
        return _named(after[stops], *named)

    def latest(self) -> dict[str, Any]:
        """Return the fading sums after the last row so far."""
        return self._latest

    def _faded(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        from scipy.signal import lfilter

        before = np.zeros(terms.shape[1]) if self._sums is None else self._sums
        sums, _ = lfilter([1.0], [1.0, -self._factor], terms, axis=0, zi=self._factor * before[np.newaxis])
        self._sums = sums[-1]
        return np.asarray(sums)


def _steps(before: NDArray[Any], so_far: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each row adds to cumulative sums."""
    return np.diff(so_far, axis=0, prepend=before[np.newaxis]).astype(np.float64)


def _named(
    sums: NDArray[np.float64], n_classes: int, losses: bool, log_odds: bool
) -> dict[str, NDArray[np.float64]]:
    """Return the columns of the curves: counts unchanged, losses divided by the sum of the weights."""
    names = dict(zip(BY_FADING.values(), BY_FADING, strict=True))
    found: dict[str, NDArray[np.float64]] = {}
    place = 0
    for name in BY_CLASS if n_classes else ():
        found[names[name]] = sums[:, place : place + n_classes]
        place += n_classes
    for name in REFERENCES if n_classes else ():
        found[names[name]] = sums[:, place]
        place += 1
    for i, name in enumerate(LOSSES if losses else ()):
        if log_odds or i < 2:
            found[names[name]] = sums[:, place + i] / sums[:, -1]
    return found
