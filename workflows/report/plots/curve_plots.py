"""Draw curves along the stream, values against noise, and error against the size or time of a model."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.curves import Curve
from ....pipeline.noise import Noise
from .svg import (
    INK,
    PANEL,
    Styles,
    draw,
    draw_grid,
    handles,
    new_figure,
    number_logarithmically,
    number_plainly,
    shorten,
    tag,
    text_width,
    theme,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _logarithmic(axes: Axes, curves: Sequence[Curve]) -> float:
    """Make both axes logarithmic, and return the bottom of the y axis, where 0 is drawn."""
    means = np.concatenate([curve.mean for curve in curves])
    known = means[np.isfinite(means) & (means > 0)]
    low, high = (known.min() / 1.3, known.max() * 1.3) if known.size else (0.1, 1.0)
    axes.set(xscale="log", yscale="log", ylim=(low, high), xlim=_reach(curves))
    number_logarithmically(axes.xaxis, *axes.get_xlim())
    number_logarithmically(axes.yaxis, *axes.get_ylim())
    return float(low)


def _reach(curves: Sequence[Curve]) -> tuple[float, float]:
    """Return the limits of a logarithmic x axis."""
    left, right = (max(1.0, of(curve.t[end] for curve in curves)) for of, end in ((min, 0), (max, -1)))
    # If curves have one checkpoint, they are single points: make the axis half a decade long.
    return left, max(right, 3.0 * left)


class Axis(NamedTuple):
    """Describe the axes of a panel of curves: labels and scales."""

    x: str = "examples seen"
    y: str = ""
    # Whether the y axis begins at 0.
    zero: bool = True
    # Whether both axes are logarithmic.
    log: bool = False
    # Whether to draw values as steps, without their spread.
    steps: bool = False
    # Whether only the x axis is logarithmic.
    log_x: bool = False


def _marked(t: NDArray[np.float64], mean: NDArray[np.float64], wanted: NDArray[np.float64]) -> list[int]:
    """Return which points get a mark: the defined ones at or after `wanted`, and all between two gaps.

    A line does not show a single point between two gaps.
    """
    defined = np.isfinite(mean)
    around = np.pad(defined, 1)
    marked = defined & ~around[:-2] & ~around[2:]
    places = np.flatnonzero(defined)
    # All values of a loss may be infinite.
    if places.size:
        marked[places[np.minimum(np.searchsorted(t[places], wanted), places.size - 1)]] = True
    return [int(place) for place in np.flatnonzero(marked)]


def draw_curves(axes: Axes, curves: Sequence[Curve], styles: Styles, axis: Axis) -> None:
    """Draw the curves of several algorithms: mean over seeds, shaded by one standard deviation."""
    bottom = _logarithmic(axes, curves) if axis.log else -np.inf
    by_powers = axis.log or axis.log_x
    for curve in curves:
        colour, marker, dash = styles[curve.algorithm]
        place, gid = list(styles).index(curve.algorithm), tag(styles, curve.algorithm)
        t, mean = (np.maximum(curve.t, 1.0) if by_powers else curve.t), np.maximum(curve.mean, bottom)
        if not axis.steps:
            low, high = (np.maximum(curve.mean + sign * curve.sd, bottom) for sign in (-1, 1))
            axes.fill_between(t, low, high, color=colour, alpha=0.18, lw=0, gid=gid)
        # Draw four marks per curve, staggered by algorithm so that marks of close curves do not coincide.
        shares = 0.25 * np.arange(1, 5) - 0.03 * (place % 5)
        wanted = t[0] * (t[-1] / t[0]) ** shares if by_powers else t[-1] * shares
        axes.plot(
            t,
            mean,
            color=colour,
            ls=dash,
            marker=marker,
            drawstyle="steps-post" if axis.steps else "default",
            clip_on=axis.log,
            markevery=_marked(t, mean, wanted),
            gid=gid,
        )
        if curve.marks:
            # Draw a ring at each of the curve's `marks`, on its line, which is straight between checkpoints.
            if axis.log:
                heights = np.exp(np.interp(np.log(curve.marks), np.log(t), np.log(mean)))
            else:
                heights = np.interp(curve.marks, t, mean)
            ring = {"marker": "o", "ms": 9, "mfc": "none", "mec": colour, "mew": 1.5}
            axes.plot(curve.marks, heights, ls="none", gid=gid, **ring)  # type: ignore[arg-type]
    for change in sorted({each for curve in curves for each in curve.changes if each <= curve.t[-1]}):
        axes.axvline(change, color="0.45", lw=0.8, ls=(0, (2, 2)), zorder=0.5)
    if not axis.log:
        axes.set_xlim(0, max(curve.t[-1] for curve in curves))
        if axis.zero:
            axes.set_ylim(bottom=0)
        number_plainly(axes, axis.zero)
    if axis.log_x:
        axes.set_xscale("log")
        axes.set_xlim(*_reach(curves))
        number_logarithmically(axes.xaxis, *axes.get_xlim())
    axes.set_xlabel(axis.x)
    axes.set_ylabel(axis.y)
    draw_grid(axes)


def _make_room(axes: Axes, left: float = 0.0) -> None:
    """Move the left end of axes to the right if long tick labels push the label of y beyond `left` px."""
    extent = axes.yaxis.get_tightbbox()
    assert extent is not None
    box = axes.get_position()
    # A browser's letters may be 4 px higher than Matplotlib's.
    box.x0 += max(0.0, left + 4 - extent.x0) / axes.figure.bbox.width
    axes.set_position(box)


def learning_curves(
    panels: Sequence[tuple[str, Sequence[Curve]]], styles: Styles, axis: Axis
) -> tuple[list[str], str]:
    """Draw panels of learning curves: mean over seeds, shaded by one standard deviation.

    `panels` is (title, curves) in reading order. Returns one SVG per panel without title and legend (the page
    has one legend for all), and one SVG of all panels, three to a row, with titles and a legend, for a file.
    """
    with theme():
        figure = new_figure(*PANEL)
        drawings = []
        # Create each panel once, for its own SVG and that of all panels: creating takes as long as drawing.
        for _, curves in panels:
            # Leave space on the right for the label of the last tick, which extends beyond the axis.
            axes = figure.add_axes((0.155, 0.17, 0.785, 0.79))
            draw_curves(axes, curves, styles, axis)
            _make_room(axes)
            drawings.append(draw(figure))
            axes.set_visible(False)
        drawn = {curve.algorithm for _, curves in panels for curve in curves}
        return drawings, _sheet(figure, [title for title, _ in panels], drawn, styles)


class Estimate(NamedTuple):
    """A point (x, y) with an interval (low, high) of y and, unless None, an interval (left, right) of x."""

    x: float
    y: float
    low: float
    high: float
    left: float | None = None
    right: float | None = None


# The points of a panel, as one series for each name.
Estimates: TypeAlias = Mapping[str, Sequence[Estimate]]


def estimate_panels(
    panels: Sequence[tuple[str, Estimates]], styles: Styles, axis: Axis
) -> tuple[list[str], str]:
    """Draw panels of points with intervals; lines join the points of a series.

    Returns one SVG per panel, and one SVG of all panels with a legend. Of `axis` only the labels, `zero`
    (which draws a line at 0) and the logarithmic scales are used.
    """
    with theme():
        figure = new_figure(*PANEL)
        drawings = []
        for _, series in panels:
            axes = figure.add_axes((0.155, 0.17, 0.785, 0.79))
            _draw_estimates(axes, series, styles, axis)
            _make_room(axes)
            drawings.append(draw(figure))
            axes.set_visible(False)
        drawn = {name for _, series in panels for name in series}
        return drawings, _sheet(figure, [title for title, _ in panels], drawn, styles)


def _draw_estimates(axes: Axes, series: Estimates, styles: Styles, axis: Axis) -> None:
    for name, found in series.items():
        colour, marker, dash = styles[name]
        x, y, low, high, left, right = np.array(
            [each if each.left is not None else (*each[:4], each.x, each.x) for each in found], np.float64
        ).T
        drawn = axes.errorbar(
            x,
            y,
            yerr=(y - low, high - y),
            xerr=(x - left, right - x),
            color=colour,
            marker=marker,
            ls=dash,
            elinewidth=1.0,
            capsize=2.0,
        )
        for part in drawn.get_children():
            part.set_gid(tag(styles, name))
    if axis.zero:
        axes.axhline(0, color=INK, lw=0.8, zorder=0.5)
    for scale, one in ((axis.log or axis.log_x, axes.xaxis), (axis.log, axes.yaxis)):
        if scale:
            one.axes.set(**{f"{one.axis_name}scale": "log"})
            number_logarithmically(one, *one.get_view_interval())
    axes.set_xlabel(axis.x)
    axes.set_ylabel(axis.y)
    draw_grid(axes)


def _sheet(figure: Figure, titles: Sequence[str], drawn: Collection[str], styles: Styles) -> str:
    """Arrange a figure's panels side by side, with a legend of the names in `drawn`; return SVG."""
    columns = min(3, len(titles))
    rows = -(-len(titles) // columns)
    # A row of the legend has at most two names per panel above it; names are spread evenly over the rows.
    names = [name for name in styles if name in drawn]
    legend_rows = -(-len(names) // (2 * columns))
    legend = 22.0 * legend_rows + 8
    width, height = 330.0 * columns, 250.0 * rows + legend
    figure.set_size_inches(width / 72, height / 72)
    for i, (axes, title) in enumerate(zip(figure.axes, titles, strict=True)):
        left = 330.0 * (i % columns) + 56
        bottom = height - 250.0 * (i // columns) - 206
        axes.set_position((left / width, bottom / height, 252 / width, 180 / height))
        _make_room(axes, left - 56)
        axes.set_title(title, loc="left")
        axes.set_visible(True)
    columns_of_names = -(-len(names) // legend_rows)
    figure.legend(handles=handles(styles, names), loc="lower center", ncols=columns_of_names)
    return draw(figure)


# In px: space below an axis for tick labels and axis label, and the part that the axis label takes.
_BELOW, _LABEL = 46.0, 26.0
# Additional gap on the x axis between two noise models; neighboring levels of one model have distance 1.
_GAP = 0.6


def _stretches(noise: Sequence[Noise]) -> list[slice]:
    """Return, for each noise model, the slice of `noise` with its levels. Lines do not connect models."""
    lengths = [len(list(some)) for _, some in itertools.groupby(noise, key=lambda each: each.kind)]
    return [slice(stop - n, stop) for n, stop in zip(lengths, itertools.accumulate(lengths), strict=True)]


def _below(noise: Sequence[Noise]) -> float:
    """Return the space below the axis in px; with several noise models the level names there are rotated."""
    if len(_stretches(noise)) == 1:
        return _BELOW
    return _LABEL + max(text_width(shorten(each.short), 10) for each in noise)


def _draw_lines(
    axes: Axes, table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, *, to_scale: bool
) -> None:
    """Draw a line per row of `table`; `to_scale` places levels by rate if there is only one noise model."""
    stretches = _stretches(noise)
    places: NDArray[np.float64] = np.arange(len(noise), dtype=float)
    for step, stretch in enumerate(stretches):
        places[stretch] += _GAP * step
    if to_scale and len(stretches) == 1:
        places = np.array([each.rate for each in noise])
    for name in table.index:
        colour, marker, dash = styles[str(name)]
        values = table.loc[name].to_numpy(float)
        for stretch in stretches:
            line = {"color": colour, "marker": marker, "ls": dash}
            axes.plot(places[stretch], values[stretch], gid=tag(styles, str(name)), **line)  # type: ignore[arg-type]
    if len(stretches) == 1:
        axes.set_xticks(places, [each.short for each in noise])
        axes.set_xlabel("label noise")
    else:
        axes.set_xticks(places, [shorten(each.short) for each in noise], rotation=90)
        axes.set_xlabel("noise")


def ranks_by_noise(
    table: pd.DataFrame, noise: Sequence[Noise], styles: Styles, *, legend: bool = False
) -> str:
    """Draw mean rank against noise as SVG, one line per algorithm, with rank 1 at the top.

    Lines join the levels of one noise model; each model has its own stretch of the axis. `table` has shape
    (algorithms, noise levels), NaN at a level without ranks. `legend` adds a legend, which files need.
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
    """Draw a value against noise, one line per algorithm, as SVG with a legend below.

    `table` has shape (algorithms, noise levels), NaN for missing values. `ylabel` includes the unit. Each
    noise model has its own stretch of the axis.
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
        _make_room(axes)
        figure.legend(handles=handles(styles, names), loc="lower center", ncols=2)
        return draw(figure)


# Marks are outlines. Those closer than _NEAR px are nested, so that none hides another: each is _WIDER px
# wider than the one inside it, up to _MOST_AROUND times; further ones have the widest size.
_NEAR = 4.0
_MARK, _WIDER, _MOST_AROUND = 5.0, 5.0, 3
_LEGEND_ROWS, _NAME = 14, 40


def _sizes(places: NDArray[np.float64]) -> list[float]:
    """Return the width of each mark, so that close ones are nested; `places` has shape (n, 2), in px."""
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
    """Draw error against model size as SVG, one point per row; lines join points of the same learner.

    `points` has the columns size and error, and algorithms as its index; `learners` names the learner of each
    row. `legend` adds a legend, which files need.
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
            open_mark = {"marker": marker, "mec": colour, "mfc": "none", "mew": 1.5, "ms": size}
            axes.plot([x], [y], ls="", gid=tag(styles, name), **open_mark)  # type: ignore[arg-type]
        if legend:
            marks = handles(styles, entries, _NAME)
            for mark in marks:
                mark.set(linestyle="", markerfacecolor="none", markeredgewidth=1.5)
            axes.legend(handles=marks, loc="center left", bbox_to_anchor=(1.02, 0.5), ncols=columns)
        return draw(figure)
