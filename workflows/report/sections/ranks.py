"""Report mean ranks by every metric, their change with label noise, and significant differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.design import Design
from ..page.blocks import Block, Column, Columns, Listing, Panels, Picture, Section, Text
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView
from ..parts.figures import diagrams
from ..parts.rank_tables import (
    bold_among,
    by_algorithm,
    comparison_matrices,
    equivalence_table,
    friedman_table,
    mean_rank_table,
    model_rank_table,
    rank_frame,
)
from ..plots.curve_plots import ranks_by_noise
from ..words import wording
from ..words.markup import slug

_DIAGRAMS_NOTE = (
    "Critical difference diagrams: every algorithm is placed at its mean rank, the best on the left. A thick "
    "bar joins neighbors of which no two differ significantly (Wilcoxon–Holm at 5%; with three or more "
    "algorithms a difference also requires that the Friedman test rejects). Two algorithms without a common "
    "bar need not differ: an algorithm between them may. The ruler shows Nemenyi's critical difference for "
    "comparison; the bars do not use it. Tests count base sets."
)


def section(view: StudyView) -> Section:
    """Print the ranks on a single data set, or the mean ranks over several."""
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
    if why := wording.why_no_test(design, view.coverage):
        blocks.insert(0, Text(why))
    if not view.single:
        blocks += [replace(table, show="folded") for table in others]
    if dropped := _dropped_table(comparisons):
        blocks.append(dropped)
    return Section("ranks", "Ranks" if view.single else "Mean ranks", blocks)


def _picture(view: StudyView) -> tuple[Picture, list[str]] | None:
    """Draw mean rank against noise, and list the algorithms drawn; None for a single level or algorithm."""
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
    """Return a table of each algorithm's mean score over the ranked data sets, by noise level."""
    metric = comparisons[0].metric
    known = [c for c in comparisons if c.n]
    columns = {c.noise: c.scores.mean(axis=0) for c in known}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64").dropna(how="all")
    digits = [metric.digits(frame[noise]) for noise in frame]
    texts = {
        place: [metric.show(value, digits=n) for value in frame.iloc[:, place]]
        for place, n in enumerate(digits)
    }
    highest = metric.direction == "higher"
    bold, told = bold_among([c.scores for c in known], known, frame.index, highest=highest)
    seeds = ", each a mean over seeds" if design.repetitions > 1 else ""
    return by_algorithm(
        frame,
        pd.DataFrame(texts, index=frame.index),
        f"mean-{slug(metric.name)}",
        f"Mean {metric.label}{', %' if metric.percent else ''}, by label noise",
        bold=bold,
        note=f"Mean over the data sets ranked{seeds}.{told}",
    )


def _dropped_table(comparisons: Sequence[Comparison]) -> TableBlock | None:
    """List the data sets left out of the ranks with the cells that they lack; None if all are complete."""
    rows = [
        (c.noise.short, block.dataset, "; ".join(f"{name}: {lack}" for name, lack in block.missing.items()))
        for c in comparisons
        for block in c.dropped
    ]
    if not rows:
        return None
    frame = pd.DataFrame(rows, columns=["noise", "data set", "missing"])
    title = "Data sets left out of the ranks"
    return tabulate(frame, "dropped", title, labels=3, show="opened", wrap=True)


def significance(view: StudyView) -> Section | None:
    """Draw and list the significance tests; return None for a single data set, which allows none."""
    if view.single:
        return None
    comparisons = view.comparisons
    blocks: list[Block] = []
    if drawn := diagrams(comparisons, view.styles):
        blocks += [Text(_DIAGRAMS_NOTE, "soft"), Panels(drawn, roomy=True)]
    blocks.append(Listing([(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons]))
    every = [c for series in (comparisons, *view.other_comparisons) for c in series]
    if tests := friedman_table(every):
        blocks.append(replace(tests, show="folded"))
    blocks += comparison_matrices(comparisons)
    blocks += [table for c in comparisons if (table := equivalence_table(c))]
    return Section("significance", "Significance", blocks)
