"""Test batch baselines, time limits, and model sizes along the stream."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import filelock
import numpy as np
import pytest
from sklearn.svm import SVC

from singlepass.learners import AROW, KernelPerceptron, OnlineModelSelection
from singlepass.pipeline import data
from singlepass.pipeline.run import prequential, splits
from singlepass.pipeline.run.prequential import compile_loops
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import CELLS, CURVES
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study


def cell_of(algorithm: dict[str, Any], **study: Any) -> Cell:
    dataset = {"name": "gauss", "n_train": 400, "n_test": 200}
    table = {"name": "s", "datasets": [dataset], "algorithms": [algorithm], "protocol": "holdout", **study}
    return next(make_plan(parse_study(table)).evaluation_cells({}))


def test_a_batch_baseline_is_fitted_to_the_whole_training_part() -> None:
    cell = cell_of({"name": "SVC", "C": 2.0, "gamma": 0.5})
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    alone = SVC(C=2.0, gamma=0.5).fit(part.X[part.rows], part.codes)
    outcome = run_cell(cell)
    assert outcome.row["status"] == "ok"
    assert outcome.row["n_examples"] == 400
    assert outcome.row["support_vectors"] == alone.n_support_.sum()
    assert outcome.row["model_bytes"] == 8 * 3 * alone.n_support_.sum()
    assert test is not None
    assert outcome.row["test_accuracy"] == alone.score(stream.X_test[test.rows], test.codes)
    # A batch baseline predicts nothing along the stream.
    assert "mistakes" not in outcome.row
    assert outcome.curve == {}


class Clock:
    """A clock that advances by one second with every reading."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 1.0
        return self.now


def test_a_cell_over_its_time_limit_ends_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = run_cell(cell_of({"name": "KernelPerceptron"}, checkpoints=20))
    monkeypatch.setattr(prequential, "time", Clock())
    cell = cell_of({"name": "KernelPerceptron"}, checkpoints=20, time_limit=3.5)
    stopped = run_cell(cell)
    seen = stopped.row["n_examples"]
    assert 0 < seen < 400
    assert stopped.row["status"] == "stopped"
    assert stopped.row["error"] == f"time limit of 3.5 s reached after {seen} of 400 examples"
    # The curve is the same up to the stop, where it has its last point.
    curve = stopped.curve
    assert curve["t"][-1] == seen
    assert curve["mistakes"][-1] == stopped.row["mistakes"]
    kept = [t for t in whole.curve["t"] if t < seen]
    assert list(curve["t"][: len(kept)]) == kept
    assert list(curve["mistakes"][: len(kept)]) == list(whole.curve["mistakes"][: len(kept)])
    # The model learned so far is tested; the limit is not part of the key.
    assert stopped.row["test_examples"] == 200
    assert cell.key == cell_of({"name": "KernelPerceptron"}, checkpoints=20).key


class SlowToCompile(AROW):
    """An AROW whose first rows take long by the test's clock, as compilation does."""

    clock = Clock()
    compiled = False

    def learn_along(self, *arguments: Any) -> Any:
        if not SlowToCompile.compiled:
            SlowToCompile.clock.now += 100.0
            SlowToCompile.compiled = True
        return super().learn_along(*arguments)


def test_compiling_is_no_part_of_a_cells_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prequential, "time", SlowToCompile.clock)
    monkeypatch.setattr(SlowToCompile, "__module__", AROW.__module__)
    monkeypatch.setattr(prequential, "_compiled", set())
    monkeypatch.setattr("singlepass.learners.registry.available", lambda: {"AROW": SlowToCompile})
    monkeypatch.setattr("singlepass.learners.registry.built_in", {"AROW": SlowToCompile}.get)
    outcome = run_cell(cell_of({"name": "AROW"}, checkpoints=1, time_limit=50.0))
    assert SlowToCompile.compiled
    assert outcome.row["status"] == "ok"
    assert outcome.row["fit_seconds"] < 50.0
    # The artificial rows for compilation leave no trace.
    monkeypatch.undo()
    plain = run_cell(cell_of({"name": "AROW"}, checkpoints=1))
    assert outcome.row["mistakes"] == plain.row["mistakes"]
    assert outcome.row["n_examples"] == 400


def test_what_compiles_once_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, began, go = [], threading.Event(), threading.Event()

    def learn(learners: list[Any], *_: Any) -> None:
        compiled.append(type(learners[0]).__name__)
        began.set()
        go.wait(60)

    monkeypatch.setattr(prequential, "_learn_all", learn)
    monkeypatch.setattr(prequential, "_compiled", set())
    part = splits.Fold(np.zeros((3, 2)), np.arange(3), np.zeros(3, np.int32))
    arguments = [OnlineModelSelection(gamma_init=0.1)], ("own", ()), part, np.arange(2, dtype=np.int32)
    first, second = (threading.Thread(target=compile_loops, args=arguments) for _ in range(2))
    first.start()
    assert began.wait(60)
    second.start()
    second.join(0.1)
    assert second.is_alive()
    go.set()
    for thread in (first, second):
        thread.join(60)
    # After a switch it runs the loop of its inner learner LASVM, so that is compiled too; each only once.
    assert compiled == ["OnlineModelSelection", "LASVM"]


