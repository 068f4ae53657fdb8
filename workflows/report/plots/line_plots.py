"""Line plots: mean ranks by noise, learning curves, and the lines' legends."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....pipeline.noise import parse_noise
from .styles import Style, series_styles
from .svg import PANEL, draw, new_figure, shorten, text_width, theme

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ....pipeline.analysis.curves import Curve


def label_of(name: str) -> str:
    """Return an algorithm's name as a legend shows it."""
    # Matplotlib leaves labels that start with an underscore out of its legends.
    return "\u200b" + shorten(name) if name.startswith("_") else shorten(name)


def _grid(axes: Axes) -> None:
    axes.grid(True, axis="y")
    axes.set_axisbelow(True)


def _plain_numbers(axes: Axes, whole: bool) -> None:
    """Write numbers out; those of y are counts, if `whole`."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # Five steps of "20,000" fit a phone; round ones end where streams end.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=whole))
    for axis in (axes.xaxis, axes.yaxis) if whole else (axes.xaxis,):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# From here on numbers are written as powers of ten.
_LARGE = 1e6
# Ticks of a logarithmic axis, as multiples of powers of ten, the finest first, and how many there may be.
_MULTIPLES = (np.arange(20, 200) / 20, np.arange(2, 20) / 2, np.arange(1, 10), (1, 2, 5), (1,))
_MOST_TICKS = 8


def _written(value: float, large: bool) -> str:
    """Write a tick in plain characters: Matplotlib's powers are in its markup, which is turned off."""
    if not large:
        return f"{value:,g}"
    exponent = int(np.floor(np.log10(value * 1.000001)))
    power = "10" + str(exponent).translate(_RAISED)
    multiple = f"{value / 10.0**exponent:g}"
    return power if multiple == "1" else f"{multiple}·{power}"


def logarithmic_ticks(first: float, last: float) -> list[float]:
    """Return round numbers between two positive ones: the finest scale that gives no more than eight.

    Examples
    --------
    >>> logarithmic_ticks(10, 60_000), logarithmic_ticks(24, 43)
    ([10.0, 100.0, 1000.0, 10000.0], [25.0, 30.0, 35.0, 40.0])
    """
    exponents = range(int(np.floor(np.log10(first))), int(np.ceil(np.log10(last))) + 1)
    ticks: list[float] = []
    for multiples in _MULTIPLES:
        values = [float(f"{m * 10.0**e:.6g}") for e in exponents for m in multiples]
        ticks = [value for value in values if first <= value <= last]
        if len(ticks) <= _MOST_TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // _MOST_TICKS)]


def _logarithmic(axes: Axes, curves: Sequence[Curve]) -> float:
    """Make both axes logarithmic, as far as the means reach; return where 0 is drawn: at the bottom."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    means = np.concatenate([curve.mean for curve in curves])
    known = means[np.isfinite(means) & (means > 0)]
    low, high = (known.min() / 1.3, known.max() * 1.3) if known.size else (0.1, 1.0)
    left, right = (max(1.0, of(curve.t[end] for curve in curves)) for of, end in ((min, 0), (max, -1)))
    # A stream of one checkpoint is a point: half a decade shows it.
    axes.set(xscale="log", yscale="log", ylim=(low, high), xlim=(left, max(right, 3.0 * left)))
    for axis, (first, last) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        axis.set_major_locator(FixedLocator(logarithmic_ticks(first, last)))
        axis.set_minor_locator(NullLocator())
        axis.set_major_formatter(FuncFormatter(lambda value, _, large=last > _LARGE: _written(value, large)))
    return float(low)


def ranks_by_noise(table: pd.DataFrame, algorithms: Sequence[str], *, legend: bool = False) -> str:
    """Draw mean rank against noise rate, one line per algorithm, rank 1 on top.

    Parameters
    ----------
    table : DataFrame of float, shape (algorithms, noise)
        Mean ranks, columns of `Noise`; NaN where a rate could not be ranked.
    algorithms : sequence of str
        All algorithms of the study, which fix colours and marks.
    legend : bool, default=False
        Put the names beside the panel, for a file of its own; a page has one legend for all panels.

    Returns
    -------
    str
        SVG.
    """
    from matplotlib.ticker import MaxNLocator

    with theme():
        margin = max(text_width(shorten(str(name))) for name in table.index) + 50 if legend else 10.0
        width, height = PANEL[0] + margin, max(PANEL[1], 20.0 * len(table) + 70)
        figure = new_figure(width, height)
        axes = figure.add_axes((50 / width, 46 / height, (PANEL[0] - 50) / width, (height - 56) / height))
        places = np.arange(table.shape[1])
        styles = series_styles(algorithms)
        for name in table.index:
            colour, marker, dash = styles[str(name)]
            values = table.loc[name].to_numpy(float)
            axes.plot(places, values, color=colour, marker=marker, ls=dash, label=label_of(str(name)))
        axes.set_xticks(places, [parse_noise(column).short for column in table.columns])
        axes.set_ylim(len(table) + 0.3, 0.7)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("label noise")
        axes.set_ylabel("mean rank (1 is best)")
        _grid(axes)
        if legend:
            axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
        return draw(figure)


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
    """

    x: str = "examples seen"
    y: str = ""
    zero: bool = True
    log: bool = False
    steps: bool = False


