"""Run trial cells to estimate the time of a study that has never run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...pipeline.run.readings import Reading, are_read_together, readings, run_reading
from ...pipeline.study.cell import CellGroup
from ...pipeline.study.plan import Plan

# Maximum number of algorithms to try, maximum number of rows of a trial, and the time limit in seconds for a
# learner of another library, which may take 0.1 s per row.
_TRIALS, _ROWS, _SECONDS = 2, 300, 5.0


def trials(plan: Plan, rows: Mapping[str, int]) -> list[dict[str, Any]]:
    """Run short cells of up to two algorithms, and return them as rows of the cells table.

    If the study has learners of this package and of other libraries, one of each is tried. A trial learns up
    to 300 rows of the smallest data set. Its examples and seconds are then scaled to all rows that a cell
    learns; `rows` has that number by the task's label (0 if unknown). Points of a parameter grid that a run
    would learn together, in one pass over the rows, also learn together here, and give one row with their
    mean time. The list is empty if there are no data or no trial finished.
    """
    tasks = [task for task in plan.here if rows[task.label]]
    if not tasks:
        return []
    task, study = min(tasks, key=lambda each: rows[each.label]), plan.study
    limits = {
        "max_train": min(study.max_train or _ROWS, _ROWS),
        "max_test": min(study.max_test or _ROWS, _ROWS),
    }
    found = []
    for reading in _readings(replace(plan, study=study.model_copy(update=limits), tasks=(task,))):
        # Run twice and take the second result, because the first run includes the time of opening the data.
        cells = [outcome.row for outcome in [run_reading(reading) for _ in range(2)][1]]
        row = cells[0]
        if all(each["status"] in ("ok", "stopped") and each["n_examples"] for each in cells):
            # Grid points that differ only in the number of passes are one model that learns on. `fit_seconds`
            # of the point with the most passes is the time of all these points.
            learning = max(each["fit_seconds"] for each in cells) * row.get("points", 1) / len(cells)
            more = learning * max(0.0, rows[task.label] / row["n_examples"] - 1)
            seconds = sum(each["total_seconds"] for each in cells) / len(cells) + more
            found.append(row | {"status": "ok", "n_examples": rows[task.label], "total_seconds": seconds})
    return found


def _readings(plan: Plan) -> Iterator[Reading]:
    """Yield the cells to run for each algorithm to try: all grid points that learn together, or the first."""
    firsts: dict[str, CellGroup] = {}
    for group in (*plan.evaluation_groups({}), *plan.tuning_groups()):
        firsts.setdefault(group.spec.algorithm, group)
    labels = [each.label for each in plan.study.algorithms if each.label in firsts]
    own = [each for each in labels if plan.learners[each].built_in]
    others = [each for each in labels if each not in own and not plan.learners[each].problem]
    for label in (*own[: _TRIALS - bool(others)], *others[: _TRIALS - bool(own)]):
        group, seed = firsts[label], firsts[label].members[0][0]
        if label in others:
            limit = min(plan.study.time_limit or _SECONDS, _SECONDS)
            group = replace(group, execution=replace(group.execution, time_limit=limit))
        cells = [group.cell(*member) for member in group.members if member[0] == seed]
        together = are_read_together(group.spec.at(*group.members[0]), group.execution)
        yield next(readings(cells)) if together else (cells[0],)
