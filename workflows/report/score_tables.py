"""Tables of scores, cost, failures and provenance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...pipeline.metrics import METRICS, Metric
from ...pipeline.tables import Layout, long_table, run_cells, scores
from .figures import percent
from .markup import slug
from .table import Cell, Table


def score_tables(cells: pd.DataFrame, metric: Metric, plan: Layout) -> list[Table]:
    """Mean ± standard deviation over seeds, data sets by algorithms, one table per noise rate.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    metric : Metric
        What to print.
    plan : Layout
        The study's names and their order.

    Returns
    -------
    list of Table
        One per noise rate that has any value.
    """
    tables = []
    everything = long_table(cells, metric, plan)
    for noise in plan.noise:
        table = scores(cells, metric, noise, plan)
        if not table.count.to_numpy().any():
            continue
        rows, gaps = [], False
        values = table.mean.to_numpy(float), table.sd.to_numpy(float)
        for dataset, means, sds in zip(plan.datasets, *values, strict=True):
            shown = [metric.show(value) for value in means]
            keyed = means * (1 if metric.direction == "lower" else -1)
            # Bold goes by what is printed: two means that look the same share it.
            winner = shown[int(np.nanargmin(keyed))] if np.isfinite(keyed).any() else None
            line = [Cell(dataset)]
            for name, text, sd in zip(plan.algorithms, shown, sds, strict=True):
                spread = f" ± {metric.show(sd)}" if np.isfinite(sd) else ""
                partial = (dataset, name) in table.missing and text != "–"
                gaps = gaps or partial
                line.append(Cell(text + spread, best=text == winner and text != "–", flag=partial))
            rows.append(line)
        unit = ", %" if metric.percent else ""
        tables.append(
            Table(
                name=f"{slug(metric.name)}-noise-{noise:g}",
                title=f"{metric.label[0].upper()}{metric.label[1:]}{unit}, {percent(noise)} label noise",
                header=["data set", *plan.algorithms],
                rows=rows,
                note="Flagged: not all seeds have run." if gaps else "",
                data=everything[everything["noise"] == noise],
            )
        )
    return tables


def cost_table(cells: pd.DataFrame, plan: Layout) -> Table:
    """Updates per example and speed of every algorithm, averaged over data sets, by noise rate."""
    updates, speed = METRICS["update_rate"], METRICS["examples_per_second"]
    header = ["algorithm", *(f"updates, {percent(noise)} noise" for noise in plan.noise), "examples/s"]
    columns = []
    for noise in plan.noise:
        columns.append(scores(cells, updates, noise, plan).mean.mean(axis=0))
    done = run_cells(cells, status="ok")
    rate = done.assign(rate=speed.of(done)).groupby("algorithm")["rate"].median().reindex(plan.algorithms)
    rows = [
        [
            Cell(name),
            *(Cell(updates.show(float(column[name]), unit=True)) for column in columns),
            Cell(speed.show(float(rate[name]))),
        ]
        for name in plan.algorithms
    ]
    data = pd.concat(
        [long_table(cells, metric, plan).assign(metric=metric.name) for metric in (updates, speed)]
    )
    return Table(
        name="cost",
        title="Updates per example and speed",
        header=header,
        rows=rows,
        note="Updates: mean over data sets. Speed: median over all cells, of the learner's own pass; it "
        "depends on the machine and on how many cells ran at once, and no rank is made of it.",
        data=data,
    )


def failed_table(cells: pd.DataFrame) -> Table | None:
    """Cells that failed or were skipped, with their error; None when there are none."""
    bad = cells[cells["status"] != "ok"].sort_values(["stage", "dataset", "algorithm", "noise", "seed"])
    if bad.empty:
        return None
    rows = [
        [
            Cell(str(row["dataset"])),
            Cell(str(row["algorithm"])),
            Cell(percent(float(row["noise"]))),
            Cell("tuning" if row["stage"] == "tune" else str(row["seed"])),
            Cell(str(row["status"])),
            Cell(str(row["error"]) if isinstance(row["error"], str) else ""),
        ]
        for row in bad.to_dict("records")
    ]
    return Table(
        name="failed",
        title="Cells that failed or were skipped",
        header=["data set", "algorithm", "noise", "seed", "status", "error"],
        rows=rows,
        labels=6,
    )


def provenance_table(provenance: Mapping[str, Any]) -> Table:
    """Where, when and with what the results were made; nested entries get dotted names."""
    rows: list[list[Cell]] = []

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), inner)
        elif isinstance(value, list | tuple):
            rows.append([Cell(prefix), Cell(", ".join(str(item) for item in value))])
        else:
            rows.append([Cell(prefix), Cell("–" if value is None else str(value))])

    add("", provenance)
    return Table(name="provenance", title="Provenance", header=["", ""], rows=rows, labels=2)
