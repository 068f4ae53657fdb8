"""Run trial cells to estimate the time of a study that has never run."""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ...pipeline import data
from ...pipeline.run.readings import Reading, are_read_together, readings, run_reading
from ...pipeline.store.schema import CellResult
from ...pipeline.study.cell import CellGroup, CellSpec
from ...pipeline.study.plan import Plan
from ...pipeline.study.specs import AlgorithmSpec

# Maximum number of rows of a trial: of a learner of this package, whose cost per row may grow with each
# support vector, and of another library's, which may take 0.1 s per row.
_ROWS, _OTHERS_ROWS = 2000, 300
# Time limit in seconds of a cell that learns alone. Batch learners do not stop at it.
_SECONDS = 5.0
# No further trial begins after this many seconds. Compiling the loop of one learner may take seconds.
_ALL_SECONDS = 10.0
# Points of a trial's curve.
_POINTS = 16
# Parameters on which a learner's cost depends much.
_COSTLY = ("budget", "covariance")

# What the cost of a row depends on most, the learner's name first; see `kind_of`.
Kind: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True)
class Trial:
    """The time of a trial cell, from which the time of cells with more rows is estimated."""

    # The rows that it learned, and the seconds that the whole cell took, with tests of about as many rows.
    rows: int
    seconds: float
    # The seconds that learning one more row takes, by how much they grow with each further row, and the
    # number of further rows after which they grow no more.
    per_row: float
    growth: float = 0.0
    growing: float = math.inf

    def seconds_with(self, rows: int) -> float:
        """Return the expected seconds of a cell that learns `rows` rows."""
        more = max(0, rows - self.rows)
        growing = min(more, self.growing)
        return self.seconds + self.per_row * more + self.growth * growing * (more - growing / 2)


def kind_of(algorithm: AlgorithmSpec) -> Kind:
    """Return what the cost of a row depends on most; algorithms of one kind are tried only once."""
    costly = (repr(algorithm.fixed.get(name)) for name in _COSTLY)
    return algorithm.name, algorithm.query, algorithm.tune, algorithm.reset, *costly


def trials(plan: Plan, rows: Mapping[str, int]) -> dict[Kind, Trial]:
    """Run short cells on the smallest data sets; return their times by the kind of the algorithm.

    One algorithm of each kind is tried, until ten seconds have passed, each on the smallest data set that it
    runs on. Algorithms that need results of others first (a winner's parameters, a support size) are not
    tried. `rows` has the number of rows that a cell learns by the task's label (0 if unknown). A trial learns
    up to 2,000 of them, one of another library's learner up to 300. Points of a parameter grid that a run
    would learn together, in one pass over the rows, also learn together here, and a trial's time is their
    mean. The result is empty if there are no data or no trial finished.
    """
    found, began = dict[Kind, Trial](), time.monotonic()
    kinds = {each.label: kind_of(each) for each in plan.study.algorithms}
    for reading in _readings(plan, rows, kinds):
        if time.monotonic() - began > _ALL_SECONDS:
            break
        # Run twice and take the second result, because the first run includes the time of opening the data.
        outcomes = [run_reading(reading) for _ in range(2)][1]
        if all(each.row["status"] in ("ok", "stopped") and each.row["n_examples"] for each in outcomes):
            spec = reading[0].spec
            budget = dict(spec.params).get("budget")
            found[kinds[spec.algorithm]] = _trial(outcomes, budget if isinstance(budget, int) else math.inf)
    return found


