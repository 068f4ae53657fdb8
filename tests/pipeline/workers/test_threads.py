"""Test threads that run cells: each cell runs once, also if a thread ends or a cell fails."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import registry
from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.prequential import Patience
from singlepass.pipeline.run.readings import Reading, run_reading
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import CellResult
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers import threads
from singlepass.pipeline.workers.in_flight import InFlight
from singlepass.pipeline.workers.threads import compute_in_threads
from singlepass.workflows.running.workers import CELL_LIMIT, WorkerOptions, workers


class Leaving:
    """A learner that ends the program."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        raise SystemExit(3)

    def fit(self, X: Any, y: Any) -> Leaving:
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(X.shape[0], np.int32)


def cells_of(learner: str = "Perceptron", seeds: int = 40) -> list[Cell]:
    table = {"name": "s", "seeds": seeds, "max_train": 20, "datasets": [{"name": "digits", "task": "round"}]}
    plan = make_plan(parse_study({**table, "algorithms": [{"name": learner}]}))
    return list(plan.evaluation_cells({}))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "cache_folder", lambda: tmp_path)


def in_threads(
    n_threads: int,
    cells: Iterable[Cell],
    done: Callable[[list[CellResult]], None],
    cell_limit: float = CELL_LIMIT,
) -> None:
    with InFlight("out", n_threads) as in_flight:
        alone = ((cell,) for cell in cells)
        compute_in_threads(n_threads, alone, done, cell_limit=cell_limit, in_flight=in_flight)


def test_every_cell_is_run_once_whatever_the_number_of_threads() -> None:
    cells = cells_of()
    expected = {cell.key: run_cell(cell).row["mistakes"] for cell in cells}
    for n_threads in (1, 3, 60):
        batches: list[list[CellResult]] = []
        in_threads(n_threads, iter(cells), batches.append)
        rows = [outcome.row for batch in batches for outcome in batch]
        assert len(rows) == len(cells)
        assert {row["key"]: row["mistakes"] for row in rows} == expected


def test_threads_wait_for_who_takes_what_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_UNTAKEN", 8)
    monkeypatch.setattr(threads, "run_reading", lambda reading, _: [CellResult({"key": reading[0].key})])
    cells, taken, handed_on = cells_of(seeds=400), 0, 0

    def given() -> Iterator[Cell]:
        nonlocal taken
        for cell in cells:
            taken += 1
            yield cell

    ahead = []

    def done(batch: list[CellResult]) -> None:
        nonlocal handed_on
        handed_on += len(batch)
        # Only as many cells are begun meanwhile as there is room for.
        until = time.monotonic() + 10.0
        while taken < min(handed_on + 8, len(cells)) and time.monotonic() < until:
            time.sleep(0.001)
        ahead.append(taken - handed_on)

    # This also applies if there are more threads than room.
    for n_threads in (2, 20):
        taken = handed_on = 0
        in_threads(n_threads, given(), done)
        assert handed_on == taken == len(cells)
    assert max(ahead) == 8


def test_no_cells_are_done_at_once() -> None:
    in_threads(2, [], pytest.fail)


def test_a_learner_that_exits_ends_its_cell_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._plugins, "Leaving", Leaving)
    cells = [*cells_of("Leaving", seeds=1), *cells_of(seeds=5)]
    rows: list[dict[str, Any]] = []
    in_threads(1, cells, lambda batch: rows.extend(outcome.row for outcome in batch))
    assert [row["status"] for row in rows] == ["failed", *["ok"] * 5]
    assert rows[0]["error"] == "SystemExit: 3"
    assert rows[0]["key"] == cells[0].key


def test_an_error_in_the_plan_is_raised_where_cells_are_asked_for() -> None:
    def cells() -> Iterator[Cell]:
        yield from cells_of(seeds=3)
        raise LookupError("no more of them")

    rows: list[CellResult] = []
    with pytest.raises(LookupError, match="no more of them"):
        in_threads(2, cells(), rows.extend)
    assert len(rows) == 3


def test_what_is_interrupted_takes_no_further_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, go_on = threading.Semaphore(0), threading.Event()

    def slow(reading: Reading, begins: Patience) -> list[CellResult]:
        if reading[0].key != first:
            return run_reading(reading, begins)
        taken.release()
        go_on.wait(60)
        return [CellResult({"key": first})]

    def cells() -> Iterator[Cell]:
        yield from cells_of(seeds=1)
        # The second thread takes a cell that ends at once, during which the run can be interrupted.
        taken.acquire()
        yield from cells_of(seeds=40)[1:]

    def interrupted(batch: list[CellResult]) -> None:
        raise KeyboardInterrupt

    first = cells_of(seeds=1)[0].key
    monkeypatch.setattr(threads, "run_reading", slow)
    before = {*threading.enumerate()}
    given = cells()
    with pytest.raises(KeyboardInterrupt):
        in_threads(2, given, interrupted)
    go_on.set()
    for thread in {*threading.enumerate()} - before:
        thread.join(60)
    assert {*threading.enumerate()} <= before


