"""Plots against noise, one line an algorithm and model of noise: mean ranks, and values such as errors."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .legends import handles, legend_below
from .svg import PANEL, draw, new_figure, shorten, text_width, theme
from .ticks import draw_grid

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ....pipeline.noise import Noise
    from .styles import Styles


# Room below an axis for its numbers and its label, and what the label takes of it.
_BELOW, _LABEL = 46.0, 26.0
# Between two models of noise, in steps from one level to the next.
_GAP = 0.6


def _stretches(noise: Sequence[Noise]) -> Iterator[slice]:
    """Yield where noise of one model stands: lines do not go on from one to the other."""
    start = 0
    for _, some in itertools.groupby(noise, key=lambda each: each.kind):
        stop = start + len(list(some))
        yield slice(start, stop)
        start = stop


def _below(noise: Sequence[Noise]) -> float:
    """Return the room below the axis: of several models each level has its name there, turned."""
    if len(list(_stretches(noise))) == 1:
        return _BELOW
    return _LABEL + max(text_width(shorten(each.short), 10) for each in noise)


def _draw_lines(
    axes: Axes, table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, *, to_scale: bool
) -> None:
    """Draw the lines and name the levels below them; `to_scale`: the rates of a single model are numbers."""
    stretches = list(_stretches(noise))
    places: NDArray[np.float64] = np.arange(len(noise), dtype=float)
    for step, stretch in enumerate(stretches):
        places[stretch] += _GAP * step
    if to_scale and len(stretches) == 1:
        places = np.array([each.rate for each in noise])
    for name in table.index:
        colour, marker, dash = styles[str(name)]
        values = table.loc[name].to_numpy(float)
        for stretch in stretches:
            axes.plot(places[stretch], values[stretch], color=colour, marker=marker, ls=dash)
    if len(stretches) == 1:
        axes.set_xticks(places, [each.short for each in noise])
        axes.set_xlabel("label noise")
    else:
        axes.set_xticks(places, [shorten(each.short) for each in noise], rotation=90)
        axes.set_xlabel("noise")


def ranks_by_noise(
    table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, *, legend: bool = False
) -> str:
    """Draw mean rank against noise, one line per algorithm, rank 1 on top.

    Levels of one model of noise are joined; of several models each has a stretch of the axis.

    Parameters
    ----------
    table : DataFrame of float, shape (algorithms, noise)
        Mean ranks; NaN where a rate could not be ranked.
    noise : sequence of Noise
        That of the columns.
    styles : Styles
        Of the study's algorithms.
    legend : bool, default=False
        Put the names beside the panel, for a file of its own; a page has one legend for all panels.

    Returns
    -------
    str
        SVG.
    """
    from matplotlib.ticker import MaxNLocator

    with theme():
        names = [str(name) for name in table.index]
        margin = max(text_width(shorten(name)) for name in names) + 50 if legend else 10.0
        below = _below(noise)
        width, height = PANEL[0] + margin, max(PANEL[1], 20.0 * len(table) + 70) + below - _BELOW
        figure = new_figure(width, height)
        axes = figure.add_axes(
            (50 / width, below / height, (PANEL[0] - 50) / width, (height - below - 10) / height)
        )
        _draw_lines(axes, table, noise, styles, to_scale=False)
        axes.set_ylim(len(table) + 0.3, 0.7)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_ylabel("mean rank (1 is best)")
        draw_grid(axes)
        if legend:
            axes.legend(handles=handles(styles, names), loc="center left", bbox_to_anchor=(1.02, 0.5))
        return draw(figure)


def values_by_noise(table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, ylabel: str) -> str:
    """Draw a value against noise, one line an algorithm; see `ranks_by_noise` for several models of noise.

    Parameters
    ----------
    table : DataFrame of float, shape (algorithms, noise)
        NaN where there is no value.
    noise : sequence of Noise
        That of the columns.
    styles : Styles
        Of the study's algorithms.
    ylabel : str
        What the values are, with their unit.

    Returns
    -------
    str
        SVG with a legend below.
    """
    with theme():
        names = [str(name) for name in table.index]
        legend = 20.0 * -(-len(names) // 2) + 6
        further = _below(noise) - _BELOW
        height = PANEL[1] + legend + further
        figure = new_figure(PANEL[0], height)
        axes = figure.add_axes((0.155, (44 + legend + further) / height, 0.82, (PANEL[1] - 54) / height))
        _draw_lines(axes, table, noise, styles, to_scale=True)
        axes.set_ylabel(ylabel)
        draw_grid(axes)
        legend_below(figure, styles, names, 2)
        return draw(figure)