def test_one_process_of_a_machine_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process waits for another that compiles the same loop, unless it is already compiled."""
    monkeypatch.setattr(data, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(prequential, "_learn_all", lambda *_: None)
    monkeypatch.setattr(prequential, "_compiled", set())
    part = splits.Fold(np.zeros((3, 2)), np.arange(3), np.zeros(3, np.int32))
    arguments = [AROW()], ("AROW", (("r", 1.0),)), part, np.arange(2, dtype=np.int32)
    compile_loops(*arguments)
    [mark] = (path for path in (tmp_path / "compiled").iterdir() if not path.suffix)
    mark.unlink()
    monkeypatch.setattr(prequential, "_compiled", set())
    waiting = threading.Thread(target=compile_loops, args=arguments)
    with filelock.FileLock(mark.with_suffix(".lock"), is_singleton=False):
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
    waiting.join(60)
    assert mark.exists()
    # Other numbers use the same code, so a compiled loop needs no waiting even if the lock is held.
    with filelock.FileLock(mark.with_suffix(".lock"), is_singleton=False):
        compile_loops([AROW(r=2.0)], ("AROW", (("r", 2.0),)), *arguments[2:])


class Counting(AROW):
    """A user's learner that counts and has its own `learn`."""

    rows = 0

    def learn(self, X: Any, y: Any, classes: Any = None) -> Any:
        Counting.rows += len(y)
        return super().learn(X, y, classes)


def test_a_learner_of_ones_own_is_given_the_stream_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("singlepass.learners.registry.available", lambda: {"AROW": Counting})
    monkeypatch.setattr("singlepass.learners.registry.built_in", {"AROW": Counting}.get)
    outcome = run_cell(cell_of({"name": "AROW"}, checkpoints=3))
    assert Counting.rows == 400
    monkeypatch.undo()
    assert outcome.row["mistakes"] == run_cell(cell_of({"name": "AROW"}, checkpoints=3)).row["mistakes"]


def test_later_passes_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prequential, "time", Clock())
    row = run_cell(cell_of({"name": "AROW", "epochs": 30}, time_limit=20.0, checkpoints=1)).row
    assert row["n_examples"] == 400
    assert row["status"] == "stopped"
    assert row["error"].startswith("time limit of 20 s reached in pass ")


def test_without_a_limit_the_clock_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prequential, "time", Clock())
    assert run_cell(cell_of({"name": "AROW", "epochs": 3})).row["status"] == "ok"


def test_sizes_are_recorded_along_the_stream() -> None:
    outcome = run_cell(cell_of({"name": "KernelPerceptron", "gamma": 0.5}, checkpoints=4))
    stream = data.open_stream(cell_of({"name": "AROW"}).spec.dataset, root=0, seed=0)
    part, _ = splits.split(cell_of({"name": "AROW"}).spec, stream)
    learner = KernelPerceptron(gamma=0.5)
    sizes, bytes_, evaluations = [], [], []
    for rows in np.split(part.rows, 4):
        learner.learn(part.X[rows], stream.y[rows], classes=[0, 1])
        sizes.append(learner.n_support_)
        bytes_.append(learner.model_bytes_)
        evaluations.append(learner.n_kernel_evaluations_)
    assert outcome.curve["support_vectors"] == sizes
    assert outcome.curve["model_bytes"] == bytes_
    assert outcome.curve["kernel_evaluations"] == evaluations
    assert outcome.row["model_bytes"] == bytes_[-1]
    assert set(outcome.row) <= set(CELLS.names)
    assert set(outcome.curve) <= set(CURVES.names)


def test_test_accuracy_along_the_stream() -> None:
    cell = cell_of({"name": "AROW"}, checkpoints=4, test_curve=True)
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    assert test is not None
    learner, accuracy = AROW(), []
    for rows in np.split(part.rows, 4):
        learner.learn(part.X[rows], stream.y[rows], classes=[0, 1])
        accuracy.append(learner.score(stream.X_test[test.rows], test.codes))
    outcome = run_cell(cell)
    assert outcome.curve["test_accuracy"] == pytest.approx(accuracy, abs=1e-15)
    assert outcome.row["test_accuracy"] == pytest.approx(accuracy[-1], abs=1e-15)
    # The curve is part of the outcome, so the key differs from that of the cell without it.
    assert cell.key != cell_of({"name": "AROW"}, checkpoints=4).key


def test_a_curve_is_read_at_the_listed_numbers_of_examples() -> None:
    equal = run_cell(cell_of({"name": "AROW"}, checkpoints=4, test_curve=True)).curve
    listed = run_cell(
        cell_of({"name": "AROW"}, checkpoints=[int(equal["t"][1]), 10**6], test_curve=True)
    ).curve
    assert list(listed["t"]) == [equal["t"][1], equal["t"][3]]
    for name in ("mistakes", "test_accuracy"):
        assert list(listed[name]) == [equal[name][1], equal[name][3]]


@pytest.mark.parametrize(("query", "asked"), [({"query": "all"}, 400), ({"query": "greedy", "h": 8}, 50)])
def test_an_active_strategy_around_a_learner(query: dict[str, Any], asked: int) -> None:
    outcome = run_cell(cell_of({"name": "AROW", "r": 0.1, **query}, checkpoints=2))
    assert outcome.row["status"] == "ok", outcome.row["error"]
    assert outcome.curve["queried"] == [asked // 2, asked]
    assert outcome.row["params"] == json.dumps({**query, "r": 0.1}, sort_keys=True)
    assert outcome.row["test_accuracy"] > 0.55


def test_rows_for_tuning_may_be_fewer() -> None:
    table = {
        "name": "s",
        "datasets": [{"name": "gauss", "n_train": 400}],
        "algorithms": [{"name": "AROW", "r": [0.1, 1.0]}],
        "max_tune": 100,
    }
    plan = make_plan(parse_study(table))
    tuning = list(plan.tuning_cells())
    assert run_cell(tuning[0]).row["n_examples"] == 100
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    assert run_cell(next(plan.evaluation_cells(winners))).row["n_examples"] == 400
