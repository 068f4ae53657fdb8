"""Report the cost of learning: updates, requested labels, speed, and the error within a time limit.

The last applies to streams that a study runs with several budget sizes.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ....pipeline.analysis.design import Design
from ....pipeline.analysis.metrics import METRICS
from ....pipeline.analysis.progress import comparable_rows
from ....pipeline.analysis.subsets import TaskGroup, task_groups
from ..page.blocks import Block, Panels, Picture, Section, Text
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView
from ..plots.curve_plots import error_by_size
from ..plots.svg import shorten
from ..words.markup import slug

_NOTE = (
    "A data set here is one stream with budgets of different sizes; of those that take no longer than a "
    "limit the one that errs least counts. Times are those of learning alone, the shortest of the seeds, as "
    "what else ran makes them longer only; they depend on the machine."
)


def section(view: StudyView) -> Section:
    """Print updates per example and speed of every algorithm."""
    return Section("cost", "Updates and speed", [_cost_table(view)])


def _cost_table(view: StudyView) -> TableBlock:
    """Build the table of updates per example by noise rate, averaged over data sets, and of speed."""
    averages, design = view.averages, view.design
    updates, speed, queries = (METRICS[name] for name in ("update_rate", "examples_per_second", "query_rate"))
    header = ["algorithm", *(f"updates, {noise.short} noise" for noise in design.noise), "examples/s"]
    done = comparable_rows(view.finished, design)
    each = done[["noise", "algorithm", "dataset"]].assign(rate=updates.of(done))
    # Average over seeds first, so that a data set with a single repetition counts as much as the others.
    means = (
        each.groupby(["noise", "algorithm", "dataset"])["rate"].mean().groupby(["noise", "algorithm"]).mean()
    )
    rate = done.assign(rate=speed.of(done)).groupby("algorithm")["rate"].median().reindex(design.algorithms)
    rows = [
        [
            TableCell(name),
            *(
                TableCell(updates.show(float(means.get((noise.slug, name), np.nan)), unit=True))
                for noise in design.noise
            ),
            TableCell(speed.show(float(rate[name]))),
        ]
        for name in design.algorithms
    ]
    metrics = [updates, speed]
    asked = (
        done.assign(share=queries.of(done)).groupby("algorithm")["share"].mean().reindex(design.algorithms)
    )
    if asked.notna().any():
        metrics.append(queries)
        header.insert(-1, "labels asked for")
        for row, share in zip(rows, asked, strict=True):
            row.insert(-1, TableCell(queries.show(float(share), unit=True)))
    data = pd.concat([averages.long_table(metric, design).assign(metric=metric.name) for metric in metrics])
    return TableBlock(
        name="cost",
        title="Updates per example and speed",
        header=header,
        rows=rows,
        note=f"Updates: mean over {_averaged(done, design)}. "
        + ("Labels asked for: share of the examples, mean over all cells. " if queries in metrics else "")
        + "Speed: median over all cells, of the learner's own pass; it "
        "depends on the machine and on how many cells ran at once, and no rank is made of it.",
        data=data,
    )


def _averaged(compared: pd.DataFrame, design: Design) -> str:
    """Say over which data sets means are taken."""
    n, of = compared["dataset"].nunique(), len(design.datasets)
    return "data sets" if n == of else f"the {n} of {of} data sets on which every algorithm finished"


def within_seconds(view: StudyView) -> Section | None:
    """Compare errors at equal times.

    Returns None unless the study requests RAM-hours and has several data sets from one stream.
    """
    groups = list(_one_stream(view)) if METRICS["ram_hours"] in view.asked else []
    if not groups:
        return None
    tables: list[Block] = []
    pictures = []
    for place, group in enumerate(groups, 1):
        points = _points(view, group)
        tables.append(_within_table(points, view.design.algorithms, group.name, place))
        names = [str(name) for name in points.index]
        sizes = pd.DataFrame({"size": 1000 * points["seconds"], "error": points["error"]})
        drawn = sizes, view.styles, names, "error, %", "learning, milliseconds"
        pictures.append(
            Picture(
                f"Error against milliseconds of learning, {group.name}",
                shorten(group.name, 40),
                error_by_size(*drawn),
                f"figures/error-by-time-{place}-{slug(group.name)}.svg",
                error_by_size(*drawn, legend=True),
            )
        )
    joined = Text(
        "Every point is an algorithm with one size of budget; those of one algorithm are joined.", "soft"
    )
    blocks = [Text(_NOTE, "soft"), *tables, joined, view.legend(view.design.algorithms), Panels(pictures)]
    return Section("seconds", "Error within a time", blocks)


def _one_stream(view: StudyView) -> Iterator[TaskGroup]:
    """Yield the groups of several data sets that are the same task on the same rows."""
    tasks = view.cells.drop_duplicates("dataset").set_index("dataset")["task"]
    for group in task_groups(view.cells, view.design):
        if len(group.datasets) > 1 and tasks[group.datasets].nunique() == 1:
            yield group


def _points(view: StudyView, group: TaskGroup) -> pd.DataFrame:
    """Return seconds and error (%) of each algorithm on each data set, at the first noise rate."""
    noise = view.design.noise[0]
    done = view.finished
    done = done[(done["noise"] == noise.slug) & done["dataset"].isin(group.datasets)]
    # The clock may measure 0 s for a short stream.
    seconds = done.groupby(["algorithm", "dataset"])["fit_seconds"].min().clip(lower=1e-6)
    scores = view.averages.scores(view.metric, noise, view.design)
    value = scores.mean.where(scores.complete)
    error = 100 * (1 - value if view.metric.direction == "higher" else value)
    # `mean` has one row per data set and one column per algorithm.
    points = pd.DataFrame({"seconds": seconds, "error": error.T.stack().reindex(seconds.index)}).dropna()
    return points.reset_index("dataset")


def _limits(seconds: pd.Series[float]) -> list[float]:
    """Return 1 and 3 times powers of ten, from the first that any time meets to the first that all meet.

    Examples
    --------
    >>> _limits(pd.Series([0.02, 0.4]))
    [0.03, 0.1, 0.3, 1.0]
    """
    low, high = np.log10(seconds.min()), np.log10(seconds.max())
    ladder = [
        step * 10.0**power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for step in (1, 3)
    ]
    first = min(place for place, limit in enumerate(ladder) if limit >= seconds.min())
    last = min(place for place, limit in enumerate(ladder) if limit >= seconds.max())
    return [round(limit, 6) for limit in ladder[first : last + 1]]


def _within_table(points: pd.DataFrame, algorithms: list[str], stream: str, place: int) -> TableBlock:
    """Tabulate the least error of each algorithm over the budgets that finish within each time limit."""
    limits = _limits(points["seconds"])
    within = pd.DataFrame(
        {limit: points[points["seconds"] <= limit].groupby(level=0)["error"].min() for limit in limits}
    ).reindex([each for each in algorithms if each in points.index])
    best = within.min()
    rows = [
        [
            TableCell(name),
            *(
                TableCell("–" if np.isnan(error) else f"{error:.2f}", best=bool(error == least))
                for error, least in zip(within.loc[name], best, strict=True)
            ),
        ]
        for name in within.index
    ]
    return TableBlock(
        name=f"within-seconds-{place}-{slug(stream)}",
        title=f"Least error (%) within a time, {stream}",
        header=["algorithm", *(f"{limit:g} s" for limit in limits)],
        rows=rows,
        data=points.reset_index(),
    )
