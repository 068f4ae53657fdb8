"""Rank algorithms within groups of tasks of one base set and kind."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.design import Design
from ....pipeline.analysis.subsets import task_groups, within
from ..page.blocks import Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView
from ..parts.rank_tables import ranked


def section(view: StudyView) -> Section | None:
    """Rank within groups; return None if there is one group or every group is a single data set."""
    design = view.design
    groups = task_groups(view.cells, design)
    if len(groups) < 2 or len(groups) == len(design.datasets) or len(design.algorithms) < 2:
        return None
    compared = [(group.name, view.compared(view.metric, within(design, group.datasets))) for group in groups]
    return Section("groups", "Groups of tasks", [_group_table(compared, design)])


def _group_table(groups: Sequence[tuple[str, Sequence[Comparison]]], design: Design) -> TableBlock:
    """Build the table of mean ranks within groups of tasks, one row per group and noise rate.

    `groups` is (name, comparisons), one comparison per noise rate, of one metric. Columns are the algorithms
    in the study's order.
    """
    rows, data = [], []
    for name, comparisons in groups:
        for c in comparisons:
            ranks = c.mean_ranks.reindex(design.algorithms).astype("float64")
            rows.append([TableCell(f"{name} ({c.n})"), TableCell(c.noise.short), *ranked(ranks.tolist())])
            data += [(name, c.noise.slug, c.n, algorithm, rank) for algorithm, rank in ranks.items()]
    return TableBlock(
        name="mean-ranks-by-task-group",
        title=f"Mean rank by {groups[0][1][0].metric.label}, by base set and kind of task",
        header=["tasks (number ranked)", "noise", *design.algorithms],
        rows=rows,
        labels=2,
        show="long",
        note="1 is best. No test is made within groups: their tasks share examples.",
        data=pd.DataFrame(data, columns=["group", "noise", "datasets", "algorithm", "mean_rank"]),
    )
