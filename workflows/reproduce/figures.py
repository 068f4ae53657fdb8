"""Figures of curves on a paper's page, and table entries with ours next to the printed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from ...pipeline.analysis.curves import Curve
from ..report.page.blocks import Block, Legend
from ..report.page.table import TableBlock, TableCell
from ..report.page.view import StudyView
from ..report.parts.figures import CurvePanel, curve_panels
from ..report.plots.curve_plots import Axis


def curves_figure(
    view: StudyView, name: str, title: str, panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis
) -> list[Block]:
    """Draw panels of curves with one legend, and write their numbers to a file.

    `panels` are pairs of a heading and curves. `name` is the stem of the files and unique on the page, such
    as "fig-5".
    """
    drawn = [each.algorithm for _, curves in panels for each in curves]
    legend: Legend = view.legend(drawn)
    made = [CurvePanel(f"{title}: {head}", head, head, list(curves)) for head, curves in panels]
    pictures = curve_panels(made, view.styles, axis, title, f"figures/{name}.svg")
    return [legend, pictures, numbers_file(name, f"{title}: numbers", curves_frame(panels, axis))]


def curves_frame(panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis) -> pd.DataFrame:
    """Return the numbers of panels of curves, one row per point; the x column has the name of the x axis."""
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
    return pd.concat(parts, ignore_index=True)


def numbers_file(name: str, title: str, frame: pd.DataFrame) -> TableBlock:
    """Return a table that is only written as files, with the stem `name`; the page links to them."""
    rows = [
        [TableCell(f"{value:.6g}" if isinstance(value, float) else str(value)) for value in row]
        for row in frame.itertuples(index=False)
    ]
    return TableBlock(
        name,
        title,
        [str(column) for column in frame.columns],
        rows,
        labels=2,
        data=frame,
        show="file",
        typeset=False,
    )


ABSENT = "not in the text"


def beside(ours: float, printed: float | None, digits: int = 1, *, sd: float = math.nan) -> TableCell:
    """Return our number, followed in brackets by the printed one and our deviation from it.

    NaN as `ours` means that there is no result; None as `printed` that the paper's text has no number.
    `digits` counts those after the point, `sd` is our standard deviation.

    Examples
    --------
    >>> beside(81.14, 81.9, sd=0.31).text, beside(1.5, None).text
    ('81.1 ± 0.3 (81.9, −0.8)', '1.5')
    """
    text = number(ours, digits)
    if not math.isnan(sd):
        text += f" ± {number(sd, digits)}"
    if printed is None:
        return TableCell(text)
    if math.isnan(ours):
        return TableCell(f"{text} ({number(printed, digits)})")
    # The difference of the numbers as shown, so that the entry is consistent.
    apart = round(ours, digits) - round(printed, digits)
    sign = "+" if apart > 0 else "−" if apart < 0 else "±"
    return TableCell(f"{text} ({number(printed, digits)}, {sign}{number(abs(apart), digits)})")


def number(value: float, digits: int = 1) -> str:
    """Return a number with `digits` digits after the point, or a dash for NaN.

    Examples
    --------
    >>> number(12345.67, 0), number(float("nan"))
    ('12,346', '–')
    """
    return "–" if math.isnan(value) else f"{value:,.{digits}f}"
