"""Run trial cells to estimate the time of a study that has never run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell, CellGroup
from ...pipeline.study.plan import Plan

# A learner of another library may take 0.1 s a row.
_TRIALS, _ROWS, _SECONDS = 2, 300, 5.0


def trials(plan: Plan, rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Run short cells of up to two algorithms, and return them as rows of the cells table.

    If the study has both, one learner is this package's and one is another library's. They learn up to 300
    rows of the smallest data set; examples and seconds are scaled to all of its rows. `rows` gives each
    task's number of rows by label, 0 if unknown. The list is empty without data, or if no trial finished.
    """
    tasks = [task for task in plan.here if rows[task.label]]
    if not tasks:
        return []
    task, study = min(tasks, key=lambda each: rows[each.label]), plan.study
    limits = {
        "max_train": min(study.max_train or _ROWS, _ROWS),
        "max_test": min(study.max_test or _ROWS, _ROWS),
        "time_limit": min(study.time_limit or _SECONDS, _SECONDS),
    }
    found = []
    for cell in _cells(replace(plan, study=study.model_copy(update=limits), tasks=(task,))):
        # The first run includes opening the data, so the second one counts.
        row = [run_cell(cell).row for _ in range(2)][1]
        if row["status"] in ("ok", "stopped") and row["n_examples"]:
            n = min(rows[task.label], study.max_train or math.inf)
            more = row["fit_seconds"] * max(0.0, n / row["n_examples"] - 1)
            found.append(
                row | {"status": "ok", "n_examples": n, "total_seconds": row["total_seconds"] + more}
            )
    return found


def _cells(plan: Plan) -> Iterator[Cell]:
    """Yield a cell for each algorithm to try; a tuned one gets the first point of its grid."""
    firsts: dict[str, CellGroup] = {}
    for group in (*plan.evaluation_groups({}), *plan.tuning_groups()):
        firsts.setdefault(group.spec.algorithm, group)
    labels = [each.label for each in plan.study.algorithms if each.label in firsts]
    own = [each for each in labels if plan.learners[each].built_in]
    others = [each for each in labels if each not in own and not plan.learners[each].problem]
    for label in (*own[: _TRIALS - bool(others)], *others[: _TRIALS - bool(own)]):
        seed, params = firsts[label].members[0]
        yield firsts[label].cell(seed, params)
