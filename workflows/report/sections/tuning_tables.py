"""Tables of the tuning grids and their winners."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ....pipeline.analysis.averages import Design
from ..table import TableBlock, TableCell


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _setting(entry: Mapping[str, Any]) -> str:
    """The winner's values of the parameters that were tuned."""
    winner = entry.get("winner")
    if not winner:
        return "none: every point failed"
    return ", ".join(f"{name} = {_value(winner[name])}" for name in entry["grid"])


def grid_table(tuning: Sequence[Mapping[str, Any]], design: Design) -> TableBlock:
    """Every grid, and how often its winner lay at its edge."""
    rows = []
    for name in design.algorithms:
        entries = [entry for entry in tuning if entry["algorithm"] == name]
        grids: dict[str, list[Any]] = {}
        for entry in entries:
            grids.update(entry["grid"])
        for parameter, values in grids.items():
            edge = sum(parameter in (entry.get("at_edge") or ()) for entry in entries)
            criteria = sorted({str(entry.get("criterion", "–")) for entry in entries})
            rows.append(
                [
                    TableCell(name),
                    TableCell(parameter),
                    TableCell(", ".join(_value(value) for value in values)),
                    TableCell(" / ".join(criteria)),
                    TableCell(f"{edge} of {len(entries)}", flag=edge > 0),
                ]
            )
    return TableBlock(
        name="grids",
        title="Tuning grids",
        header=["algorithm", "parameter", "grid", "judged by", "winners at the edge"],
        rows=rows,
        labels=4,
        note="Tuned for every data set, algorithm and noise level on a seed of its own, by the labels the "
        "learner is given; never by clean labels, never by test data.",
    )


def winner_tables(tuning: Sequence[Mapping[str, Any]], design: Design) -> list[TableBlock]:
    """The winner of every grid, data sets by tuned algorithms, one table per noise rate."""
    tuned = [name for name in design.algorithms if any(entry["algorithm"] == name for entry in tuning)]
    place = {(entry["dataset"], entry["algorithm"], entry["noise"]): entry for entry in tuning}
    names = list(dict.fromkeys([*design.datasets, *(str(entry["dataset"]) for entry in tuning)]))
    tables = []
    for noise in sorted({entry["noise"] for entry in tuning}):
        rows, data = [], []
        for dataset in names:
            cells = [TableCell(dataset)]
            for name in tuned:
                entry = place.get((dataset, name, noise))
                edge = list((entry or {}).get("at_edge") or ())
                cells.append(TableCell(_setting(entry) if entry else "–", flag=bool(edge)))
                if entry:
                    data.append(
                        {
                            "dataset": dataset,
                            "noise": noise.slug,
                            "algorithm": name,
                            "winner": json.dumps(entry.get("winner")),
                            "at_edge": " ".join(edge),
                            "criterion": entry.get("criterion"),
                            "grid": json.dumps(entry["grid"]),
                            "scores": json.dumps(entry.get("scores")),
                        }
                    )
            rows.append(cells)
        tables.append(
            TableBlock(
                name=f"tuning-noise-{noise.slug}",
                title=f"Winners of the grids, {noise.label}",
                header=["data set", *tuned],
                rows=rows,
                labels=1 + len(tuned),
                note="Flagged: the winner lies at the edge of its grid, and a wider one might hold a better.",
                data=pd.DataFrame(data),
            )
        )
    return tables