def test_fewer_threads_than_one_are_refused() -> None:
    table = {"name": "s", "datasets": [{"name": "digits"}], "algorithms": [{"name": "Perceptron"}]}
    plan = make_plan(parse_study(table))
    given = WorkerOptions(threads=0), plan, "out", pytest.fail
    with pytest.raises(InputError, match="threads must be a whole number, 1 or more, got 0"), workers(*given):
        pass


@pytest.mark.parametrize("limit", [float("nan"), float("inf"), 0.0, 1e300])
def test_a_timeout_that_no_timer_takes_is_refused(limit: float) -> None:
    with pytest.raises(InputError, match="cell_limit must be > 0 and at most"):
        WorkerOptions(cell_limit=limit)


def test_more_threads_than_the_machine_starts_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(pool: threads._Pool, slot: int) -> None:
        if slot == 2:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads._Pool, "start", start)
    with pytest.raises(
        InputError, match=r"this machine starts only 2 of 1,000 .*: give fewer, .* .ulimit -v, ulimit -u.$"
    ):
        in_threads(1000, [], lambda batch: None)


def test_what_was_finished_is_handed_on_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: Any) -> bool:
        raise KeyboardInterrupt

    interval = sys.getswitchinterval()
    monkeypatch.setattr(threads._Pool, "is_full", property(interrupted))
    rows: list[CellResult] = []
    with pytest.raises(KeyboardInterrupt):
        in_threads(1, cells_of(seeds=2000), rows.extend)
    assert 1 <= len(rows) < 2000
    assert sys.getswitchinterval() == interval


class Endless:
    """A learner that never returns."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        threading.Event().wait()
        raise AssertionError

    fit = learn

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(X.shape[0], np.int32)


def test_a_cell_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._plugins, "Endless", Endless)
    run_cell(cells_of(seeds=1)[0])
    cells = [*cells_of("Endless", seeds=1), *cells_of(seeds=5)]
    rows: list[dict[str, Any]] = []
    in_threads(1, cells, lambda batch: rows.extend(outcome.row for outcome in batch), cell_limit=3)
    assert {row["key"]: row["status"] for row in rows} == {
        cell.key: "crashed" if cell is cells[0] else "ok" for cell in cells
    }
    assert rows[0]["error"] == "had not ended after 3 s"


def test_the_cells_of_a_run_that_died_are_known_to_the_next() -> None:
    with InFlight("out", 2) as first:
        assert first.left == frozenset()
        first.note(0, "a" * 32)
        first.note(1, "b" * 32)
        first.note(1, "")
        # Simulate another process that looks after this one has died.
        second = InFlight("out", 1)
        assert second.left == {"a" * 32}
        second.__enter__().note(0, "c" * 32)
        second.__exit__(KeyboardInterrupt, None, None)
        third = InFlight("out", 3)
        assert third.left == {"a" * 32}
        with third:
            third.note(0, "d" * 32)
        assert InFlight("out", 3).left == frozenset()
        assert InFlight("elsewhere", 3).left == frozenset()


def test_a_suspect_is_run_in_a_process_apart() -> None:
    cells = cells_of(seeds=3)
    with InFlight("out", 1) as died:
        died.note(0, cells[1].key)
        rows: list[dict[str, Any]] = []
        in_threads(1, cells, lambda batch: rows.extend(outcome.row for outcome in batch))
    assert [row["key"] for row in rows] == [cells[1].key, cells[0].key, cells[2].key]
    assert [row["status"] for row in rows] == ["ok"] * 3
    assert len({row["worker"] for row in rows}) == 2
    assert rows[0]["mistakes"] == run_cell(cells[1]).row["mistakes"]


@pytest.mark.slow
def test_a_suspect_point_of_a_grid_is_run_in_a_process_apart_as_are_those_read_with_it() -> None:
    table = {"name": "s", "seeds": 1, "max_train": 20, "datasets": [{"name": "digits", "task": "round"}]}
    grid = {"name": "AROW", "r": [0.1, 1.0, 10.0]}
    cells = list(make_plan(parse_study({**table, "algorithms": [grid]})).tuning_cells())
    given = [tuple(cells), *((cell,) for cell in cells_of(seeds=2))]
    with InFlight("out", 1) as died:
        died.note(0, cells[0].key)
        rows: list[dict[str, Any]] = []
        with InFlight("out", 1) as in_flight:
            done = lambda batch: rows.extend(outcome.row for outcome in batch)  # noqa: E731
            compute_in_threads(1, given, done, cell_limit=CELL_LIMIT, in_flight=in_flight)
    assert [row["key"] for row in rows[:3]] == [cell.key for cell in cells]
    assert [row["status"] for row in rows] == ["ok"] * 5
    assert all(row.get("points") is None for row in rows)
