"""Draw models of data with two features: points by class, support vectors, boundary and margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .svg import INK, PALETTE, draw, new_figure, parse, shorten, shortened, theme, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Side of the plot in CSS pixels, without frame and tick labels.
_SIDE = 264.0
_LEFT, _BOTTOM, _TOP, _GAP = 48.0, 28.0, 8.0, 26.0
# Color, line cap and line width of points, per class. A point is a line of length 0, whose cap shows as a
# disc or a square and takes half the bytes of a marker.
_CLASSES = ((PALETTE[0][0], "round", 3.4), (PALETTE[3][0], "projecting", 3.0))
# Outline of a support vector, per class: where it starts, relative to the vector, and the rest of its SVG
# path.
_OPEN = ((-0.05, -2.9, "a2.9 2.9 0 1 1 .1 0"), (-2.5, -2.5, "h5v5h-5z"))
_RING_WIDTH = 1.3
# Lines are simplified as long as they move by less than this many pixels.
_TOLERANCE = 0.2


@dataclass(frozen=True, eq=False)
class Solution:
    """The points, support vectors and scores to draw for one algorithm's model."""

    name: str
    # Training points, shape (n, 2), and their labels as given to the learner, 0 or 1.
    points: NDArray[np.float64]
    codes: NDArray[np.int32]
    # Support vectors, shape (m, 2), and their labels; a label of -1 (no training point) is not drawn.
    support: NDArray[np.float64]
    support_codes: NDArray[np.int32]
    # Coordinates of the grid lines, shape (G,), and the decision function f at (x[j], y[i]), shape (G, G).
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    scores: NDArray[np.float64]


def _dots(axes: Axes, points: NDArray[np.float64], name: str, **style: Any) -> None:
    """Draw a line of length 0 at every point, which shows as a dot; all lines are one path with id `name`."""
    if len(points):
        # The path has each point twice, which is a line of length 0, and then NaN, which ends that line.
        x, y = (np.column_stack([each, each, np.full(len(each), np.nan)]).ravel() for each in points.T)
        axes.plot(x, y, gid=name, **style)


def _level(axes: Axes, solution: Solution, level: float, **style: Any) -> None:
    finite = solution.scores[np.isfinite(solution.scores)]
    if not finite.size or not finite.min() < level < finite.max():
        return
    contours: Any = axes.contour(solution.x, solution.y, solution.scores, levels=[level])
    pieces = [np.vstack([piece, [np.nan, np.nan]]) for piece in contours.allsegs[0]]
    contours.remove()
    if pieces:
        line = np.vstack(pieces)
        axes.plot(line[:, 0], line[:, 1], color=INK, **style)


