"""Draw curves along the stream and critical difference diagrams, for pages, notebooks and papers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.counts import LATEST_ERRORS
from ....pipeline.errors import InputError, did_you_mean
from ....pipeline.noise import Noise
from ..page.blocks import Block, Heading, Panels, Picture, Text
from ..page.view import StudyView
from ..plots.critical_difference import critical_difference, diagram_size, draw_diagram
from ..plots.curve_plots import Axis, draw_curves, learning_curves
from ..plots.svg import FAINT_ON_WHITE, Styles, handles, shorten, theme
from ..words.wording import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Width and height of a figure in inches. It is as wide as the text of a notebook.
_PANEL = (6.4, 4.0)
# Number of columns of a legend that is below the curves.
_COLUMNS = 3
# Least size of lettering in points. Tick labels are 1/11 smaller, and journals require at least 6.
_LEAST_LETTERING = 7.0


def rank_diagram(comparison: Comparison, styles: Styles, ax: Axes | None, width: float | None) -> Axes:
    """Draw a critical difference diagram into axes, or into a new figure `width` inches wide.

    Raises InputError if fewer than two algorithms can be ranked.
    """
    from matplotlib import pyplot

    if comparison.k < 2 or comparison.n < 1:
        raise InputError(
            f"ranks by {comparison.metric.label} need at least two algorithms that run on all data sets and "
            "have a value of it, and a data set with complete values of all of them; found "
            f"{comparison.k} and {comparison.n}: choose another metric or noise level"
        )
    if ax is None:
        with theme():
            # In the report's figures 1 px is 1 point; 72 of them are an inch.
            size = diagram_size(comparison, width=None if width is None else 72 * width)
        # Create the figure outside `theme()`: notebooks show only figures created with the user's own
        # settings.
        ax = pyplot.figure(figsize=(size[0] / 72, size[1] / 72)).add_axes((0, 0, 1, 1))
    with theme():
        draw_diagram(ax, comparison, styles)
    return ax


def curve_panel(
    view: StudyView, dataset: str | None, noise: Noise, column: str, ax: Axes | None, width: float | None
) -> Axes:
    """Draw learning curves of a data set into axes, or into a new figure `width` inches wide.

    `dataset` None means the first. Raises InputError if there is no such data set or column, or no curve.
    """
    from matplotlib import pyplot

    dataset = view.design.datasets[0] if dataset is None else dataset
    if dataset not in view.design.datasets:
        hint = did_you_mean(dataset, view.design.datasets)
        raise InputError(f"no data set is called {dataset!r}: {hint}")
    numbers = view.results.curves.select_dtypes("number").columns.drop("t")
    if column not in numbers:
        raise InputError(f"curves have no column {column!r}: {did_you_mean(column, numbers)}")

    # Counts are 0 at the start of the stream; other columns, such as error rates, are not.
    counted = column in ("mistakes", "mistakes_clean", "updates")
    curves = mean_curves(
        view.curves, dataset=dataset, noise=noise, algorithms=view.drawn, column=column, from_zero=counted
    )
    if not curves:
        raise InputError(f"no finished cell has {column!r} on {dataset!r}, {noise.label}")
    lettering = 11.0 if width is None else min(11.0, max(_LEAST_LETTERING, 11 * width / _PANEL[0]))
    names = [curve.algorithm for curve in curves]
    # In a new figure the legend is below the axes: inside them, a legend of many algorithms would cover the
    # curves or be cut off.
    below = ax is None
    if ax is None:
        inches = width or _PANEL[0]
        # Height of the legend in inches; a row is 1.8 times as high as its letters.
        legend = 1.8 * lettering / 72 * -(-len(names) // _COLUMNS)
        figure = pyplot.figure(
            figsize=(inches, inches * _PANEL[1] / _PANEL[0] + legend), layout="constrained"
        )
        with theme(faint=FAINT_ON_WHITE, lettering=lettering):
            ax = figure.add_subplot()
    with theme(faint=FAINT_ON_WHITE, lettering=lettering):
        draw_curves(ax, curves, view.styles, Axis(y=_called(column), zero=counted))
        ax.set_title(f"{dataset}, {noise.label}", loc="left")
        lines = handles(view.styles, names)
        if below:
            ax.figure.legend(handles=lines, loc="outside lower center", ncols=_COLUMNS)
        else:
            ax.legend(handles=lines)
    return ax


def _called(column: str) -> str:
    """Return the axis label for a column of the curves table."""
    if column == "mistakes_clean":
        return "mistakes (clean labels)"
    return f"{column.replace('_', ' ')}{', %' if column in LATEST_ERRORS else ''}"


def diagrams(
    comparisons: Sequence[Comparison], styles: Styles, *, prefix: str = "", scope: str = ""
) -> list[Picture]:
    """Draw a critical difference diagram for every noise level with at least two data sets and algorithms.

    The comparisons are of one metric, one per noise level; the diagrams share one scale. File names start
    with `prefix`. `scope` names the part of the study for readers who cannot see the pictures.
    """
    shown = [c for c in comparisons if c.n >= 2 and c.k >= 2]
    return [
        Picture(
            f"Critical difference diagram by {c.metric.label}, {c.noise.label}"
            + (f" ({scope})" if scope else ""),
            f"{c.noise.label}, {count(c.n, 'data set')}",
            critical_difference(c, styles, shown),
            f"figures/{prefix}critical-difference-{c.noise.stem}.svg",
        )
        for c in shown
    ]


class CurvePanel(NamedTuple):
    """One panel of learning curves: its curves, one per algorithm, and its titles."""

    # Description for readers who cannot see the panel.
    title: str
    # Text above the panel: `heading` in the page, `short` in the picture of all panels.
    heading: str
    short: str
    curves: list[Curve]


def curve_panels(panels: Sequence[CurvePanel], styles: Styles, axis: Axis, title: str, file: str) -> Panels:
    """Draw each panel for the page, and all panels in one picture with a legend, for a file.

    `panels` must not be empty. `title` describes the picture of all panels; `file` is its path within the
    report's folder.
    """
    drawings, sheet = learning_curves([(panel.short, panel.curves) for panel in panels], styles, axis)
    pictures = [
        Picture(panel.title, panel.heading, drawing) for panel, drawing in zip(panels, drawings, strict=True)
    ]
    return Panels(pictures, sheet=Picture(title, title, sheet, file))


class Quantity(NamedTuple):
    """Describe a quantity to draw along the stream: column `column` of the curves table over `against`."""

    title: str
    column: str
    axis: Axis
    against: str = "t"
    # Whether the quantity counts from 0 at the start of the stream.
    from_zero: bool = False


def at_level(dataset: str, noise: Noise) -> str:
    """Name a panel by its data set and noise level."""
    return f"{shorten(dataset, 24)}, {noise.short} noise"


def stream_panels(
    view: StudyView,
    quantity: Quantity,
    places: Sequence[tuple[str, Noise]],
    *,
    title: str,
    file: str,
    algorithms: list[str] | None = None,
    heading: Callable[[str, Noise], str] = at_level,
    short: Callable[[str, Noise], str] = at_level,
    marked: Callable[[Curve, str, Noise], Curve] = lambda curve, *_: curve,
) -> tuple[Panels, list[Curve]] | None:
    """Draw a quantity in one panel for each data set and noise level that has curves.

    `title` and `file` are the title and the file name, without suffix, of the picture of all panels. By
    default `algorithms` are those that the study draws. `heading` returns a panel's title in the page,
    `short` its title in the picture of all panels. `marked` returns a curve with rings added to it. Returns
    the panels and all curves, or None if there is no curve.
    """
    panels = []
    for dataset, noise in places:
        curves = mean_curves(
            view.curves,
            dataset=dataset,
            noise=noise,
            algorithms=view.drawn if algorithms is None else algorithms,
            column=quantity.column,
            against=quantity.against,
            from_zero=quantity.from_zero,
        )
        if curves:
            curves = [marked(curve, dataset, noise) for curve in curves]
            described = f"{quantity.title} on {dataset}, {noise.label}"
            panels.append(CurvePanel(described, heading(dataset, noise), short(dataset, noise), curves))
    if not panels:
        return None
    drawn = [curve for panel in panels for curve in panel.curves]
    return curve_panels(panels, view.styles, quantity.axis, title, f"figures/{file}.svg"), drawn


def stream_blocks(
    view: StudyView,
    title: str,
    note: str,
    found: tuple[Panels, list[Curve]],
    more: str = "",
    names: Sequence[str] = (),
) -> list[Block]:
    """Return heading, note, legend and panels of curves; without `names` the legend has all curves."""
    panels, curves = found
    if any(curve.changes for curve in curves):
        note += " Dashed vertical lines: the stream changes."
    if any(curve.marks for curve in curves):
        note += " Rings: where a seed's model was replaced or became more complex."
        if any(curve.marks and np.isnan(curve.mean).any() for curve in curves):
            note += " Gaps have none."
    legend = view.legend(names or [curve.algorithm for curve in curves])
    return [Heading(title), Text(note + more, "soft"), legend, panels]
