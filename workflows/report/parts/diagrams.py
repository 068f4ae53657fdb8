"""Critical difference diagrams of several noise levels."""

from __future__ import annotations

from collections.abc import Sequence

from ....pipeline.analysis.comparison import Comparison
from ..page.blocks import Picture
from ..plots.critical_difference import critical_difference
from ..plots.styles import Styles
from ..words.phrases import count


def diagrams(
    comparisons: Sequence[Comparison], styles: Styles, *, prefix: str = "", scope: str = ""
) -> list[Picture]:
    """Draw a critical difference diagram for every noise level with two data sets and algorithms or more.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    styles : Styles
        Of the study's algorithms.
    prefix : str, default=""
        Put before the files' names.
    scope : str, default=""
        The part of the study they are about, for readers who cannot see them.

    Returns
    -------
    list of Picture
        On one scale.
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
