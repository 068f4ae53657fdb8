"""Test the adapter for other people's learners: what they are given, and what is read from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

from singlepass.learners import AROW, Perceptron, registry
from singlepass.learners.contract import StreamLearner
from singlepass.learners.guests.chunkwise import ChunkwiseGuest
from singlepass.pipeline.counts import COUNTS
from singlepass.pipeline.run.prequential import blocks_of, stream_learner
from singlepass.pipeline.run.splits import Fold
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.store import Store
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study


class Stranger:
    """A classifier with a `learn` method and nothing else."""

    def __init__(self, epochs: int = 1) -> None:
        self.epochs = epochs
        self.given: list[tuple[Any, list[int]]] = []

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"epochs": self.epochs}

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        self.given.append((X, list(y)))
        return np.zeros(X.shape[0])

    def fit(self, X: Any, y: Any) -> Stranger:
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(X.shape[0], np.int32)


class Changing(Stranger):
    """Scale the given rows in place, which the learner is allowed to do."""

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        X /= 2
        return super().learn(X, y, classes)


class Keeping(AROW):
    """A subclass of a built-in learner that counts more than its base class."""

    n_support_ = 7
    n_queried_ = 3

    @property
    def switches_(self) -> list[int]:
        return [5, 9]


def row_of(monkeypatch: pytest.MonkeyPatch, learner: type, **algorithm: Any) -> dict[str, Any]:
    monkeypatch.setitem(registry._plugins, learner.__name__, learner)
    table = {
        "name": "s",
        "checkpoints": 3,
        "datasets": [{"name": "gauss", "n_train": 60, "n_test": 20}],
        "algorithms": [{"name": learner.__name__, **algorithm}],
    }
    [cell, *_] = make_plan(parse_study(table)).evaluation_cells({})
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    return row


def test_this_packages_learners_are_streamed_as_they_are() -> None:
    learner = Perceptron()
    assert stream_learner(learner) is learner
    for other in (Stranger(), Keeping()):
        assert isinstance(stream_learner(other), ChunkwiseGuest)
        assert isinstance(stream_learner(other), StreamLearner)


def test_what_a_learner_does_not_count_is_null(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of(monkeypatch, Stranger)
    assert row["mistakes"] == row["n_examples"] == 60
    assert {row[name] for name, count in COUNTS.items() if count.attribute is not None} == {None}
    assert row["switches"] is None


def test_what_a_derived_learner_counts_besides_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    row = row_of(monkeypatch, Keeping)
    plain = row_of(monkeypatch, type("Plain", (AROW,), {"__module__": __name__}))
    assert (row["support_vectors"], row["queried"]) == (7, 3)
    assert row["switches"] == [5, 9]
    assert row["model_bytes"] == plain["model_bytes"] > 0
    assert (row["mistakes"], row["updates"]) == (plain["mistakes"], plain["updates"])


def test_a_learner_may_change_the_rows_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(monkeypatch, Changing, epochs=3)["n_examples"] == 60


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_pieces_of_a_block_are_matrices(kind: Any) -> None:
    block = kind(np.arange(12.0).reshape(6, 2))
    learner = Stranger()
    adapter = stream_learner(learner)
    adapter.begin(np.arange(2, dtype=np.int32), 2)
    fold = Fold(block, np.arange(6), np.zeros(6, np.int32))
    ((start, stop, rows),) = blocks_of(adapter, fold)
    assert (start, stop) == (0, 6)
    adapter.learn_rows(rows(0, 2), np.array([0, 1]))
    adapter.learn_rows(rows(2, 6), np.array([1, 1, 0, 0]))
    (first, codes), (second, _) = learner.given
    assert codes == [0, 1]
    assert type(first) is type(block)
    together = [part if isinstance(part, np.ndarray) else part.toarray() for part in (first, second)]
    assert np.vstack(together).tolist() == np.arange(12.0).reshape(6, 2).tolist()


class Relabelling(Stranger):
    """Overwrite the given labels in `learn` and in `fit`."""

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        y[:] = 0
        return np.ones(X.shape[0])

    def fit(self, X: Any, y: Any) -> Stranger:
        y[:] = 0
        return self


def test_labels_that_a_learner_writes_to_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    before = row_of(monkeypatch, Stranger)
    again = [row_of(monkeypatch, Relabelling) for _ in range(2)]
    assert [row["status"] for row in again] == ["ok", "ok"]
    assert again[0]["mistakes"] == again[1]["mistakes"] > 0
    assert row_of(monkeypatch, Stranger)["noise_realised"] == before["noise_realised"]


class Late(Stranger):
    """Begin to count support vectors after some rows."""

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        self.seen = getattr(self, "seen", 0) + len(y)
        if self.seen > 20:
            self.n_support_ = 3
        return np.ones(X.shape[0])


def test_what_begins_to_be_counted_on_the_way_is_null_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(registry._plugins, "Late", Late)
    table = {"name": "s", "protocol": "holdout", "test_curve": True, "max_train": 60, "checkpoints": 6}
    study = {**table, "datasets": [{"name": "digits", "task": "round"}], "algorithms": [{"name": "Late"}]}
    outcome = run_cell(next(make_plan(parse_study(study)).evaluation_cells({})))
    assert outcome.row["status"] == "ok"
    curve = outcome.curve
    assert {len(values) for values in curve.values()} == {6}
    assert list(curve["t"]) == [10, 20, 30, 40, 50, 60]
    assert list(curve["support_vectors"]) == [None, None, 3, 3, 3, 3]
    store = Store(str(tmp_path / "out"))
    store.prepare()
    store.write([outcome])
    assert store.curves()["support_vectors"].isna().sum() == 2


@pytest.mark.parametrize(("shape", "dataset"), [((1,), "round"), ((60, 3), "round"), ((60, 2), "multiclass")])
def test_scores_of_another_shape_fail_the_cell(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], dataset: str
) -> None:
    class Short(Stranger):
        def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
            return np.zeros((len(y) if shape[0] > 1 else 1, *shape[1:]))

    monkeypatch.setitem(registry._plugins, "Short", Short)
    table = {"name": "s", "max_train": 60, "datasets": [{"name": "digits", "task": dataset}]}
    plan = make_plan(parse_study({**table, "algorithms": [{"name": "Short"}]}))
    row = run_cell(next(plan.evaluation_cells({}))).row
    assert row["status"] == "failed"
    assert "learn() returned scores of shape" in row["error"]


class Bare(ClassifierMixin, BaseEstimator):
    """A minimal scikit-learn classifier that declares no constraints on its parameters."""

    def __init__(self, a: float = 1.0) -> None:
        self.a = a

    def learn(self, X: Any, y: Any, classes: Any = None) -> np.ndarray:
        return np.ones(X.shape[0])

    def fit(self, X: Any, y: Any) -> Bare:
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0], np.int32)


def test_a_bare_classifier_will_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert row_of(monkeypatch, Bare, a=2.0)["n_examples"] == 60
