"""The box plot of test errors over seeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .svg import INK, PANEL, draw, new_figure, shorten, text_width, theme
from .ticks import draw_grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .styles import Styles


def box_plot(values: Sequence[tuple[str, Sequence[float]]], styles: Styles, xlabel: str) -> str:
    """Draw one box per algorithm over its seeds: quartiles, whiskers to 1.5 times their distance, outliers.

    Parameters
    ----------
    values : sequence of (algorithm, values)
        One value per seed; top to bottom.
    styles : Styles
        Of the study's algorithms.
    xlabel : str
        What the values are, with their unit.

    Returns
    -------
    str
        SVG.

    Notes
    -----
    The picture of K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors", Machine
    Learning 91 (2013), figure 6, turned so that long names stay readable.
    """
    with theme():
        names = [shorten(name, 20) for name, _ in values]
        margin = max(text_width(name, 10) for name in names) + 14
        width, height = max(PANEL[0], margin + 220), 26.0 * len(values) + 56
        figure = new_figure(width, height)
        axes = figure.add_axes(
            (margin / width, 44 / height, (width - margin - 12) / width, (height - 52) / height)
        )
        for place, (name, sample) in enumerate(values):
            colour, marker, dash = styles[name]
            line = {"color": colour, "linewidth": 1.3, "linestyle": dash}
            axes.boxplot(
                [list(sample)],
                positions=[place],
                orientation="horizontal",
                widths=0.6,
                patch_artist=True,
                boxprops={"edgecolor": colour, "facecolor": colour, "alpha": 0.35},
                medianprops={"color": INK, "linewidth": 1.6},
                whiskerprops=line,
                capprops=line,
                flierprops={"marker": marker, "markersize": 3, "markeredgecolor": colour},
                manage_ticks=False,
            )
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.set_yticks(range(len(values)), names)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(xlabel)
        draw_grid(axes, "x")
        return draw(figure)
