"""Winners of the grids, read off the cells of the reserved seed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .entries import Scalar

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Tuned:
    """The outcome of one grid, for one (dataset, algorithm, noise).

    Attributes
    ----------
    grid : dict of str to list
        Parameters and the values tried.
    criterion : str
        ``"online mistakes"`` or ``"validation mistakes"``; both count against the noisy training labels.
    scores : list of (params, mistakes) pairs
        In the grid's order; failed points are left out.
    winner : dict or None
        All parameters of the best point; None when every point failed.
    at_edge : tuple of str
        Numeric parameters whose winning value is the smallest or largest tried: a wider grid might do better.
    """

    dataset: str
    algorithm: str
    noise: float
    grid: dict[str, list[Scalar]]
    criterion: str
    scores: list[tuple[dict[str, Scalar], int]]
    winner: dict[str, Scalar] | None
    at_edge: tuple[str, ...]

    @property
    def group(self) -> tuple[str, str, float]:
        """Same as `Cell.group`."""
        return self.dataset, self.algorithm, self.noise

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON and for templates."""
        return dict(vars(self))


def _grid_position(params: dict[str, Scalar], grid: dict[str, list[Scalar]]) -> tuple[int, ...]:
    return tuple(values.index(params[name]) for name, values in grid.items())


def _at_edge(winner: dict[str, Scalar], grid: dict[str, list[Scalar]]) -> tuple[str, ...]:
    edge = []
    for name, values in grid.items():
        numbers = [
            value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        if len(numbers) == len(values) > 1 and winner[name] in (min(numbers), max(numbers)):
            edge.append(name)
    return tuple(edge)


def tuned_grids(cells: pd.DataFrame) -> list[Tuned]:
    """Judge every grid by the cells of the reserved seed.

    Parameters
    ----------
    cells : DataFrame
        The cells table; only rows with stage "tune" count.

    Returns
    -------
    list of Tuned
        One for each (dataset, algorithm, noise), in that order. The fewest mistakes win; ties go to fewer
        online mistakes, then to the point that comes first on the grid.
    """
    tuned = []
    rows = cells[cells["stage"] == "tune"]
    for (dataset, algorithm, noise), group in rows.groupby(["dataset", "algorithm", "noise"], sort=True):
        grid = json.loads(group["grid"].iloc[0])
        judged_by = "validation_mistakes" if group["validation_mistakes"].notna().any() else "mistakes"
        points = []
        # A batch baseline makes no mistakes along the stream: its ties go to the grid's order.
        for row in group[group["status"] == "ok"].fillna({"mistakes": 0}).to_dict("records"):
            params = json.loads(row["params"])
            points.append((int(row[judged_by]), int(row["mistakes"]), _grid_position(params, grid), params))
        winner = min(points, key=lambda point: point[:3])[3] if points else None
        tuned.append(
            Tuned(
                dataset=str(dataset),
                algorithm=str(algorithm),
                noise=float(str(noise)),
                grid=grid,
                criterion=judged_by.replace("_", " ") if judged_by != "mistakes" else "online mistakes",
                scores=[
                    (params, score) for score, _, _, params in sorted(points, key=lambda point: point[2])
                ],
                winner=winner,
                at_edge=_at_edge(winner, grid) if winner else (),
            )
        )
    return tuned
