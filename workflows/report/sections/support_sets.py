"""Report support sets: their size at the end and along the stream, and the error at each size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from ....pipeline.analysis.design import Design
from ....pipeline.analysis.metrics import METRICS
from ....pipeline.analysis.progress import comparable_rows
from ....pipeline.analysis.subsets import TaskGroup, task_groups, within
from ....pipeline.noise import Noise
from ..page.blocks import Block, Heading, Panels, Picture, Section, Text
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView
from ..parts.figures import Quantity, stream_blocks, stream_panels
from ..parts.score_tables import score_tables
from ..plots.curve_plots import Axis, error_by_size
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug
from ..words.wording import count

# Maximum number of groups of tasks to draw: each of their pictures adds 20 to 40 kB to the page.
_MOST = 8


def section(view: StudyView) -> Section | None:
    """Report the support vectors that algorithms store; return None if no algorithm stores any."""
    done = view.finished
    sized = set(done.loc[done["support_vectors"].notna(), "algorithm"])
    names = [name for name in view.design.algorithms if name in sized]
    if not names:
        return None
    own = done[done["algorithm"].isin(names)]
    sizes = score_tables(view.averages, METRICS["support_vectors"], view.design)
    groups = task_groups(view.cells, view.design)[:_MOST]
    blocks: list[Block] = [
        _models(view, names),
        Text(f"Support vectors at the end. {wording.averaged(view.design)}; the fewest are bold.", "soft"),
        *(replace(table, show="file" if view.many else "long") for table in sizes),
        *_errors(view, own, groups, names),
        *_along_the_stream(view, groups, names),
    ]
    return Section("support", "Support sets", blocks)


def _errors(view: StudyView, own: pd.DataFrame, groups: Sequence[TaskGroup], names: list[str]) -> list[Block]:
    """Draw error against support vectors, one panel per group of tasks."""
    # Only the lowest noise level is drawn; the tables contain all levels.
    noise = view.design.noise[0]
    learners = own.drop_duplicates("algorithm").set_index("algorithm")["learner"].to_dict()
    error, _ = view.error
    pictures = []
    for place, group in enumerate(groups, 1):
        points = _points(view, noise, within(view.design, group.datasets), names)
        if len(points):
            drawn = points, view.styles, [str(learners[name]) for name in points.index], f"{error}, %"
            pictures.append(
                Picture(
                    f"{error[0].upper()}{error[1:]} against support vectors, {group.name}, {noise.label}",
                    f"{shorten(group.name, 40)}, {noise.label}",
                    error_by_size(*drawn),
                    f"figures/error-by-support-{place}-{slug(group.name)}.svg",
                    error_by_size(*drawn, legend=True),
                )
            )
    if not pictures:
        return []
    note = (
        f"Every point is an algorithm: the mean over the tasks of {error} and of the number of "
        "support vectors at the end. Lines join the algorithms of one learner."
    )
    return [
        Heading("Error against support vectors"),
        Text(note, "soft"),
        view.legend(names),
        Panels(pictures),
    ]


def _along_the_stream(view: StudyView, groups: Sequence[TaskGroup], names: list[str]) -> list[Block]:
    """Draw support vectors along the stream, one panel per group, for the first task of each group."""
    noise = view.design.noise[0]
    title = "Support vectors along the stream"
    shown = [name for name in view.drawn if name in names]
    found = stream_panels(
        view,
        Quantity(title, "support_vectors", Axis(y="support vectors"), from_zero=True),
        [(group.datasets[0], noise) for group in groups],
        title=f"{title}, {noise.label}",
        file="support-vectors",
        algorithms=shown,
        heading=lambda dataset, noise: f"{shorten(dataset, 40)}, {noise.label}",
        short=lambda dataset, _: shorten(dataset, 30),
    )
    if not found:
        return []
    says = wording.shaded(view.design)
    note = f"{says[0].upper()}{says[1:]}; of several tasks of a base set the first."
    return stream_blocks(view, title, note, found, names=shown)


def _points(view: StudyView, noise: Noise, design: Design, names: list[str]) -> pd.DataFrame:
    """Return mean support vectors and error (%) over tasks, one row per algorithm that has both."""
    sizes = view.averages.scores(METRICS["support_vectors"], noise, design)
    size = sizes.mean.where(sizes.complete)[names].mean(axis=0, skipna=False)
    error = view.errors(noise, design)[names].mean(axis=0, skipna=False)
    return pd.DataFrame({"size": size, "error": error}).dropna()


def _models(view: StudyView, names: list[str]) -> TableBlock:
    """Return a table of support vectors, kernel evaluations and model size of each algorithm in `names`."""
    metrics = [METRICS[name] for name in ("support_vectors", "evaluation_rate", "model_kilobytes")]
    design = view.design
    data = pd.concat([view.averages.long_table(each, design).assign(metric=each.name) for each in metrics])
    compared = comparable_rows(view.finished, design)
    values = compared[["algorithm", "dataset", "noise"]].assign(
        **{each.name: each.of(compared) for each in metrics}
    )
    # Average over seeds first, so that a data set with a single repetition counts as much as the others.
    means = values.groupby(["algorithm", "dataset", "noise"]).mean().groupby("algorithm").mean()
    averaged = wording.averaged_over(view.finished, design)
    if len(design.noise) > 1:
        averaged = f"{count(len(design.noise), 'noise level')} and {averaged}"
    header = ["algorithm", "support vectors", "kernel evaluations per example", "model, kB"]
    frame = means.reindex(names)[[each.name for each in metrics]].reset_index()
    return tabulate(
        frame.set_axis(header, axis="columns"),
        "model-size",
        "Support vectors, kernel evaluations and model size",
        write=[each.show for each in metrics],
        note=f"At the end of the stream, mean over {averaged}. Kernel evaluations: those of learning, "
        "counted as each learner's documentation says. Model: rows, coefficients and the matrices that "
        "further learning needs. For a grid tuned along the stream (tune = leader or weights), each number "
        "is the sum over all points of the grid.",
        data=data[data["algorithm"].isin(names)],
    )
