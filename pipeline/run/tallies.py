"""What a cell keeps of its stream for the metrics that a study asks for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import pairs_in_order, sum_losses, tally_classes
from ..scoring import AREAS, BY_CLASS, LOSSES, PRECISIONS, REFERENCES
from .windows import FadingCounts

# After the counts by class: what the references have been told. After theirs: what they say next.
_ROWS, _BESIDE = len(BY_CLASS) + 1, len(REFERENCES) + 2
_NOWHERE = np.empty(0, np.int64)
# Rows of a smaller weight are left out of areas that fade: a long stream is not put in order again and again.
_LEAST_WEIGHT = 1e-100


class Tallies:
    """Adds up counts by class and losses, and keeps the scores that are put in order at the end.

    Parameters
    ----------
    given, clean : ndarray of int32, shape (n,)
        The labels that the learner is given, and those that they were made of.
    n_classes : int
    kept : collection of str
        What to keep, "classes", "scores" or both.
    log_odds : bool, default=False
        Whether scores are log odds, so that they have a log loss; see `sum_losses`.
    delay : int, default=0
        After so many further rows a label comes, to the references of metrics as to the learner.
    first : int, default=0
        How many rows there are before those that count; the references hear of their labels all the same.
    window : int, default=None
        Curves also have areas of so many latest rows; their counts are differences of other columns.
    fading : float, default=None
        Curves also have everything with this fading factor.
    """

    def __init__(
        self,
        given: NDArray[np.int32],
        clean: NDArray[np.int32],
        n_classes: int,
        kept: Collection[str],
        log_odds: bool = False,
        delay: int = 0,
        first: int = 0,
        window: int | None = None,
        fading: float | None = None,
    ) -> None:
        self._log_odds, self._kept, self._first = log_odds, kept, first
        self._labels = given, clean
        self._window, self._fading = window, fading
        self._faded = FadingCounts(fading) if fading is not None else None
        self._told = given
        if delay:
            self._told = np.full_like(given, -1)
            self._told[delay:] = given[:-delay]
        self._table = np.zeros((_ROWS, n_classes), np.int64)
        self._beside = np.zeros(_BESIDE, np.int64)
        self._sums = np.zeros(len(LOSSES))
        # Only of two classes have scores an order.
        self._ordered = "scores" in kept and n_classes == 2
        # Without noise both kinds of labels are the same, and scores are put in order once.
        self._clean_alone = self._ordered and np.array_equal(given, clean)
        self._scores: list[NDArray[np.float64]] = []
        # Rows that went by.
        self._seen = 0

    def add(self, scores: NDArray[np.float64], stops: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
        """Take the scores of the rows that come next.

        Parameters
        ----------
        scores : ndarray of float64, shape (n,) or (n, K)
            Before the updates.
        stops : ndarray of int64, shape (m,)
            After how many of these rows there is a point of the curve.

        Returns
        -------
        dict of str to ndarray
            Columns of the curve at the stops, but for those of `areas`.
        """
        before = min(max(self._first - self._seen, 0), len(scores))
        if before:
            self._pass_over(scores[:before])
            scores, stops = scores[before:], np.maximum(stops - before, 0)
        start, counted = self._seen, self._counted
        self._seen += len(scores)
        given, clean, told = (each[start : self._seen] for each in (*self._labels, self._told))
        columns: dict[str, NDArray[Any]] = {}
        if self._faded is not None:
            counts = (self._table, self._beside) if "classes" in self._kept else None
            losses = (self._sums, self._log_odds) if "scores" in self._kept else None
            columns |= self._faded.add(scores, (given, clean, told), stops, counts, losses)
        if "classes" in self._kept:
            tables, besides = tally_classes(scores, given, clean, told, stops, self._table, self._beside)
            columns |= {name: tables[:, i] for i, name in enumerate(BY_CLASS)}
            columns |= {name: besides[:, i] for i, name in enumerate(REFERENCES)}
        if "scores" in self._kept:
            sums = sum_losses(scores, given, clean, self._log_odds, stops, self._sums)
            # Where nothing is counted yet there is no point of the curve.
            columns |= self._losses(sums / np.maximum(stops + counted, 1)[:, None])
        if self._ordered:
            self._scores.append(scores if scores.ndim == 1 else scores[:, 1] - scores[:, 0])
        return columns

    @property
    def _counted(self) -> int:
        """How many of the rows that went by count."""
        return max(self._seen - self._first, 0)

    def _pass_over(self, scores: NDArray[np.float64]) -> None:
        """Let the references have the labels of rows that do not count."""
        part = slice(self._seen, self._seen + len(scores))
        self._seen = part.stop
        if "classes" in self._kept:
            given, clean, told = (each[part] for each in (*self._labels, self._told))
            tally_classes(scores, given, clean, told, _NOWHERE, self._table, self._beside)
            self._table[: len(BY_CLASS)] = 0
            self._beside[: len(REFERENCES)] = 0

    def _losses(self, means: NDArray[np.float64]) -> dict[str, Any]:
        names = LOSSES if self._log_odds else LOSSES[:2]
        return {name: means[..., i] for i, name in enumerate(names)}

    def areas(self, stops: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
        """Return the areas under the ROC curves of the rows up to each stop, NaN where a class is missing.

        Parameters
        ----------
        stops : ndarray of int64, shape (m,)
            Numbers of rows from the first that counts on, ascending.
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
        """Return what is made of the order of the latest scores up to each stop, by column of the curves.

        Parameters
        ----------
        stops : ndarray of int64, shape (m,)
            As for `areas`.
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
        """Return scores, labels and weights of the rows before one, as many as there are weights."""
        part = slice(max(0, stop - len(weights)), stop)
        return self._all_scores()[part], codes[part], weights[len(weights) - (part.stop - part.start) :]

    def _counted_labels(self) -> list[NDArray[np.int32]]:
        return [labels[self._first : max(self._first, self._seen)] for labels in self._labels]

    def _all_scores(self) -> NDArray[np.float64]:
        if len(self._scores) != 1:
            self._scores = [np.concatenate([*self._scores, np.empty(0)])]
        return self._scores[0]

    def counts(self) -> dict[str, Any]:
        """Return counts and losses of all rows that count so far, by the store's columns."""
        row: dict[str, Any] = {}
        if "classes" in self._kept:
            row |= dict(zip(BY_CLASS, self._table.tolist(), strict=False))
            row |= dict(zip(REFERENCES, self._beside.tolist(), strict=False))
        if "scores" in self._kept and self._counted:
            row |= {name: float(mean) for name, mean in self._losses(self._sums / self._counted).items()}
        return row

    def latest(self) -> dict[str, Any]:
        """Return what the curve has of all rows so far, by its columns, but for areas."""
        return self.counts() | (self._faded.latest() if self._faded is not None else {})

    def totals(self) -> dict[str, Any]:
        """Return everything of all rows that count so far, by the store's columns."""
        row = self.counts()
        if self._counted:
            row |= {name: float(area[0]) for name, area in self.areas(np.array([self._counted])).items()}
        if self._ordered and self._counted:
            scores = self._all_scores()
            for name, labels in zip(PRECISIONS, self._counted_labels(), strict=True):
                row[name] = average_precision(scores, labels)
        return row


