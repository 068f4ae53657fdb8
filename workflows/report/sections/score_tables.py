"""Tables of scores, cost, failures and provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.averages import Design, evaluation_rows, long_table, scores
from ....pipeline.analysis.metrics import METRICS, Metric
from ....pipeline.noise import parse_noise
from ..table import TableBlock, TableCell
from ..words.markup import slug


def score_tables(cells: pd.DataFrame, metric: Metric, design: Design) -> list[TableBlock]:
    """Mean ± standard deviation over seeds, data sets by algorithms, one table per noise rate.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    metric : Metric
        What to print.
    design : Design
        The study's names and their order.

    Returns
    -------
    list of TableBlock
        One per noise rate that has any value; for a single data set one in all, algorithms by noise rates.
    """
    tables = []
    everything = long_table(cells, metric, design)
    if len(design.datasets) == 1:
        return [_single_table(cells, metric, design, everything)] if len(everything) else []
    for noise in design.noise:
        table = scores(cells, metric, noise, design)
        if not table.count.to_numpy().any():
            continue
        values = table.mean.to_numpy(float), table.sd.to_numpy(float)
        rows = []
        for dataset, means, sds in zip(design.datasets, *values, strict=True):
            partial = [(dataset, name) in table.missing for name in design.algorithms]
            rows.append([TableCell(dataset), *_scored(metric, means, sds, partial)])
        tables.append(
            TableBlock(
                name=f"{slug(metric.name)}-noise-{noise.slug}",
                title=f"{_title(metric)}, {noise.label}",
                header=["data set", *design.algorithms],
                rows=rows,
                note=_note(rows),
                data=everything[everything["noise"] == noise.slug],
            )
        )
    return tables


def _title(metric: Metric) -> str:
    return f"{metric.label[0].upper()}{metric.label[1:]}{', %' if metric.percent else ''}"


def _note(rows: Sequence[Sequence[TableCell]]) -> str:
    return "Flagged: not all seeds have run." if any(cell.flag for row in rows for cell in row) else ""


def _scored(
    metric: Metric, means: NDArray[np.float64], sds: NDArray[np.float64], partial: Sequence[bool]
) -> list[TableCell]:
    """Cells "mean ± sd" that compete with each other: the best is bold, means over too few seeds flagged."""
    digits = metric.digits(means)
    shown = [metric.show(value, digits=digits) for value in means]
    keyed = means * (1 if metric.direction == "lower" else -1)
    # Bold goes by what is printed: two means that look the same share it.
    winner = shown[int(np.nanargmin(keyed))] if np.isfinite(keyed).any() else None
    cells = []
    for text, sd, gap in zip(shown, sds, partial, strict=True):
        spread = f" ± {metric.show(sd, digits=digits)}" if np.isfinite(sd) else ""
        cells.append(TableCell(text + spread, best=text == winner and text != "–", flag=gap and text != "–"))
    return cells


def _single_table(
    cells: pd.DataFrame, metric: Metric, design: Design, everything: pd.DataFrame
) -> TableBlock:
    [dataset] = design.datasets
    columns, header = [], ["algorithm"]
    for noise in design.noise:
        table = scores(cells, metric, noise, design)
        if table.count.to_numpy().any():
            partial = [(dataset, name) in table.missing for name in design.algorithms]
            line = table.mean.to_numpy(float)[0], table.sd.to_numpy(float)[0]
            columns.append(_scored(metric, *line, partial))
            header.append(f"{noise.short} noise")
    rows = [[TableCell(name), *line] for name, *line in zip(design.algorithms, *columns, strict=True)]
    return TableBlock(
        name=slug(metric.name),
        title=f"{_title(metric)}, {dataset}",
        header=header,
        rows=rows,
        note=_note(rows),
        data=everything,
    )


def cost_table(cells: pd.DataFrame, design: Design) -> TableBlock:
    """Updates per example and speed of every algorithm, averaged over data sets, by noise rate."""
    updates, speed, queries = (METRICS[name] for name in ("update_rate", "examples_per_second", "query_rate"))
    header = ["algorithm", *(f"updates, {noise.short} noise" for noise in design.noise), "examples/s"]
    columns = []
    for noise in design.noise:
        columns.append(scores(cells, updates, noise, design).mean.mean(axis=0))
    done = evaluation_rows(cells, status="ok")
    rate = done.assign(rate=speed.of(done)).groupby("algorithm")["rate"].median().reindex(design.algorithms)
    rows = [
        [
            TableCell(name),
            *(TableCell(updates.show(float(column[name]), unit=True)) for column in columns),
            TableCell(speed.show(float(rate[name]))),
        ]
        for name in design.algorithms
    ]
    metrics = [updates, speed]
    asked = (
        done.assign(share=queries.of(done)).groupby("algorithm")["share"].mean().reindex(design.algorithms)
    )
    if asked.notna().any():
        metrics.append(queries)
        header.insert(-1, "labels asked for")
        for row, share in zip(rows, asked, strict=True):
            row.insert(-1, TableCell(queries.show(float(share), unit=True)))
    data = pd.concat([long_table(cells, metric, design).assign(metric=metric.name) for metric in metrics])
    return TableBlock(
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


def failed_table(cells: pd.DataFrame) -> TableBlock | None:
    """Cells that failed or were stopped at their time limit, with the reason; None when there are none."""
    bad = cells[cells["status"] != "ok"].sort_values(["stage", "dataset", "algorithm", "noise", "seed"])
    if bad.empty:
        return None
    rows = [
        [
            TableCell(str(row["dataset"])),
            TableCell(str(row["algorithm"])),
            TableCell(parse_noise(row["noise"]).short),
            TableCell("tuning" if row["stage"] == "tune" else str(row["seed"])),
            TableCell(str(row["status"])),
            TableCell(str(row["error"]) if isinstance(row["error"], str) else ""),
        ]
        for row in bad.to_dict("records")
    ]
    return TableBlock(
        name="failed",
        title="Cells that failed or were stopped at their time limit",
        header=["data set", "algorithm", "noise", "seed", "status", "error"],
        rows=rows,
        labels=6,
    )


def provenance_table(provenance: Mapping[str, Any]) -> TableBlock:
    """Where, when and with what the results were made; nested entries get dotted names."""
    rows: list[list[TableCell]] = []

    def add(prefix: str, value: Any) -> None:
        if isinstance(value, Mapping):
            for key, inner in value.items():
                add(f"{prefix}.{key}" if prefix else str(key), inner)
        elif isinstance(value, list | tuple):
            rows.append([TableCell(prefix), TableCell(", ".join(str(item) for item in value))])
        else:
            rows.append([TableCell(prefix), TableCell("–" if value is None else str(value))])

    add("", provenance)
    return TableBlock(name="provenance", title="Provenance", header=["", ""], rows=rows, labels=2)
