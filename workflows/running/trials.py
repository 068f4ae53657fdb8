"""Run trial cells to estimate the time of a study that has never run."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...pipeline.run.readings import Reading, are_read_together, readings, run_reading
from ...pipeline.store.schema import CellResult
from ...pipeline.study.cell import CellGroup
from ...pipeline.study.plan import Plan

# Maximum number of rows of a trial: of a learner of this package, whose cost per row may grow with each
# support vector, and of another library's, which may take 0.1 s per row.
_ROWS, _OTHERS_ROWS = 2000, 300
# Time limit in seconds of a cell that learns alone.
_SECONDS = 5.0
# No further trial begins after this many seconds. A first trial may have to compile its loop for seconds.
_ALL_SECONDS = 10.0
# Points of a trial's curve, which divide its rows into quarters.
_POINTS = 4


@dataclass(frozen=True)
class Trial:
    """The time of a trial cell, from which the time of cells with more rows is estimated."""

    # The rows that it learned, and the seconds that the whole cell took.
    rows: int
    seconds: float
    # The seconds that learning one more row takes, and by how much they grow with each further row.
    per_row: float
    growth: float = 0.0

    def seconds_with(self, rows: int) -> float:
        """Return the expected seconds of a cell that learns `rows` rows."""
        more = max(0, rows - self.rows)
        return self.seconds + (self.per_row + self.growth * more / 2) * more


def trials(plan: Plan, rows: Mapping[str, int]) -> dict[str, Trial]:
    """Run a short cell of each learner on the smallest data set; return their times by learner.

    Of algorithms with the same learner, only the first is tried. After ten seconds no further trial begins.
    `rows` has the number of rows that a cell learns by the task's label (0 if unknown). A trial learns up to
    2,000 of them, one of another library's learner up to 300. Points of a parameter grid that a run would
    learn together, in one pass over the rows, also learn together here, and a trial's time is their mean. The
    result is empty if there are no data or no trial finished.
    """
    tasks = [task for task in plan.here if rows[task.label]]
    if not tasks:
        return {}
    found, began = dict[str, Trial](), time.monotonic()
    for reading in _readings(replace(plan, tasks=(min(tasks, key=lambda each: rows[each.label]),))):
        if time.monotonic() - began > _ALL_SECONDS:
            break
        # Run twice and take the second result, because the first run includes the time of opening the data.
        outcomes = [run_reading(reading) for _ in range(2)][1]
        if all(each.row["status"] in ("ok", "stopped") and each.row["n_examples"] for each in outcomes):
            spec = reading[0].spec
            found[spec.learner] = _trial(outcomes, grows=_is_kernel(plan, spec.algorithm))
    return found


def _trial(outcomes: list[CellResult], *, grows: bool) -> Trial:
    """Return the mean time of the cells of a reading; `grows` tells if a learner's cost per row may grow."""
    cells = [outcome.row for outcome in outcomes]
    seconds = sum(each["total_seconds"] for each in cells) / len(cells)
    # Grid points that differ only in the number of passes are one model that learns on. `fit_seconds` of the
    # point with the most passes is the time of all these points.
    learning = max(each["fit_seconds"] for each in cells) * cells[0].get("points", 1) / len(cells)
    n, along = cells[0]["n_examples"], outcomes[0].curve.get("fit_seconds", ())
    if not (grows and len(along) == _POINTS):
        return Trial(n, seconds, learning / n)
    # The cost per row is taken to grow on as it grows from the third quarter of the rows to the last, so not
    # at all if a budget of support vectors was reached before.
    quarter = n / _POINTS
    third, last = (learning * part / along[-1] / quarter for part in np.diff(along)[-2:])
    growth = max(0.0, last - third) / quarter
    return Trial(n, seconds, last + growth * quarter / 2, growth)


def _is_kernel(plan: Plan, algorithm: str) -> bool:
    learner = plan.learners[algorithm]
    return learner.built_in and not learner.linear


def _readings(plan: Plan) -> Iterator[Reading]:
    """Yield the cells to run for each learner to try: all grid points that learn together, or the first.

    Learners of this package come first, because those of other libraries may be slow.
    """
    firsts: dict[str, CellGroup] = {}
    for group in (*plan.evaluation_groups({}), *plan.tuning_groups()):
        firsts.setdefault(group.spec.learner, group)
    places = {each.label: place for place, each in enumerate(plan.study.algorithms)}

    def order(group: CellGroup) -> tuple[bool, int]:
        return not plan.learners[group.spec.algorithm].built_in, places[group.spec.algorithm]

    for group in sorted(firsts.values(), key=order):
        learner, seed = plan.learners[group.spec.algorithm], group.members[0][0]
        if learner.problem:
            continue
        rows = _ROWS if learner.built_in else _OTHERS_ROWS
        spec = replace(
            group.spec,
            max_train=min(group.spec.max_train or rows, rows),
            max_test=min(group.spec.max_test or rows, rows),
            checkpoints=_POINTS,
        )
        together = are_read_together(spec.at(*group.members[0]), group.execution)
        limit = group.execution.time_limit if together else min(plan.study.time_limit or _SECONDS, _SECONDS)
        group = replace(group, spec=spec, execution=replace(group.execution, time_limit=limit))
        cells = [group.cell(*member) for member in group.members if member[0] == seed]
        yield next(readings(cells)) if together else (cells[0],)
