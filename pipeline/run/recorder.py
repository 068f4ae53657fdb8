"""What is noted of a stream as it goes by: mistakes of every row, counts and seconds at the checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counts import COUNTS
from .stopwatch import Stopwatch

# Counted here; everything else is counted by learners.
MISTAKES = ("mistakes", "mistakes_clean")
LEARNER_COUNTS = tuple(name for name in COUNTS if name not in MISTAKES)


def is_mistake(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which predictions are mistakes: signed margin <= 0 (or not a number).

    Parameters
    ----------
    scores : ndarray of float64, shape (n,) or (n, K)
        Scores before the update; for two classes positive stands for code 1.
    codes : ndarray of int32, shape (n,)
        The labels to judge by.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    if scores.ndim == 1:
        margin = np.where(codes == 1, scores, -scores)
    else:
        each = np.arange(len(codes))
        own = scores[each, codes]
        others = scores.copy()
        others[each, codes] = -np.inf
        margin = own - others.max(axis=1)
    # Negated, so that a score that overflowed to NaN counts as the mistake it is.
    return ~(margin > 0)


def declared(counters: Mapping[str, int]) -> dict[str, int | None]:
    """Return what a learner has counted by the store's columns, None where it does not count."""
    return {name: counters.get(name) for name in LEARNER_COUNTS}


class Recorder:
    """Notes what a stream came to, row by row and at checkpoints.

    Parameters
    ----------
    noisy, clean : ndarray of int32, shape (n,)
        The labels that the learner is given, and those that they were made of.
    stops : ndarray of int64
        The numbers of examples after which the curve is read.
    counters : callable
        Returns what the learner has counted so far.
    watch : Stopwatch
        Runs while the learner learns; test accuracy is measured while it is paused.
    accuracy : callable, default=None
        Returns the learner's test accuracy; it is then part of the curve.

    Attributes
    ----------
    seen : int
        Rows noted so far.
    """

    def __init__(
        self,
        noisy: NDArray[np.int32],
        clean: NDArray[np.int32],
        stops: NDArray[np.int64],
        counters: Callable[[], Mapping[str, int]],
        watch: Stopwatch,
        accuracy: Callable[[], float] | None = None,
    ) -> None:
        self.seen = 0
        self._labels = dict(zip(MISTAKES, (noisy, clean), strict=True))
        self._wrong = {name: np.empty(len(noisy), dtype=bool) for name in self._labels}
        self._stops = set(stops.tolist())
        self._counters, self._watch, self._accuracy = counters, watch, accuracy
        self._curve: dict[str, list[Any]] = {"t": [], "fit_seconds": []}

    def at(self, t: int, *, last: bool = False) -> None:
        """Read the curve after example `t`, if it is a checkpoint or the last one."""
        if t not in self._stops and not last:
            return
        self._curve["t"].append(t)
        self._curve["fit_seconds"].append(self._watch.seconds)
        for name, value in declared(self._counters()).items():
            self._curve.setdefault(name, []).append(value)
        if self._accuracy is not None:
            with self._watch.paused():
                self._curve.setdefault("test_accuracy", []).append(self._accuracy())

    def note(self, pieces: Sequence[NDArray[np.float64]]) -> None:
        """Note the scores, before their updates, of the rows that come next."""
        scores = np.concatenate(pieces)
        rows = slice(self.seen, self.seen + len(scores))
        for name, labels in self._labels.items():
            self._wrong[name][rows] = is_mistake(scores, labels[rows])
        self.seen = rows.stop

    def totals(self) -> dict[str, int]:
        """Return the mistakes so far."""
        return {name: int(wrong[: self.seen].sum()) for name, wrong in self._wrong.items()}

    def curve(self) -> dict[str, list[Any]]:
        """Return the curve, by column of the store."""
        places = np.array(self._curve["t"], np.int64) - 1
        mistakes = {
            name: np.cumsum(wrong[: self.seen])[places].tolist() for name, wrong in self._wrong.items()
        }
        return self._curve | mistakes
