"""Support sets: their size at the end and along the stream, and the error that a size buys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ....pipeline.analysis.averages import Design, evaluation_rows, long_table, scores
from ....pipeline.analysis.curves import mean_curves
from ....pipeline.analysis.metrics import METRICS, Metric
from ....pipeline.analysis.subsets import task_groups, within
from ....pipeline.noise import Noise
from ..plots.line_plots import Axis, curves_sheet, learning_curves
from ..plots.pictures import Picture
from ..plots.size_plots import error_by_size
from ..plots.svg import shorten, standalone
from ..table import TableBlock, TableCell
from ..words.markup import slug
from ..words.phrases import count
from .score_tables import score_tables

# Base sets that are drawn: a picture of each kind costs 20 to 40 kB of the page.
_MOST = 8


@dataclass(frozen=True)
class Support:
    """What a report says of support sets.

    Attributes
    ----------
    sizes : list of TableBlock
        Support vectors at the end, data sets by algorithms, one table per noise rate.
    models : TableBlock
        Support vectors, kernel evaluations per example and bytes of every algorithm.
    errors : list of Picture
        Error against support vectors, one per group of tasks.
    curves : list of Picture
        Support vectors along the stream, for the page; `sheet` is the file of them all.
    drawn : list of str
        The algorithms of the curves.
    sheet : Picture or None
    errors_note, curves_note : str
    """

    sizes: list[TableBlock]
    models: TableBlock
    errors: list[Picture]
    errors_note: str
    curves: list[Picture]
    curves_note: str
    drawn: list[str]
    sheet: Picture | None

    @property
    def files(self) -> list[Picture]:
        """The pictures that get files of their own."""
        return [*self.errors, *([self.sheet] if self.sheet else [])]

    @property
    def tables(self) -> list[TableBlock]:
        """All tables."""
        return [*self.sizes, self.models]


def support_section(
    cells: pd.DataFrame, curves: pd.DataFrame, design: Design, metric: Metric, drawn: Sequence[str] = ()
) -> Support | None:
    """Work out the section on support sets.

    Parameters
    ----------
    cells, curves : DataFrame
        The store's tables.
    design : Design
        The study's names and their order.
    metric : Metric
        What algorithms are judged by, a share.
    drawn : sequence of str, default=()
        The algorithms whose curves are drawn; all when empty.

    Returns
    -------
    Support or None
        None when no algorithm of the study has a support set.
    """
    done = evaluation_rows(cells, status="ok")
    sized = set(done.loc[done["support_vectors"].notna(), "algorithm"])
    names = [name for name in design.algorithms if name in sized]
    if not names:
        return None
    # The errors are drawn at the lowest rate: the others are in the tables.
    noise = design.noise[0]
    at = f"{noise.label}"
    groups = task_groups(cells, design)[:_MOST]
    learners = done.drop_duplicates("algorithm").set_index("algorithm")["learner"].to_dict()
    error = "test error" if metric.direction == "higher" else "online error"
    errors = []
    for place, group in enumerate(groups, 1):
        part = within(design, group.datasets)
        points = _points(cells, metric, noise, part, names)
        if len(points):
            svg = error_by_size(points, [str(learners[name]) for name in points.index], f"{error}, %")
            title = f"{error[0].upper()}{error[1:]} against support vectors, {group.name}, {at}"
            errors.append(
                Picture(
                    title,
                    f"{shorten(group.name, 40)}, {at}",
                    svg,
                    f"figures/error-by-support-{place}-{slug(group.name)}.svg",
                    standalone(svg, title),
                )
            )
    shown = [name for name in names if name in drawn or not drawn]
    panels = []
    for group in groups:
        found = mean_curves(
            cells,
            curves,
            dataset=group.datasets[0],
            noise=noise,
            algorithms=shown,
            column="support_vectors",
        )
        if found:
            panels.append((group.datasets[0], found))
    axis = Axis(y="support vectors")
    pages = [
        Picture(
            f"Support vectors along the stream, {dataset}, {at}",
            f"{shorten(dataset, 40)}, {at}",
            learning_curves(found, design.algorithms, axis),
        )
        for dataset, found in panels
    ]
    sheet = None
    if panels:
        svg = curves_sheet(
            [(shorten(dataset, 30), found) for dataset, found in panels], design.algorithms, axis
        )
        title = f"Support vectors along the stream, {at}"
        sheet = Picture(title, title, svg, "figures/support-vectors.svg", standalone(svg, title))
    return Support(
        sizes=score_tables(done[done["algorithm"].isin(names)], METRICS["support_vectors"], design),
        models=_models(cells, design, names),
        errors=errors,
        errors_note=f"Every point is an algorithm: the mean over the tasks of {error} and of the number of "
        "support vectors at the end. Algorithms of one learner are joined.",
        curves=pages,
        curves_note="Mean over seeds, shaded by one standard deviation; of several tasks of a base set the "
        "first.",
        drawn=shown,
        sheet=sheet,
    )


def _points(
    cells: pd.DataFrame, metric: Metric, noise: Noise, design: Design, names: list[str]
) -> pd.DataFrame:
    """Return mean support vectors and error (%) over tasks, one row an algorithm that has both."""
    size = scores(cells, METRICS["support_vectors"], noise, design).mean[names].mean(axis=0, skipna=False)
    value = scores(cells, metric, noise, design).mean[names].mean(axis=0, skipna=False)
    error = 100 * (1 - value if metric.direction == "higher" else value)
    return pd.DataFrame({"size": size, "error": error}).dropna()


def _models(cells: pd.DataFrame, design: Design, names: list[str]) -> TableBlock:
    """Support vectors, kernel evaluations per example and bytes, averaged over data sets and noise rates."""
    metrics = [METRICS[name] for name in ("support_vectors", "evaluation_rate", "model_kilobytes")]
    data = pd.concat([long_table(cells, each, design).assign(metric=each.name) for each in metrics])
    means = data.groupby(["metric", "algorithm"])["mean"].mean()
    rows = [
        [
            TableCell(name),
            *(TableCell(each.show(float(means.get((each.name, name), float("nan"))))) for each in metrics),
        ]
        for name in names
    ]
    averaged = count(len(design.datasets), "data set")
    if len(design.noise) > 1:
        averaged += f" and {count(len(design.noise), 'noise rate')}"
    return TableBlock(
        name="model-size",
        title="Support vectors, kernel evaluations and model size",
        header=["algorithm", "support vectors", "kernel evaluations per example", "model, kB"],
        rows=rows,
        note=f"At the end of the stream, mean over {averaged}. Kernel evaluations: those of learning, "
        "counted as each learner's documentation says. Model: rows, coefficients and the matrices that "
        "further learning needs.",
        data=data[data["algorithm"].isin(names)],
    )
