"""Figures of curves on a paper's page, with the numbers behind them as a file."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ...pipeline.analysis.curves import Curve
from ..report.page.blocks import Block, Legend
from ..report.page.table import TableBlock, TableCell
from ..report.page.view import StudyView
from ..report.parts.stream_curves import CurvePanel, curve_panels
from ..report.plots.curve_plots import Axis


def curves_figure(
    view: StudyView, name: str, title: str, panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis
) -> list[Block]:
    """Draw panels of curves, one legend for all, and write the numbers behind them.

    Parameters
    ----------
    view : StudyView
        Of the study whose algorithms are drawn.
    name : str
        Stem of the files, unique on the page, such as "fig-5".
    title : str
        What the figure shows.
    panels : sequence of (heading, curves)
    axis : Axis
        What is drawn.

    Returns
    -------
    list of Block
    """
    drawn = [each.algorithm for _, curves in panels for each in curves]
    legend: Legend = view.legend(drawn)
    made = [CurvePanel(f"{title}: {head}", head, head, list(curves)) for head, curves in panels]
    pictures = curve_panels(made, view.styles, axis, title, f"figures/{name}.svg")
    return [legend, pictures, numbers_file(name, f"{title}: numbers", curves_frame(panels, axis))]


def curves_frame(panels: Sequence[tuple[str, Sequence[Curve]]], axis: Axis) -> pd.DataFrame:
    """Return the numbers behind panels of curves, a row a point.

    Parameters
    ----------
    panels : sequence of (heading, curves)
    axis : Axis

    Returns
    -------
    DataFrame
        Columns panel, algorithm, the name of the x axis, mean, sd, seeds.
    """
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
    """Return a table that is a file only: the page and Markdown name it.

    Parameters
    ----------
    name : str
        Stem of its files.
    title : str
    frame : DataFrame

    Returns
    -------
    TableBlock
    """
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
