"""Train the learners of several parameter settings together, while the rows are read once; evaluate each one.

Threads and workers run cells in groups called readings; most have one cell. Tuning cells that differ only
in parameters, not in data set, noise or seed, take the same rows in the same order. If their learner is
linear, or a kernel learner that only adds support vectors, a reading has up to LANES settings, called points.
Cells that differ only in the number of passes belong to one point: its model is evaluated after each number.
A cell's results are those of running it alone, but its seconds are an equal share of the reading's seconds.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeAlias

import numpy as np

from ...learners import LANES, OnlineClassifier, can_read_once, reading_of, wrong_predictions
from ..store.schema import CellResult
from ..study.cell import Cell, CellSpec, Execution, sorted_json
from ..study.learner_factory import resolve_learner
from .drawn_inputs import drawn_inputs
from .prequential import (
    Patience,
    Stopwatch,
    begin,
    blocks_of,
    check_room,
    compile_loops,
    endless,
    joined,
    recorded,
)
from .recorder import Recorder
from .shared_inputs import SharedInputs, inputs_of
from .splits import Codes, Fold
from .task import about_inputs, describe, draw_seed, learner_of, limit_blas, run_cell, stamp, validation

Reading: TypeAlias = tuple[Cell, ...]


def are_read_together(spec: CellSpec, execution: Execution) -> bool:
    """Return whether this cell and cells that differ from it only in parameters can be trained together.

    They cannot if they have a time limit or late labels, which this way of training does not support. They
    cannot with a strategy that queries labels or restarts the learner, because the learners then learn
    different rows. Nor can they if cells are tested, or record more than mistakes for the study's metrics.
    """
    alone = spec.stage != "tune" or execution.time_limit is not None or spec.course.delay or spec.kept
    alone = alone or spec.test_point
    if alone or {"query", "reset"} & dict(spec.params).keys():
        return False
    learner = resolve_learner(spec.learner)
    # Learners that override `end_of_pass(last)` cannot be trained together: cells may have different numbers
    # of passes, so a pass may be the last for some and not for others.
    shared = learner.linear or (learner.built_in and getattr(learner.factory, "only_adds", False))
    return shared and getattr(learner.factory, "end_of_pass", None) is OnlineClassifier.end_of_pass


def readings(cells: Iterable[Cell]) -> Iterator[Reading]:
    """Divide cells that can be trained together into groups, each of at most LANES parameter settings.

    Cells that differ only in the number of passes have one setting, so they are in the same group.
    """
    points = list(_by_point(cells).values())
    for start in range(0, len(points), LANES):
        yield tuple(cell for point in points[start : start + LANES] for cell in point.values())


def _by_point(cells: Iterable[Cell]) -> dict[str, dict[Any, Cell]]:
    """Return cells by their parameters without the number of passes (as JSON), then by number of passes."""
    points: dict[str, dict[Any, Cell]] = {}
    for cell in cells:
        params = dict(cell.spec.params)
        passes = params.pop("epochs", 1)
        points.setdefault(sorted_json(params), {})[passes] = cell
    return points


def run_reading(cells: Reading, begins: Patience = endless) -> list[CellResult]:
    """Run a group of cells, training them together; an error makes a row of results with status "failed"."""
    if len(cells) > 1:
        # If the learner of one cell raises an error, run each cell alone, so that the other cells succeed.
        with contextlib.suppress(Exception):
            return _read(cells, begins)
    return [run_cell(cell, begins) for cell in cells]


def _read(cells: Reading, begins: Patience) -> list[CellResult]:
    limit_blas()
    started, began, spec, points = datetime.now(UTC), time.perf_counter(), cells[0].spec, _by_point(cells)
    inputs = drawn_inputs(spec) or inputs_of(spec)
    make, draw = learner_of(cells[0]).make, functools.partial(draw_seed, spec)
    classes = np.arange(len(inputs.stream.classes), dtype=np.int32)

    def new_learners(points: Iterable[dict[Any, Cell]]) -> list[Any]:
        first = [next(iter(point.values())).spec.params for point in points]
        return [make(dict(params), draw, inputs.stream.classes) for params in first]

    together = _is_read_once(new_learners(points.values()), max(map(max, points.values())), inputs, classes)
    found: dict[str, CellResult] = {}
    for group in [[*points.values()]] if together else [[point] for point in points.values()]:
        # Learners that do not share a pass learn one after the other, so that each can use the memory of the
        # one before it, which is still in the cache.
        found |= _outcomes(group, new_learners(group), inputs, classes, begins)
    own = stamp(started, (time.perf_counter() - began) / len(cells))
    for cell in cells:
        found[cell.key].row |= describe(cell) | own | {"points": len(points)}
    return [found[cell.key] for cell in cells]


def _is_read_once(learners: list[Any], passes: int, inputs: SharedInputs, classes: Codes) -> bool:
    begin(learners[0], classes, inputs.train)
    return can_read_once(learners, _rows_of(inputs.train), passes)


def _rows_of(part: Fold) -> Any:
    return part.in_order if part.renumbered is None else part.in_order_renumbered


def _outcomes(
    points: list[dict[Any, Cell]], learners: list[Any], inputs: SharedInputs, classes: Codes, begins: Patience
) -> dict[str, CellResult]:
    """Let the learners of some points learn the rows; return the results of the points' cells by key."""
    spec = next(iter(points[0].values())).spec
    compile_loops(learners, (spec.learner, spec.params), inputs.train, classes)
    begins()
    # Each model that learns with others is in memory twice: in its learner, and in the arrays with all
    # models.
    copies = 2 if len(learners) > 1 else 1
    check_room(learners[0], inputs.train, len(classes), copies * len(learners))
    for each in learners:
        begin(each, classes, inputs.train)
    numbers = sorted({number for point in points for number in point})
    models, found, made = _Models(learners, numbers[-1], inputs, spec), dict[str, CellResult](), 1
    models.record_pass()
    for number in numbers:
        models.learn(number - made)
        made = number
        outcomes = zip(points, models.outcomes(), strict=True)
        found |= {point[number].key: outcome for point, outcome in outcomes if number in point}
    return found


