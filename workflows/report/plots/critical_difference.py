"""Draw the critical difference diagram of mean ranks."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ....pipeline.analysis.comparison import Comparison
from .svg import INK, Styles, draw, new_figure, shorten, tag, text_width, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width of a diagram in px. It is wider than a panel of curves, to fit names on both sides; a phone shows it
# at 0.9 of its size.
DIAGRAM_WIDTH = 400.0
# In px: y coordinate of the scale of ranks, distance between rows of names, distance between bars.
_TOP, _ROW, _BAR = 58.0, 20.0, 9.0
# Distance in px between the lines of a name that is printed on two lines.
_LINE = 13.0
# Lengths of a line, in letters, that are tried when names are wrapped: if the width is given, and in a page.
_LETTERS, _PAGE_LETTERS = (80, *range(8, 41, 2)), tuple(range(20, 41, 2))
# Width in px that a diagram in a page should not exceed.
_PAGE_WIDTH = 520.0
# Scales at which the 11-point lettering of a diagram becomes 6 points, the least that journals allow, and 9
# points. Names are wrapped to shorter lines only until the lettering has 9 points.
_LEAST_SCALE, _GOOD_SCALE = 6 / 11, 9 / 11


def critical_difference(comparison: Comparison, styles: Styles, peers: Sequence[Comparison] = ()) -> str:
    """Draw Demšar's diagram as SVG: mean ranks on a line, with bars over groups that do not differ.

    `comparison` needs at least one complete data set and two algorithms. A ruler shows Nemenyi's critical
    difference. Diagrams of `comparison` and of the comparisons in `peers` get the same scale. See J. Demšar
    (2006), figure 1.
    """
    with theme():
        layout = _layout(comparison, peers)
        figure = new_figure(layout.width, layout.height)
        draw_diagram(figure.add_axes((0, 0, 1, 1)), comparison, styles, peers, (layout.letters,))
        return draw(figure)


def diagram_size(comparison: Comparison, width: float | None = None) -> tuple[float, float]:
    """Return a diagram's width and height in px, scaled to `width` px if given."""
    layout = _layout(comparison, (), width or _layout(comparison).width)
    return layout.width * layout.scale, layout.height * layout.scale


def draw_diagram(
    axes: Axes,
    comparison: Comparison,
    styles: Styles,
    peers: Sequence[Comparison] = (),
    letters: Sequence[int] = _LETTERS,
) -> None:
    """Draw a critical difference diagram that fills the width of its axes."""
    figure = axes.get_figure(root=True)
    assert figure is not None
    layout = _layout(comparison, peers, 72 * axes.bbox.width / figure.dpi, letters)
    labels, values = _tags(comparison, layout.letters)
    names = [str(name) for name in comparison.mean_ranks.index]
    k = len(names)
    half = (k + 1) // 2
    groups = _groups(comparison)
    scale, first = layout.scale, _first_row(groups)
    axes.set_xlim(0, layout.width)
    axes.set_ylim(layout.height, 0)
    axes.set_axis_off()
    x = layout.x

    _draw_scale(axes, layout, k)
    _draw_ruler(axes, layout, comparison)
    for i, (name, label, value) in enumerate(zip(names, labels, values, strict=True)):
        colour, marker, _ = styles[name]
        gid = tag(styles, name)
        left = i < half
        # The names on the right start with the worst, so that no two lines cross.
        y = first + layout.row * (i if left else k - 1 - i)
        # The line to a name bends outwards, to the left or right. It does not cross other names, because
        # lines to lower rows are further inside.
        side = -1 if left else 1
        end = x(value) + 10 * side
        axes.plot([x(value), x(value), end], [_TOP, y, y], color=colour, lw=1.1 * scale, gid=gid)
        axes.plot([end], [y], color=colour, marker=marker, markersize=5 * scale, gid=gid)
        lines = label.split("\n")
        for place, line in enumerate(lines, start=1):
            shift = _LINE * (place - (len(lines) + 1) / 2)
            side_of_line = "right" if left else "left"
            axes.text(end + 6 * side, y + shift, line, ha=side_of_line, va="center", size=11 * scale, gid=gid)
    spots = dict(zip(names, values, strict=True))
    for i, group in enumerate(groups):
        ends = [spots[name] for name in group]
        y = _TOP + 12 + _BAR * i
        # A bar extends beyond its group by only 1 px at both ends, so that it does not reach other
        # algorithms.
        axes.plot(
            [x(min(ends)) - 1, x(max(ends)) + 1], [y, y], color=INK, lw=4 * scale, solid_capstyle="butt"
        )


