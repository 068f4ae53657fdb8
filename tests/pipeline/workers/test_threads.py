"""Threads that run cells: each once, whatever happens to one of them."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from singlepass.learners import registry
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.cell_result import CellResult
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers import threads
from singlepass.pipeline.workers.threads import compute_in_threads
from singlepass.pipeline.workers.workers import workers


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


def test_every_cell_is_run_once_whatever_the_number_of_threads() -> None:
    cells = cells_of()
    expected = {cell.key: run_cell(cell).row["mistakes"] for cell in cells}
    for n_threads in (1, 3, 60):
        batches: list[list[CellResult]] = []
        compute_in_threads(n_threads, iter(cells), batches.append)
        rows = [outcome.row for batch in batches for outcome in batch]
        assert len(rows) == len(cells)
        assert {row["key"]: row["mistakes"] for row in rows} == expected


def test_no_cells_are_done_at_once() -> None:
    compute_in_threads(2, [], pytest.fail)


def test_a_learner_that_exits_ends_its_cell_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._plugins, "Leaving", Leaving)
    cells = [*cells_of("Leaving", seeds=1), *cells_of(seeds=5)]
    rows: list[dict[str, Any]] = []
    with workers(threads=1) as compute:
        compute(cells, lambda batch: rows.extend(outcome.row for outcome in batch))
    assert [row["status"] for row in rows] == ["failed", *["ok"] * 5]
    assert rows[0]["error"] == "SystemExit: 3"
    assert rows[0]["key"] == cells[0].key


def test_an_error_in_the_plan_is_raised_where_cells_are_asked_for() -> None:
    def cells() -> Iterator[Cell]:
        yield from cells_of(seeds=3)
        raise LookupError("no more of them")

    rows: list[CellResult] = []
    with pytest.raises(LookupError, match="no more of them"):
        compute_in_threads(2, cells(), rows.extend)
    assert len(rows) == 3


def test_what_is_interrupted_takes_no_further_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    taken, go_on = threading.Semaphore(0), threading.Event()

    def slow(cell: Cell) -> CellResult:
        taken.release()
        go_on.wait(60)
        return CellResult({"key": cell.key})

    def cells() -> Iterator[Cell]:
        yield from cells_of(seeds=1)
        # The second thread takes one that ends at once: something to be interrupted at.
        taken.acquire()
        yield from cells_of(seeds=40)

    def interrupted(batch: list[CellResult]) -> None:
        raise KeyboardInterrupt

    first = cells_of(seeds=1)[0].key
    monkeypatch.setattr(threads, "run_cell", lambda cell: slow(cell) if cell.key == first else run_cell(cell))
    before = threading.active_count()
    given = cells()
    with pytest.raises(KeyboardInterrupt):
        compute_in_threads(2, given, interrupted)
    go_on.set()
    for thread in threading.enumerate():
        if thread.daemon and "work" in thread.name:
            thread.join(60)
    assert threading.active_count() <= before


def test_fewer_threads_than_one_are_refused() -> None:
    with pytest.raises(InputError, match="threads must be 1 or more, got 0"), workers(threads=0):
        pass


def test_what_was_finished_is_handed_on_when_it_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    interval = sys.getswitchinterval()
    monkeypatch.setattr(threads, "time", SimpleNamespace(sleep=interrupted))
    rows: list[CellResult] = []
    with pytest.raises(KeyboardInterrupt):
        compute_in_threads(1, cells_of(seeds=2000), rows.extend)
    assert 1 <= len(rows) < 2000
    assert sys.getswitchinterval() == interval
