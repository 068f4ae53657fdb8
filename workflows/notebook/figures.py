"""Figures of results as Matplotlib axes: those of the report, drawn for a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...pipeline.analysis.comparison import Comparison
from ...pipeline.analysis.curves import mean_curves
from ...pipeline.counts import LATEST_ERRORS
from ...pipeline.errors import InputError
from ...pipeline.noise import Noise
from ..report.page.view import StudyView
from ..report.plots.critical_difference import diagram_size, draw_diagram
from ..report.plots.curve_plots import Axis, draw_curves
from ..report.plots.legends import handles
from ..report.plots.styles import Styles
from ..report.plots.svg import FAINT_ON_WHITE, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: as wide as a notebook's text.
_PANEL = (6.4, 4.0)


def rank_diagram(comparison: Comparison, styles: Styles, ax: Axes | None) -> Axes:
    """Draw mean ranks as `Results.plot_ranks` says."""
    from matplotlib import pyplot

    if ax is None:
        # In figures of the report a px is a point: 72 of them are an inch.
        width, height = diagram_size(comparison)
        figure = pyplot.figure(figsize=(width / 72, height / 72))
        with theme():
            ax = figure.add_axes((0, 0, 1, 1))
    with theme():
        draw_diagram(ax, comparison, styles)
    return ax


def curve_panel(view: StudyView, dataset: str, noise: Noise, column: str, ax: Axes | None) -> Axes:
    """Draw learning curves as `Results.plot_curves` says."""
    from matplotlib import pyplot

    # What is counted begins at 0; a share of the rows, say, does not.
    counted = column in ("mistakes", "mistakes_clean", "updates")
    curves = mean_curves(
        view.curves, dataset=dataset, noise=noise, algorithms=view.drawn, column=column, from_zero=counted
    )
    if not curves:
        raise InputError(f"plot_curves: no cell has {column!r} on {dataset!r}, {noise.label}; see .failed")
    if ax is None:
        figure = pyplot.figure(figsize=_PANEL)
        with theme():
            ax = figure.add_subplot()
    with theme(faint=FAINT_ON_WHITE):
        draw_curves(ax, curves, view.styles, Axis(y=_called(column), zero=counted))
        ax.set_title(f"{dataset}, {noise.label}", loc="left")
        ax.legend(handles=handles(view.styles, [curve.algorithm for curve in curves]))
    return ax


def _called(column: str) -> str:
    """Return what an axis calls a column of curves."""
    if column == "mistakes_clean":
        return "mistakes (clean labels)"
    return f"{column.replace('_', ' ')}{', %' if column in LATEST_ERRORS else ''}"
