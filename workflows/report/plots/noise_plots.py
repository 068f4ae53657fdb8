"""Plots against the noise rate, one line an algorithm: mean ranks, and values such as errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .legends import handles, legend_below
from .svg import PANEL, draw, new_figure, shorten, text_width, theme
from .ticks import draw_grid

if TYPE_CHECKING:
    import pandas as pd

    from ....pipeline.noise import Noise
    from .styles import Styles


def ranks_by_noise(
    table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, *, legend: bool = False
) -> str:
    """Draw mean rank against noise rate, one line per algorithm, rank 1 on top.

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
        width, height = PANEL[0] + margin, max(PANEL[1], 20.0 * len(table) + 70)
        figure = new_figure(width, height)
        axes = figure.add_axes((50 / width, 46 / height, (PANEL[0] - 50) / width, (height - 56) / height))
        places = np.arange(table.shape[1])
        for name in names:
            colour, marker, dash = styles[name]
            axes.plot(places, table.loc[name].to_numpy(float), color=colour, marker=marker, ls=dash)
        axes.set_xticks(places, [each.short for each in noise])
        axes.set_ylim(len(table) + 0.3, 0.7)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("label noise")
        axes.set_ylabel("mean rank (1 is best)")
        draw_grid(axes)
        if legend:
            axes.legend(handles=handles(styles, names), loc="center left", bbox_to_anchor=(1.02, 0.5))
        return draw(figure)


def values_by_noise(table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, ylabel: str) -> str:
    """Draw a value against the noise rate, one line an algorithm.

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
        height = PANEL[1] + legend
        figure = new_figure(PANEL[0], height)
        axes = figure.add_axes((0.155, (44 + legend) / height, 0.82, (PANEL[1] - 54) / height))
        rates = [each.rate for each in noise]
        for name in names:
            colour, marker, dash = styles[name]
            axes.plot(rates, table.loc[name].to_numpy(float), color=colour, marker=marker, ls=dash)
        axes.set_xticks(rates, [each.short for each in noise])
        axes.set_xlabel("label noise")
        axes.set_ylabel(ylabel)
        draw_grid(axes)
        legend_below(figure, styles, names, 2)
        return draw(figure)
