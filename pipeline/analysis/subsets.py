"""Parts of a study that are compared on their own: some of its algorithms, some of its data sets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

import pandas as pd

from .averages import Layout, cut_from, run_cells


def among(plan: Layout, algorithms: Sequence[str]) -> Layout:
    """Restrict a study's tables to some of its algorithms, in the order given.

    Parameters
    ----------
    plan : Layout
        The whole study; its counts of cells are kept.
    algorithms : sequence of str
        Labels; those the study does not have are left out.

    Returns
    -------
    Layout
    """
    return replace(plan, algorithms=[name for name in algorithms if name in plan.algorithms])


def within(plan: Layout, datasets: Sequence[str]) -> Layout:
    """Restrict a study's tables to some of its data sets, in the study's order.

    Parameters
    ----------
    plan : Layout
        The whole study; its counts of cells are kept.
    datasets : sequence of str
        Labels.

    Returns
    -------
    Layout
    """
    kept = [
        (name, source) for name, source in zip(plan.datasets, plan.sources, strict=True) if name in datasets
    ]
    return replace(plan, datasets=[name for name, _ in kept], sources=[source for _, source in kept])


def tasks_of(plan: Layout, entries: Sequence[str]) -> list[str]:
    """Return the labels of the tasks that were cut from some of a study's data sets.

    Parameters
    ----------
    plan : Layout
        The study's data sets.
    entries : sequence of str
        What tables call the data sets (`DatasetEntry.called`).

    Returns
    -------
    list of str
        In the study's order.
    """
    return [
        dataset
        for dataset, source in zip(plan.datasets, plan.sources, strict=True)
        if any(cut_from(dataset, source, entry) for entry in entries)
    ]


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


def task_groups(cells: pd.DataFrame, plan: Layout) -> list[TaskGroup]:
    """Group a study's data sets by base set and kind of task.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    plan : Layout
        The study's data sets and their order.

    Returns
    -------
    list of TaskGroup
        In the order of their first data sets.
    """
    tasks = run_cells(cells).drop_duplicates("dataset").set_index("dataset")["task"]
    groups: dict[tuple[str, str], list[str]] = {}
    for dataset, source in zip(plan.datasets, plan.sources, strict=True):
        groups.setdefault((source, _kind(str(tasks[dataset]))), []).append(dataset)
    return [
        TaskGroup(f"{_base(source, datasets)} {kind}".strip(), datasets)
        for (source, kind), datasets in groups.items()
    ]


def _base(source: str, datasets: Sequence[str]) -> str:
    """Name what the tasks are cut from: their labels say it better than the path of a file."""
    labels = {re.sub(r"\[[^\[]*\]$", "", dataset) for dataset in datasets}
    return labels.pop() if len(labels) == 1 else PurePath(source).name
