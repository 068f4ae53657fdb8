"""Report mean ranks by every metric, and how they change with label noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.design import Design
from ..page.blocks import Block, Column, Columns, Picture, Section, Text
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView
from ..parts.rank_tables import mean_rank_table, model_rank_table, noise_column, rank_frame
from ..plots.curve_plots import ranks_by_noise
from ..words import wording
from ..words.markup import slug


def section(view: StudyView) -> Section:
    """Print the ranks of a single data set, or the mean ranks over several."""
    design, comparisons = view.design, view.comparisons
    others = [mean_rank_table(series, design) for series in view.other_comparisons]
    columns = [Column([mean_rank_table(comparisons, design)])]
    if by_model := model_rank_table(comparisons, design):
        columns.append(Column([by_model]))
    if view.single:
        columns += [Column([table]) for table in others]
    if not view.few and any(c.n for c in comparisons):
        columns.append(Column([_mean_score_table(comparisons, design)]))
    if drawn := _picture(view):
        picture, names = drawn
        columns.append(Column([picture, view.legend(names)], wide=True))
    blocks: list[Block] = [Columns(columns)]
    if why := wording.why_no_test(design):
        blocks.insert(0, Text(why))
    if not view.single:
        blocks += [replace(table, show="folded") for table in others]
    if dropped := _dropped_table(comparisons):
        blocks.append(dropped)
    return Section("ranks", "Ranks" if view.single else "Mean ranks", blocks)


def _picture(view: StudyView) -> tuple[Picture, list[str]] | None:
    """Draw mean rank against noise; return the drawn algorithms too. None below two levels or algorithms."""
    known = [c for c in view.comparisons if c.n]
    frame, noise = rank_frame(known, view.design), [c.noise for c in known]
    if min(frame.shape) < 2:
        return None
    picture = Picture(
        f"Mean rank by {view.metric.label} against label noise",
        "Mean rank by label noise",
        ranks_by_noise(frame, noise, view.styles),
        "figures/mean-rank-by-noise.svg",
        ranks_by_noise(frame, noise, view.styles, legend=True),
    )
    return picture, [str(name) for name in frame.index]


def _mean_score_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Tabulate the mean of the metric over the ranked data sets, by noise rate, with equal weights.

    The comparisons are one per noise rate, of one metric. Rows are algorithms in the study's order.
    """
    metric = comparisons[0].metric
    known = [c for c in comparisons if c.n]
    columns = {c.noise: c.scores.mean(axis=0) for c in known}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64").dropna(how="all")
    shown = []
    for comparison in known:
        scores = frame[comparison.noise]
        digits = metric.digits(scores)
        texts = [metric.show(value, digits=digits) for value in scores]
        place = scores.argmax() if metric.direction == "higher" else scores.argmin()
        shown.append([TableCell(text, best=text == texts[place]) for text in texts])
    return TableBlock(
        name=f"mean-{slug(metric.name)}",
        title=f"Mean {metric.label}{', %' if metric.percent else ''}, by label noise",
        header=["algorithm", *(c.noise.short for c in known)],
        rows=[[TableCell(str(name)), *cells] for name, *cells in zip(frame.index, *shown, strict=True)],
        note=f"Mean over the data sets ranked{', each a mean over seeds' if design.repetitions > 1 else ''}.",
        data=frame.rename(columns=noise_column).rename_axis("algorithm").reset_index(),
    )


def _dropped_table(comparisons: Sequence[Comparison]) -> TableBlock | None:
    """List the data sets left out of the ranks with what they lack; return None if all are complete."""
    rows = [
        [
            TableCell(c.noise.short),
            TableCell(block.dataset),
            TableCell("; ".join(f"{name}: {what}" for name, what in block.missing.items())),
        ]
        for c in comparisons
        for block in c.dropped
    ]
    if not rows:
        return None
    return TableBlock(
        name="dropped",
        title="Data sets left out of the ranks",
        header=["noise", "data set", "missing"],
        rows=rows,
        labels=3,
        show="opened",
        wrap=True,
    )