def _draw_scale(axes: Axes, layout: _Layout, k: int) -> None:
    """Draw the scale of k ranks. If the numbers of all would overlap, only multiples of a step have one."""
    x, scale = layout.x, layout.scale
    axes.plot([x(1), x(k)], [_TOP, _TOP], color=INK, lw=1.2 * scale)
    step = math.ceil((text_width(str(k), 10) + 3) / layout.unit)
    for rank in range(1, k + 1):
        axes.plot([x(rank)] * 2, [_TOP, _TOP - 6], color=INK, lw=scale)
        if rank == 1 or rank % step == 0:
            axes.text(x(rank), _TOP - 10, str(rank), ha="center", va="bottom", size=10 * scale)


def _draw_ruler(axes: Axes, layout: _Layout, comparison: Comparison) -> None:
    """Draw the ruler for Nemenyi's critical difference, if there is one."""
    x, scale, k, cd = layout.x, layout.scale, len(comparison.mean_ranks), comparison.critical_difference
    if cd is None:
        return
    # A critical difference wider than the scale is cut off; its label says so.
    stop = min(x(1 + cd), x(k))
    axes.plot([x(1), stop], [18, 18], color=INK, lw=scale)
    axes.plot([x(1)] * 2, [14, 22], color=INK, lw=scale)
    if x(1 + cd) <= x(k):
        axes.plot([stop] * 2, [14, 22], color=INK, lw=scale)
    left = min(x(1), layout.width - text_width(_ruler(comparison), 10))
    axes.text(left, 11, _ruler(comparison), va="bottom", size=10 * scale)


def _ruler(comparison: Comparison) -> str:
    """Return the text at the ruler for Nemenyi's critical difference, or "" if there is no such ruler."""
    cd = comparison.critical_difference
    if cd is None:
        return ""
    beyond = " (beyond the scale)" if cd > comparison.k - 1 else ""
    return f"Nemenyi CD = {cd:.2f}{beyond}"


def _groups(comparison: Comparison) -> list[tuple[str, ...]]:
    """Return the groups of algorithms that bars join; none for one data set, which allows no test."""
    return comparison.cliques if comparison.n > 1 else []


def _first_row(groups: Sequence[tuple[str, ...]]) -> float:
    """Return the y coordinate of the first row of names, which is below the bars of all groups."""
    return _TOP + 14 + _BAR * len(groups) + 12


def _tags(comparison: Comparison, letters: int) -> tuple[list[str], list[float]]:
    """Return the labels (name and mean rank) as the diagram prints them, and the ranks."""
    values = [float(value) for value in comparison.mean_ranks]
    names = [shorten(str(name), len(str(name))) for name in comparison.mean_ranks.index]
    fitted = _distinct(names, letters)
    return [f"{name}  {value:.2f}" for name, value in zip(fitted, values, strict=True)], values


def _distinct(names: list[str], letters: int) -> list[str]:
    """Fit names into two lines of `letters` letters; return `names` if they cannot all stay different."""
    for head in sorted(range(letters), key=lambda head: abs(2 * head - letters)):
        fitted = [_fitted(name, letters, head) for name in names]
        if len(set(fitted)) == len(set(names)):
            return fitted
    return names


