"""Test one cell: its counts are the learner's, block size has no influence, rows are read once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import AROW, LASVM, ConfidenceWeighted, registry
from singlepass.pipeline import data
from singlepass.pipeline.noise import Noise
from singlepass.pipeline.randomness import random_state
from singlepass.pipeline.run import splits
from singlepass.pipeline.run import task as cell_module
from singlepass.pipeline.run.shared_inputs import inputs_of
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import CELLS, PROVENANCE
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study


def cell_of(algorithm: dict[str, Any], dataset: dict[str, Any] | None = None, **study: Any) -> Cell:
    table = {"name": "s", "noise": 0.2, "datasets": [dataset or {"name": "digits", "task": "round"}]}
    plan = make_plan(parse_study({**table, "algorithms": [algorithm], **study}))
    return next(plan.evaluation_cells({}))


def integers(outcome: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    row = {name: value for name, value in outcome.row.items() if name not in PROVENANCE}
    return row, {name: list(value) for name, value in outcome.curve.items() if name != "fit_seconds"}


def test_the_counts_are_those_of_the_learner_alone() -> None:
    cell = cell_of({"name": "AROW", "r": 0.5}, protocol="holdout")
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    rng = random_state(0, cell.spec.dataset.label, seed=0, purpose="noise", noise=Noise(0.2))
    noisy = Noise(0.2).corrupt(part.codes, 2, rng)
    learner = AROW(r=0.5)
    scores = learner.learn(stream.X[part.rows], noisy, classes=[0, 1])
    row = run_cell(cell).row
    assert row["status"] == "ok"
    assert row["mistakes"] == learner.n_mistakes_
    assert row["updates"] == learner.n_updates_
    assert row["mistakes_clean"] == int((scores * (2 * part.codes - 1) <= 0).sum())
    assert row["noise_realised"] == (noisy != part.codes).mean()
    assert (row["noise"], row["noise_rate"]) == ("0.2", 0.2)
    assert test is not None
    assert row["test_accuracy"] == learner.score(stream.X[test.rows], test.codes)
    assert set(row) <= set(CELLS.names)


@pytest.mark.parametrize("constraints", [1, pytest.param("all", marks=pytest.mark.slow)])
def test_the_counts_of_many_classes_are_those_of_the_learner_alone(constraints: Any) -> None:
    cell = cell_of({"name": "AROW", "constraints": constraints}, {"name": "digits"}, protocol="holdout")
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    rng = random_state(0, cell.spec.dataset.label, seed=0, purpose="noise", noise=Noise(0.2))
    noisy = Noise(0.2).corrupt(part.codes, 10, rng)
    learner = AROW(constraints=constraints)
    scores = learner.learn(stream.X[part.rows], noisy, classes=range(10))
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert row["mistakes"] == learner.n_mistakes_
    assert row["updates"] == learner.n_updates_
    each = np.arange(len(scores))
    others = np.where(np.arange(10) == part.codes[:, np.newaxis], -np.inf, scores).max(axis=1)
    assert row["mistakes_clean"] == np.count_nonzero(scores[each, part.codes] <= others)
    assert 0.15 < row["noise_realised"] == (noisy != part.codes).mean() < 0.25
    assert test is not None
    assert row["test_mistakes"] == (learner.predict(stream.X[test.rows]) != test.codes).sum()
    assert row["test_accuracy"] > 0.8


@pytest.mark.parametrize("block_rows", [7, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 1000))])
@pytest.mark.parametrize(
    "algorithm",
    [{"name": "AROW"}, pytest.param({"name": "Perceptron", "average": True}, marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("dataset", [{"name": "digits", "task": "round"}, {"name": "digits"}])
def test_no_block_size_changes_an_integer(
    block_rows: int, algorithm: dict[str, Any], dataset: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    cell = cell_of(algorithm, dataset, protocol="holdout")
    expected = integers(run_cell(cell))
    monkeypatch.setattr(splits, "BLOCK_ROWS", block_rows)
    assert integers(run_cell(cell)) == expected


def test_rows_are_gone_once_they_are_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of({"name": "ConfidenceWeighted"})
    expected = integers(run_cell(cell))
    given = inputs_of(cell.spec)
    values = given.train.X.copy()
    mine = replace(given, train=replace(given.train, X=values))
    learn_along, handed_over = ConfidenceWeighted.learn_along, []

    def learn_and_ruin(learner: Any, rows: Any, *arguments: Any) -> Any:
        passage = learn_along(learner, rows, *arguments)
        if rows[0].shape == values.shape:
            values[rows[1]] = np.nan
            handed_over.append(len(rows[1]))
        return passage

    monkeypatch.setattr(ConfidenceWeighted, "learn_along", learn_and_ruin)
    monkeypatch.setattr(splits, "BLOCK_ROWS", 10)
    monkeypatch.setattr(cell_module, "inputs_of", lambda spec: mine)
    assert integers(run_cell(cell)) == expected
    assert max(handed_over) == 10
    assert sum(handed_over) == len(given.train.rows)


def test_checkpoints_do_not_change_the_outcome() -> None:
    rows = [integers(run_cell(cell_of({"name": "AROW"}, checkpoints=steps)))[0] for steps in (1, 7, "log")]
    for row in rows:
        del row["key"]
    assert rows[0] == rows[1] == rows[2]


def test_epochs_only_change_what_is_measured_afterwards() -> None:
    once, often = (
        run_cell(cell_of({"name": "Perceptron", "epochs": epochs}, protocol="holdout")) for epochs in (1, 5)
    )
    assert once.row["mistakes"] == often.row["mistakes"]
    assert often.row["updates"] > once.row["updates"]
    assert often.row["test_mistakes"] != once.row["test_mistakes"]


@pytest.mark.slow
def test_learners_finish_after_the_last_pass() -> None:
    lasvm = {"name": "LASVM", "gamma": 0.02, "C": 10.0, "epochs": 2, "finish": True}
    cell = cell_of(lasvm, protocol="holdout", max_train=300)
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    rng = random_state(0, cell.spec.dataset.label, seed=0, purpose="noise", noise=Noise(0.2))
    noisy = Noise(0.2).corrupt(part.codes, 2, rng)
    learner = LASVM(**dict(cell.spec.params)).fit(stream.X[part.rows], noisy)
    row = run_cell(cell).row
    assert test is not None
    assert row["support_vectors"] == learner.n_support_
    assert row["test_accuracy"] == learner.score(stream.X[test.rows], test.codes)
    learner = LASVM(**dict(cell.spec.params) | {"finish": False}).fit(stream.X[part.rows], noisy)
    assert row["support_vectors"] != learner.n_support_


class Prior:
    """Predict the most frequent class so far: the smallest user-defined learner.

    It uses nothing of this package.
    """

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        self.counts = getattr(self, "counts", np.zeros(len(classes)))
        scores = np.empty((len(y), len(classes)))
        for i, code in enumerate(y):
            scores[i] = self.counts
            self.counts[code] += 1
        return scores

    def fit(self, X: Any, y: Any) -> Prior:
        self.learn(X, y, np.unique(y))
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.full(X.shape[0], self.counts.argmax())


def test_a_users_own_learner_needs_only_learn_and_predict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._plugins, "Prior", Prior)
    cell = cell_of({"name": "Prior"}, {"name": "digits"}, protocol="holdout", noise=0.0)
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert row["updates"] is None
    # Ten balanced classes: the accuracy of chance.
    assert 0.8 < row["mistakes"] / row["n_examples"] <= 1


def test_a_task_without_rows_in_the_test_part_is_not_tested(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "0,p\n1,q\n2,r\n" * 20)
    test.write_text("x,y\n2,r\n")
    for task, tested in (("pair:p,q", None), ("pair:q,r", 1)):
        dataset = {"path": str(train), "test": str(test), "target": "y", "task": task}
        row = run_cell(cell_of({"name": "Perceptron"}, dataset, protocol="holdout", metrics="test_f1")).row
        assert (row["status"], row["n_examples"], row.get("test_examples")) == ("ok", 40, tested)
        assert ("test_right" in row) == (tested is not None)


def test_a_failure_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cell_of({"name": "AROW"})
    row = run_cell(Cell(replace(cell.spec, params=(("r", -1.0),)))).row
    assert row["status"] == "failed"
    assert "r must be" in row["error"]
    assert "Traceback" in row["traceback"]
    assert set(row) <= set(CELLS.names)


def test_a_score_that_is_no_number_fails_the_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    class Exploding(Prior):
        def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
            return np.full(len(y), np.nan)

        def predict(self, X: Any) -> np.ndarray:
            return np.zeros(X.shape[0])

    monkeypatch.setitem(registry._plugins, "Exploding", Exploding)
    row = run_cell(cell_of({"name": "Exploding"})).row
    assert row["status"] == "failed"
    assert row["error"] == "algorithm 'Exploding': learn() returned nan among its scores"


def test_blas_is_limited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, int]] = []
    monkeypatch.setattr(cell_module, "threadpool_limits", lambda **limits: calls.append(limits))
    cell_module.limit_blas.cache_clear()
    for _ in range(2):
        run_cell(cell_of({"name": "AROW"}))
    assert calls == [{"limits": 1}]
    cell_module.limit_blas.cache_clear()
