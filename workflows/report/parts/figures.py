"""Figures of a report: curves along the stream, critical difference diagrams, axes for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.counts import LATEST_ERRORS
from ....pipeline.errors import InputError, did_you_mean
from ....pipeline.noise import Noise
from ..page.blocks import Panels, Picture
from ..page.view import StudyView
from ..plots.critical_difference import critical_difference, diagram_size, draw_diagram
from ..plots.curve_plots import Axis, draw_curves, learning_curves
from ..plots.svg import FAINT_ON_WHITE, Styles, handles, theme
from ..words.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: as wide as a notebook's text.
_PANEL = (6.4, 4.0)
# Columns of a legend below the curves.
_COLUMNS = 3
# Points: journals accept lettering of at least 6.
_LEAST_LETTERING = 7.0


def rank_diagram(comparison: Comparison, styles: Styles, ax: Axes | None, width: float | None) -> Axes:
    """Draw a critical difference diagram into axes, or into a new figure `width` inches wide.

    Raises InputError if fewer than two algorithms can be ranked.
    """
    from matplotlib import pyplot

    if comparison.k < 2 or comparison.n < 1:
        raise InputError(
            f"plot_ranks: {comparison.k} algorithms on {comparison.n} complete data sets: ranks need two "
            "algorithms or more with all their cells; see .failed"
        )

    if ax is None:
        with theme():
            # In the report's figures 1 px is 1 point; 72 of them are an inch.
            size = diagram_size(comparison, width=None if width is None else 72 * width)
        # Notebooks show a figure only if it is created with the user's own settings.
        ax = pyplot.figure(figsize=(size[0] / 72, size[1] / 72)).add_axes((0, 0, 1, 1))
    with theme():
        draw_diagram(ax, comparison, styles)
    return ax


def curve_panel(
    view: StudyView, dataset: str | None, noise: Noise, column: str, ax: Axes | None, width: float | None
) -> Axes:
    """Draw learning curves of a data set into axes, or into a new figure `width` inches wide.

    `dataset` None means the first. Raises InputError if there is no such data set or column, or no curve.
    """
    from matplotlib import pyplot

    dataset = dataset or view.design.datasets[0]
    if dataset not in view.design.datasets:
        hint = did_you_mean(dataset, view.design.datasets)
        raise InputError(f"plot_curves: no data set is called {dataset!r}: {hint}")
    numbers = view.results.curves.select_dtypes("number").columns.drop("t")
    if column not in numbers:
        raise InputError(f"plot_curves: curves have no column {column!r}: {did_you_mean(column, numbers)}")

    # Counts begin at 0; other columns, such as a share of the rows, do not.
    counted = column in ("mistakes", "mistakes_clean", "updates")
    curves = mean_curves(
        view.curves, dataset=dataset, noise=noise, algorithms=view.drawn, column=column, from_zero=counted
    )
    if not curves:
        raise InputError(f"plot_curves: no cell has {column!r} on {dataset!r}, {noise.label}; see .failed")
    lettering = 11.0 if width is None else min(11.0, max(_LEAST_LETTERING, 11 * width / _PANEL[0]))
    names = [curve.algorithm for curve in curves]
    # Next to the curves, a legend of many algorithms would cover them or be cut off.
    below = ax is None
    if ax is None:
        inches = width or _PANEL[0]
        # A legend row is 1.8 times as high as its lettering.
        legend = 1.8 * lettering / 72 * -(-len(names) // _COLUMNS)
        figure = pyplot.figure(
            figsize=(inches, inches * _PANEL[1] / _PANEL[0] + legend), layout="constrained"
        )
        with theme(faint=FAINT_ON_WHITE, lettering=lettering):
            ax = figure.add_subplot()
    with theme(faint=FAINT_ON_WHITE, lettering=lettering):
        draw_curves(ax, curves, view.styles, Axis(y=_called(column), zero=counted))
        ax.set_title(f"{dataset}, {noise.label}", loc="left")
        lines = handles(view.styles, names)
        if below:
            ax.figure.legend(handles=lines, loc="outside lower center", ncols=_COLUMNS)
        else:
            ax.legend(handles=lines)
    return ax


def _called(column: str) -> str:
    """Return the axis label for a column of the curves table."""
    if column == "mistakes_clean":
        return "mistakes (clean labels)"
    return f"{column.replace('_', ' ')}{', %' if column in LATEST_ERRORS else ''}"


def diagrams(
    comparisons: Sequence[Comparison], styles: Styles, *, prefix: str = "", scope: str = ""
) -> list[Picture]:
    """Draw a critical difference diagram for every noise level with at least two data sets and algorithms.

    The comparisons are one per noise rate, of one metric; the diagrams share one scale. `prefix` starts the
    files' names. `scope` names the part of the study for readers who cannot see the pictures.
    """
    shown = [c for c in comparisons if c.n >= 2 and c.k >= 2]
    return [
        Picture(
            f"Critical difference diagram by {c.metric.label}, {c.noise.label}"
            + (f" ({scope})" if scope else ""),
            f"{c.noise.label}, {count(c.n, 'data set')}",
            critical_difference(c, styles, shown),
            f"figures/{prefix}critical-difference-{c.noise.stem}.svg",
        )
        for c in shown
    ]


class CurvePanel(NamedTuple):
    """Hold one panel: one curve per algorithm, with its titles.

    Attributes
    ----------
    title : str
        Description for readers who cannot see it.
    heading : str
        Printed above it in the page.
    short : str
        Printed above its copy in the sheet.
    """

    title: str
    heading: str
    short: str
    curves: list[Curve]


def curve_panels(panels: Sequence[CurvePanel], styles: Styles, axis: Axis, title: str, file: str) -> Panels:
    """Draw at least one panel for the page, and a sheet with a legend for a file.

    `title` describes the sheet; `file` is its relative name.
    """
    drawings, sheet = learning_curves([(panel.short, panel.curves) for panel in panels], styles, axis)
    return Panels(
        [
            Picture(panel.title, panel.heading, drawing)
            for panel, drawing in zip(panels, drawings, strict=True)
        ],
        sheet=Picture(title, title, sheet, file),
    )