def _trial(outcomes: list[CellResult], budget: float) -> Trial:
    """Return the trial of cells that learned together: their mean time, and the time of a row.

    The latter grows with the number of support vectors, which is at most `budget`.
    """
    cells, curve = [outcome.row for outcome in outcomes], outcomes[0].curve
    seconds = sum(each["total_seconds"] for each in cells) / len(cells)
    # Grid points that differ only in the number of passes are one model that learns on. `fit_seconds` of the
    # point with the most passes is the time of all these points.
    learning = max(each["fit_seconds"] for each in cells) * cells[0].get("points", 1) / len(cells)
    n = cells[0]["n_examples"]
    if not len(curve.get("t", ())):
        # A learner that learns all rows at once; its cost is taken to grow with the square of their number.
        return Trial(n, seconds, 2 * learning / n, 2 * learning / n**2)
    vectors, along = curve.get("support_vectors"), curve["fit_seconds"]
    if vectors is None or vectors[0] is None or not along[-1]:
        return Trial(n, seconds, learning / n)
    # The cost of a row is taken to grow with each support vector, by as much as from the first quarter of the
    # rows to the last, and their number to grow as in the last quarter, up to the budget.
    quarter, ends = n / 4, n * np.arange(5) / 4
    stored, took = (np.diff(np.interp(ends, [0, *curve["t"]], [0, *values])) for values in (vectors, along))
    took *= learning / along[-1]
    # Mean number of vectors in the last quarter, less that in the first.
    more = stored[0] / 2 + stored[1] + stored[2] + stored[3] / 2
    per_vector = max(0.0, took[3] - took[0]) / quarter / more if more > 0 else 0.0
    rate = max(0.0, stored[3]) / quarter
    last = (took[3] + per_vector * stored[3] * quarter / 2) / quarter
    growing = (budget - vectors[-1]) / rate if rate else math.inf
    return Trial(n, seconds, last, per_vector * rate, max(0.0, growing))


def _readings(plan: Plan, rows: Mapping[str, int], kinds: Mapping[str, Kind]) -> Iterator[Reading]:
    """Yield the cells to run for each kind: all grid points that learn together, or the first.

    Learners of this package come first, because those of other libraries may be slow. `kinds` has the kind of
    each algorithm by its label.
    """
    places = {label: place for place, label in enumerate(kinds)}
    firsts: dict[Kind, CellGroup] = {}
    level = replace(plan, study=plan.study.model_copy(update={"noise": plan.study.noise[:1]}))
    for task in sorted(filter(lambda each: rows[each.label], plan.here), key=lambda each: rows[each.label]):
        own = replace(level, tasks=(task,))
        for group in (*own.evaluation_groups({}), *own.tuning_groups()):
            firsts.setdefault(kinds[group.spec.algorithm], group)
        if len(firsts) == len({*kinds.values()}):
            break

    def order(group: CellGroup) -> tuple[bool, int]:
        return not plan.learners[group.spec.algorithm].built_in, places[group.spec.algorithm]

    for group in sorted(firsts.values(), key=order):
        learner, seed = plan.learners[group.spec.algorithm], group.members[0][0]
        if learner.problem:
            continue
        most = _ROWS if learner.built_in else _OTHERS_ROWS
        spec = replace(
            _with_few_rows(group.spec, 2 * most),
            max_train=min(group.spec.max_train or most, most),
            max_test=min(group.spec.max_test or most, most),
            checkpoints=_POINTS,
        )
        together = are_read_together(spec.at(*group.members[0]), group.execution)
        limit = group.execution.time_limit if together else min(plan.study.time_limit or _SECONDS, _SECONDS)
        group = replace(group, spec=spec, execution=replace(group.execution, time_limit=limit))
        cells = [group.cell(*member) for member in group.members if member[0] == seed]
        yield next(readings(cells)) if together else (cells[0],)


def _with_few_rows(spec: CellSpec, n: int) -> CellSpec:
    """Return a cell whose generated tables have at most n rows: a generator draws a whole table."""
    if not data.is_drawn(spec.dataset):
        return spec
    options = dict(spec.dataset.options)
    for key in ("n_train", "n_test"):
        if isinstance(rows := options.get(key), int):
            options[key] = min(rows, n)
    dataset = replace(spec.dataset, options=tuple(options.items()))
    return replace(spec, dataset=dataset, fingerprint=data.fingerprint(dataset))
