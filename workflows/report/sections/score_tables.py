"""Tables of scores, cost, failures and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.averages import Layout, long_table, run_cells, scores
from ....pipeline.analysis.metrics import METRICS, Metric
from ..table import Cell, Table
from ..words.markup import slug
from ..words.phrases import percent


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
        One per noise rate that has any value; for a single data set one in all, algorithms by noise rates.
    """
    tables = []
    everything = long_table(cells, metric, plan)
    if len(plan.datasets) == 1:
        return [_single_table(cells, metric, plan, everything)] if len(everything) else []
    for noise in plan.noise:
        table = scores(cells, metric, noise, plan)
        if not table.count.to_numpy().any():
            continue
        values = table.mean.to_numpy(float), table.sd.to_numpy(float)
        rows = []
        for dataset, means, sds in zip(plan.datasets, *values, strict=True):
            partial = [(dataset, name) in table.missing for name in plan.algorithms]
            rows.append([Cell(dataset), *_scored(metric, means, sds, partial)])
        tables.append(
            Table(
                name=f"{slug(metric.name)}-noise-{noise:g}",
                title=f"{_title(metric)}, {percent(noise)} label noise",
                header=["data set", *plan.algorithms],
                rows=rows,
                note=_note(rows),
                data=everything[everything["noise"] == noise],
            )
        )
    return tables


def _title(metric: Metric) -> str:
    return f"{metric.label[0].upper()}{metric.label[1:]}{', %' if metric.percent else ''}"


def _note(rows: Sequence[Sequence[Cell]]) -> str:
    return "Flagged: not all seeds have run." if any(cell.flag for row in rows for cell in row) else ""


def _scored(
    metric: Metric, means: NDArray[np.float64], sds: NDArray[np.float64], partial: Sequence[bool]
) -> list[Cell]:
    """Cells "mean ± sd" that compete with each other: the best is bold, means over too few seeds flagged."""
    digits = metric.digits(means)
    shown = [metric.show(value, digits=digits) for value in means]
    keyed = means * (1 if metric.direction == "lower" else -1)
    # Bold goes by what is printed: two means that look the same share it.
    winner = shown[int(np.nanargmin(keyed))] if np.isfinite(keyed).any() else None
    cells = []
    for text, sd, gap in zip(shown, sds, partial, strict=True):
        spread = f" ± {metric.show(sd, digits=digits)}" if np.isfinite(sd) else ""
        cells.append(Cell(text + spread, best=text == winner and text != "–", flag=gap and text != "–"))
    return cells


def _single_table(cells: pd.DataFrame, metric: Metric, plan: Layout, everything: pd.DataFrame) -> Table:
    [dataset] = plan.datasets
    columns, header = [], ["algorithm"]
    for noise in plan.noise:
        table = scores(cells, metric, noise, plan)
        if table.count.to_numpy().any():
            partial = [(dataset, name) in table.missing for name in plan.algorithms]
            line = table.mean.to_numpy(float)[0], table.sd.to_numpy(float)[0]
            columns.append(_scored(metric, *line, partial))
            header.append(f"{percent(noise)} noise")
    rows = [[Cell(name), *line] for name, *line in zip(plan.algorithms, *columns, strict=True)]
    return Table(
        name=slug(metric.name),
        title=f"{_title(metric)}, {dataset}",
        header=header,
        rows=rows,
        note=_note(rows),
        data=everything,
    )


def cost_table(cells: pd.DataFrame, plan: Layout) -> Table:
    """Updates per example and speed of every algorithm, averaged over data sets, by noise rate."""
    updates, speed, queries = (METRICS[name] for name in ("update_rate", "examples_per_second", "query_rate"))
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
    metrics = [updates, speed]
    asked = done.assign(share=queries.of(done)).groupby("algorithm")["share"].mean().reindex(plan.algorithms)
    if asked.notna().any():
        metrics.append(queries)
        header.insert(-1, "labels asked for")
        for row, share in zip(rows, asked, strict=True):
            row.insert(-1, Cell(queries.show(float(share), unit=True)))
    data = pd.concat([long_table(cells, metric, plan).assign(metric=metric.name) for metric in metrics])
    return Table(
        name="cost",
        title="Updates per example and speed",
        header=header,
        rows=rows,
        note="Updates: mean over data sets. "
        + ("Labels asked for: share of the examples, mean over all cells. " if queries in metrics else "")
        + "Speed: median over all cells, of the learner's own pass; it "
        "depends on the machine and on how many cells ran at once, and no rank is made of it.",
        data=data,
    )


def failed_table(cells: pd.DataFrame) -> Table | None:
    """Cells that failed or were stopped at their time limit, with the reason; None when there are none."""
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
        title="Cells that failed or were stopped at their time limit",
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