def _curves(axes: Axes, curves: Sequence[Curve], algorithms: Sequence[str], axis: Axis) -> None:
    styles = series_styles(algorithms)
    bottom = _logarithmic(axes, curves) if axis.log else -np.inf
    for curve in curves:
        colour, marker, dash = styles[curve.algorithm]
        place = list(styles).index(curve.algorithm)
        t, mean = (np.maximum(curve.t, 1.0) if axis.log else curve.t), np.maximum(curve.mean, bottom)
        if not axis.steps:
            low, high = (np.maximum(curve.mean + sign * curve.sd, bottom) for sign in (-1, 1))
            axes.fill_between(t, low, high, color=colour, alpha=0.18, lw=0)
        # Marks at a few places only, staggered so that close curves show theirs in turn.
        shares = 0.25 * np.arange(1, 5) - 0.03 * (place % 5)
        marks = np.searchsorted(t, t[0] * (t[-1] / t[0]) ** shares if axis.log else t[-1] * shares)
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
    if not axis.log:
        axes.set_xlim(0, max(curve.t[-1] for curve in curves))
        if axis.zero:
            axes.set_ylim(bottom=0)
        _plain_numbers(axes, axis.zero)
    axes.set_xlabel(axis.x)
    axes.set_ylabel(axis.y)
    _grid(axes)


def learning_curves(curves: Sequence[Curve], algorithms: Sequence[str], axis: Axis) -> str:
    """Draw one panel of learning curves: mean over seeds, shaded by one standard deviation.

    Parameters
    ----------
    curves : sequence of Curve
        One per algorithm.
    algorithms : sequence of str
        All algorithms of the study, which fix colours and marks.
    axis : Axis
        What is drawn.

    Returns
    -------
    str
        SVG without a legend: the page has one for all panels.
    """
    with theme():
        figure = new_figure(*PANEL)
        # The last tick's number reaches out to the right of the axis.
        axes = figure.add_axes((0.155, 0.17, 0.785, 0.79))
        _curves(axes, curves, algorithms, axis)
        return draw(figure)


def curves_sheet(panels: Sequence[tuple[str, Sequence[Curve]]], algorithms: Sequence[str], axis: Axis) -> str:
    """Draw several panels of learning curves on one sheet with a legend, for a file of its own.

    Parameters
    ----------
    panels : sequence of (title, curves)
        In reading order.
    algorithms : sequence of str
        All algorithms of the study.
    axis : Axis
        What is drawn.

    Returns
    -------
    str
        SVG, three panels to a row.
    """
    with theme():
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        # Two names to a panel's width, spread evenly over the rows.
        drawn = {curve.algorithm for _, curves in panels for curve in curves}
        names = [name for name in algorithms if name in drawn]
        legend_rows = -(-len(names) // (2 * columns))
        legend = 22.0 * legend_rows + 8
        width, height = 330.0 * columns, 250.0 * rows + legend
        figure = new_figure(width, height)
        for i, (title, curves) in enumerate(panels):
            left = 330.0 * (i % columns) + 56
            bottom = height - 250.0 * (i // columns) - 206
            axes = figure.add_axes((left / width, bottom / height, 252 / width, 180 / height))
            _curves(axes, curves, algorithms, axis)
            axes.set_title(title, loc="left")
        styles = series_styles(algorithms)
        _legend(figure, {name: styles[name] for name in names}, -(-len(names) // legend_rows))
        return draw(figure)


def _legend(figure: Figure, styles: Mapping[str, Style], columns: int) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for name, (colour, marker, dash) in styles.items():
        handles.append(Line2D([], [], color=colour, marker=marker, ls=dash, label=label_of(name)))
    figure.legend(handles=handles, loc="lower center", ncols=columns)


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
