"""What seconds buy: of a stream that a study has with several sizes of budget, the error within a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from ....pipeline.analysis.design import evaluation_rows
from ....pipeline.analysis.metrics import METRICS
from ....pipeline.analysis.subsets import TaskGroup, task_groups
from ..page.blocks import Block, Panels, Picture, Section, Text
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView
from ..plots.size_plots import error_by_size
from ..plots.svg import shorten
from ..words.markup import slug

_NOTE = (
    "A data set here is one stream with budgets of different sizes; of those that take no longer than a "
    "limit the one that errs least counts. Times are those of learning alone, the shortest of the seeds, as "
    "what else ran makes them longer only; they depend on the machine."
)


def section(view: StudyView) -> Section | None:
    """Compare at equal times; None unless the study asks for RAM-hours and has a stream more than once."""
    groups = list(_one_stream(view)) if METRICS["ram_hours"] in view.asked else []
    if not groups:
        return None
    tables: list[Block] = []
    pictures = []
    for place, group in enumerate(groups, 1):
        points = _points(view, group)
        tables.append(_table(points, view.design.algorithms, group.name, place))
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
    """Yield the groups of data sets that are the same task of the same rows."""
    tasks = view.cells.drop_duplicates("dataset").set_index("dataset")["task"]
    for group in task_groups(view.cells, view.design):
        if len(group.datasets) > 1 and tasks[group.datasets].nunique() == 1:
            yield group


def _points(view: StudyView, group: TaskGroup) -> pd.DataFrame:
    """Return seconds and error (%) of each algorithm on each data set, at the first noise rate."""
    noise = view.design.noise[0]
    done = evaluation_rows(view.cells, status="ok")
    done = done[(done["noise"] == noise.slug) & done["dataset"].isin(group.datasets)]
    seconds = done.groupby(["algorithm", "dataset"])["fit_seconds"].min()
    value = view.averages.scores(view.metric, noise, view.design).mean.stack()
    error = 100 * (1 - value if view.metric.direction == "higher" else value)
    error.index = error.index.set_names(["dataset", "algorithm"]).reorder_levels(["algorithm", "dataset"])
    points = pd.DataFrame({"seconds": seconds, "error": error.reindex(seconds.index)}).dropna()
    return points.reset_index("dataset")


def _limits(seconds: pd.Series[float]) -> list[float]:
    """Return 1 and 3 times powers of ten, the last of them the first within which everything is done.

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


def _table(points: pd.DataFrame, algorithms: list[str], name: str, place: int) -> TableBlock:
    """Tabulate the least error of each algorithm among its budgets that take no longer than a limit."""
    limits = _limits(points["seconds"])
    within = pd.DataFrame(
        {limit: points[points["seconds"] <= limit].groupby(level=0)["error"].min() for limit in limits}
    ).reindex([each for each in algorithms if each in points.index])
    best = within.min()
    rows = [
        [
            TableCell(str(algorithm)),
            *(
                TableCell("–" if np.isnan(error) else f"{error:.2f}", best=bool(error == best[limit]))
                for limit, error in row.items()
            ),
        ]
        for algorithm, row in within.iterrows()
    ]
    return TableBlock(
        name=f"within-seconds-{place}-{slug(name)}",
        title=f"Least error (%) within a time, {name}",
        header=["algorithm", *(f"{limit:g} s" for limit in limits)],
        rows=rows,
        data=points.reset_index(),
    )
