"""Parts of a study that are compared on their own: some of its algorithms, some of its data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import pandas as pd

from .design import Design, evaluation_rows


def among(design: Design, algorithms: Sequence[str]) -> Design:
    """Restrict a study's tables to some of its algorithms, in the order given.

    Parameters
    ----------
    design : Design
        The whole study.
    algorithms : sequence of str
        Labels; those the study does not have are left out.

    Returns
    -------
    Design
    """
    return replace(design, algorithms=[name for name in algorithms if name in design.algorithms])


def within(design: Design, datasets: Sequence[str]) -> Design:
    """Restrict a study's tables to some of its data sets, in the study's order.

    Parameters
    ----------
    design : Design
        The whole study.
    datasets : sequence of str
        Labels.

    Returns
    -------
    Design
    """
    kept = [
        (name, source)
        for name, source in zip(design.datasets, design.sources, strict=True)
        if name in datasets
    ]
    return replace(design, datasets=[name for name, _ in kept], sources=[source for _, source in kept])


def _tasks(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one row a data set, by its label."""
    return evaluation_rows(cells).drop_duplicates("dataset").set_index("dataset")


def tasks_of(cells: pd.DataFrame, design: Design, entries: Sequence[str]) -> list[str]:
    """Return the labels of the tasks that were cut from some of a study's data sets.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    design : Design
        The study's data sets.
    entries : sequence of str
        What tables call the data sets (`DatasetSpec.label`).

    Returns
    -------
    list of str
        In the study's order.
    """
    parents = _tasks(cells)["parent"]
    return [dataset for dataset in design.datasets if parents[dataset] in entries]


@dataclass(frozen=True)
class TaskGroup:
    """Tasks of one kind cut from one base set.

    Attributes
    ----------
    name : str
        Base set and kind, such as ``"usps pairs"``.
    datasets : list of str
        Labels of the tasks.
    """

    name: str
    datasets: list[str]


def _kind(task: str) -> str:
    """Name the kind of a resolved task; a plain binary problem needs none."""
    kind, _, argument = task.partition(":")
    return {"pair": "pairs", "binary": "", "group": argument}.get(kind, kind)


def task_groups(cells: pd.DataFrame, design: Design) -> list[TaskGroup]:
    """Group a study's data sets by base set and kind of task.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    design : Design
        The study's data sets and their order.

    Returns
    -------
    list of TaskGroup
        In the order of their first data sets.
    """
    tasks = _tasks(cells)
    groups: dict[tuple[str, str], list[str]] = {}
    for dataset, source in zip(design.datasets, design.sources, strict=True):
        groups.setdefault((source, _kind(tasks["task"][dataset])), []).append(dataset)
    named = []
    for (source, kind), datasets in groups.items():
        parents = set(tasks["parent"][datasets])
        # What the study calls the base set says more than the path of its file, unless it has several names.
        base = parents.pop() if len(parents) == 1 else PurePath(source).name
        named.append(TaskGroup(f"{base} {kind}".strip(), datasets))
    names = [group.name for group in named]
    # Two tasks of one set that have nothing else to be told by have names of their own.
    return [
        replace(group, name=group.datasets[0])
        if names.count(group.name) > 1 and len(group.datasets) == 1
        else group
        for group in named
    ]
