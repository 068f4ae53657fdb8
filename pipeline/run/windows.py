"""Figures of the latest examples: over a window, and with a fading factor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counts import LATEST_ERRORS
from ..scoring import BY_WINDOW

# The column of each, and the count of mistakes that it is made of.
WINDOW_ERRORS = dict(zip(LATEST_ERRORS[:2], ("mistakes", "mistakes_clean"), strict=True))
FADING_ERRORS = LATEST_ERRORS[2:]


def window_errors(
    columns: Mapping[str, Sequence[Any] | NDArray[Any]], noted: NDArray[np.int64], window: int, first: int
) -> dict[str, list[float | None]]:
    """Return the shares of mistakes among the latest examples.

    Parameters
    ----------
    columns : mapping of str to sequence of int
        Mistakes so far, by column.
    noted : ndarray of int64, shape (m,)
        After how many examples, ascending.
    window : int
        Examples to look back on; fewer near the beginning.
    first : int
        How many examples there are before those that count.

    Returns
    -------
    dict of str to list of float or None
        By column of the curves; None where it was not noted what there was a window ago.
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
    """Return what metrics of counts by class are made of, among the latest examples.

    Parameters
    ----------
    columns : mapping of str to sequence
        Counts by class and those of the references so far, by column; 0 where counting begins.
    noted, window, first
        As for `window_errors`.

    Returns
    -------
    dict of str to list
        By column of the curves, None where it was not noted what there was a window ago; empty where nothing
        is kept.
    """
    found: dict[str, list[Any]] = {}
    for name, count in BY_WINDOW.items():
        if count in columns:
            counts = np.asarray(columns[count])
            counts = np.concatenate([counts, np.zeros_like(counts[:1])])
            found[name] = [
                None if start is None else counts[i] - counts[start]
                for i, start, _ in _stretches(noted, window, first)
            ]
    return found


def _stretches(noted: NDArray[np.int64], window: int, first: int) -> Iterator[tuple[int, int | None, int]]:
    """Yield each place in what was noted, that of a window ago (-1: the beginning), and the rows between."""
    place = {0: -1} | {int(t): i for i, t in enumerate(noted)}
    for i, t in enumerate(noted.tolist()):
        began = max(first, t - window)
        yield i, place.get(began) if t > first else None, t - began


def are_mistakes(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Tell which rows are mistakes: their signed margin is not above 0, as `count_mistakes` has it."""
    if scores.ndim == 1:
        return ~(np.where(codes == 1, scores, -scores) > 0.0)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    wrong: NDArray[np.bool_] = ~(scores[rows, codes] > others.max(axis=1))
    return wrong


class Fading:
    """Errors with a fading factor: S_t = 1[mistake] + α S_{t-1}, N_t = 1 + α N_{t-1}, error S_t / N_t.

    Parameters
    ----------
    factor : float
        α in (0, 1).
    first : int
        How many rows there are before those that count.
    labels : tuple of ndarray of int32, shape (n,)
        By which rows are judged, one error each.

    References
    ----------
    Gama, Sebastião, Rodrigues (2013), "On evaluating stream learning algorithms", Machine Learning 90.
    """

    def __init__(self, factor: float, first: int, labels: Sequence[NDArray[np.int32]]) -> None:
        self._factor, self._first, self._labels = factor, first, labels
        self._seen = 0
        # Of each kind of labels S, and at last N: a row more of what is summed up is always 1.
        self._sums = np.zeros(len(labels) + 1)

    def errors(self, scores: NDArray[np.float64], stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return the errors after some of the rows that come next.

        Parameters
        ----------
        scores : ndarray of float64, shape (n,) or (n, K)
            Of these rows.
        stops : ndarray of int64, shape (m,)
            Numbers of rows, ascending, n at the most.

        Returns
        -------
        dict of str to ndarray of float64, shape (m,)
            By column of the curves; NaN where no row counts yet.
        """
        # Imported where it is asked for: it takes as long as a small cell.
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
        """Return the errors after the last of the rows so far."""
        return {name: float(value[0]) for name, value in self._shares(self._sums[:, np.newaxis]).items()}

    def _shares(self, sums: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        n = np.where(sums[-1] > 0, sums[-1], np.nan)
        return {name: each / n for name, each in zip(FADING_ERRORS, sums[:-1], strict=True)}
