"""Learning curves: mean and spread over seeds at common points of the stream."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..noise import Noise
from .design import evaluation_rows


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
    """

    algorithm: str
    t: NDArray[np.float64]
    mean: NDArray[np.float64]
    sd: NDArray[np.float64]
    seeds: int
    marks: tuple[float, ...] = ()


def mean_curves(
    cells: pd.DataFrame,
    curves: pd.DataFrame,
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
    cells, curves : DataFrame
        The store's tables; curves is long, one row per (key, t).
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
        union of all, from the latest start to the shortest stream. Cells that were stopped at their time
        limit count as far as they came.
    """
    rows = evaluation_rows(cells)
    rows = rows[rows["status"].isin(["ok", "stopped"])]
    rows = rows[(rows["dataset"] == dataset) & (rows["noise"] == noise.slug)]
    parts = dict(iter(curves[curves["key"].isin(rows["key"])].groupby("key", sort=False)))
    found = []
    for algorithm in algorithms:
        keys = rows.loc[rows["algorithm"] == algorithm].sort_values("seed")["key"]
        series = []
        for key in keys:
            if key in parts:
                part = parts[key].dropna(subset=[column, against]).sort_values("t")
                part = part.drop_duplicates(against, keep="last")
                series.append((part[against].to_numpy(float), part[column].to_numpy(float)))
        series = [(t, y) for t, y in series if t.size]
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
        found.append(Curve(algorithm, grid, values.mean(axis=0), sd, len(values)))
    return found
