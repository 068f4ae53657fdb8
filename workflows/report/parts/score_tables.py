"""Tables of scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.averages import Averages
from ....pipeline.analysis.design import Design
from ....pipeline.analysis.metrics import Metric
from ..page.table import TableBlock, TableCell
from ..words.markup import slug


def score_tables(averages: Averages, metric: Metric, design: Design) -> list[TableBlock]:
    """Mean ± standard deviation over seeds, data sets by algorithms, one table per noise rate.

    Parameters
    ----------
    averages : Averages
        Of the study's cells.
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
    everything = averages.long_table(metric, design)
    if len(design.datasets) == 1:
        return [_single_table(averages, metric, design, everything)] if len(everything) else []
    for noise in design.noise:
        table = averages.scores(metric, noise, design)
        if not table.count.to_numpy().any():
            continue
        values = table.mean.to_numpy(float), table.sd.to_numpy(float)
        rows = []
        for dataset, means, sds in zip(design.datasets, *values, strict=True):
            partial = [(dataset, name) in table.missing for name in design.algorithms]
            rows.append([TableCell(dataset), *_scored(metric, means, sds, partial)])
        tables.append(
            TableBlock(
                name=f"{slug(metric.name)}-noise-{noise.stem}",
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


def _single_table(averages: Averages, metric: Metric, design: Design, everything: pd.DataFrame) -> TableBlock:
    [dataset] = design.datasets
    columns, header = [], ["algorithm"]
    for noise in design.noise:
        table = averages.scores(metric, noise, design)
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
