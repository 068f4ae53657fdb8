"""Which pictures a report shows: few enough to look at, chosen by rule and not by outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ....pipeline.analysis.averages import Design, evaluation_rows
from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.noise import Noise
from ..sections.rank_tables import rank_frame
from ..words.markup import slug
from ..words.phrases import count
from .box_plot import box_plot
from .critical_difference import critical_difference
from .line_plots import Axis, curves_sheet, learning_curves, ranks_by_noise
from .svg import shorten, standalone

# Panels of learning curves: five base sets at three noise levels. Each costs about 40 kB of the page.
MAX_PANELS = 15
# The paper's box plot is for one data set; from five on the tables say it in less room.
MAX_BOX_DATASETS = 4
MAX_BOX_LEVELS = 3
# Quartiles of fewer values are the values themselves.
MIN_BOX_SEEDS = 5


@dataclass(frozen=True)
class Picture:
    """One figure: raw SVG for the page, a finished file for Markdown.

    Attributes
    ----------
    title : str
        What it shows, for readers who cannot see it.
    heading : str
        Printed above it.
    svg : str
        As `svg.draw` returns it.
    file : str
        Relative name of the file, empty when the picture is shown in the page only.
    content : str
        The file's text.
    """

    title: str
    heading: str
    svg: str
    file: str = ""
    content: str = ""


@dataclass(frozen=True)
class CurveGroup:
    """The learning curves of one data set: a panel per noise level, and one file with all of them.

    Attributes
    ----------
    name : str
        Label of the data set.
    panels : list of Picture
        Shown in the page only.
    file, content : str
        Relative name and text of the file.
    finals : list of (algorithm, number)
        Where the only panel's curves end, top to bottom, as a key to it; empty for more than one panel.
    """

    name: str
    panels: list[Picture]
    file: str
    content: str
    finals: list[tuple[str, str]]


def _picture(title: str, heading: str, svg: str, file: str) -> Picture:
    return Picture(title, heading, svg, file, standalone(svg, title))


def diagrams(comparisons: Sequence[Comparison], *, prefix: str = "", scope: str = "") -> list[Picture]:
    """Draw a critical difference diagram for every noise level with two data sets and algorithms or more.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    prefix : str, default=""
        Put before the files' names.
    scope : str, default=""
        The part of the study they are about, for readers who cannot see them.

    Returns
    -------
    list of Picture
        On one scale.
    """
    shown = [c for c in comparisons if c.n >= 2 and c.k >= 2]
    return [
        _picture(
            f"Critical difference diagram by {c.metric.label}, {c.noise.label}"
            + (f" ({scope})" if scope else ""),
            f"{c.noise.label}, {count(c.n, 'data set')}",
            critical_difference(c, shown),
            f"figures/{prefix}critical-difference-{c.noise.slug}.svg",
        )
        for c in shown
    ]


def rank_picture(comparisons: Sequence[Comparison], design: Design) -> Picture | None:
    """Draw mean rank against noise; None below two noise levels or two algorithms."""
    frame = rank_frame(comparisons, design).dropna(axis="columns", how="all")
    if min(frame.shape) < 2:
        return None
    title = f"Mean rank by {comparisons[0].metric.label} against label noise"
    sheet = ranks_by_noise(frame, design.algorithms, legend=True)
    return Picture(
        title,
        "Mean rank by label noise",
        ranks_by_noise(frame, design.algorithms),
        "figures/mean-rank-by-noise.svg",
        standalone(sheet, title),
    )


def boxes(cells: pd.DataFrame, design: Design) -> list[Picture]:
    """Draw test error over seeds, one panel per data set and noise level.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    design : Design
        The study's names and their order.

    Returns
    -------
    list of Picture
        Empty for more than four data sets, fewer than five seeds, or without test accuracy.
    """
    if len(design.datasets) > MAX_BOX_DATASETS or len(design.seeds) < MIN_BOX_SEEDS:
        return []
    rows = evaluation_rows(cells, status="ok")
    rows = rows.assign(error=100 * (1 - rows["test_accuracy"].astype("float64"))).dropna(subset=["error"])
    pictures = []
    for place, dataset in enumerate(design.datasets, 1):
        for noise in spaced(design.noise, MAX_BOX_LEVELS):
            here = rows[(rows["dataset"] == dataset) & (rows["noise"] == noise.slug)]
            values = [
                (name, here.loc[here["algorithm"] == name, "error"].tolist()) for name in design.algorithms
            ]
            values = [(name, sample) for name, sample in values if sample]
            if values:
                pictures.append(
                    _picture(
                        f"Test error over seeds, {dataset}, {noise.label}",
                        f"{shorten(dataset, 40)}, {noise.label}",
                        box_plot(values, design.algorithms, "test error, %"),
                        f"figures/test-error-{place}-{slug(dataset)}-{noise.slug}.svg",
                    )
                )
    return pictures


def spaced(levels: Sequence[Noise], most: int) -> list[Noise]:
    """Return at most `most` of the levels, evenly spaced, the first and the last among them."""
    if len(levels) <= most:
        return list(levels)
    places = np.unique(np.linspace(0, len(levels) - 1, most).round().astype(int))
    return [levels[place] for place in places]


def curve_groups(
    cells: pd.DataFrame, curves: pd.DataFrame, design: Design, drawn: Sequence[str] = ()
) -> tuple[list[CurveGroup], str]:
    """Draw learning curves: the first task of every base set, at every noise level if they fit.

    Parameters
    ----------
    cells, curves : DataFrame
        The store's tables.
    design : Design
        The study's names and their order.
    drawn : sequence of str, default=()
        The algorithms that are drawn; all when empty.

    Returns
    -------
    groups : list of CurveGroup
        One per data set shown; empty when the store has no curves.
    note : str
        What is drawn and what was left out.
    """
    levels = spaced(design.noise, 6)
    firsts = list(dict(zip(reversed(design.sources), reversed(design.datasets), strict=True)).values())[::-1]
    room = max(1, MAX_PANELS // max(1, len(levels)))
    shown = firsts[:room]
    groups: list[CurveGroup] = []
    for dataset in shown:
        panels: list[tuple[Noise, list[Curve]]] = []
        for noise in levels:
            names = list(drawn) or design.algorithms
            found = mean_curves(cells, curves, dataset=dataset, noise=noise, algorithms=names)
            if found:
                panels.append((noise, found))
        if panels:
            groups.append(_group(len(groups) + 1, dataset, panels, design))
    note = (
        "Cumulative mistakes against the clean labels as the stream goes by: mean over seeds, shaded by one "
        "standard deviation."
    )
    if len(shown) < len(design.datasets):
        note += (
            f" Shown: the first task of {'each' if len(shown) == len(firsts) else 'the first'} "
            f"{'base set' if len(shown) == len(firsts) else count(len(shown), 'base set')}; "
            f"{len(shown)} of {count(len(design.datasets), 'data set')} in all."
        )
    if drawn and len(drawn) < len(design.algorithms):
        note += f" {len(drawn)} of {len(design.algorithms)} algorithms are drawn, as the study asks."
    if len(levels) < len(design.noise):
        note += f" Noise levels shown: {', '.join(level.short for level in levels)}."
    return groups, note


def _group(place: int, dataset: str, panels: list[tuple[Noise, list[Curve]]], design: Design) -> CurveGroup:
    axis = Axis(y="mistakes (clean labels)")
    pictures = [
        Picture(
            f"Learning curves on {dataset}, {noise.label}",
            f"{noise.label}",
            learning_curves(found, design.algorithms, axis),
        )
        for noise, found in panels
    ]
    sheet = curves_sheet(
        [(f"{shorten(dataset, 24)}, {noise.short} noise", found) for noise, found in panels],
        design.algorithms,
        axis,
    )
    return CurveGroup(
        name=dataset,
        panels=pictures,
        file=f"figures/learning-curves-{place}-{slug(dataset)}.svg",
        content=standalone(sheet, f"Learning curves on {dataset}"),
        finals=_finals(panels[0][1]) if len(panels) == 1 else [],
    )


def _finals(curves: Sequence[Curve]) -> list[tuple[str, str]]:
    ordered = sorted(curves, key=lambda curve: -curve.mean[-1])
    spread = [f" ± {curve.sd[-1]:,.0f}" if curve.seeds > 1 else "" for curve in ordered]
    return [(c.algorithm, f"{c.mean[-1]:,.0f}{sd}") for c, sd in zip(ordered, spread, strict=True)]
