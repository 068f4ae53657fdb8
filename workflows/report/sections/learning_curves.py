"""Draw learning curves: mistakes along the stream, for a fixed choice of few data sets."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.noise import Noise
from ..page.blocks import Block, Column, Columns, Heading, Panels, Section, Text
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView, spaced
from ..parts.figures import CurvePanel, curve_panels
from ..plots.curve_plots import Axis
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug
from ..words.wording import count, how_far

# Maximum number of panels: five base sets at three noise levels. Each adds about 40 kB to the page.
_MOST_PANELS = 15
_MOST_LEVELS = 6
_MOST_NAMED = 6


def section(view: StudyView) -> Section | None:
    """Draw the first task of as many base sets as fit; return None without any curve."""
    design = view.design
    levels = spaced(design.noise, _MOST_LEVELS)
    firsts = list(dict(zip(reversed(design.sources), reversed(design.datasets), strict=True)).values())[::-1]
    shown = firsts[: max(1, _MOST_PANELS // max(1, len(levels)))]
    groups: list[tuple[str, list[list[Curve]], Panels]] = []
    for dataset in shown:
        found = [(noise, _curves(view, dataset, noise)) for noise in levels]
        found = [(noise, curves) for noise, curves in found if curves]
        if found:
            panels = _panels(view, len(groups) + 1, dataset, found)
            groups.append((dataset, [curves for _, curves in found], panels))
    if not groups:
        return None
    blocks: list[Block] = [Text(_note(view, shown, firsts, levels), "soft")]
    [(dataset, curves, panels), *others] = groups
    if len(curves) == 1 and not others:
        # The table next to the only panel serves as its legend and gives the curves' final values.
        columns = [Column([panels], wide=True), Column([_ends(view, dataset, curves[0])])]
        blocks += [Heading(dataset), Columns(columns)]
    else:
        blocks.append(view.legend(view.drawn))
        blocks += [block for name, _, each in groups for block in (Heading(name), each)]
    return Section("curves", "Learning curves", blocks)


def _curves(view: StudyView, dataset: str, noise: Noise) -> list[Curve]:
    return mean_curves(view.curves, dataset=dataset, noise=noise, algorithms=view.drawn)


def _note(view: StudyView, shown: Sequence[str], firsts: Sequence[str], levels: Sequence[Noise]) -> str:
    """Say what is drawn and what is left out."""
    design = view.design
    note = f"Cumulative mistakes against the clean labels as the stream goes by: {wording.shaded(design)}."
    cells = itertools.product(shown, levels, view.drawn)
    if any(view.curves.changes(*each) for each in cells):
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
    """Name the algorithms without a curve because a cell was stopped or failed, and how far they got."""
    found = []
    for noise in levels:
        lacks = view.averages.shortfalls(noise, view.design)
        for (dataset, name), lack in lacks.items():
            if dataset in shown and name in view.drawn and lack.stopped + lack.failed:
                found.append(f"{name} on {dataset}, {noise.label} ({how_far(lack)})")
    if len(found) > _MOST_NAMED:
        found[_MOST_NAMED:] = [f"{len(found) - _MOST_NAMED} more"]
    return found


def _panels(view: StudyView, place: int, dataset: str, found: Sequence[tuple[Noise, list[Curve]]]) -> Panels:
    panels = [
        CurvePanel(
            f"Learning curves on {dataset}, {noise.label}",
            noise.label,
            f"{shorten(dataset, 24)}, {noise.short} noise",
            curves,
        )
        for noise, curves in found
    ]
    file = f"figures/learning-curves-{place}-{slug(dataset)}.svg"
    axis = Axis(y="mistakes (clean labels)")
    return curve_panels(panels, view.styles, axis, f"Learning curves on {dataset}", file)


def _ends(view: StudyView, dataset: str, curves: Sequence[Curve]) -> TableBlock:
    """Tabulate the final values of curves, top to bottom, then how far the other algorithms got."""
    rows = []
    for curve in sorted(curves, key=lambda curve: -curve.mean[-1]):
        spread = f" ± {curve.sd[-1]:,.0f}" if curve.seeds > 1 else ""
        name = TableCell(curve.algorithm, mark=view.swatches[curve.algorithm])
        rows.append([name, TableCell(f"{curve.mean[-1]:,.0f}{spread}")])
    there = {curve.algorithm for curve in curves}
    lacks = view.averages.shortfalls(view.design.noise[0], view.design)
    for other in view.drawn:
        if other not in there and (dataset, other) in lacks:
            rows.append([TableCell(other), TableCell(how_far(lacks[dataset, other]))])
    return TableBlock("", "Mistakes at the end", ["algorithm", "mistakes"], rows)
