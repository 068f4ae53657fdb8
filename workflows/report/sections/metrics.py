"""Report the metrics that a study requests: a description and the values of each."""

from __future__ import annotations

from dataclasses import replace

from ....pipeline.analysis.metrics import Metric
from ..page.blocks import Block, Heading, Section, Text
from ..page.view import StudyView
from ..parts.score_tables import score_tables
from ..words import wording

# Other sections print these.
_ELSEWHERE = frozenset({"test_accuracy", "mistakes", "mistakes_clean", "support_vectors", "model_kilobytes"})


def section(view: StudyView) -> Section | None:
    """Print every requested metric that no other section prints; return None without any value."""
    blocks: list[Block] = []
    for metric in view.asked:
        tables = [] if metric.name in _ELSEWHERE else score_tables(view.averages, metric, view.design)
        if tables:
            blocks += [Heading(_opening(metric.label)), Text(_explained(view, metric), "soft")]
            blocks += [replace(table, show="file" if view.many else "long") for table in tables]
    if not blocks:
        return None
    note = Text(
        f"{wording.averaged(view.design)}. What is called online is measured along the training stream, "
        "each example predicted before it is learnt from, by the clean labels unless others are named.",
        "soft",
    )
    return Section("metrics", "Metrics", [note, *blocks])


def _opening(label: str) -> str:
    return label[0].upper() + label[1:]


def _explained(view: StudyView, metric: Metric) -> str:
    ranks = " Algorithms are ranked by it." if metric is view.metric else ""
    kind = "Higher" if metric.direction == "higher" else "Lower"
    return f"{metric.sentence} {kind} is better.{ranks}".lstrip()
