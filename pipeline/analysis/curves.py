"""Learning curves: mean and spread over seeds at common points of the stream."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..noise import Noise
from .design import evaluation_rows

_GROUP = ("dataset", "noise", "algorithm")


@dataclass(frozen=True)
class Curve:
    """One algorithm's learning curve on one data set at one noise rate.

    Attributes
    ----------
    algorithm : str
        Its label.
    t : ndarray of float64, shape (m,)
        Examples seen, or what else the curve is a function of.
    mean, sd : ndarray of float64, shape (m,)
        Mean and standard deviation (n - 1) over seeds; sd is 0 for a single seed.
    seeds : int
        Seeds averaged.
    marks : tuple of float
        Values of t that are to be marked.
    changes : tuple of int
        After how many examples the stream changes.
    """

    algorithm: str
    t: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    seeds: int
    marks: tuple[float, ...] = ()
    changes: tuple[int, ...] = ()


class CellCurves:
    """The curves of single cells, by what the cells are of.

    Parameters
    ----------
    cells, curves : DataFrame
        Tables of the store: the cells whose curves count, and their points, one row per (key, t). A cell that
        was stopped at its time limit, if given, counts as far as it came.
    """

    def __init__(self, cells: pd.DataFrame, curves: pd.DataFrame) -> None:
        codes, keys = pd.factorize(curves["key"])
        self._curves = curves
        # The rows of a cell one after the other, by rising t; from where each cell's begin.
        self._order = np.lexsort((curves["t"].to_numpy(), codes))
        starts = np.searchsorted(codes[self._order], np.arange(len(keys) + 1))
        places = {key: slice(*bounds) for key, bounds in zip(keys, itertools.pairwise(starts), strict=True)}
        rows = evaluation_rows(cells)
        rows = rows[rows["status"].isin(["ok", "stopped"]) & rows["key"].isin(places)].sort_values("seed")
        self._places: dict[tuple[str, str, str], list[slice]] = {}
        self._changes: dict[tuple[str, str, str], tuple[int, ...]] = {}
        changes = rows["changes"] if "changes" in rows else itertools.repeat(None)
        for *group, key, at in zip(*(rows[name] for name in (*_GROUP, "key")), changes, strict=False):
            self._places.setdefault(tuple(group), []).append(places[key])
            if isinstance(at, Sequence | np.ndarray):
                self._changes[tuple(group)] = tuple(int(t) for t in at)
        self._columns: dict[str, NDArray[np.float64]] = {}

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column of the curves table, the rows of a cell one after the other.

        Parameters
        ----------
        name : str

        Returns
        -------
        ndarray of float64, shape (n,)
            NaN where a cell has no such number.
        """
        if name not in self._columns:
            self._columns[name] = self._curves[name].to_numpy(np.float64)[self._order]
        return self._columns[name]

    def changes(self, dataset: str, noise: Noise, algorithm: str) -> tuple[int, ...]:
        """Return after how many examples the stream of some cells changes."""
        return self._changes.get((dataset, noise.slug, algorithm), ())

    def series(
        self, dataset: str, noise: Noise, algorithm: str, column: str, against: str
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return one column as a function of another, for each seed that has both.

        Parameters
        ----------
        dataset, algorithm : str
            Labels.
        noise : Noise
            What was done to the labels.
        column, against : str
            Columns of the curves table.

        Returns
        -------
        list of (x, y)
            By rising seed; arrays of equal length, x rising. Where x stands still, the last y counts.
        """
        found = []
        for place in self._places.get((dataset, noise.slug, algorithm), ()):
            x, y = self.column(against)[place], self.column(column)[place]
            known = ~np.isnan(x) & ~np.isnan(y)
            x, y = x[known], y[known]
            if x.size:
                last = np.append(x[1:] != x[:-1], True)
                found.append((x[last], y[last]))
        return found


def mean_curves(
    curves: CellCurves,
    *,
    dataset: str,
    noise: Noise,
    algorithms: list[str],
    column: str = "mistakes_clean",
    against: str = "t",
    from_zero: bool = True,
) -> list[Curve]:
    """Average one column over the seeds of one data set and noise rate.

    Parameters
    ----------
    curves : CellCurves
        Of the study's cells.
    dataset : str
        Label of the data set.
    noise : Noise
        What was done to the labels.
    algorithms : list of str
        Algorithms in the order wanted; those without a curve are left out.
    column : str, default="mistakes_clean"
        A column of `curves`.
    against : str, default="t"
        The column that it is a function of; where that stands still, the last value counts.
    from_zero : bool, default=True
        Whether the column counts from 0 at the start of the stream.

    Returns
    -------
    list of Curve
        One per algorithm. Where seeds have checkpoints of their own they are interpolated linearly to the
        union of all, from the latest start to the shortest stream.
    """
    found = []
    for algorithm in algorithms:
        series = curves.series(dataset, noise, algorithm, column, against)
        if not series:
            continue
        start = 0.0 if from_zero else max(t[0] for t, _ in series)
        stop = min(t[-1] for t, _ in series)
        grid = np.unique(np.concatenate([t for t, _ in series]))
        grid = grid[(start <= grid) & (grid <= stop)]
        if from_zero:
            series = [(np.r_[0.0, t], np.r_[0.0, y]) for t, y in series]
        if not grid.size:
            continue
        values = np.array([np.interp(grid, t, y) for t, y in series])
        sd = values.std(axis=0, ddof=1) if len(values) > 1 else np.zeros(grid.size)
        changes = curves.changes(dataset, noise, algorithm) if against == "t" else ()
        found.append(Curve(algorithm, grid, values.mean(axis=0), sd, len(values), changes=changes))
    return found
