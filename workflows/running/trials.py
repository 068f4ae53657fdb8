"""Trial cells: what a study that never ran is expected to take."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell
from ...pipeline.study.cell_group import CellGroup
from ...pipeline.study.plan import Plan

_TRIALS, _ROWS = 2, 300


def trials(plan: Plan, rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return rows of the cells table that cells of the first learners of this package would have.

    They learn a few hundred rows of the smallest data set; examples and seconds are scaled to all of it.

    Parameters
    ----------
    plan : Plan
    rows : mapping of str to int
        Of each task, by its label; 0 where unknown.

    Returns
    -------
    list of dict
        One for each algorithm tried; empty without data, or if nothing could be learnt.
    """
    tasks = [task for task in plan.tasks if rows[task.label]]
    if not tasks:
        return []
    task, study = min(tasks, key=lambda each: rows[each.label]), plan.study
    limits = {
        "max_train": min(study.max_train or _ROWS, _ROWS),
        "max_test": min(study.max_test or _ROWS, _ROWS),
    }
    found = []
    for cell in _cells(replace(plan, study=study.model_copy(update=limits), tasks=(task,))):
        # The first time opens the data.
        row = [run_cell(cell).row for _ in range(2)][1]
        if row["status"] == "ok" and row["n_examples"]:
            n = min(rows[task.label], study.max_train or math.inf)
            more = row["fit_seconds"] * max(0.0, n / row["n_examples"] - 1)
            found.append(row | {"n_examples": n, "total_seconds": row["total_seconds"] + more})
    return found


def _cells(plan: Plan) -> Iterator[Cell]:
    """Yield a cell of each of the first algorithms of a plan; grids have their first point."""
    firsts: dict[str, CellGroup] = {}
    for group in (*plan.evaluation_groups({}), *plan.tuning_groups()):
        firsts.setdefault(group.spec.algorithm, group)
    labels = [each.label for each in plan.study.algorithms if each.label in firsts]
    for label in [each for each in labels if plan.learners[each].built_in][:_TRIALS]:
        seed, params = firsts[label].members[0]
        yield firsts[label].cell(seed, params)
