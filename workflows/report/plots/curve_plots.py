"""Plots of curves along the stream, panel by panel and as a sheet."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .legends import legend_below
from .svg import PANEL, draw, new_figure, resize, theme
from .ticks import draw_grid, number_logarithmically, number_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ....pipeline.analysis.curves import Curve
    from .styles import Styles


def _logarithmic(axes: Axes, curves: Sequence[Curve]) -> float:
    """Make both axes logarithmic, as far as the means reach; return where 0 is drawn: at the bottom."""
    means = np.concatenate([curve.mean for curve in curves])
    known = means[np.isfinite(means) & (means > 0)]
    low, high = (known.min() / 1.3, known.max() * 1.3) if known.size else (0.1, 1.0)
    axes.set(xscale="log", yscale="log", ylim=(low, high), xlim=_reach(curves))
    number_logarithmically(axes.xaxis, *axes.get_xlim())
    number_logarithmically(axes.yaxis, *axes.get_ylim())
    return float(low)


def _reach(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return where a logarithmic x axis begins and ends."""
    left, right = (max(1.0, of(curve.t[end] for curve in curves)) for of, end in ((min, 0), (max, -1)))
    # A stream of one checkpoint is a point: half a decade shows it.
    return left, max(right, 3.0 * left)


class Axis(NamedTuple):
    """What a panel of curves shows.

    Attributes
    ----------
    x, y : str
        Names of the axes.
    zero : bool
        Whether y begins at 0.
    log : bool
        Whether both are logarithmic.
    steps : bool
        Whether values stay until they change; their spread is not drawn then.
    log_x : bool
        Whether x alone is logarithmic.
    """

    x: str = "examples seen"
    y: str = ""
    zero: bool = True
    log: bool = False
    steps: bool = False
    log_x: bool = False


def draw_curves(axes: Axes, curves: Sequence[Curve], styles: Styles, axis: Axis) -> None:
    """Draw the curves of several algorithms: mean over seeds, shaded by one standard deviation."""
    bottom = _logarithmic(axes, curves) if axis.log else -np.inf
    by_powers = axis.log or axis.log_x
    for curve in curves:
        colour, marker, dash = styles[curve.algorithm]
        place = list(styles).index(curve.algorithm)
        t, mean = (np.maximum(curve.t, 1.0) if by_powers else curve.t), np.maximum(curve.mean, bottom)
        if not axis.steps:
            low, high = (np.maximum(curve.mean + sign * curve.sd, bottom) for sign in (-1, 1))
            axes.fill_between(t, low, high, color=colour, alpha=0.18, lw=0)
        # Marks at a few places only, staggered so that close curves show theirs in turn.
        shares = 0.25 * np.arange(1, 5) - 0.03 * (place % 5)
        marks = np.searchsorted(t, t[0] * (t[-1] / t[0]) ** shares if by_powers else t[-1] * shares)
        axes.plot(
            t,
            mean,
            color=colour,
            ls=dash,
            marker=marker,
            drawstyle="steps-post" if axis.steps else "default",
            clip_on=axis.log,
            markevery=sorted(set(np.minimum(marks, t.size - 1).tolist())),
        )
        if curve.marks:
            # On the line, which is straight between checkpoints as it is drawn.
            heights = np.exp(np.interp(np.log(curve.marks), np.log(t), np.log(mean)))
            axes.plot(curve.marks, heights, ls="none", marker="o", ms=9, mfc="none", mec=colour, mew=1.5)
    for change in sorted({each for curve in curves for each in curve.changes if each <= curve.t[-1]}):
        axes.axvline(change, color="0.45", lw=0.8, ls=(0, (2, 2)), zorder=0.5)
    if not axis.log:
        axes.set_xlim(0, max(curve.t[-1] for curve in curves))
        if axis.zero:
            axes.set_ylim(bottom=0)
        number_plainly(axes, axis.zero)
    if axis.log_x:
        axes.set_xscale("log")
        axes.set_xlim(*_reach(curves))
        number_logarithmically(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel(axis.x)
    axes.set_ylabel(axis.y)
    draw_grid(axes)


def learning_curves(
    panels: Sequence[tuple[str, Sequence[Curve]]], styles: Styles, axis: Axis
) -> tuple[list[str], str]:
    """Draw panels of learning curves: mean over seeds, shaded by one standard deviation.

    Parameters
    ----------
    panels : sequence of (title, curves)
        In reading order; of each panel the curves of several algorithms.
    styles : Styles
        Of the study's algorithms.
    axis : Axis
        What is drawn.

    Returns
    -------
    drawings : list of str
        SVG of each panel without title and legend: the page has one for all panels.
    sheet : str
        SVG of all, three panels to a row, with titles and a legend, for a file of its own.
    """
    with theme():
        figure = new_figure(*PANEL)
        # Made once for both pictures that it is in: to make a panel takes as long as to draw it.
        for _, curves in panels:
            # The last tick's number reaches out to the right of the axis.
            axes = figure.add_axes((0.155, 0.17, 0.785, 0.79), visible=False)
            draw_curves(axes, curves, styles, axis)
        drawings = []
        for axes in figure.axes:
            axes.set_visible(True)
            drawings.append(draw(figure))
            axes.set_visible(False)
        return drawings, _sheet(figure, panels, styles)


def _sheet(figure: Figure, panels: Sequence[tuple[str, Sequence[Curve]]], styles: Styles) -> str:
    """Lay the panels of a figure side by side."""
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    # Two names to a panel's width, spread evenly over the rows.
    drawn = {curve.algorithm for _, curves in panels for curve in curves}
    names = [name for name in styles if name in drawn]
    legend_rows = -(-len(names) // (2 * columns))
    legend = 22.0 * legend_rows + 8
    width, height = 330.0 * columns, 250.0 * rows + legend
    resize(figure, width, height)
    for i, (axes, (title, _)) in enumerate(zip(figure.axes, panels, strict=True)):
        left = 330.0 * (i % columns) + 56
        bottom = height - 250.0 * (i // columns) - 206
        axes.set_position((left / width, bottom / height, 252 / width, 180 / height))
        axes.set_title(title, loc="left")
        axes.set_visible(True)
    legend_below(figure, styles, names, -(-len(names) // legend_rows))
    return draw(figure)
