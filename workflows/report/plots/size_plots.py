"""Plots of error against the size of the support set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .line_plots import label_of
from .styles import series_styles
from .svg import PANEL, draw, new_figure, shorten, text_width, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd


def error_by_size(points: pd.DataFrame, learners: Sequence[str], ylabel: str) -> str:
    """Draw one point an algorithm, error against support vectors; those of one learner are joined.

    Parameters
    ----------
    points : DataFrame of float, shape (algorithms, 2)
        Columns size and error.
    learners : sequence of str, shape (algorithms,)
        The learner of each.
    ylabel : str
        What the error is.

    Returns
    -------
    str
        SVG with a legend of the learners.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    names = list(dict.fromkeys(learners))
    styles = series_styles(names)
    with theme():
        margin = max(text_width(shorten(name)) for name in names) + 50
        width, height = PANEL[0] + margin, max(PANEL[1], 20.0 * len(names) + 70)
        figure = new_figure(width, height)
        axes = figure.add_axes((56 / width, 46 / height, (PANEL[0] - 60) / width, (height - 56) / height))
        for name in names:
            own = points[[learner == name for learner in learners]].sort_values("size")
            colour, marker, dash = styles[name]
            axes.plot(own["size"], own["error"], color=colour, marker=marker, ls=dash, label=label_of(name))
        axes.set_xscale("log")
        low, high = points["size"].min(), points["size"].max()
        axes.set_xlim(low / 1.3, high * 1.3)
        # A factor of ten has marks at 1, 2 and 5; within less of one every whole multiple gets its number.
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0), numticks=12))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.tick_params(axis="x", rotation=30 if high > 50 * low else 0)
        axes.grid(True)
        axes.set_axisbelow(True)
        axes.set_xlabel("support vectors")
        axes.set_ylabel(ylabel)
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
        return draw(figure)