def _panel(axes: Axes, solution: Solution, place: int = 0) -> None:
    import matplotlib as mpl
    from matplotlib.ticker import MaxNLocator

    # Matplotlib's simplification of paths would remove the lines of length 0 that show points.
    mpl.rcParams["path.simplify"] = False
    for code, (colour, cap, width) in enumerate(_CLASSES):
        own = solution.points[solution.codes == code]
        _dots(axes, own, f"points-{code}-{place}", color=colour, lw=width, solid_capstyle=cap)
    for code, (colour, _, _) in enumerate(_CLASSES):
        own = solution.support[solution.support_codes == code]
        _dots(axes, own, f"support-{code}-{place}", color=colour, lw=_RING_WIDTH, solid_capstyle="round")
    mpl.rcParams["path.simplify"] = True
    mpl.rcParams["path.simplify_threshold"] = _TOLERANCE
    _level(axes, solution, 0.0, lw=1.8, gid=f"boundary-{place}")
    for name, level in (("below", -1.0), ("above", 1.0)):
        _level(axes, solution, level, lw=1.0, ls="--", gid=f"margin-{name}-{place}")
    axes.set(xlim=(solution.x[0], solution.x[-1]), ylim=(solution.y[0], solution.y[-1]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(5))


def _finished(svg: str) -> str:
    """Replace the dots at support vectors by outlines, and round coordinates to a hundredth of a pixel."""
    root = parse(svg)
    for path in root.iter("path"):
        path.set("d", shortened(path.attrib["d"], ".2f"))
    for group in root.iter("g"):
        kind, _, rest = group.get("id", "").partition("-")
        marks = group.find("path") if kind in ("points", "support") else None
        if marks is not None:
            right, down, shape = _OPEN[int(rest[0])] if kind == "support" else (0.0, 0.0, "h0")
            # All dots are one SVG path, which has "M x y L x y" for every dot.
            numbers = marks.attrib["d"].split()
            places = zip(numbers[1::6], numbers[2::6], strict=True)
            marks.set(
                "d", " ".join(f"M {float(x) + right:.2f} {float(y) + down:.2f}{shape}" for x, y in places)
            )
    return write(root)


def solution_panel(solution: Solution) -> str:
    """Draw one model as SVG without a legend: the page has one legend for all panels of a data set."""
    with theme():
        width, height = _LEFT + _SIDE + 10, _BOTTOM + _SIDE + _TOP
        figure = new_figure(width, height)
        axes = figure.add_axes((_LEFT / width, _BOTTOM / height, _SIDE / width, _SIDE / height))
        _panel(axes, solution)
        return _finished(draw(figure))


def solutions_sheet(solutions: Sequence[Solution], classes: Sequence[str]) -> str:
    """Draw the models of one data set with two named classes as SVG, three panels to a row, with a legend."""
    with theme():
        columns = min(3, len(solutions))
        rows = -(-len(solutions) // columns)
        names = legend_names(classes)
        # The legend has two rows, with classes above their support vectors; if narrow, one entry per row.
        legend_rows = len(names) if columns == 1 else 2
        across, down = _LEFT + _SIDE + 16, _BOTTOM + _SIDE + _GAP
        legend = 22.0 * legend_rows + 10
        width, height = across * columns, down * rows + legend
        figure = new_figure(width, height)
        for i, solution in enumerate(solutions):
            left = across * (i % columns) + _LEFT
            bottom = height - down * (i // columns) - _GAP - _SIDE
            place = (left / width, bottom / height, _SIDE / width, _SIDE / height)
            axes = figure.add_axes(place)
            _panel(axes, solution, i)
            axes.set_title(shorten(solution.name, 34), loc="left")
        handles = [_handle(kind) for kind in range(len(names))]
        figure.legend(handles, names, loc="lower center", ncols=len(names) // legend_rows)
        return _finished(draw(figure))


def legend_names(classes: Sequence[str]) -> list[str]:
    """Return the legend's texts; `legend_mark(i)` draws the mark or line for the text at index i."""
    marks = [[f"class {shorten(name, 18)}", "its support vectors"] for name in classes]
    return [*marks[0], *marks[1], "f = 0", "f = ±1"]


def _handle(kind: int) -> Any:
    from matplotlib.lines import Line2D

    if kind >= 4:
        return Line2D([], [], color=INK, lw=(1.8, 1.0)[kind - 4], ls=("-", "--")[kind - 4])
    code, is_support = divmod(kind, 2)
    colour, _, width = _CLASSES[code]
    if is_support:
        width = 5.8 - 0.8 * code
        return Line2D(
            [], [], mec=colour, mfc="none", mew=_RING_WIDTH, marker="os"[code], markersize=width, ls=""
        )
    return Line2D([], [], color=colour, marker="os"[code], mew=0, markersize=width, ls="")


def legend_mark(kind: int) -> str:
    """Draw the mark or line for the legend text at index `kind` (see `legend_names`), for the page."""
    with theme():
        figure = new_figure(34, 12)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set(xlim=(0, 34), ylim=(0, 12))
        handle = _handle(kind)
        handle.set_data([1, 33] if kind >= 4 else [17], [6, 6] if kind >= 4 else [6])
        axes.add_line(handle)
        return draw(figure)
