"""The critical difference diagram of mean ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .svg import INK, draw, new_figure, shorten, text_width, theme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ....pipeline.analysis.comparison import Comparison
    from .styles import Styles

# A little wider than a panel, for the names on both sides of the scale; a phone shows it at nine tenths.
DIAGRAM_WIDTH = 400.0
# In px: where the scale is, from one row of names to the next, from one bar to the next.
_TOP, _ROW, _BAR = 58.0, 20.0, 9.0


def critical_difference(comparison: Comparison, styles: Styles, beside: Sequence[Comparison] = ()) -> str:
    """Draw Demšar's diagram: mean ranks on a line, bars over groups that do not differ.

    Parameters
    ----------
    comparison : Comparison
        With at least one complete data set and two algorithms; the bars are its cliques (Wilcoxon–Holm), the
        ruler on top is Nemenyi's critical difference.
    styles : Styles
        Of the study's algorithms.
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
    with theme():
        figure = new_figure(*diagram_size(comparison, beside))
        draw_diagram(figure.add_axes((0, 0, 1, 1)), comparison, styles, beside)
        return draw(figure)


def diagram_size(comparison: Comparison, beside: Sequence[Comparison] = ()) -> tuple[float, float]:
    """Return width and height of a diagram in px; see `critical_difference`."""
    k = len(comparison.mean_ranks)
    margin, right, unit = _room([comparison, *beside], k)
    first = _first_row(_groups(comparison))
    return margin + unit * (k - 1) + right, first + _ROW * ((k + 1) // 2 - 1) + 14


def draw_diagram(
    axes: Axes, comparison: Comparison, styles: Styles, beside: Sequence[Comparison] = ()
) -> None:
    """Draw a diagram into axes of its size; see `critical_difference`."""
    labels, values = _tags(comparison)
    names = [str(name) for name in comparison.mean_ranks.index]
    k = len(names)
    half = (k + 1) // 2
    groups = _groups(comparison)
    margin, _, unit = _room([comparison, *beside], k)
    width, height = diagram_size(comparison, beside)
    first = _first_row(groups)
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()

    def x(rank: float) -> float:
        return margin + unit * (rank - 1)

    axes.plot([x(1), x(k)], [_TOP, _TOP], color=INK, lw=1.2)
    for rank in range(1, k + 1):
        axes.plot([x(rank)] * 2, [_TOP, _TOP - 6], color=INK, lw=1.0)
        axes.text(x(rank), _TOP - 10, str(rank), ha="center", va="bottom", size=10)
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
    for i, (name, label, value) in enumerate(zip(names, labels, values, strict=True)):
        colour, marker, _ = styles[name]
        left = i < half
        # The right-hand names stand worst first, so that no two lines cross.
        y = first + _ROW * (i if left else k - 1 - i)
        # Beside its own line a name meets no other: lines that reach further down lie further in.
        side = -1 if left else 1
        end = x(value) + 10 * side
        axes.plot([x(value), x(value), end], [_TOP, y, y], color=colour, lw=1.1)
        axes.plot([end], [y], color=colour, marker=marker)
        axes.text(end + 6 * side, y, label, ha="right" if left else "left", va="center")
    spots = dict(zip(names, values, strict=True))
    for i, group in enumerate(groups):
        ends = [spots[name] for name in group]
        y = _TOP + 12 + _BAR * i
        # Barely beyond its ends: further, it would reach under a neighbour that it does not join.
        axes.plot([x(min(ends)) - 1, x(max(ends)) + 1], [y, y], color=INK, lw=4, solid_capstyle="butt")


def _groups(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return what bars join; a single data set allows no test, and so no bar."""
    return comparison.cliques if comparison.n > 1 else []


def _first_row(groups: Sequence[tuple[str, ...]]) -> float:
    """Return where the first names stand, below the bars."""
    return _TOP + 14 + _BAR * len(groups) + 12


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
    # 21 px for the elbow, the mark and air.
    texts = [([text_width(label) + 21 for label in labels], values) for labels, values in tags]
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
