"""Draw one algorithm against the others, task by task, and box plots of test errors over seeds."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from .svg import DASHES, FAINT, INK, PANEL, draw, draw_grid, new_figure, shorten, tag, text_width, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from .svg import Style, Styles

# Side of a scatter plot in px; it is square, so that the line of equal values is its diagonal.
_SQUARE = 250.0


def scatter(x: NDArray[np.float64], y: NDArray[np.float64], style: Style, xlabel: str, ylabel: str) -> str:
    """Draw one point per task and the line of equal values, as SVG.

    `x` and `y` are the values of both algorithms in percent; `style` is that of the algorithm on the x axis.
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
    """Draw one point per task and noise level, and a least-squares line per level, as SVG with a legend.

    `points` has (name, x, y) of each noise level, the lowest first; later levels get deeper colors. `style`
    is that of the algorithm whose error reduction is shown.
    """
    with theme():
        height = PANEL[1] + 26
        figure = new_figure(PANEL[0], height)
        axes = figure.add_axes((0.165, 70 / height, 0.81, (height - 80) / height))
        axes.axhline(0, color=INK, lw=0.8)
        for place, (name, x, y) in enumerate(points):
            given = {"color": style.colour, "alpha": (place + 1) / len(points)}
            axes.plot(x, y, ls="", marker=style.marker, mew=0, label=name, **given)  # type: ignore[arg-type]
            if len(np.unique(x)) >= 3:  # a line through two points fits always: omit it
                slope, offset = np.polyfit(x, y, 1)
                ends = np.array([x.min(), x.max()])
                axes.plot(ends, slope * ends + offset, ls=DASHES[place % len(DASHES)], **given)  # type: ignore[arg-type]
        axes.set_xlabel(xlabel)
        axes.set_ylabel(ylabel)
        draw_grid(axes)
        figure.legend(loc="lower center", ncols=max(1, len(points)))
        return draw(figure)


def box_plot(values: Sequence[tuple[str, Sequence[float]]], styles: Styles, xlabel: str) -> str:
    """Draw one box per algorithm over its seeds: quartiles, whiskers to 1.5 box lengths, outliers.

    `values` is (algorithm, one value per seed), from top to bottom. The plot follows K. Crammer, A. Kulesza,
    M. Dredze, "Adaptive Regularization of Weight Vectors", Machine Learning 91 (2013), figure 6, rotated so
    that long names stay readable.
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
            drawn = axes.boxplot(
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
            for artist in itertools.chain.from_iterable(drawn.values()):
                artist.set_gid(tag(styles, name))
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.set_yticks(range(len(values)), names)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(xlabel)
        draw_grid(axes, "x")
        return draw(figure)