def _fitted(name: str, letters: int, head: int) -> str:
    """Fit a name into one or two lines of `letters` letters; cut letters from the middle of a longer name.

    If a name of at most two lines has no fitting place for a line break, it is cut to one line: letters after
    the first `head` are left out.
    """
    if len(name) <= letters:
        return name
    places = [found.end() for found in re.finditer(r"[\s/:_-]|[.,(](?!\d)|[a-z](?=[A-Z])", name)]
    # Choose the place of the line break. The second line also has the mean rank, which takes 6 letters.
    place = min(places, key=lambda place: max(place, len(name) - place + 6), default=0)
    if max(place, len(name) - place) <= letters:
        return f"{name[:place].rstrip()}\n{name[place:].lstrip()}"
    if len(name) > 2 * letters:
        return f"{name[: letters - 1].rstrip()}…\n{name[-letters:].lstrip()}"
    return f"{name[:head]}…{name[len(name) - letters + 1 + head :]}"


@dataclass(frozen=True)
class _Layout:
    """The dimensions of a diagram in px, before scaling by `scale`."""

    letters: int
    left: float
    unit: float
    width: float
    height: float
    scale: float
    # Distance between rows of names.
    row: float

    def x(self, rank: float) -> float:
        """Return the x coordinate of a rank."""
        return self.left + self.unit * (rank - 1)


def _layout(
    comparison: Comparison,
    peers: Sequence[Comparison] = (),
    width: float | None = None,
    choices: Sequence[int] = _LETTERS,
) -> _Layout:
    """Lay out a diagram as wide as its names need, or scaled to `width` px; prefer to cut few names."""
    k = len(comparison.mean_ranks)
    shared = [each for each in (comparison, *peers) if each.k == k]
    found, wanted = [], _PAGE_WIDTH if width is None else width
    for letters in _PAGE_LETTERS if width is None else choices:
        left, right, unit = _room(shared, k, letters, 0)
        needed = left + unit * (k - 1) + right
        # Leave a margin of 3%, because a screen rounds the widths of letters to whole pixels.
        scale = 1.0 if needed <= 1.001 * wanted else 0.97 * wanted / needed
        cuts = sum(label.count("…") for each in shared for label in _tags(each, letters)[0])
        found.append((min(scale, _LEAST_SCALE), -cuts, min(scale, _GOOD_SCALE) * (not cuts), letters, scale))
    *_, letters, scale = max(found)
    if width is None:
        scale = 1.0
    row = _ROW + _LINE * any("\n" in label for label in _tags(comparison, letters)[0])
    height = _first_row(_groups(comparison)) + row * ((k + 1) // 2 - 1) + 14
    left, right, unit = _room(shared, k, letters, DIAGRAM_WIDTH if width is None else width / scale)
    return _Layout(letters, left, unit, left + unit * (k - 1) + right, height, scale, row)


def _room(
    comparisons: Sequence[Comparison], k: int, letters: int, width: float
) -> tuple[float, float, float]:
    """Return left margin, right margin and px per rank for diagrams of k algorithms that fill `width` px.

    A name starts at its rank and extends outwards, so it needs margin only beyond the end of the scale.
    """
    half = (k + 1) // 2
    tags = [_tags(each, letters) for each in comparisons]
    # Next to its letters, a name needs 21 px for the bend of its line, its mark and some space.
    texts = [
        ([max(map(text_width, label.split("\n"))) + 21 for label in labels], values)
        for labels, values in tags
    ]
    # 16 px per rank keeps two-digit tick labels apart; 130 px in total keeps the lines of a few algorithms
    # apart. The ruler's label must fit above them.
    ruler = max(text_width(_ruler(each), 10) for each in comparisons)
    unit, left, right = max(16.0, 130.0 / (k - 1)), 0.0, 0.0
    # A wider scale needs less margin, which leaves room for a wider scale; a few rounds converge.
    for _ in range(12):
        # Margins are at least 10 px wide, for half a tick label and the end of a bar.
        left = right = 10.0
        for widths, values in texts:
            for i, (needed, value) in enumerate(zip(widths, values, strict=True)):
                if i < half:
                    left = max(left, needed - unit * (value - 1))
                else:
                    right = max(right, needed - unit * (k - value))
        right = max(right, ruler - left - unit * (k - 1))
        unit = max(unit, (width - left - right) / (k - 1))
    return left, right, unit
