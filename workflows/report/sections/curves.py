"""Draw curves along the stream: mistakes, the error of the latest examples, test error and counts.

A base set is a data set from which one or several tasks are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from ....pipeline.analysis.curves import Curve
from ....pipeline.analysis.subsets import task_groups
from ....pipeline.counts import COUNTS
from ....pipeline.noise import Noise
from ..page.blocks import Block, Column, Columns, Heading, Panels, Section, Text
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView, latest, spaced
from ..parts.figures import Quantity, stream_blocks, stream_panels
from ..plots.curve_plots import Axis
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug
from ..words.wording import count, how_far

# Maximum number of panels of one quantity: five base sets at three noise levels. Each adds about 40 kB.
_MOST_PANELS = 15
_MOST_LEVELS = 6
_MOST_LEVELS_OF_LATEST = 3
# Maximum number of base sets of which test error and counts are drawn: a panel adds some 20 kB to the page.
_MOST_SETS = 9
_MOST_NAMED = 6

_MISTAKES = Quantity("Learning curves", "mistakes_clean", Axis(y="mistakes (clean labels)"), from_zero=True)
# Quantities drawn along the stream, each with its file's name without suffix and a note for the report.
_TEST_ERRORS = (
    (
        Quantity("Test error along the stream", "test_error", Axis(y="test error, %", log=True)),
        "test-error",
        "Test error of the model by the number of examples seen; both axes are logarithmic.",
    ),
    (
        Quantity(
            "Test error against labels asked for",
            "test_error",
            Axis("labels asked for", "test error, %", log=True),
            against="queried",
        ),
        "test-error-by-labels",
        "Test error of the model by the number of labels that it asked for; both axes are logarithmic.",
    ),
)


def learning_curves(view: StudyView) -> Section | None:
    """Draw mistakes along the stream for the first task of each base set; return None without a curve."""
    design = view.design
    levels = spaced(design.noise, _MOST_LEVELS)
    firsts = list(dict(zip(reversed(design.sources), reversed(design.datasets), strict=True)).values())[::-1]
    shown = firsts[: max(1, _MOST_PANELS // max(1, len(levels)))]
    drawn: list[tuple[str, Panels, list[Curve]]] = []
    for dataset in shown:
        found = stream_panels(
            view,
            _MISTAKES,
            [(dataset, noise) for noise in levels],
            title=f"Learning curves on {dataset}",
            file=f"learning-curves-{len(drawn) + 1}-{slug(dataset)}",
            heading=lambda _, noise: noise.label,
        )
        if found:
            drawn.append((dataset, *found))
    if not drawn:
        return None
    changes = any(curve.changes for _, _, curves in drawn for curve in curves)
    blocks: list[Block] = [Text(_note(view, shown, firsts, levels, changes), "soft")]
    [(dataset, panels, curves), *others] = drawn
    if len(panels.pictures) == 1 and not others:
        # The table next to the only panel serves as its legend and gives the curves' final values.
        columns = [Column([panels], wide=True), Column([_ends(view, dataset, curves)])]
        blocks += [Heading(dataset), Columns(columns)]
    else:
        blocks.append(view.legend(view.drawn))
        blocks += [block for name, each, _ in drawn for block in (Heading(name), each)]
    return Section("curves", "Learning curves", blocks)


def _note(
    view: StudyView, shown: Sequence[str], firsts: Sequence[str], levels: Sequence[Noise], changes: bool
) -> str:
    """Say which learning curves are drawn and which are left out."""
    design = view.design
    note = f"Cumulative mistakes against the clean labels along the stream: {wording.shaded(design)}."
    if changes:
        note += " Dashed vertical lines: the stream changes."
    if len(shown) < len(design.datasets):
        whole = len(shown) == len(firsts)
        note += (
            f" Shown: the first task of {'each' if whole else 'the first'} "
            f"{'base set' if whole else count(len(shown), 'base set')}; "
            f"{len(shown)} of {count(len(design.datasets), 'data set')} in all."
        )
    if len(view.drawn) < len(design.algorithms):
        note += f" {len(view.drawn)} of {len(design.algorithms)} algorithms are drawn, as the study asks."
    if lacking := _not_drawn(view, shown, levels):
        note += f" Not drawn: {'; '.join(lacking)}."
    if len(levels) < len(design.noise):
        note += f" Noise levels shown: {', '.join(level.short for level in levels)}."
    return note


def _not_drawn(view: StudyView, shown: Sequence[str], levels: Sequence[Noise]) -> list[str]:
    """Name the algorithms without a curve because a cell was stopped or failed, and their progress."""
    found = []
    for noise in levels:
        lacks = view.averages.shortfalls(noise, view.design)
        for (dataset, name), lack in lacks.items():
            if dataset in shown and name in view.drawn and lack.stopped + lack.failed:
                found.append(f"{name} on {dataset}, {noise.label} ({how_far(lack)})")
    if len(found) > _MOST_NAMED:
        found[_MOST_NAMED:] = [f"{len(found) - _MOST_NAMED} more"]
    return found


def _ends(view: StudyView, dataset: str, curves: Sequence[Curve]) -> TableBlock:
    """Return a table of final mistakes, the most first, then the progress of algorithms without a curve."""
    rows = []
    for curve in sorted(curves, key=lambda curve: -curve.mean[-1]):
        spread = f" ± {curve.sd[-1]:,.0f}" if curve.seeds > 1 else ""
        rows.append((curve.algorithm, f"{curve.mean[-1]:,.0f}{spread}"))
    marks = {name: view.swatches[name] for name, _ in rows}
    lacks = view.averages.shortfalls(view.design.noise[0], view.design)
    others = [name for name in view.drawn if name not in marks and (dataset, name) in lacks]
    rows += [(name, how_far(lacks[dataset, name])) for name in others]
    frame = pd.DataFrame(rows, columns=["algorithm", "mistakes"])
    return tabulate(frame, "", "Mistakes at the end", marks=marks)


def latest_errors(view: StudyView) -> Section | None:
    """Draw the error of the latest examples, windowed or fading; return None if neither is requested."""
    levels = spaced(view.design.noise, _MOST_LEVELS_OF_LATEST)
    datasets = view.design.datasets
    shown = datasets[: max(1, _MOST_PANELS // len(levels))]
    more = f" Shown: the first {len(shown)} of {count(len(datasets), 'data set')}."
    places = [(dataset, noise) for dataset in shown for noise in levels]
    marked = _switches_of(view)
    blocks: list[Block] = []
    for quantity, file, text in _latest(view):
        found = stream_panels(view, quantity, places, title=quantity.title, file=file, marked=marked)
        if found:
            note = f"{text}: {wording.shaded(view.design)}."
            rest = more if len(shown) < len(datasets) else ""
            blocks += stream_blocks(view, quantity.title, note, found, rest, view.drawn)
    return Section("latest-errors", "Error of the latest examples", blocks) if blocks else None


def _latest(view: StudyView) -> Iterator[tuple[Quantity, str, str]]:
    """Yield the quantities to draw over the latest examples, each with its file's name and its caption."""
    for key, kind in (("window", "Windowed"), ("fading", "Fading")):
        size = view.results.study.get(key)
        if not size:
            continue
        how = f", each example counting {size:g} times as much as the next"
        if key == "window":
            how = f" among the latest {count(size, 'example')}"
        error = Quantity(f"{kind} error", f"{key}_error_clean", Axis(y="error, %"))
        yield error, f"{kind.lower()}-error", f"Share of mistakes (clean labels){how}"
        for metric in view.asked_over(key):
            label = metric.label.removeprefix("online ")
            # The caption says against which labels.
            short = label.partition(" against ")[0]
            axis = Axis(y=f"{short}, %" if metric.percent else short, zero=metric.percent)
            # Do not capitalize a label that begins with the Greek letter kappa: the capital means another
            # thing.
            opening = label[0].upper() + label[1:] if label.isascii() else label
            quantity = Quantity(f"{kind} {label}", latest(key, metric), axis)
            yield quantity, slug(f"{kind.lower()}-metric-{metric.name}"), f"{opening}{how}"


