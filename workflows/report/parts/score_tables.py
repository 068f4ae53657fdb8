"""Build tables of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.averages import Averages
from ....pipeline.analysis.design import Design
from ....pipeline.analysis.metrics import Metric
from ....pipeline.analysis.progress import Shortfall
from ....pipeline.noise import Noise
from ....pipeline.scoring import can_rank
from ..page.table import TableBlock, TableCell
from ..words.markup import slug
from ..words.wording import how_far

# Maximum number of incomplete means to name below a table.
_MOST_GAPS = 5


def score_tables(averages: Averages, metric: Metric, design: Design) -> list[TableBlock]:
    """Build tables of mean ± standard deviation over seeds, data sets by algorithms, one per noise rate.

    Noise rates without any value are left out. A single data set gives one table, algorithms by noise rates.
    """
    everything = averages.long_table(metric, design)
    if not len(everything):
        return []
    if len(design.datasets) == 1:
        return [_single_table(averages, metric, design, everything)]
    tables = []
    for noise in design.noise:
        lines = _lines(averages, metric, noise, design)
        if not lines:
            continue
        tables.append(
            TableBlock(
                name=f"{slug(metric.name)}-noise-{noise.stem}",
                title=f"{_title(metric)}, {noise.label}",
                header=["data set", *design.algorithms],
                rows=[[TableCell(line.dataset), *_scored(metric, line)] for line in lines],
                note=_note(lines),
                data=everything[everything["noise"] == noise.slug],
            )
        )
    return tables


@dataclass(frozen=True)
class _Line:
    """Hold the scores of all algorithms on a data set at one noise rate, among which the best is bold."""

    dataset: str
    algorithms: list[str]
    means: NDArray[np.float64]
    sds: NDArray[np.float64]
    complete: NDArray[np.bool_]
    # Whether a mean covers fewer seeds than the study has.
    partial: NDArray[np.bool_]
    lacks: list[Shortfall | None]


def _lines(averages: Averages, metric: Metric, noise: Noise, design: Design) -> list[_Line]:
    """Return one line per data set, or no line if no algorithm has a value."""
    table, lacks = averages.scores(metric, noise, design), averages.shortfalls(noise, design)
    if not table.count.to_numpy().any():
        return []
    return [
        _Line(
            dataset,
            design.algorithms,
            table.mean.loc[dataset].to_numpy(float),
            table.sd.loc[dataset].to_numpy(float),
            table.complete.loc[dataset].to_numpy(bool),
            table.count.loc[dataset].to_numpy() < len(design.seeds_of(dataset, noise)),
            [lacks.get((dataset, name)) for name in design.algorithms],
        )
        for dataset in design.datasets
    ]


def _title(metric: Metric) -> str:
    return f"{metric.label[0].upper()}{metric.label[1:]}{', %' if metric.percent else ''}"


def _note(lines: Sequence[_Line]) -> str:
    """Explain flags, and name the flagged means with a stopped or failed cell."""
    if not any((line.partial & np.isfinite(line.means)).any() for line in lines):
        return ""
    gaps = [
        f"{name} on {line.dataset} ({how_far(lack)})"
        for line in lines
        for name, lack, mean in zip(line.algorithms, line.lacks, line.means, strict=True)
        if lack is not None and lack.stopped + lack.failed and np.isfinite(mean)
    ]
    if len(gaps) > _MOST_GAPS:
        gaps[_MOST_GAPS:] = [f"{len(gaps) - _MOST_GAPS} more"]
    text = "Flagged: not all seeds have run."
    return f"{text} Means without all of their seeds, never bold: {', '.join(gaps)}." if gaps else text


def _scored(metric: Metric, line: _Line) -> list[TableCell]:
    """Return cells "mean ± sd", the best complete one bold, or how far an algorithm without a mean got."""
    digits = metric.digits(line.means) or metric.digits(line.sds)
    shown = [metric.show(value, digits=digits) for value in line.means]
    keyed = np.where(line.complete, line.means * (1 if metric.direction == "lower" else -1), np.nan)
    # Bold follows the printed text: two means that look the same share it.
    compared = can_rank(metric.name) and np.isfinite(keyed).any()
    winner = shown[int(np.nanargmin(keyed))] if compared else None
    cells = []
    for place, (text, sd, lack) in enumerate(zip(shown, line.sds, line.lacks, strict=True)):
        if not np.isfinite(line.means[place]):
            cells.append(TableCell(text if lack is None else how_far(lack)))
            continue
        spread = f" ± {metric.show(sd, digits=digits)}" if np.isfinite(sd) else ""
        best = bool(line.complete[place]) and text == winner
        cells.append(TableCell(text + spread, best=best, flag=bool(line.partial[place])))
    return cells


def _single_table(averages: Averages, metric: Metric, design: Design, everything: pd.DataFrame) -> TableBlock:
    [dataset] = design.datasets
    found = [(noise, _lines(averages, metric, noise, design)) for noise in design.noise]
    found = [(noise, lines) for noise, lines in found if lines]
    columns = [_scored(metric, line) for _, [line] in found]
    return TableBlock(
        name=slug(metric.name),
        title=f"{_title(metric)}, {dataset}",
        header=["algorithm", *(f"{noise.short} noise" for noise, _ in found)],
        rows=[[TableCell(name), *line] for name, *line in zip(design.algorithms, *columns, strict=True)],
        note=_note([line for _, lines in found for line in lines]),
        data=everything,
    )
