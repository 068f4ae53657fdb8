"""Find the best point (set of parameter values) of every grid, from the cells that ran for tuning."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ..noise import Noise, noise_of
from ..study.study import TUNING_SEED

if TYPE_CHECKING:
    import pandas as pd

    from ..study.specs import Scalar, WinnerRule

# The text that each rule for choosing the winner of a grid appends to `Tuned.criterion`.
_RULE_TEXT: dict[WinnerRule, str] = {"best": "", "sparsest": "; within a standard error, support vectors"}


@dataclass(frozen=True)
class Tuned:
    """The outcome of tuning: scores and winner of one grid, for one (data set, algorithm, noise)."""

    dataset: str
    algorithm: str
    noise: Noise
    # The values tried for each parameter.
    grid: dict[str, list[Scalar]]
    # How the winner was chosen: "online mistakes" or "validation mistakes" (both against the noisy labels),
    # followed by the text that `_RULE_TEXT` has for the rule of the study or of the algorithm; "" if every
    # point failed, because failed cells do not tell which mistakes would have counted.
    criterion: str
    # Parameters and mistakes of each point in the order of the grid, without failed points.
    scores: list[tuple[dict[str, Scalar], int]]
    # All parameters of the winning point; None if every point failed.
    winner: dict[str, Scalar] | None
    # Numeric parameters whose smallest or largest value in the grid wins, while no value in between makes as
    # few mistakes as the best: a wider grid might do better.
    at_edge: tuple[str, ...]
    # The seed on which the points were compared.
    seed: int = TUNING_SEED

    @property
    def group(self) -> tuple[str, str, Noise]:
        """Return (data set, algorithm, noise), which identifies the grid; each seed has its own winner."""
        return self.dataset, self.algorithm, self.noise


def _at_edge(best: list[dict[str, Scalar]], grid: dict[str, list[Scalar]]) -> tuple[str, ...]:
    """Return the numeric parameters whose value is the grid's smallest or largest at all best points."""
    edge = []
    for name, values in grid.items():
        numbers = [
            value for value in values if isinstance(value, int | float) and not isinstance(value, bool)
        ]
        # Of two values, each is at an edge.
        if len(numbers) == len(values) > 2:
            ends = min(numbers), max(numbers)
            edge += [name] if all(point[name] in ends for point in best) else []
    return tuple(edge)


@dataclass(frozen=True)
class _Point:
    """One point of a parameter grid; points are compared by `judged`, their mistakes on `n` examples."""

    judged: int
    n: int
    mistakes: int
    support: float
    place: tuple[int, ...]
    params: dict[str, Scalar]

    @property
    def order(self) -> tuple[int, int, tuple[int, ...]]:
        """Return the key by which points are sorted: the point with the smallest key is the best."""
        return self.judged, self.mistakes, self.place


class _Row(NamedTuple):
    """The columns of a tuning cell that are needed to choose the winner."""

    dataset: str
    algorithm: str
    noise: str
    seed: int
    grid: str
    params: str
    status: str
    mistakes: float
    n_examples: float
    validation_mistakes: float
    validation_examples: float
    support_vectors: float


# Columns of counts. They are converted to float64, because a missing count is NaN.
_NUMBERS = ("mistakes", "n_examples", "validation_mistakes", "validation_examples", "support_vectors")


def _group(row: _Row) -> tuple[str, str, str, int]:
    return row.dataset, row.algorithm, row.noise, row.seed


def _point(row: _Row, grid: dict[str, list[Scalar]], validated: bool) -> _Point:
    params = json.loads(row.params)
    return _Point(
        judged=int(row.validation_mistakes if validated else row.mistakes),
        n=int(row.validation_examples if validated else row.n_examples),
        mistakes=int(row.mistakes),
        support=row.support_vectors,
        place=tuple(values.index(params[name]) for name, values in grid.items()),
        params=params,
    )


def _criterion(points: list[_Point], validated: bool, rule: WinnerRule) -> str:
    if not points:
        return ""
    text = "validation mistakes" if validated else "online mistakes"
    return text + (_RULE_TEXT[rule] if any(not math.isnan(point.support) for point in points) else "")


def _winner(points: list[_Point], rule: WinnerRule) -> _Point:
    best = min(points, key=lambda point: point.order)
    if rule == "best":
        return best
    allowed = best.judged + math.sqrt(best.judged * (1 - best.judged / best.n))
    near = [point for point in points if point.judged <= allowed and not math.isnan(point.support)]
    return min(near, key=lambda point: (point.support, *point.order), default=best)


def tuned_grids(
    cells: pd.DataFrame, rule: WinnerRule = "best", own_rules: Mapping[str, WinnerRule] | None = None
) -> list[Tuned]:
    """Find the winner of every grid from its tuning cells; sort by (dataset, algorithm, noise, seed).

    `rule` is the study's `winner`. `own_rules` has the rules of algorithms that set their own, by label. Ties
    go to fewer online mistakes, then to the point that comes first on the grid.
    """
    tuned = []
    table = cells.loc[cells["stage"] == "tune", list(_Row._fields)]
    # Batch baselines have no online mistakes. With 0 for all, ties in validation mistakes go to the first
    # point of the grid.
    table = table.astype(dict.fromkeys(_NUMBERS, "float64")).fillna({"mistakes": 0})
    # Use tuples: a data frame for each of hundreds of grids would take about thirty times as long.
    rows = [_Row(*values) for values in zip(*(table[name].tolist() for name in table), strict=True)]
    for (dataset, algorithm, noise, seed), group in itertools.groupby(sorted(rows, key=_group), key=_group):
        tried = list(group)
        grid = json.loads(tried[0].grid)
        validated = not all(math.isnan(row.validation_mistakes) for row in tried)
        points = [_point(row, grid, validated) for row in tried if row.status == "ok"]
        own_rule = (own_rules or {}).get(algorithm, rule)
        won = _winner(points, own_rule) if points else None
        fewest = min((point.judged for point in points), default=0)
        best = [point.params for point in points if point is won or point.judged == fewest]
        tuned.append(
            Tuned(
                dataset=dataset,
                algorithm=algorithm,
                noise=noise_of(noise),
                grid=grid,
                criterion=_criterion(points, validated, own_rule),
                scores=[(p.params, p.judged) for p in sorted(points, key=lambda point: point.place)],
                winner=won.params if won else None,
                at_edge=_at_edge(best, grid) if won else (),
                seed=int(seed),
            )
        )
    return tuned
