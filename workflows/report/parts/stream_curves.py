"""Panels of curves along the stream, and the sheet of them all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....pipeline.analysis.curves import Curve
from ..page.blocks import Panels, Picture
from ..plots.curve_plots import Axis, learning_curves
from ..plots.styles import Styles


class CurvePanel(NamedTuple):
    """One panel.

    Attributes
    ----------
    title, heading, short : str
        What it shows, what is printed above it, and above its copy in the sheet.
    curves : list of Curve
        One an algorithm.
    """

    title: str
    heading: str
    short: str
    curves: list[Curve]


def curve_panels(panels: Sequence[CurvePanel], styles: Styles, axis: Axis, title: str, file: str) -> Panels:
    """Draw panels for the page, and a sheet with a legend for a file.

    Parameters
    ----------
    panels : sequence of CurvePanel
        At least one.
    styles : Styles
        Of the study's algorithms.
    axis : Axis
        What is drawn.
    title, file : str
        What the sheet shows, and its relative name.

    Returns
    -------
    Panels
    """
    drawings, sheet = learning_curves([(panel.short, panel.curves) for panel in panels], styles, axis)
    return Panels(
        [
            Picture(panel.title, panel.heading, drawing)
            for panel, drawing in zip(panels, drawings, strict=True)
        ],
        sheet=Picture(title, title, sheet, file),
    )
