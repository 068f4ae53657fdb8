"""Report the cost of learning: updates, requested labels, speed, and the error within a time limit."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ....pipeline.analysis.metrics import METRICS
from ....pipeline.analysis.progress import comparable_rows
from ....pipeline.analysis.subsets import TaskGroup, task_groups
from ..page.blocks import Block, Panels, Picture, Section, Text
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView
from ..plots.curve_plots import error_by_size
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug

_NOTE = (
    "The data sets of a group are one source with budgets of different sizes; each size has its own row "
    "order and split, unless the source gives them. Among the budgets that finish within a time limit, the "
    "one with the least error counts. Times are of learning alone and depend on the machine. The shortest of "
    "all seeds is taken, because other processes can only make times longer."
)


# Sentence added below a table whose grey times were copied from other results (``--base``); the braces stand
# for the name of those results.
_GREY = "Gray: measured where {} was computed; singlepass run --rerun-times measures it here."


def section(view: StudyView) -> Section:
    """Print updates per example, by noise level, and speed of every algorithm."""
    averages, design = view.averages, view.design
    updates, speed, queries = (METRICS[name] for name in ("update_rate", "examples_per_second", "query_rate"))
    done = comparable_rows(view.finished, design)
    each = done[["noise", "algorithm", "dataset"]].assign(rate=updates.of(done))
    # Average over seeds first, so that a data set with a single repetition counts as much as the others.
    means = (
        each.groupby(["noise", "algorithm", "dataset"])["rate"].mean().groupby(["noise", "algorithm"]).mean()
    )
    columns = {
        f"updates, {noise.short} noise": [means.get((noise.slug, name)) for name in design.algorithms]
        for noise in design.noise
    }
    metrics, writers = [updates], [partial(updates.show, unit=True)] * len(columns)
    asked = done.assign(share=queries.of(done)).groupby("algorithm")["share"].mean()
    of_queries = ""
    if asked.notna().any():
        columns["labels asked for"] = asked.reindex(design.algorithms).tolist()
        writers.append(partial(queries.show, unit=True))
        metrics.append(queries)
        of_queries = "Labels asked for: share of the examples, mean over the cells of these data sets. "
    timed, elsewhere = _measured(done)
    rate = timed.assign(rate=speed.of(timed)).groupby("algorithm")["rate"].median()
    columns["examples/s"] = rate.reindex(design.algorithms).tolist()
    metrics.insert(1, speed)
    data = pd.concat([averages.long_table(metric, design).assign(metric=metric.name) for metric in metrics])
    table = tabulate(
        pd.DataFrame({"algorithm": design.algorithms, **columns}),
        "cost",
        "Updates per example and speed",
        write=[*writers, speed.show],
        note=f"Updates: mean over {wording.averaged_over(view.finished, design)}. {of_queries}"
        "A learner with several epochs can update more than once on an example, and a grid tuned along the "
        "stream (leader, weights) counts the updates of all its points. Speed: median over the cells of "
        "these data sets, of the learner's own pass. It depends on the machine and on how many cells ran at "
        "once, so algorithms are not ranked by it."
        + (f" {_GREY.format(', '.join(sorted(set(elsewhere.values()))))}" if elsewhere else ""),
        grey=np.array([[name in elsewhere] for name in design.algorithms]),
        data=data,
    )
    return Section("cost", "Updates and speed", [table])


def _measured(done: pd.DataFrame) -> tuple[pd.DataFrame, dict[Any, str]]:
    """Return the cells whose times count, and a dict of the algorithms timed only in other results.

    If this run computed cells of an algorithm, only the times of these cells count. The dict maps an
    algorithm to the name of the results (``--base``) from which its times were read.
    """
    if "base" not in done:
        return done, {}
    here = done["base"].isna()
    own = here.groupby(done["algorithm"]).transform("any")
    return done[here | ~own], done[~own].groupby("algorithm")["base"].first().to_dict()


def within_seconds(view: StudyView) -> Section | None:
    """Compare errors within time limits, for a stream that the study lists several times.

    Each entry of the stream gives learners a different budget (of support vectors or features). Returns None
    if there is no such stream, or if the study does not request the metric RAM-hours.
    """
    groups = list(_one_stream(view)) if METRICS["ram_hours"] in view.asked else []
    if not groups:
        return None
    tables: list[Block] = []
    pictures = []
    for place, group in enumerate(groups, 1):
        points = _points(view, group)
        # Unfinished cells have no error, nor have streams without a test part if the test error ranks.
        if points.empty:
            continue
        error, _ = view.error
        tables.append(_within_table(points, view.design.algorithms, error, group.name, place))
        names = [str(name) for name in points.index]
        sizes = pd.DataFrame({"size": 1000 * points["seconds"], "error": points["error"]})
        drawn = sizes, view.styles, names, f"{error}, %", "learning, milliseconds"
        pictures.append(
            Picture(
                f"{error[0].upper()}{error[1:]} against milliseconds of learning, {group.name}",
                shorten(group.name, 40),
                error_by_size(*drawn),
                f"figures/error-by-time-{place}-{slug(group.name)}.svg",
                error_by_size(*drawn, legend=True),
            )
        )
    if not tables:
        return None
    if elsewhere := _measured(view.finished)[1]:
        bases = ", ".join(sorted(set(elsewhere.values())))
        tables.append(Text(f"{', '.join(elsewhere)}: measured where {bases} was computed.", "note"))
    joined = Text(
        "Every point is an algorithm with one size of budget; those of one algorithm are joined.", "soft"
    )
    note = f"{_NOTE} Errors and times are those at {view.design.noise[0].label}."
    blocks = [Text(note, "soft"), *tables, joined, view.legend(view.design.algorithms), Panels(pictures)]
    return Section("seconds", "Error within a time", blocks)


def _one_stream(view: StudyView) -> Iterator[TaskGroup]:
    """Yield the groups whose data sets have the same task and rows, so that only budgets differ."""
    tasks = view.cells.drop_duplicates("dataset").set_index("dataset")["task"]
    for group in task_groups(view.cells, view.design):
        if len(group.datasets) > 1 and tasks[group.datasets].nunique() == 1:
            yield group


def _points(view: StudyView, group: TaskGroup) -> pd.DataFrame:
    """Return seconds and error (%) of each algorithm on each data set, at the first noise level."""
    noise = view.design.noise[0]
    done = view.finished
    done = done[(done["noise"] == noise.slug) & done["dataset"].isin(group.datasets)]
    # The clock may measure 0 s for a short stream, which has no place on a logarithmic axis.
    seconds = done.groupby(["algorithm", "dataset"])["fit_seconds"].min().clip(lower=1e-6)
    points = pd.DataFrame(
        {"seconds": seconds, "error": view.errors(noise, view.design).T.stack().reindex(seconds.index)}
    ).dropna()
    return points.reset_index("dataset")


def _limits(seconds: pd.Series[float]) -> list[float]:
    """Return time limits such as 0.3, 1 and 3 s: at least one run meets the first, and all meet the last."""
    low, high = np.log10(seconds.min()), np.log10(seconds.max())
    ladder = [
        step * 10.0**power for power in range(int(np.floor(low)), int(np.ceil(high)) + 1) for step in (1, 3)
    ]
    first, last = np.searchsorted(ladder, (seconds.min(), seconds.max()))
    return [round(limit, 6) for limit in ladder[first : last + 1]]


def _within_table(
    points: pd.DataFrame, algorithms: list[str], error: str, stream: str, place: int
) -> TableBlock:
    """Tabulate each algorithm's least error within each time limit, over the budgets that finish in time."""
    limits = _limits(points["seconds"])
    within = pd.DataFrame(
        {limit: points[points["seconds"] <= limit].groupby(level=0)["error"].min() for limit in limits}
    ).reindex([each for each in algorithms if each in points.index])
    header = ["algorithm", *(f"{limit:g} s" for limit in limits)]
    return tabulate(
        within.reset_index().set_axis(header, axis="columns"),
        f"within-seconds-{place}-{slug(stream)}",
        f"Least {error} (%) within a time, {stream}",
        write="{:.2f}".format,
        bold=within.eq(within.min()).to_numpy(),
        data=points.reset_index(),
    )
