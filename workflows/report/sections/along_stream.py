"""Draw test error along the stream, and every count declared with a trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.analysis.subsets import task_groups
from ....pipeline.counts import COUNTS
from ..page.blocks import Block, Heading, Section, Text
from ..page.view import StudyView
from ..parts.figures import CurvePanel, curve_panels
from ..plots.curve_plots import Axis
from ..plots.svg import shorten
from ..words.markup import slug

# Maximum number of base sets to draw: a panel adds some 20 kB to the page.
_MOST = 9


@dataclass(frozen=True)
class Quantity:
    """Describe a quantity to draw, with one panel per data set.

    Attributes
    ----------
    name : str
        Stem of the file.
    column, against : str
        Columns of the curves table for the y and x axes.
    """

    name: str
    title: str
    note: str
    column: str
    axis: Axis
    against: str = "t"


_TEST_ERRORS = (
    Quantity(
        "test-error",
        "Test error along the stream",
        "Test error of the model after so many examples; both axes are logarithmic.",
        "test_error",
        Axis("examples seen", "test error, %", log=True),
    ),
    Quantity(
        "test-error-by-labels",
        "Test error against labels asked for",
        "Test error of the model after so many labels that it asked for; both axes are logarithmic.",
        "test_error",
        Axis("labels asked for", "test error, %", log=True),
        against="queried",
    ),
)


def quantities() -> list[Quantity]:
    """Return the quantities to draw: test error, then all counts declared with a trace."""
    counted = [
        Quantity(
            slug(name),
            count.trace.title,
            count.trace.note,
            name,
            Axis("examples seen", count.label, not count.trace.steps, count.trace.log, count.trace.steps),
        )
        for name, count in COUNTS.items()
        if count.trace is not None
    ]
    return [*_TEST_ERRORS, *counted]


def section(view: StudyView) -> Section | None:
    """Draw every available quantity at the lowest noise rate, for the first task of each group."""
    datasets = [group.datasets[0] for group in task_groups(view.cells, view.design)][:_MOST]
    blocks = [block for quantity in quantities() for block in _drawn(view, quantity, datasets)]
    return Section("along", "Along the stream", blocks) if blocks else None


def _with_switches(curve: Curve, cells: pd.DataFrame) -> Curve:
    """Mark where the model of any seed became more complex."""
    own = cells.loc[cells["algorithm"] == curve.algorithm, "switches"]
    switches = {float(t) for seed in own.dropna() for t in seed}
    return replace(curve, marks=tuple(sorted(t for t in switches if t >= curve.t[0])))


def _drawn(view: StudyView, quantity: Quantity, datasets: Sequence[str]) -> list[Block]:
    cells, curves, noise = view.finished, view.curves, view.design.noise[0]
    title = f"{quantity.title}, {noise.label}"
    panels = []
    for dataset in datasets:
        lines = mean_curves(
            curves,
            dataset=dataset,
            noise=noise,
            algorithms=view.drawn,
            column=quantity.column,
            against=quantity.against,
            from_zero=False,
        )
        if lines and quantity.column == "test_error" and quantity.against == "t":
            at = (cells["dataset"] == dataset) & (cells["noise"] == noise.slug)
            lines = [_with_switches(line, cells[at]) for line in lines]
        if lines:
            panels.append(
                CurvePanel(f"{title}, {dataset}", shorten(dataset, 40), shorten(dataset, 30), lines)
            )
    if not panels:
        return []
    lines = [line for panel in panels for line in panel.curves]
    ringed = any(line.marks for line in lines)
    rings = " Rings: where a seed's model became more complex." if ringed else ""
    return [
        Heading(quantity.title),
        Text(quantity.note + rings, "soft"),
        view.legend([line.algorithm for line in lines]),
        curve_panels(panels, view.styles, quantity.axis, title, f"figures/{quantity.name}.svg"),
    ]