def area_under_curve(
    scores: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> float:
    """Area under the ROC curve, ties counting half, as scikit-learn has it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    codes : ndarray of int32, shape (n,)
        0 or 1.
    weights : ndarray of float64, shape (n,), default=None
        How much each row counts; None: all alike.

    Returns
    -------
    float
        NaN where a class does not occur or a score is no number.

    Examples
    --------
    >>> area_under_curve(np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32))
    0.75
    """
    if not codes.any() or codes.all() or np.isnan(scores).any():
        return float("nan")
    values, places = np.unique(scores, return_inverse=True)
    each = np.ones(len(scores)) if weights is None else weights
    positive = np.bincount(places, each * codes, len(values))
    negative = np.bincount(places, each * (1 - codes), len(values))
    won = np.sum(positive * (np.cumsum(negative) - negative / 2))
    return float(won / (positive.sum() * negative.sum()))


def average_precision(
    scores: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> float:
    """Average precision over the recall that each further score adds, as scikit-learn has it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    codes : ndarray of int32, shape (n,)
        0 or 1.
    weights : ndarray of float64, shape (n,), default=None
        How much each row counts; None: all alike.

    Returns
    -------
    float
        NaN where class 1 does not occur or a score is no number.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32))
    0.8333333333333333
    """
    if not codes.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    # Rows of one score are taken at once.
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
    seen = last + 1 if weights is None else np.cumsum(weights[order])[last]
    found = np.cumsum(codes[order] if weights is None else (weights * codes)[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * (found / seen)) / found[-1])
