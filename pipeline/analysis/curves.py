"""Average learning curves over seeds at common points of the stream."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..noise import Noise
from .averages import deviations
from .design import evaluation_rows

_GROUP = ("dataset", "noise", "algorithm")


@dataclass(frozen=True)
class Curve:
    """One algorithm's learning curve on one data set at one noise rate: arrays with one entry per point."""

    algorithm: str
    # Examples seen, or another quantity on the x axis.
    t: NDArray[np.float64]
    # Mean and standard deviation (n - 1) over seeds; sd is 0 for a single seed. Both are NaN where the value
    # of a seed is undefined, except at the first and last point.
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    # Number of seeds averaged.
    seeds: int
    # Values of t at which a plot marks the curve.
    marks: tuple[float, ...] = ()
    # Numbers of examples after which the concept of the stream changes.
    changes: tuple[int, ...] = ()


class CellCurves:
    """Give access to the curves of single cells, by data set, noise and algorithm.

    `cells` and `curves` are tables of the store. A stopped cell has a curve up to the point where it stopped.
    """

    def __init__(self, cells: pd.DataFrame, curves: pd.DataFrame) -> None:
        codes, keys = pd.factorize(curves["key"])
        self._curves = curves
        # `_order` sorts the rows of the curves table by cell, then by t. `starts` has the position of each
        # cell's first row in this order.
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
        """Return a column of the curves table, its rows sorted by cell and t; NaN for missing values."""
        if name not in self._columns:
            self._columns[name] = self._curves[name].to_numpy(np.float64)[self._order]
        return self._columns[name]

    def changes(self, dataset: str, noise: Noise, algorithm: str) -> tuple[int, ...]:
        """Return the numbers of examples after which the concept of a composed stream changes."""
        return self._changes.get((dataset, noise.slug, algorithm), ())

    def series(
        self, dataset: str, noise: Noise, algorithm: str, column: str, against: str
    ) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
        """Return columns `against` (x) and `column` (y) per seed; only the last of points with equal x.

        y is NaN where it is undefined.
        """
        found = []
        for place in self._places.get((dataset, noise.slug, algorithm), ()):
            x, y = self.column(against)[place], self.column(column)[place]
            known = ~np.isnan(x)
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
    """Average one column over the seeds of one data set and noise rate, one curve per algorithm.

    The x values are those of column `against`; of points with the same x only the last counts. `from_zero`
    says whether the column counts from 0 at the start of the stream. Algorithms without a curve are left out.
    If seeds have different checkpoints, their curves are interpolated linearly at the checkpoints of all
    seeds, from the latest first checkpoint (0 with `from_zero`) to the end of the shortest stream. Undefined
    values (NaN) are gaps: they are neither interpolated nor left out of a mean.
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
        values = np.array([np.interp(grid, t, y) for t, y in series])
        defined = np.flatnonzero(~np.isnan(values).any(axis=0))
        if not defined.size:
            continue
        # Curves begin and end with defined values.
        kept = slice(defined[0], defined[-1] + 1)
        grid, values = grid[kept], values[:, kept]
        mean = values.mean(axis=0)
        sd = deviations(values) if len(values) > 1 else np.where(np.isnan(mean), np.nan, 0.0)
        changes = curves.changes(dataset, noise, algorithm) if against == "t" else ()
        found.append(Curve(algorithm, grid, mean, sd, len(values), changes=changes))
    return found
