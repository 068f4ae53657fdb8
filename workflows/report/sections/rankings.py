"""Rank selected algorithms among themselves, as the study requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ....pipeline.analysis.subsets import among, tasks_of, within
from ....pipeline.noise import parse_noise
from ..page.blocks import Block, Column, Columns, Folded, Heading, Listing, Panels, Section, Text
from ..page.table import Show, TableBlock
from ..page.view import StudyView
from ..parts.figures import diagrams
from ..parts.head_to_head import head_to_head
from ..parts.rank_tables import friedman_table, mean_rank_table, pairs_table
from ..words import wording

# A table with at most this many pairs appears next to the ranks.
_FEW_PAIRS = 10


def section(view: StudyView) -> Section | None:
    """Show every ``[[rankings]]`` table in the study's order; return None if there is none."""
    entries = view.results.study.get("rankings") or []
    blocks = [block for place, entry in enumerate(entries, 1) for block in _ranking(view, entry, place)]
    return Section("rankings", "Selected algorithms among themselves", blocks) if blocks else None


def _ranking(view: StudyView, entry: Mapping[str, Any], place: int) -> list[Block]:
    """Build the blocks of one ranking; names of its tables and files start with ``ranking-PLACE-``."""
    title, prefix = str(entry["title"]), f"ranking-{place}-"
    part = among(view.design, entry["algorithms"])
    if entry.get("datasets"):
        part = within(part, tasks_of(view.cells, part, entry["datasets"]))
    comparisons = view.compared(view.metric, part)

    def own(table: TableBlock, show: Show = "open") -> TableBlock:
        return replace(table, name=prefix + table.name, scope=title, show=show)

    blocks: list[Block] = [Heading(title), Text(wording.leads(comparisons))]
    beside = [Column([own(mean_rank_table(comparisons, part))])]
    pairs = pairs_table(comparisons, part)
    if pairs and len(pairs.rows) <= _FEW_PAIRS:
        beside.append(Column([own(pairs)]))
    blocks.append(Columns(beside))
    if pairs and len(pairs.rows) > _FEW_PAIRS:
        blocks.append(own(pairs, "folded"))
    if drawn := diagrams(comparisons, view.styles, prefix=prefix, scope=title):
        blocks.append(Folded(f"Critical difference diagrams: {title}", [Panels(drawn, roomy=True)]))
    blocks += head_to_head(
        comparisons,
        entry.get("focus"),
        view.styles,
        noise=[parse_noise(rate) for rate in entry.get("focus_noise") or ()],
        prefix=prefix,
        scope=title,
    )
    if not view.single:
        tests: list[Block] = [Listing([(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons])]
        if tested := [c for c in comparisons if c.friedman is not None]:
            tests.append(own(friedman_table(tested)))
        blocks.append(Folded(f"Friedman and Iman–Davenport tests: {title}", tests))
    return blocks
