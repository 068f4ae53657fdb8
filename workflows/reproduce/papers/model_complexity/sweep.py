"""Fig. 2: test error of LASVM by complexity, after several numbers of examples."""

from __future__ import annotations

import pandas as pd

from .....pipeline.analysis.curves import Curve
from ....report.page.blocks import Block
from ....report.page.table import TableBlock, TableCell
from ....report.plots.curve_plots import Axis
from ....report.words.markup import slug
from ...evidence import Evidence, StudyEvidence
from ...figures import number
from ...printed import number as printed
from .outcomes import (
    ALL,
    DATASET,
    KERNELS,
    PAPER,
    POLY,
    POLY_OURS,
    RBF,
    Kernel,
    best,
    drawn,
    errors,
    sizes,
    the_study,
)

# The best complexities according to the running text.
PRINTED = {
    (RBF.name, 1000): printed(PAPER, "mc-n7"),
    (RBF.name, 4000): printed(PAPER, "mc-n8"),
    (RBF.name, ALL): printed(PAPER, "mc-n9"),
    (POLY.name, 1000): printed(PAPER, "mc-n10"),
    (POLY.name, ALL): printed(PAPER, "mc-n11"),
}
# A gamma of 0.005 is drawn at 5, because logarithmic axes begin at 1.
_DRAWN = {RBF.name: ("gamma in thousandths", 1000.0)}


def errors_by_complexity(evidence: Evidence) -> list[Block]:
    """Return Fig. 2, a table of it for each kernel, and the best complexities next to the printed ones."""
    study = the_study(evidence)
    panels = []
    for kernel in KERNELS:
        what, unit = _DRAWN.get(kernel.name, (kernel.parameter, 1.0))
        panels.append((f"{kernel.name} kernel: {what}", _by_size(study, kernel, unit)))
    axis = Axis(x="complexity", y="test error, %", log=True)
    return [
        *drawn("fig-2", "Test error by complexity", panels, axis),
        _best(study),
        *(_table(study, kernel) for kernel in (*KERNELS, POLY_OURS)),
    ]


def _means(study: StudyEvidence, kernel: Kernel) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Return mean test errors and standard deviations, shape (complexities, sizes), and the order count."""
    fixed, points = kernel.fixed(study), sizes(study)
    curves = study.curves("test_error", list(fixed), DATASET)
    places = [list(curves[0].t).index(size) for size in points]
    mean = [curve.mean[places] for curve in curves]
    sd = [curve.sd[places] for curve in curves]
    rows = list(fixed.values())
    return pd.DataFrame(mean, rows, points), pd.DataFrame(sd, rows, points), curves[0].seeds


def _by_size(study: StudyEvidence, kernel: Kernel, unit: float) -> list[Curve]:
    mean, sd, orders = _means(study, kernel)
    x = mean.index.to_numpy(float) * unit
    return [
        Curve(f"{size:,} examples", x, mean[size].to_numpy(), sd[size].to_numpy(), orders)
        for size in mean.columns
    ]


def _best(study: StudyEvidence) -> TableBlock:
    rows, data = [], []
    for kernel in (*KERNELS, POLY_OURS):
        for size in sizes(study):
            mean = errors(study, kernel, size)
            found = best(study, kernel, size)
            theirs = PRINTED.get((kernel.name, size))
            shown = "–" if theirs is None else f"{theirs:g}"
            rows.append(
                [
                    TableCell(text)
                    for text in (kernel.name, f"{size:,}", kernel.text(found), shown, number(mean[found], 2))
                ]
            )
            data.append((kernel.name, size, found, theirs, mean[found]))
    columns = ["kernel", "examples", "best", "printed", "test_error"]
    return TableBlock(
        "fig-2-best",
        "The best fixed complexity",
        ["kernel", "examples", "best here", "printed", "test error, %"],
        rows,
        note="The text prints no error of Fig. 2 but the two at 60,000 examples that stand with Fig. 4.",
        data=pd.DataFrame(data, columns=columns),
    )


def _table(study: StudyEvidence, kernel: Kernel) -> TableBlock:
    mean, sd, orders = _means(study, kernel)
    rows = [
        [
            TableCell(f"{value:g}"),
            *(
                TableCell(
                    number(mean.loc[value, size], 2)
                    + (f" ± {number(sd.loc[value, size], 2)}" if orders > 1 else ""),
                    best=value == mean[size].idxmin(),
                )
                for size in mean.columns
            ),
        ]
        for value in mean.index
    ]
    return TableBlock(
        f"fig-2-{slug(kernel.short)}",
        f"Test error of LASVM in percent, {kernel.name} kernel",
        [kernel.parameter, *(f"{size:,} examples" for size in mean.columns)],
        rows,
        note=f"Mean and standard deviation over {orders} orders; the best of a column is bold."
        if orders > 1
        else "The best of a column is bold.",
    )
