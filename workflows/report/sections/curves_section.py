"""What else is measured along the stream: test error, kernel evaluations, complexity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ....pipeline.analysis.averages import Design, evaluation_rows
from ....pipeline.analysis.curves import Curve, mean_curves
from ....pipeline.analysis.subsets import task_groups
from ..plots.line_plots import Axis, curves_sheet, learning_curves
from ..plots.pictures import Picture
from ..plots.svg import shorten, standalone

# Base sets that are drawn: a panel costs some 20 kB of the page.
_MOST = 9


@dataclass(frozen=True)
class Quantity:
    """One picture for each data set.

    Attributes
    ----------
    name : str
        Stem of the file.
    title, note : str
    column, against : str
        Columns of the curves table: what is drawn, against what.
    axis : Axis
        Names and scale of the axes.
    error : bool
        Draw ``100 (1 - value)`` for a share that is right.
    """

    name: str
    title: str
    note: str
    column: str
    against: str
    axis: Axis
    error: bool = False


QUANTITIES = (
    Quantity(
        "test-error",
        "Test error along the stream",
        "Test error of the model after so many examples; both axes are logarithmic.",
        "test_accuracy",
        "t",
        Axis("examples seen", "test error, %", log=True),
        error=True,
    ),
    Quantity(
        "test-error-by-labels",
        "Test error against labels asked for",
        "Test error of the model after so many labels; QueryAll asks for the label of every example. "
        "Both axes are logarithmic.",
        "test_accuracy",
        "queried",
        Axis("labels asked for", "test error, %", log=True),
        error=True,
    ),
    Quantity(
        "kernel-evaluations",
        "Kernel evaluations along the stream",
        "Those of learning, counted as each learner's documentation says; both axes are logarithmic.",
        "kernel_evaluations",
        "t",
        Axis("examples seen", "kernel evaluations", log=True),
    ),
    Quantity(
        "complexity",
        "Complexity in use along the stream",
        "Mean level of the model that predicts, over seeds; switches are where it rises.",
        "complexity",
        "t",
        Axis("examples seen", "complexity", zero=False, steps=True),
    ),
)


@dataclass(frozen=True)
class Along:
    """The pictures of one quantity.

    Attributes
    ----------
    title, note : str
    panels : list of Picture
        For the page.
    drawn : list of str
        The algorithms that have a curve.
    sheet : Picture
        The file with all of them.
    """

    title: str
    note: str
    panels: list[Picture]
    drawn: list[str]
    sheet: Picture


def along_stream(
    cells: pd.DataFrame, curves: pd.DataFrame, design: Design, drawn: Sequence[str] = ()
) -> list[Along]:
    """Draw what was measured along the stream besides mistakes and support vectors.

    Parameters
    ----------
    cells, curves : DataFrame
        The store's tables.
    design : Design
        The study's names and their order.
    drawn : sequence of str, default=()
        The algorithms whose curves are drawn; all when empty.

    Returns
    -------
    list of Along
        One for every quantity that an algorithm has at the lowest noise rate; of the first task of every base
        set.
    """
    datasets = [group.datasets[0] for group in task_groups(cells, design)][:_MOST]
    found = [_one(quantity, cells, curves, design, datasets, drawn) for quantity in QUANTITIES]
    return [each for each in found if each is not None]


def _with_switches(curve: Curve, cells: pd.DataFrame) -> Curve:
    """Mark where the models of all seeds became more complex."""
    own = evaluation_rows(cells[cells["algorithm"] == curve.algorithm])["switches"]
    switches = {float(t) for seed in own.dropna() for t in seed}
    return replace(curve, marks=tuple(sorted(t for t in switches if t >= curve.t[0])))


def _one(
    quantity: Quantity,
    cells: pd.DataFrame,
    curves: pd.DataFrame,
    design: Design,
    datasets: Sequence[str],
    drawn: Sequence[str],
) -> Along | None:
    names = [name for name in design.algorithms if name in drawn or not drawn]
    if not curves[quantity.column].notna().any() or not curves[quantity.against].notna().any():
        return None
    if quantity.error:
        curves = curves.assign(**{quantity.column: 100 * (1 - curves[quantity.column])})
    panels: list[tuple[str, list[Curve]]] = []
    for dataset in datasets:
        lines = mean_curves(
            cells,
            curves,
            dataset=dataset,
            noise=design.noise[0],
            algorithms=names,
            column=quantity.column,
            against=quantity.against,
            from_zero=False,
        )
        if lines:
            if quantity.error and quantity.against == "t":
                at = (cells["dataset"] == dataset) & (cells["noise"] == design.noise[0].slug)
                lines = [_with_switches(line, cells[at]) for line in lines]
            panels.append((dataset, lines))
    if not panels:
        return None
    title = f"{quantity.title}, {design.noise[0].label}"
    shown = {curve.algorithm for _, lines in panels for curve in lines}
    svg = curves_sheet(
        [(shorten(name, 30), lines) for name, lines in panels], design.algorithms, quantity.axis
    )
    ringed = any(curve.marks for _, lines in panels for curve in lines)
    return Along(
        title=quantity.title,
        note=f"{quantity.note} Rings: where a seed's model became more complex." if ringed else quantity.note,
        panels=[
            Picture(
                f"{title}, {name}",
                shorten(name, 40),
                learning_curves(lines, design.algorithms, quantity.axis),
            )
            for name, lines in panels
        ],
        drawn=[name for name in names if name in shown],
        sheet=Picture(title, title, svg, f"figures/{quantity.name}.svg", standalone(svg, title)),
    )
