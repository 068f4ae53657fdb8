"""Tuning grids and their winners."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from ....pipeline.analysis.design import Design
from ....pipeline.analysis.tuning import Tuned
from ..page.blocks import Block, Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView


def section(view: StudyView) -> Section | None:
    """Print what was tuned and what came out; None when no algorithm has a grid."""
    tuning = view.results.tuning
    if not tuning:
        return None
    blocks: list[Block] = [_grid_table(tuning, view.design), *_winner_tables(tuning, view.design, view.many)]
    return Section("tuning", "Tuning", blocks)


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _setting(tuned: Tuned) -> str:
    """The winner's values of the parameters that were tuned."""
    if not tuned.winner:
        return "none: every point failed"
    return ", ".join(f"{name} = {_value(tuned.winner[name])}" for name in tuned.grid)


def _grid_table(tuning: Sequence[Tuned], design: Design) -> TableBlock:
    """Every grid, and how often its winner lay at its edge."""
    rows = []
    for name in design.algorithms:
        own = [tuned for tuned in tuning if tuned.algorithm == name]
        grids: dict[str, list[Any]] = {}
        for tuned in own:
            grids.update(tuned.grid)
        for parameter, values in grids.items():
            edge = sum(parameter in tuned.at_edge for tuned in own)
            criteria = sorted({tuned.criterion for tuned in own})
            rows.append(
                [
                    TableCell(name),
                    TableCell(parameter),
                    TableCell(", ".join(_value(value) for value in values)),
                    TableCell(" / ".join(criteria)),
                    TableCell(f"{edge} of {len(own)}", flag=edge > 0),
                ]
            )
    return TableBlock(
        name="grids",
        title="Tuning grids",
        header=["algorithm", "parameter", "grid", "judged by", "winners at the edge"],
        rows=rows,
        labels=4,
        wrap=True,
        note="Tuned for every data set, algorithm and noise level on a seed of its own, by the labels the "
        "learner is given; never by clean labels, never by test data.",
    )


def _winner_tables(tuning: Sequence[Tuned], design: Design, files_only: bool) -> list[TableBlock]:
    """The winner of every grid, data sets by tuned algorithms, one table per noise rate."""
    names = [name for name in design.algorithms if any(tuned.algorithm == name for tuned in tuning)]
    place = {tuned.group: tuned for tuned in tuning}
    datasets = list(dict.fromkeys([*design.datasets, *(tuned.dataset for tuned in tuning)]))
    tables = []
    for noise in sorted({tuned.noise for tuned in tuning}):
        rows, data = [], []
        for dataset in datasets:
            cells = [TableCell(dataset)]
            for name in names:
                tuned = place.get((dataset, name, noise))
                if tuned is None:
                    cells.append(TableCell("–"))
                    continue
                cells.append(TableCell(_setting(tuned), flag=bool(tuned.at_edge)))
                data.append(
                    {
                        "dataset": dataset,
                        "noise": noise.slug,
                        "algorithm": name,
                        "winner": json.dumps(tuned.winner),
                        "at_edge": " ".join(tuned.at_edge),
                        "criterion": tuned.criterion,
                        "grid": json.dumps(tuned.grid),
                        "scores": json.dumps(tuned.scores),
                    }
                )
            rows.append(cells)
        tables.append(
            TableBlock(
                name=f"tuning-noise-{noise.stem}",
                title=f"Winners of the grids, {noise.label}",
                header=["data set", *names],
                rows=rows,
                labels=1 + len(names),
                note="Flagged: the winner lies at the edge of its grid, and a wider one might hold a better.",
                data=pd.DataFrame(data),
                show="file" if files_only else "folded",
            )
        )
    return tables
