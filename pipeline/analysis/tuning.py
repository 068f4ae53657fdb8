"""Winners of the grids, read off the cells of the reserved seed."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..noise import Noise, noise_of
from ..study.specs import Scalar, WinnerRule

if TYPE_CHECKING:
    import pandas as pd

# What a rule adds to the criterion.
_AND: dict[WinnerRule, str] = {"best": "", "sparsest": "; within a standard error, support vectors"}


@dataclass(frozen=True)
class Tuned:
    """The outcome of one grid, for one (dataset, algorithm, noise).

    Attributes
    ----------
    grid : dict of str to list
        Parameters and the values tried.
    criterion : str
        ``"online mistakes"`` or ``"validation mistakes"``, both against the noisy training labels; and what
        the rule adds.
    scores : list of (params, mistakes) pairs
        In the grid's order; failed points are left out.
    winner : dict or None
        All parameters of the best point; None when every point failed.
    at_edge : tuple of str
        Numeric parameters whose winning value is the smallest or largest tried: a wider grid might do better.
    """

    dataset: str
    algorithm: str
    noise: Noise
    grid: dict[str, list[Scalar]]
    criterion: str
    scores: list[tuple[dict[str, Scalar], int]]
    winner: dict[str, Scalar] | None
    at_edge: tuple[str, ...]

    @property
    def group(self) -> tuple[str, str, Noise]:
        """Same as `CellSpec.group`."""
        return self.dataset, self.algorithm, self.noise


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


@dataclass(frozen=True)
class _Point:
    """One point of a grid, as it was judged on `n` examples."""

    judged: int
    n: int
    mistakes: int
    support: float
    place: tuple[int, ...]
    params: dict[str, Scalar]

    @property
    def order(self) -> tuple[int, int, tuple[int, ...]]:
        """The smallest is the best."""
        return self.judged, self.mistakes, self.place


def _winner(points: list[_Point], rule: WinnerRule) -> _Point:
    best = min(points, key=lambda point: point.order)
    if rule == "best":
        return best
    allowed = best.judged + math.sqrt(best.judged * (1 - best.judged / best.n))
    near = [point for point in points if point.judged <= allowed and not math.isnan(point.support)]
    return min(near, key=lambda point: (point.support, *point.order), default=best)


def tuned_grids(cells: pd.DataFrame, rule: WinnerRule = "best") -> list[Tuned]:
    """Judge every grid by the cells of the reserved seed.

    Parameters
    ----------
    cells : DataFrame
        The cells table; only rows with stage "tune" count.
    rule : {"best", "sparsest"}, default="best"
        See `Study.winner`.

    Returns
    -------
    list of Tuned
        One for each (dataset, algorithm, noise), in that order. Ties go to fewer online mistakes, then to the
        point that comes first on the grid.
    """
    tuned = []
    rows = cells[cells["stage"] == "tune"]
    for (dataset, algorithm, noise), group in rows.groupby(["dataset", "algorithm", "noise"], sort=True):
        grid = json.loads(group["grid"].iloc[0])
        validated = bool(group["validation_mistakes"].notna().any())
        judged_by, n = (
            ("validation_mistakes", "validation_examples") if validated else ("mistakes", "n_examples")
        )
        points = []
        # A batch baseline makes no mistakes along the stream: its ties go to the grid's order.
        done = group[group["status"] == "ok"].fillna({"mistakes": 0})
        for row in done.astype({"support_vectors": "float64"}).to_dict("records"):
            params = json.loads(row["params"])
            points.append(
                _Point(
                    judged=int(row[judged_by]),
                    n=int(row[n]),
                    mistakes=int(row["mistakes"]),
                    support=row["support_vectors"],
                    place=_grid_position(params, grid),
                    params=params,
                )
            )
        winner = _winner(points, rule).params if points else None
        tuned.append(
            Tuned(
                dataset=str(dataset),
                algorithm=str(algorithm),
                noise=noise_of(str(noise)),
                grid=grid,
                criterion=("validation mistakes" if validated else "online mistakes")
                + (_AND[rule] if any(not math.isnan(point.support) for point in points) else ""),
                scores=[(p.params, p.judged) for p in sorted(points, key=lambda point: point.place)],
                winner=winner,
                at_edge=_at_edge(winner, grid) if winner else (),
            )
        )
    return tuned
