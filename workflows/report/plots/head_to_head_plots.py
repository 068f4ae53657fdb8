"""Plots of one algorithm against the others: scatter, values by noise rate, error reduction by difficulty."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....pipeline.noise import parse_noise
from .styles import DASHES, MARKERS, PALETTE, series_styles
from .svg import FAINT, INK, PANEL, draw, new_figure, shorten, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

# A square of a panel's height: a line of slope 1 is then a diagonal.
_SQUARE = 250.0


def scatter(x: NDArray[np.float64], y: NDArray[np.float64], xlabel: str, ylabel: str) -> str:
    """Draw one point a task and the line on which both are equal.

    Parameters
    ----------
    x, y : ndarray of float64, shape (n,)
        Values of both algorithms, in percent.
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
        axes.scatter(x, y, s=14, color=PALETTE[0][0], alpha=0.7, lw=0, zorder=2)
        axes.set(xlim=limits, ylim=limits, xlabel=shorten(xlabel), ylabel=shorten(ylabel))
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_locator(MaxNLocator(4))
        return draw(figure)


def values_by_noise(table: pd.DataFrame, algorithms: Sequence[str], ylabel: str) -> str:
    """Draw a value against the noise rate, one line an algorithm.

    Parameters
    ----------
    table : DataFrame of float, shape (algorithms, noise)
        Columns of `Noise`; NaN where there is no value.
    algorithms : sequence of str
        All algorithms of the study, which fix colours and marks.
    ylabel : str
        What the values are, with their unit.

    Returns
    -------
    str
        SVG with a legend below.
    """
    with theme():
        legend = 20.0 * -(-len(table) // 2) + 6
        height = PANEL[1] + legend
        figure = new_figure(PANEL[0], height)
        axes = figure.add_axes((0.155, (44 + legend) / height, 0.82, (PANEL[1] - 54) / height))
        styles = series_styles(algorithms)
        rates = [parse_noise(column).rate for column in table.columns]
        for name in table.index:
            colour, marker, dash = styles[str(name)]
            axes.plot(
                rates,
                table.loc[name].to_numpy(float),
                color=colour,
                marker=marker,
                ls=dash,
                label="\u200b" + shorten(str(name)),  # Matplotlib leaves out labels that start with "_"
            )
        axes.set_xticks(rates, [parse_noise(column).short for column in table.columns])
        axes.set_xlabel("label noise")
        axes.set_ylabel(ylabel)
        axes.grid(True, axis="y")
        axes.set_axisbelow(True)
        figure.legend(loc="lower center", ncols=2)
        return draw(figure)


def error_reductions(
    points: Sequence[tuple[str, NDArray[np.float64], NDArray[np.float64]]], xlabel: str, ylabel: str
) -> str:
    """Draw one point a task and noise rate, with a least-squares line for every rate.

    Parameters
    ----------
    points : sequence of (name, x, y)
        One entry a noise rate; x and y of shape (n,).
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
            colour, marker = PALETTE[place % len(PALETTE)][0], MARKERS[place % len(MARKERS)]
            axes.plot(x, y, color=colour, marker=marker, ls="", markersize=4, alpha=0.7, label=name)
            if len(np.unique(x)) >= 3:  # two points would lie on any fit
                slope, offset = np.polyfit(x, y, 1)
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, slope * ends + offset, color=colour, ls=DASHES[place % len(DASHES)])
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        axes.grid(True, axis="y")
        axes.set_axisbelow(True)
        figure.legend(loc="lower center", ncols=max(1, len(points)))
        return draw(figure)
