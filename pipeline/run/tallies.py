"""What a cell keeps of its stream for the metrics that a study asks for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import References, pairs_in_order, sum_losses, tally_classes
from ..areas import area_under_curve, average_precision
from ..scoring import AREAS, BY_CLASS, LOSSES, PRECISIONS, REFERENCES
from .windows import FadingCounts

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
    references : References, default=None
        Fresh ones of the same labels, where counts by class are to have them beside.
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
        self._seen += len(scores)
        if self._references is not None:
            self._references.add(len(scores), _NOWHERE)
            self._references.right[:] = 0

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
            row |= dict(zip(BY_CLASS, self._table.tolist(), strict=True))
        if self._references is not None:
            row |= dict(zip(REFERENCES, self._references.right.tolist(), strict=True))
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
