"""Plots of error against what a model takes: support vectors, time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .legends import handles
from .svg import INK, PANEL, draw, new_figure, shorten, text_width, theme
from .ticks import draw_grid, number_logarithmically

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from numpy.typing import NDArray

    from .styles import Styles

# Marks are open, and those nearer to each other than this (in px) lie around one another, so that none hides
# another; from so many on they share the widest ring.
_NEAR = 4.0
_MARK, _WIDER, _MOST_AROUND = 5.0, 5.0, 3
_LEGEND_ROWS, _NAME = 14, 40


def _sizes(places: NDArray[np.float64]) -> list[float]:
    """Return the widths of marks at places in px, shape (n, 2)."""
    near = np.linalg.norm(places[:, None] - places[None], axis=-1) < _NEAR
    return [_MARK + _WIDER * min(int(near[i, :i].sum()), _MOST_AROUND) for i in range(len(places))]


def error_by_size(
    points: pd.DataFrame,
    styles: Styles,
    learners: Sequence[str],
    ylabel: str,
    xlabel: str = "support vectors",
    *,
    legend: bool = False,
) -> str:
    """Draw one point an algorithm, error against the size of its model; those of one learner are joined.

    Parameters
    ----------
    points : DataFrame of float, shape (algorithms, 2)
        Columns size and error; an algorithm may have several rows.
    styles : Styles
        Of the study's algorithms.
    learners : sequence of str, shape (algorithms,)
        The learner of each.
    ylabel : str
        What the error is.
    xlabel : str, default="support vectors"
        What the size is; what is below 1 is drawn at 1.
    legend : bool, default=False
        Put the names beside the panel, for a file of its own; a page has one legend for all panels.

    Returns
    -------
    str
        SVG.
    """
    names = [str(name) for name in points.index]
    entries = list(dict.fromkeys(names))
    with theme():
        columns = -(-len(entries) // _LEGEND_ROWS)
        margin = columns * (max(text_width(shorten(name, _NAME)) for name in entries) + 50) if legend else 0.0
        width, height = PANEL[0] + margin, PANEL[1]
        if legend:
            height = max(height, 20.0 * -(-len(entries) // columns) + 40)
        figure = new_figure(width, height)
        axes = figure.add_axes((56 / width, 46 / height, (PANEL[0] - 70) / width, (height - 56) / height))
        axes.set_ylabel(ylabel)
        axes.set_xlabel(xlabel)
        for learner in dict.fromkeys(learners):
            own = points[[each == learner for each in learners]].sort_values("size")
            axes.plot(own["size"], own["error"], color=INK, alpha=0.3, lw=1.0, zorder=1)
        low, high = (max(1.0, float(each)) for each in (points["size"].min(), points["size"].max()))
        beyond = max(1.02, (high / low) ** 0.08)
        axes.set(xscale="log", xlim=(low / beyond, high * beyond))
        axes.margins(y=0.1)
        number_logarithmically(axes.xaxis, low / beyond, high * beyond)
        draw_grid(axes, "both")
        sizes = _sizes(axes.transData.transform(points[["size", "error"]].to_numpy(float)))
        for name, (x, y), size in zip(names, points[["size", "error"]].to_numpy(float), sizes, strict=True):
            colour, marker, _ = styles[name]
            axes.plot([x], [y], ls="", marker=marker, mec=colour, mfc="none", mew=1.5, ms=size)
        if legend:
            marks = handles(styles, entries, _NAME)
            for mark in marks:
                mark.set(linestyle="", markerfacecolor="none", markeredgewidth=1.5)
            axes.legend(handles=marks, loc="center left", bbox_to_anchor=(1.02, 0.5), ncols=columns)
        return draw(figure)
