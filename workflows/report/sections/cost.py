"""What learning costs: updates, labels asked for, speed."""

from __future__ import annotations

import pandas as pd

from ....pipeline.analysis.averages import Averages
from ....pipeline.analysis.design import Design, evaluation_rows
from ....pipeline.analysis.metrics import METRICS
from ..page.blocks import Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView


def section(view: StudyView) -> Section:
    """Print updates per example and speed of every algorithm."""
    return Section("cost", "Updates and speed", [_cost_table(view.cells, view.averages, view.design)])


def _cost_table(cells: pd.DataFrame, averages: Averages, design: Design) -> TableBlock:
    """Updates per example and speed of every algorithm, averaged over data sets, by noise rate."""
    updates, speed, queries = (METRICS[name] for name in ("update_rate", "examples_per_second", "query_rate"))
    header = ["algorithm", *(f"updates, {noise.short} noise" for noise in design.noise), "examples/s"]
    columns = []
    for noise in design.noise:
        columns.append(averages.scores(updates, noise, design).mean.mean(axis=0))
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
    data = pd.concat([averages.long_table(metric, design).assign(metric=metric.name) for metric in metrics])
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
