"""Figures of the report as Matplotlib axes, for notebooks and for files of a given width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.curves import mean_curves
from ....pipeline.counts import LATEST_ERRORS
from ....pipeline.errors import InputError, did_you_mean
from ....pipeline.noise import Noise
from ..page.view import StudyView
from ..plots.critical_difference import diagram_size, draw_diagram
from ..plots.curve_plots import Axis, draw_curves
from ..plots.legends import handles
from ..plots.styles import Styles
from ..plots.svg import FAINT_ON_WHITE, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Inches: as wide as a notebook's text.
_PANEL = (6.4, 4.0)
# Of a legend below the curves.
_COLUMNS = 3
# Points: the smallest lettering that journals take is 6.
_LEAST_LETTERING = 7.0


def rank_diagram(comparison: Comparison, styles: Styles, ax: Axes | None, width: float | None) -> Axes:
    """Draw a critical difference diagram into axes, or into a new figure of some inches.

    Raises
    ------
    InputError
        Fewer than two algorithms can be ranked.
    """
    from matplotlib import pyplot

    if comparison.k < 2 or comparison.n < 1:
        raise InputError(
            f"plot_ranks: {comparison.k} algorithms on {comparison.n} complete data sets: ranks need two "
            "algorithms or more with all their cells; see .failed"
        )

    if ax is None:
        with theme():
            # In figures of the report a px is a point: 72 of them are an inch.
            size = diagram_size(comparison, width=None if width is None else 72 * width)
        # Notebooks show a figure only if it is made with the user's own settings.
        ax = pyplot.figure(figsize=(size[0] / 72, size[1] / 72)).add_axes((0, 0, 1, 1))
    with theme():
        draw_diagram(ax, comparison, styles)
    return ax


def curve_panel(
    view: StudyView, dataset: str | None, noise: Noise, column: str, ax: Axes | None, width: float | None
) -> Axes:
    """Draw learning curves of a data set (None: the first) into axes, or into a new figure of some inches.

    Raises
    ------
    InputError
        There is no such data set or column, or no curve of them.
    """
    from matplotlib import pyplot

    dataset = dataset or view.design.datasets[0]
    if dataset not in view.design.datasets:
        hint = did_you_mean(dataset, view.design.datasets)
        raise InputError(f"plot_curves: no data set is called {dataset!r}: {hint}")
    numbers = view.results.curves.select_dtypes("number").columns.drop("t")
    if column not in numbers:
        raise InputError(f"plot_curves: curves have no column {column!r}: {did_you_mean(column, numbers)}")

    # What is counted begins at 0; a share of the rows, say, does not.
    counted = column in ("mistakes", "mistakes_clean", "updates")
    curves = mean_curves(
        view.curves, dataset=dataset, noise=noise, algorithms=view.drawn, column=column, from_zero=counted
    )
    if not curves:
        raise InputError(f"plot_curves: no cell has {column!r} on {dataset!r}, {noise.label}; see .failed")
    lettering = 11.0 if width is None else min(11.0, max(_LEAST_LETTERING, 11 * width / _PANEL[0]))
    names = [curve.algorithm for curve in curves]
    # Beside the curves a legend of many algorithms would cover them or be cut off.
    below = ax is None
    if ax is None:
        inches = width or _PANEL[0]
        # A line of the legend is 1.8 times as high as its lettering.
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
    """Return what an axis calls a column of curves."""
    if column == "mistakes_clean":
        return "mistakes (clean labels)"
    return f"{column.replace('_', ' ')}{', %' if column in LATEST_ERRORS else ''}"