class _Models:
    """Models that are trained together, one per parameter setting, and a recorder of results for each."""

    def __init__(self, learners: list[Any], passes: int, inputs: SharedInputs, spec: CellSpec) -> None:
        self._learners, self._inputs, self._spec = learners, inputs, spec
        part = inputs.train
        labels = inputs.noisy, part.codes
        self._recorders = [
            Recorder(*labels, spec.checkpoints, spec.course, inputs.counted_from) for _ in learners
        ]
        self._reading = reading_of(learners, _rows_of(part), passes)
        self._watch = Stopwatch()

    def record_pass(self) -> None:
        """Make the first pass over the stream, in which online mistakes are recorded."""
        stops, noisy = self._recorders[0].stops, self._inputs.noisy
        for start, stop, rows in blocks_of(self._learners[0], self._inputs.train):
            block, codes, before = rows(start, stop), noisy[start:stop], self._seconds
            noted = stops[(stops > start) & (stops <= stop)] - start
            with self._watch:
                passages = self._reading.learn_along(block, codes, noted)
            for recorder, passage in zip(self._recorders, passages, strict=True):
                recorder.add(passage, noted, before)

    def learn(self, passes: int) -> None:
        """Make this many further passes over the stream, without recording them."""
        part, noisy, passes = joined(self._inputs.train, self._inputs.noisy, passes)
        for _ in range(passes):
            for start, stop, rows in blocks_of(self._learners[0], part):
                with self._watch:
                    self._reading.learn_rows(rows(start, stop), noisy[start:stop])

    @property
    def _seconds(self) -> float:
        """Return the seconds of learning so far, divided by the number of models."""
        return self._watch.seconds / len(self._learners)

    def outcomes(self) -> Iterator[CellResult]:
        """Yield each model's results after the passes so far, with its mistakes on the validation rows."""
        wrong, held_out = [0] * len(self._learners), self._inputs.held_out
        if held_out is not None:
            for start, stop, rows in blocks_of(self._learners[0], held_out[0]):
                for g, scores in enumerate(self._reading.score_rows(rows(start, stop))):
                    wrong[g] += wrong_predictions(scores, held_out[1][start:stop])
        for learner, recorder, mistakes in zip(self._learners, self._recorders, wrong, strict=True):
            outcome = recorded(recorder, learner.counters(), self._seconds)
            if held_out is not None:
                outcome.row |= validation(mistakes, len(held_out[1]))
            outcome.row |= about_inputs(self._spec, self._inputs, outcome.row["n_examples"])
            yield outcome
