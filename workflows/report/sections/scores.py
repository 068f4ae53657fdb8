"""Report scores: accuracy on test data, mistakes along the training stream, and the requested metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ....pipeline.analysis.metrics import METRICS
from ..page.blocks import Block, Column, Columns, Heading, Panels, Picture, Section, Text
from ..page.table import Show, TableBlock
from ..page.view import StudyView, spaced
from ..parts.score_tables import score_tables
from ..plots.head_to_head_plots import box_plot
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug

_MOST_LEVELS = 3
# Least number of seeds for box plots: with fewer, quartiles are little else than the values themselves.
_FEWEST_SEEDS = 5
# Metrics left out of the section "Metrics", because other sections print them.
_ELSEWHERE = frozenset({"test_accuracy", "mistakes", "mistakes_clean", "support_vectors", "model_kilobytes"})


def accuracy(view: StudyView) -> Section | None:
    """Print and draw test accuracy; return None without a test part."""
    tables = score_tables(view.averages, METRICS["test_accuracy"], view.design)
    if not tables:
        return None
    note = Text(
        f"{wording.averaged(view.design)}, in percent; the study does not add noise to test labels. "
        f"{_best(view)}",
        "soft",
    )
    boxes = _boxes(view)
    if view.single:
        columns = [Column(tables), *([Column(boxes, wide=True)] if boxes else [])]
        return Section("accuracy", "Test accuracy", [note, Columns(columns)])
    return Section("accuracy", "Test accuracy", [note, *_shown(tables, "long"), *boxes])


def mistakes(view: StudyView) -> Section | None:
    """Print mistakes by clean and given labels; return None if no algorithm predicts along the stream."""
    design = view.design
    clean = score_tables(view.averages, METRICS["mistakes_clean"], design)
    if not clean:
        return None
    # At levels without label noise, mistakes by given labels would repeat those by clean labels: leave these
    # levels out. With a single data set they are columns of one table, and are kept.
    relabelled = [noise for noise in design.noise if noise.rate and noise.relabels]
    kept = design if view.single else replace(design, noise=relabelled)
    given = score_tables(view.averages, METRICS["mistakes"], kept) if view.noisy else []
    note = Text(
        "Mistakes along the training stream: each example is predicted before it is learned. "
        f"{wording.averaged(view.design)}. {_best(view)}",
        "soft",
    )
    tables = [
        *_shown(clean, "file" if view.many else "long"),
        *_shown(given, "file" if view.many else "folded"),
    ]
    return Section("mistakes", "Online mistakes", [note, *tables])


def metrics(view: StudyView) -> Section | None:
    """Print every requested metric that no other section prints; return None without any value."""
    blocks: list[Block] = []
    for metric in view.asked:
        tables = [] if metric.name in _ELSEWHERE else score_tables(view.averages, metric, view.design)
        if tables:
            ranks = " Algorithms are ranked by it." if metric is view.metric else ""
            better = "Higher" if metric.direction == "higher" else "Lower"
            text = f"{metric.sentence} {better} is better.{ranks}".lstrip()
            blocks += [Heading(metric.label[0].upper() + metric.label[1:]), Text(text, "soft")]
            blocks += _shown(tables, "file" if view.many else "long")
    if not blocks:
        return None
    note = Text(
        f"{wording.averaged(view.design)}. Online metrics are measured along the training stream: each "
        "example is predicted before it is learned, and judged by its clean label unless the metric says "
        "otherwise.",
        "soft",
    )
    return Section("metrics", "Metrics", [note, *blocks])


def _best(view: StudyView) -> str:
    if view.design.repetitions < 2:
        return f"The best of a {'column' if view.single else 'row'} is bold."
    is_shared = view.results.tuning and not view.results.study.get("tune_each")
    shared = ", which share what tuning chose" if is_shared else ""
    return (
        "Bold: not told apart from the best by the 95% interval of the paired difference over seeds"
        f"{shared}. It speaks of these rows, not of new ones."
    )


def _shown(tables: Sequence[TableBlock], show: Show) -> list[TableBlock]:
    return [replace(table, show=show) for table in tables]


def _boxes(view: StudyView) -> list[Block]:
    """Draw test error over seeds, if there are few data sets and enough seeds."""
    design = view.design
    if not view.few or design.repetitions < _FEWEST_SEEDS:
        return []
    rows = view.finished
    rows = rows.assign(error=100 * (1 - rows["test_accuracy"].astype("float64"))).dropna(subset=["error"])
    pictures = []
    for place, dataset in enumerate(design.datasets, 1):
        for noise in spaced(design.noise, _MOST_LEVELS):
            here = rows[(rows["dataset"] == dataset) & (rows["noise"] == noise.slug)]
            samples = [
                (name, here.loc[here["algorithm"] == name, "error"].tolist()) for name in design.algorithms
            ]
            samples = [(name, sample) for name, sample in samples if sample]
            if samples:
                pictures.append(
                    Picture(
                        f"Test error over seeds, {dataset}, {noise.label}",
                        f"{shorten(dataset, 40)}, {noise.label}",
                        box_plot(samples, view.styles, "test error, %"),
                        f"figures/test-error-{place}-{slug(dataset)}-{noise.stem}.svg",
                    )
                )
    if not pictures:
        return []
    note = wording.boxes_note(design, len(pictures))
    return [Heading("Test error over seeds"), Panels(pictures), Text(note, "note")]
