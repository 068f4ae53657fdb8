"""Mistakes along the training stream."""

from __future__ import annotations

from dataclasses import replace

from ....pipeline.analysis.metrics import METRICS
from ..page.blocks import Block, Section, Text
from ..page.view import StudyView
from ..parts.score_tables import score_tables


def section(view: StudyView) -> Section | None:
    """Print mistakes against clean and given labels; None where no algorithm predicts along the stream."""
    clean = score_tables(view.cells, METRICS["mistakes_clean"], view.design)
    if not clean:
        return None
    given = score_tables(view.cells, METRICS["mistakes"], view.design) if view.noisy else []
    # Without noise the given labels are the clean ones, and the table would be printed twice.
    given = [table for table in given if not table.name.endswith("-noise-0")]
    blocks: list[Block] = [
        Text(
            "Mistakes along the training stream, each example predicted before it is learnt from: mean ± "
            f"standard deviation over seeds. The best of a {'column' if view.single else 'row'} is bold.",
            "soft",
        )
    ]
    blocks += [replace(table, show="file" if view.many else "long") for table in clean]
    blocks += [replace(table, show="file" if view.many else "folded") for table in given]
    return Section("mistakes", "Online mistakes", blocks)
