"""Plots of one algorithm against the others, task by task: scatter, and error reduction by difficulty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .styles import DASHES
from .svg import FAINT, INK, PANEL, draw, new_figure, shorten, theme
from .ticks import draw_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .styles import Style

# A square of a panel's height: a line of slope 1 is then a diagonal.
_SQUARE = 250.0


def scatter(x: NDArray[np.float64], y: NDArray[np.float64], style: Style, xlabel: str, ylabel: str) -> str:
    """Draw one point a task and the line on which both are equal.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n,)
        Values of both algorithms, in percent.
    style : Style
        Of the algorithm on the x axis.
    xlabel, ylabel : str
        Their names.

    Returns
    -------
    str
        SVG.
    """
    from matplotlib.ticker import MaxNLocator

    low, high = float(min(x.min(), y.min())), float(max(x.max(), y.max()))
    margin = 0.05 * max(high - low, 1.0)
    limits = (low - margin, high + margin)
    with theme():
        figure = new_figure(_SQUARE, _SQUARE)
        axes = figure.add_axes((0.2, 0.18, 0.77, 0.79))
        axes.plot(limits, limits, color=FAINT, lw=1.2, zorder=1)
        axes.plot(x, y, ls="", color=style.colour, marker=style.marker, alpha=0.7, mew=0, zorder=2)
        axes.set(xlim=limits, ylim=limits, xlabel=shorten(xlabel), ylabel=shorten(ylabel))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
        return draw(figure)


def error_reductions(
    points: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]],
    style: Style,
    xlabel: str,
    ylabel: str,
) -> str:
    """Draw one point a task and noise rate, with a least-squares line for every rate.

    Parameters
    ----------
    points : sequence of (name, x, y)
        One entry a noise rate, rising; x and y of shape (n,).
    style : Style
        Of the algorithm whose reduction it is; the more noise, the deeper its colour.
    xlabel, ylabel : str
        What they are, with their unit.

    Returns
    -------
    str
        SVG with a legend below.
    """
    with theme():
        height = PANEL[1] + 26
        figure = new_figure(PANEL[0], height)
        axes = figure.add_axes((0.165, 70 / height, 0.81, (height - 80) / height))
        axes.axhline(0, color=INK, lw=0.8)
        for place, (name, x, y) in enumerate(points):
            given = {"color": style.colour, "alpha": (place + 1) / len(points)}
            axes.plot(x, y, ls="", marker=style.marker, mew=0, label=name, **given)  # type: ignore[arg-type]
            if len(np.unique(x)) >= 3:  # two points would lie on any fit
                slope, offset = np.polyfit(x, y, 1)
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, slope * ends + offset, ls=DASHES[place % len(DASHES)], **given)  # type: ignore[arg-type]
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        draw_grid(axes)
        figure.legend(loc="lower center", ncols=max(1, len(points)))
        return draw(figure)
