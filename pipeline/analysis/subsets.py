"""Select parts of a study to compare separately: some of its algorithms or some of its data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import pandas as pd

from .design import Design, evaluation_rows


def among(design: Design, algorithms: Sequence[str]) -> Design:
    """Restrict a study's design to some of its algorithms, in the order given; unknown labels are ignored."""
    return replace(design, algorithms=[name for name in algorithms if name in design.algorithms])


def within(design: Design, datasets: Sequence[str]) -> Design:
    """Restrict a study's design to some of its data sets, in the study's order."""
    kept = [
        (name, source)
        for name, source in zip(design.datasets, design.sources, strict=True)
        if name in datasets
    ]
    return replace(design, datasets=[name for name, _ in kept], sources=[source for _, source in kept])


def _tasks(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the first evaluation cell of each data set, indexed by the data set's label."""
    return evaluation_rows(cells).drop_duplicates("dataset").set_index("dataset")


def tasks_of(cells: pd.DataFrame, design: Design, entries: Sequence[str]) -> list[str]:
    """Return the labels of all tasks made from the data sets labelled `entries`, in the study's order."""
    parents = _tasks(cells)["parent"]
    return [dataset for dataset in design.datasets if parents[dataset] in entries]


@dataclass(frozen=True)
class TaskGroup:
    """Tasks of one kind that are made from one source data set."""

    # Source data set and kind of task, such as "usps pairs".
    name: str
    # Labels of the tasks.
    datasets: list[str]


def _kind(task: str) -> str:
    """Return the kind of a task, such as "pairs" for two of the classes; empty for a binary data set."""
    kind, _, argument = task.partition(":")
    return {"pair": "pairs", "binary": "", "group": argument}.get(kind, kind)


def task_groups(cells: pd.DataFrame, design: Design) -> list[TaskGroup]:
    """Group a study's tasks by source data set and kind, in the order of the first task of each group."""
    tasks = _tasks(cells)
    groups: dict[tuple[str, str], list[str]] = {}
    for dataset, source in zip(design.datasets, design.sources, strict=True):
        groups.setdefault((source, _kind(tasks["task"][dataset])), []).append(dataset)
    named = []
    for (source, kind), datasets in groups.items():
        parents = set(tasks["parent"][datasets])
        # Name the source by the study's label, or by its own name if the study gives it several labels.
        base = parents.pop() if len(parents) == 1 else PurePath(source).name
        named.append(TaskGroup(f"{base} {kind}".strip(), datasets))
    names = [group.name for group in named]
    # If several groups have the same name, those that consist of one task get the name of that task.
    return [
        replace(group, name=group.datasets[0])
        if names.count(group.name) > 1 and len(group.datasets) == 1
        else group
        for group in named
    ]
