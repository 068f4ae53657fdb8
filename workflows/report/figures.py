"""The report's pictures: critical difference diagram, mean ranks by noise, learning curves, box plots.

Every function returns SVG text from `svg.draw`, about 360 px wide: as wide as a phone shows without shrinking
the lettering; wide pages lay several side by side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .svg import INK, draw, new_figure, series_style, shorten, text_width, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ...pipeline.comparison import Comparison
    from ...pipeline.learning_curves import Curve

PANEL = (360.0, 260.0)
# A little wider, for the names on both sides of the scale; a phone shows it at nine tenths.
DIAGRAM_WIDTH = 400.0


def percent(rate: float) -> str:
    """Write a rate as a percentage.

    Examples
    --------
    >>> percent(0.1), percent(0.025)
    ('10%', '2.5%')
    """
    return f"{100 * rate:.6g}%"


def critical_difference(comparison: Comparison, beside: Sequence[Comparison] = ()) -> str:
    """Draw Demšar's diagram: mean ranks on a line, bars over groups that do not differ.

    Parameters
    ----------
    comparison : Comparison
        With at least one complete data set and two algorithms; the bars are its cliques (Wilcoxon–Holm), the
        ruler on top is Nemenyi's critical difference.
    beside : sequence of Comparison, default=()
        Comparisons whose diagrams stand next to this one and share its scale.

    Returns
    -------
    str
        SVG.

    Notes
    -----
    J. Demšar (2006), figure 1.
    """
    labels, values = _tags(comparison)
    names = [str(name) for name in comparison.mean_ranks.index]
    k = len(names)
    half = (k + 1) // 2
    groups = comparison.cliques
    with theme():
        margin, right, unit = _room([comparison, *beside], k)
        width = margin + unit * (k - 1) + right
        top, row, bar = 58.0, 20.0, 9.0
        first = top + 14 + bar * len(groups) + 12
        height = first + row * (half - 1) + 14
        figure = new_figure(width, height)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_xlim(0, width)
        axes.set_ylim(height, 0)
        axes.set_axis_off()

        def x(rank: float) -> float:
            return margin + unit * (rank - 1)

        axes.plot([x(1), x(k)], [top, top], color=INK, lw=1.2)
        for rank in range(1, k + 1):
            axes.plot([x(rank)] * 2, [top, top - 6], color=INK, lw=1.0)
            axes.text(x(rank), top - 10, str(rank), ha="center", va="bottom", size=10)
        cd = comparison.critical_difference
        if cd is not None:
            # A difference wider than the scale is cut off and says so by its label.
            stop = min(x(1 + cd), x(k))
            axes.plot([x(1), stop], [18, 18], color=INK, lw=1.0)
            axes.plot([x(1)] * 2, [14, 22], color=INK, lw=1.0)
            if x(1 + cd) <= x(k):
                axes.plot([stop] * 2, [14, 22], color=INK, lw=1.0)
            beyond = "" if x(1 + cd) <= x(k) else " (beyond the scale)"
            axes.text(x(1), 11, f"Nemenyi CD = {cd:.2f}{beyond}", ha="left", va="bottom", size=10)
        for i, (label, value) in enumerate(zip(labels, values, strict=True)):
            left = i < half
            # The right-hand names stand worst first, so that no two lines cross.
            y = first + row * (i if left else k - 1 - i)
            # Beside its own line a name meets no other: lines that reach further down lie further in.
            side = -1 if left else 1
            axes.plot([x(value), x(value), x(value) + 8 * side], [top, y, y], color=INK, lw=0.9)
            axes.text(x(value) + 11 * side, y, label, ha="right" if left else "left", va="center")
        spots = dict(zip(names, values, strict=True))
        for i, group in enumerate(groups):
            ends = [spots[name] for name in group]
            y = top + 12 + bar * i
            axes.plot([x(min(ends)) - 3, x(max(ends)) + 3], [y, y], color=INK, lw=4, solid_capstyle="round")
        return draw(figure)


def _tags(comparison: Comparison) -> tuple[list[str], list[float]]:
    """Names with their mean ranks, as the diagram prints them, and the ranks."""
    values = [float(value) for value in comparison.mean_ranks]
    names = [shorten(str(name), 20) for name in comparison.mean_ranks.index]
    return [f"{name}  {value:.2f}" for name, value in zip(names, values, strict=True)], values


def _room(comparisons: Sequence[Comparison], k: int) -> tuple[float, float, float]:
    """Left margin, right margin and px per rank of diagrams of k algorithms, all on one scale.

    A name hangs beside its rank and runs outwards, so it takes from the margin only what its distance from
    the scale's end does not give.
    """
    half = (k + 1) // 2
    tags = [_tags(c) for c in comparisons if c.k == k]
    # 16 px for the elbow and air.
    texts = [([text_width(label) + 16 for label in labels], values) for labels, values in tags]
    # 16 px a rank keeps the ticks' two-digit numbers apart, 130 px in all a few algorithms' lines.
    unit, left, right = max(16.0, 130.0 / (k - 1)), 0.0, 0.0
    # A wider scale asks for less margin, which leaves a wider scale: a few rounds settle it.
    for _ in range(12):
        # 10 px for half a tick's number and the round end of a bar.
        left = right = 10.0
        for widths, values in texts:
            for i, (width, value) in enumerate(zip(widths, values, strict=True)):
                if i < half:
                    left = max(left, width - unit * (value - 1))
                else:
                    right = max(right, width - unit * (k - value))
        unit = max(unit, (DIAGRAM_WIDTH - left - right) / (k - 1))
    return left, right, unit


def _label(name: str) -> str:
    # Matplotlib leaves labels that start with an underscore out of its legends.
    return "\u200b" + shorten(name) if name.startswith("_") else shorten(name)


def _grid(axes: Axes) -> None:
    axes.grid(True, axis="y")
    axes.set_axisbelow(True)


def _plain_numbers(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    # Five ticks of "20,000" fit a phone.
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def ranks_by_noise(table: pd.DataFrame, algorithms: Sequence[str], *, legend: bool = False) -> str:
    """Draw mean rank against noise rate, one line per algorithm, rank 1 on top.

    Parameters
    ----------
    table : DataFrame of float, shape (algorithms, noise rates)
        Mean ranks; NaN where a rate could not be ranked.
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
        for name in table.index:
            colour, marker, dash = series_style(list(algorithms).index(name))
            values = table.loc[name].to_numpy(float)
            axes.plot(places, values, color=colour, marker=marker, ls=dash, label=_label(str(name)))
        axes.set_xticks(places, [percent(float(rate)) for rate in table.columns])
        axes.set_ylim(len(table) + 0.3, 0.7)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("label noise")
        axes.set_ylabel("mean rank (1 is best)")
        _grid(axes)
        if legend:
            axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
        return draw(figure)


