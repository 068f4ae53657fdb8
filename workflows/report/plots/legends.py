"""Legends: of a file, inside the drawing; of a page, one drawing for each name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .svg import draw, new_figure, shorten, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from .styles import Style, Styles


def label_of(name: str, length: int = 26) -> str:
    """Return an algorithm's name as a legend shows it."""
    # Matplotlib leaves labels that start with an underscore out of its legends.
    return ("\u200b" if name.startswith("_") else "") + shorten(name, length)


def handles(styles: Styles, names: Sequence[str], length: int = 26) -> list[Line2D]:
    """Return a line with its mark for each of some algorithms."""
    from matplotlib.lines import Line2D

    drawn = [(name, *styles[name]) for name in names]
    return [
        Line2D([], [], color=colour, marker=marker, ls=dash, label=label_of(name, length))
        for name, colour, marker, dash in drawn
    ]


def legend_below(figure: Figure, styles: Styles, names: Sequence[str], columns: int) -> None:
    """Put a legend of some algorithms at the bottom of a figure."""
    figure.legend(handles=handles(styles, names), loc="lower center", ncols=columns)


def swatch(style: Style) -> str:
    """Draw the line and mark of one algorithm, for a legend in the page."""
    colour, marker, dash = style
    with theme():
        figure = new_figure(34, 12)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, 34)
        axes.set_ylim(0, 12)
        axes.plot([1, 33], [6, 6], color=colour, ls=dash)
        axes.plot([17], [6], color=colour, marker=marker)
        return draw(figure)