def _switches_of(view: StudyView) -> Callable[[Curve, str, Noise], Curve]:
    """Return a function that marks on a curve where any seed's model was replaced or became more complex."""
    rows = view.finished.dropna(subset=["switches"])
    # Switches count from the first row of the stream, curves from the first row that is not only for tuning.
    uncounted = rows["counted_from"].fillna(0)
    found: dict[Any, set[float]] = {}
    keys = zip(rows["dataset"], rows["noise"], rows["algorithm"], strict=True)
    for key, switches, before in zip(keys, rows["switches"], uncounted, strict=True):
        found.setdefault(key, set()).update(float(t - before) for t in switches)

    def with_switches(curve: Curve, dataset: str, noise: Noise) -> Curve:
        times = found.get((dataset, noise.slug, curve.algorithm), set())
        return replace(curve, marks=tuple(sorted(t for t in times if t >= curve.t[0])))

    return with_switches


def along_stream(view: StudyView) -> Section | None:
    """Draw test error and counts along the stream, such as support vectors.

    A count is drawn if its declaration (`pipeline/counts.py`) has a `trace`. Only the first task of each
    group of tasks is drawn, at the lowest noise level.
    """
    noise = view.design.noise[0]
    groups = task_groups(view.cells, view.design)[:_MOST_SETS]
    quantities = [*_TEST_ERRORS]
    for name, each in COUNTS.items():
        if trace := each.trace:
            axis = Axis("examples seen", each.label, not trace.steps, trace.log, trace.steps)
            quantities.append((Quantity(trace.title, name, axis), slug(name), trace.note))
    with_switches = _switches_of(view)
    blocks: list[Block] = []
    for quantity, file, note in quantities:
        drawn = stream_panels(
            view,
            quantity,
            [(group.datasets[0], noise) for group in groups],
            title=f"{quantity.title}, {noise.label}",
            file=file,
            heading=lambda dataset, _: shorten(dataset, 40),
            short=lambda dataset, _: shorten(dataset, 30),
            marked=with_switches if quantity is _TEST_ERRORS[0][0] else lambda curve, *_: curve,
        )
        if drawn:
            zero = quantity.axis.log and any((curve.mean == 0).any() for curve in drawn[1])
            # Steps are drawn without their spread.
            how = "" if quantity.axis.steps else f": {wording.shaded(view.design)}"
            more = f" Drawn at {noise.label}{how}.{' 0 is drawn at the bottom.' if zero else ''}"
            blocks += stream_blocks(view, quantity.title, note, drawn, more)
    return Section("along", "Along the stream", blocks) if blocks else None