def _curves(axes: Axes, curves: Sequence[Curve], algorithms: Sequence[str]) -> None:
    for curve in curves:
        index = list(algorithms).index(curve.algorithm)
        colour, marker, dash = series_style(index)
        axes.fill_between(
            curve.t, curve.mean - curve.sd, curve.mean + curve.sd, color=colour, alpha=0.18, lw=0
        )
        # Marks at a few places only, staggered so that close curves show theirs in turn.
        marks = np.searchsorted(curve.t, curve.t[-1] * (0.25 * np.arange(1, 5) - 0.03 * (index % 5)))
        axes.plot(
            curve.t,
            curve.mean,
            color=colour,
            ls=dash,
            marker=marker,
            markevery=sorted(set(np.minimum(marks, curve.t.size - 1).tolist())),
        )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    _plain_numbers(axes)
    _grid(axes)


def learning_curves(curves: Sequence[Curve], algorithms: Sequence[str], ylabel: str) -> str:
    """Draw one panel of learning curves: mean over seeds, shaded by one standard deviation.

    Parameters
    ----------
    curves : sequence of Curve
        One per algorithm.
    algorithms : sequence of str
        All algorithms of the study, which fix colours and marks.
    ylabel : str
        What is counted.

    Returns
    -------
    str
        SVG without a legend: the page has one for all panels.
    """
    with theme():
        figure = new_figure(*PANEL)
        axes = figure.add_axes((0.155, 0.17, 0.825, 0.79))
        _curves(axes, curves, algorithms)
        axes.set_xlabel("examples seen")
        axes.set_ylabel(ylabel)
        return draw(figure)


def curves_sheet(
    panels: Sequence[tuple[str, Sequence[Curve]]], algorithms: Sequence[str], ylabel: str
) -> str:
    """Draw several panels of learning curves on one sheet with a legend, for a file of its own.

    Parameters
    ----------
    panels : sequence of (title, curves)
        In reading order.
    algorithms : sequence of str
        All algorithms of the study.
    ylabel : str
        What is counted.

    Returns
    -------
    str
        SVG, three panels to a row.
    """
    with theme():
        columns = min(3, len(panels))
        rows = -(-len(panels) // columns)
        # Two names to a panel's width, spread evenly over the rows.
        legend_rows = -(-len(algorithms) // (2 * columns))
        legend = 22.0 * legend_rows + 8
        width, height = 330.0 * columns, 250.0 * rows + legend
        figure = new_figure(width, height)
        for i, (title, curves) in enumerate(panels):
            left = 330.0 * (i % columns) + 56
            bottom = height - 250.0 * (i // columns) - 206
            axes = figure.add_axes((left / width, bottom / height, 264 / width, 180 / height))
            _curves(axes, curves, algorithms)
            axes.set_title(title, loc="left")
            axes.set_xlabel("examples seen")
            axes.set_ylabel(ylabel)
        _legend(figure, algorithms, -(-len(algorithms) // legend_rows))
        return draw(figure)


def _legend(figure: Figure, algorithms: Sequence[str], columns: int) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for index, name in enumerate(algorithms):
        colour, marker, dash = series_style(index)
        handles.append(Line2D([], [], color=colour, marker=marker, ls=dash, label=_label(name)))
    figure.legend(handles=handles, loc="lower center", ncols=columns)


def swatch(index: int) -> str:
    """Draw the line and mark of the index-th algorithm, for a legend in the page."""
    colour, marker, dash = series_style(index)
    with theme():
        figure = new_figure(34, 12)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(0, 34)
        axes.set_ylim(0, 12)
        axes.plot([1, 33], [6, 6], color=colour, ls=dash)
        axes.plot([17], [6], color=colour, marker=marker)
        return draw(figure)


def box_plot(values: Sequence[tuple[str, Sequence[float]]], algorithms: Sequence[str], xlabel: str) -> str:
    """Draw one box per algorithm over its seeds: quartiles, whiskers to 1.5 times their distance, outliers.

    Parameters
    ----------
    values : sequence of (algorithm, values)
        One value per seed; top to bottom.
    algorithms : sequence of str
        All algorithms of the study, which fix the colours.
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
            colour = series_style(list(algorithms).index(name))[0]
            line = {"color": colour, "linewidth": 1.3}
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
                flierprops={"marker": "o", "markersize": 3, "markeredgecolor": colour},
                manage_ticks=False,
            )
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.set_yticks(range(len(values)), names)
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(xlabel)
        axes.grid(True, axis="x")
        axes.set_axisbelow(True)
        return draw(figure)
