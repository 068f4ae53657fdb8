"""Rank parts of a study: the algorithms and data sets that it selects, and groups of related tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from ....pipeline.analysis.subsets import among, task_groups, tasks_of, within
from ....pipeline.noise import parse_noise
from ..page.blocks import Block, Folded, Heading, Listing, Panels, Section, Text
from ..page.table import Show, TableBlock, tabulate
from ..page.view import StudyView
from ..parts.figures import diagrams
from ..parts.head_to_head import head_to_head
from ..parts.rank_tables import comparison_matrices, friedman_table, mean_rank_table, rank_texts
from ..words import wording


def section(view: StudyView) -> Section | None:
    """Show every ``[[rankings]]`` table of the study in its order; return None without one."""
    entries = view.results.study.get("rankings") or []
    blocks = [block for place, entry in enumerate(entries, 1) for block in _ranking(view, entry, place)]
    return Section("rankings", "Selected algorithms among themselves", blocks) if blocks else None


def _ranking(view: StudyView, entry: Mapping[str, Any], place: int) -> list[Block]:
    """Return the blocks of one ranking; names of its tables and files start with ``ranking-PLACE-``."""
    title, prefix = " ".join(entry["title"].split()), f"ranking-{place}-"
    part = among(view.design, entry["algorithms"])
    if entry.get("datasets"):
        part = within(part, tasks_of(view.cells, part, entry["datasets"]))
    comparisons = view.compared(view.metric, part)

    def own(table: TableBlock, show: Show = "open") -> TableBlock:
        return replace(table, name=prefix + table.name, scope=title, show=show)

    blocks: list[Block] = [Heading(title), Text(wording.leads(comparisons))]
    blocks.append(own(mean_rank_table(comparisons, part)))
    blocks += [own(table, "folded") for table in comparison_matrices(comparisons)]
    if drawn := diagrams(comparisons, view.styles, prefix=prefix, scope=title):
        blocks.append(Folded(f"Critical difference diagrams: {title}", [Panels(drawn, roomy=True)]))
    noise = [parse_noise(rate) for rate in entry.get("focus_noise") or ()]
    blocks += head_to_head(
        comparisons, entry.get("focus"), view.styles, noise=noise, prefix=prefix, scope=title
    )
    if not view.single:
        tests: list[Block] = [Listing([(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons])]
        if friedman := friedman_table(comparisons):
            tests.append(own(friedman))
        blocks.append(Folded(f"Friedman and Iman–Davenport tests: {title}", tests))
    return blocks


def groups(view: StudyView) -> Section | None:
    """Rank within groups of tasks: those of one kind (such as pairs of classes) cut from one base data set.

    Returns None if there is one group, or if every group is a single data set.
    """
    design = view.design
    found = task_groups(view.cells, design)
    if len(found) < 2 or len(found) == len(design.datasets) or len(design.algorithms) < 2:
        return None
    labels, ranks, data = [], [], []
    for group in found:
        for c in view.compared(view.metric, within(design, group.datasets)):
            own = c.mean_ranks.reindex(design.algorithms).astype("float64")
            labels.append((f"{group.name} ({c.n})", c.noise.short))
            ranks.append(own.tolist())
            data += [(group.name, c.noise.slug, c.n, algorithm, rank) for algorithm, rank in own.items()]
    values = pd.DataFrame(ranks)
    texts = rank_texts(values, [2] * len(design.algorithms))
    header = ["tasks (number ranked)", "noise", *design.algorithms]
    table = tabulate(
        pd.concat([pd.DataFrame(labels), texts], axis=1).set_axis(header, axis="columns"),
        "mean-ranks-by-task-group",
        f"Mean rank by {view.metric.label}, by base set and kind of task",
        labels=2,
        show="long",
        note="1 is best. Groups are not tested: their tasks share examples.",
        data=pd.DataFrame(data, columns=["group", "noise", "datasets", "algorithm", "mean_rank"]),
    )
    return Section("groups", "Groups of tasks", [table])
