"""Make the figures and tables of a paper's page, with our numbers next to those that the paper prints."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from ...pipeline.analysis.curves import Curve
from ..report.page.blocks import Block, Legend, Panels, Picture
from ..report.page.table import TableBlock, TableCell
from ..report.parts.figures import CurvePanel, curve_panels
from ..report.plots.curve_plots import Axis, Estimates, estimate_panels
from ..report.plots.svg import Styles, styles_of, swatch

ABSENT = "not in the text"
# The panels of a figure, each a pair of the panel's heading and its curves.
PanelsOf = Sequence[tuple[str, Sequence[Curve]]]


def curves_figure(
    styles: Styles | None, name: str, title: str, panels: PanelsOf, axis: Axis, *, file: str = ""
) -> list[Block]:
    """Return a figure of panels with curves and one legend, and a file of the curves' numbers.

    `name` is the stem of the file names and unique on the page, such as "fig-5"; the file of numbers gets the
    stem `file` if it is given. `styles` are the study's line styles by algorithm, or None to make new ones if
    the curves are not named after algorithms.
    """
    names = list(dict.fromkeys(each.algorithm for _, curves in panels for each in curves))
    styles = styles or styles_of(names)
    made = [CurvePanel(f"{title}: {head}", head, head, list(curves)) for head, curves in panels]
    parts = [
        pd.DataFrame(
            {
                "panel": head,
                "algorithm": curve.algorithm,
                axis.x: curve.t,
                "mean": curve.mean,
                "sd": curve.sd,
                "seeds": curve.seeds,
            }
        )
        for head, curves in panels
        for curve in curves
    ]
    return [
        Legend([(each, swatch(style)) for each, style in styles.items() if each in names]),
        curve_panels(made, styles, axis, title, f"figures/{name}.svg"),
        numbers_file(file or name, f"{title}: numbers", pd.concat(parts, ignore_index=True)),
    ]


def estimates_figure(
    name: str, title: str, panels: Sequence[tuple[str, Estimates]], axis: Axis
) -> list[Block]:
    """Return a figure of panels with estimates and their intervals, one legend, and a file of the numbers.

    `name` is the stem of the file names and unique on the page, such as "fig-5".
    """
    styles = styles_of(list(dict.fromkeys(each for _, series in panels for each in series)))
    drawings, sheet = estimate_panels(panels, styles, axis)
    pictures = [
        Picture(f"{title}: {head}", head, drawing)
        for (head, _), drawing in zip(panels, drawings, strict=True)
    ]
    rows = [
        {"panel": head, "series": each, **point._asdict()}
        for head, series in panels
        for each, points in series.items()
        for point in points
    ]
    return [
        Legend([(each, swatch(style)) for each, style in styles.items()]),
        Panels(pictures, sheet=Picture(title, title, sheet, f"figures/{name}.svg")),
        numbers_file(name, f"{title}: numbers", pd.DataFrame(rows).dropna(axis=1, how="all")),
    ]


def numbers_file(name: str, title: str, frame: pd.DataFrame) -> TableBlock:
    """Return a table that the page does not show, only links to; its files have the name `name`."""
    rows = [
        [f"{value:.6g}" if isinstance(value, float) else str(value) for value in row]
        for row in frame.itertuples(index=False)
    ]
    header = [str(column) for column in frame.columns]
    return table_of(name, title, header, rows, labels=2, data=frame, show="file", typeset=False)


def table_of(
    name: str, title: str, header: Iterable[str], rows: Iterable[Iterable[str | TableCell]], **options: Any
) -> TableBlock:
    """Return a page's table from rows of texts or `TableCell`s; `options` are passed on to `TableBlock`."""
    body = [[TableCell(each) if isinstance(each, str) else each for each in row] for row in rows]
    return TableBlock(name, title, list(header), body, **options)


def compared(ours: float, printed: float | None, digits: int = 1, *, sd: float = math.nan) -> TableCell:
    """Return a table cell with our number, and in brackets the paper's number and our deviation from it.

    `ours` is NaN without a result, and `printed` is None if the paper does not print such a number.
    `digits` is the number of decimal places, and `sd` the standard deviation of our number.

    Examples
    --------
    >>> compared(81.14, 81.9, sd=0.31).text, compared(1.5, None).text
    ('81.1 ± 0.3 (81.9, −0.8)', '1.5')
    """
    text = number(ours, digits)
    if not math.isnan(sd):
        text += f" ± {number(sd, digits)}"
    if printed is None:
        return TableCell(text)
    if math.isnan(ours):
        return TableCell(f"{text} ({number(printed, digits)})")
    # Subtract the rounded numbers, so that the deviation shown is the difference of the two numbers shown.
    apart = round(ours, digits) - round(printed, digits)
    sign = "+" if apart > 0 else "−" if apart < 0 else "±"
    return TableCell(f"{text} ({number(printed, digits)}, {sign}{number(abs(apart), digits)})")


def number(value: float, digits: int = 1) -> str:
    """Return a number as text with `digits` digits after the point, or a dash for NaN.

    Examples
    --------
    >>> number(12345.67, 0), number(float("nan"))
    ('12,346', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"
