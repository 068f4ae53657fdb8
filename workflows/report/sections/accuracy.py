"""Report accuracy on test data with its spread over seeds, and mistakes along the training stream."""

from __future__ import annotations

from dataclasses import replace

from ....pipeline.analysis.metrics import METRICS
from ..page.blocks import Block, Column, Columns, Heading, Panels, Picture, Section, Text
from ..page.view import StudyView, spaced
from ..parts.score_tables import score_tables
from ..plots.head_to_head_plots import box_plot
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug

_MOST_LEVELS = 3
# Quartiles of fewer values are the values themselves.
_FEWEST_SEEDS = 5


def section(view: StudyView) -> Section | None:
    """Print and draw test accuracy; return None without a test part."""
    tables = score_tables(view.averages, METRICS["test_accuracy"], view.design)
    if not tables:
        return None
    note = Text(
        f"{wording.averaged(view.design)}, in percent; the study puts no noise into test labels. The "
        f"best of a {'column' if view.single else 'row'} is bold.",
        "soft",
    )
    boxes = _boxes(view)
    if view.single:
        columns = [Column(tables)]
        if boxes:
            columns.append(Column(boxes, wide=True))
        return Section("accuracy", "Test accuracy", [note, Columns(columns)])
    folded = [replace(table, show="long") for table in tables]
    return Section("accuracy", "Test accuracy", [note, *folded, *boxes])


def mistakes(view: StudyView) -> Section | None:
    """Print mistakes by clean and given labels; return None if no algorithm predicts along the stream."""
    design = view.design
    clean = score_tables(view.averages, METRICS["mistakes_clean"], design)
    if not clean:
        return None
    # Without label noise the given labels are the clean ones, and their table would repeat the first. A
    # single data set has one table for all noise levels.
    relabelled = [noise for noise in design.noise if noise.rate and noise.relabels]
    kept = design if view.single else replace(design, noise=relabelled)
    given = score_tables(view.averages, METRICS["mistakes"], kept) if view.noisy else []
    note = Text(
        "Mistakes along the training stream, each example predicted before it is learnt from. "
        f"{wording.averaged(design)}. The best of a {'column' if view.single else 'row'} is bold.",
        "soft",
    )
    shown = [replace(table, show="file" if view.many else "long") for table in clean]
    shown += [replace(table, show="file" if view.many else "folded") for table in given]
    return Section("mistakes", "Online mistakes", [note, *shown])


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
            values = [
                (name, here.loc[here["algorithm"] == name, "error"].tolist()) for name in design.algorithms
            ]
            values = [(name, sample) for name, sample in values if sample]
            if values:
                pictures.append(
                    Picture(
                        f"Test error over seeds, {dataset}, {noise.label}",
                        f"{shorten(dataset, 40)}, {noise.label}",
                        box_plot(values, view.styles, "test error, %"),
                        f"figures/test-error-{place}-{slug(dataset)}-{noise.stem}.svg",
                    )
                )
    if not pictures:
        return []
    note = wording.boxes_note(design, len(pictures))
    return [Heading("Test error over seeds"), Panels(pictures), Text(note, "note")]
