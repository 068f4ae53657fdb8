"""Test studies in a notebook: every accepted form gives the same study as a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import dok_array
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.utils import Bunch

from singlepass.learners import (
    AROW,
    NAROW,
    AdaptiveSelectiveSampling,
    ExponentialWeights,
    FollowTheLeader,
    Greedy,
    PassiveAggressive,
    Perceptron,
    QueryAll,
    RandomQueries,
    Resetting,
    SelectiveSampling,
)
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import TUNING_SEED
from singlepass.workflows import Study
from singlepass.workflows.notebook.algorithms import algorithm_tables, estimator_table
from singlepass.workflows.notebook.results import plain

TOML = """
name = "study"
noise = [0.0, 0.1]
seeds = 2
[[datasets]]
name = "digits"
task = "round"
label = "round"
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "AROW"
r = [0.1, 1.0]
[[algorithms]]
name = "PassiveAggressive"
label = "PA-II"
variant = "PA-II"
C = 0.1
"""
KEYS: dict[str, Any] = {
    "datasets": {"round": {"name": "digits", "task": "round"}},
    "algorithms": [
        "Perceptron",
        {"name": "AROW", "r": np.array([0.1, 1.0])},
        {"name": "PassiveAggressive", "label": "PA-II", "variant": "PA-II", "C": 0.1},
    ],
    "noise": (0.0, 0.1),
    "seeds": range(2),
}


def keys_of(study: Study) -> list[str]:
    plan = make_plan(study.valid)
    groups = [(task.label, "AROW", noise) for task in plan.tasks for noise in study.valid.noise]
    winners = {(group, TUNING_SEED): {"r": 0.1} for group in groups}
    return [cell.key for cell in (*plan.tuning_cells(), *plan.evaluation_cells(winners))]


def test_file_dictionary_and_keywords_are_one_plan(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TOML)
    studies = [Study(path), Study(str(path)), Study(tomllib.loads(TOML)), Study(KEYS), Study(**KEYS)]
    expected = keys_of(studies[0])
    assert len(expected) == 1 * 2 * 2 + 3 * 2 * 2
    assert all(keys_of(study) == expected for study in studies)
    by_label = {
        "Perceptron": Perceptron(),
        "AROW": {"name": "AROW", "r": [0.1, 1.0]},
        "PA-II": PassiveAggressive(variant="PA-II", C=0.1),
    }
    assert keys_of(Study(path, algorithms=by_label)) == expected


def test_keywords_override_the_file(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(TOML)
    study = Study(path, seeds=3, algorithms="Perceptron")
    assert study.valid.seeds == [0, 1, 2]
    assert [entry.label for entry in study.valid.algorithms] == ["Perceptron"]
    assert study.file == path


def test_what_an_extension_adds_takes_every_form() -> None:
    study = Study(extends="quickstart", algorithms={"mine": AROW(r=0.3)}, datasets={"own": SEPARABLE})
    shipped = [entry.label for entry in Study("quickstart").valid.algorithms]
    assert [entry.label for entry in study.valid.algorithms] == [*shipped, "mine"]
    assert [entry.label for entry in study.valid.datasets] == ["own"]


def test_a_shipped_study_is_found_by_name() -> None:
    assert Study("quickstart", seeds=1).valid.name == "quickstart"


@pytest.mark.parametrize(
    ("estimator", "table"),
    [
        (Perceptron(), {"name": "Perceptron"}),
        (Perceptron, {"name": "Perceptron"}),
        (AROW(r=0.1), {"name": "AROW", "r": 0.1}),
        (AROW(r=1), {"name": "AROW"}),
        (AROW(class_weight={1: 2.0}), {"name": "AROW", "class_weight": {"1": 2.0}}),
        (AROW(class_weight={1.0: 2.0, -1.0: 1}), {"name": "AROW", "class_weight": {"1": 2.0, "-1": 1}}),
        (AROW(class_weight={True: 2.0}), {"name": "AROW", "class_weight": {"true": 2.0}}),
        (AROW(r=np.float64(10.0), covariance="full"), {"name": "AROW", "covariance": "full", "r": 10.0}),
        (QueryAll(Perceptron()), {"name": "Perceptron", "query": "all"}),
        (Greedy(AROW(r=0.1), h=3), {"name": "AROW", "r": 0.1, "query": "greedy", "h": 3}),
        (FollowTheLeader(AROW(), {"r": [0.1, 1.0]}), {"name": "AROW", "r": [0.1, 1.0], "tune": "leader"}),
        (
            ExponentialWeights(AROW(loss="hinge"), {"r": np.array([0.1, 1.0])}),
            {"name": "AROW", "loss": "hinge", "r": [0.1, 1.0], "tune": "weights"},
        ),
        (
            SelectiveSampling(NAROW(b=2.0), b=0.1),
            {"name": "NAROW", "b": 2.0, "query": "selective", "query_b": 0.1},
        ),
        (
            AdaptiveSelectiveSampling(Perceptron()),
            {"name": "Perceptron", "query": "selective-adaptive", "query_beta": 1.0},
        ),
        (
            Resetting(FollowTheLeader(AROW(), {"r": [0.1, 1.0]})),
            {"name": "AROW", "r": [0.1, 1.0], "tune": "leader", "reset": "ddm"},
        ),
        (RandomQueries(Perceptron(), q=0.2), {"name": "Perceptron", "query": "random", "query_q": 0.2}),
        (
            SGDClassifier(learning_rate="pa1", alpha=0, fit_intercept=False),
            {
                "name": "sklearn.linear_model:SGDClassifier",
                "alpha": 0,
                "fit_intercept": False,
                "learning_rate": "pa1",
            },
        ),
        (LogisticRegression, {"name": "sklearn.linear_model:LogisticRegression"}),
    ],
)
def test_an_estimator_is_its_table(estimator: Any, table: dict[str, Any]) -> None:
    assert estimator_table(estimator) == table


def test_keys_of_a_dictionary_are_labels_of_algorithms() -> None:
    assert algorithm_tables({"one": AROW(), "two": "AROW"}) == [
        {"name": "AROW", "label": "one"},
        {"name": "AROW", "label": "two"},
    ]


class Labelled(BaseEstimator):  # type: ignore[misc]
    def __init__(self, label: int = 0) -> None:
        self.label = label

    def partial_fit(self, X: Any, y: Any) -> None: ...

    def predict(self, X: Any) -> Any: ...


def test_a_parameter_named_like_a_key_stays_in_its_object() -> None:
    [one], [three] = (algorithm_tables({"mine": Labelled(label)}) for label in (1, 3))
    assert one["name"].startswith("object:Labelled-")
    assert (one.keys(), one["label"]) == ({"name", "label"}, "mine")
    assert one["name"] != three["name"]


SEPARABLE = np.array([[0.0], [1.0]]), ["no", "yes"]
FRAME, Y = pd.DataFrame({"a": [0.0, 1.0]}), ["no", "yes"]


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"algorithms": [3]}, "int has no predict"),
        ({"algorithms": RandomQueries(AROW(), random_state=3)}, "leave random_state out"),
        ({"algorithms": ExponentialWeights(AROW(), {"r": [1.0]}, eta=0.5)}, "leave eta out"),
        ({"algorithms": QueryAll(AROW(), epochs=2)}, "QueryAll: leave epochs out"),
        ({"algorithms": Resetting(AROW(), epochs=3)}, "Resetting: leave epochs out"),
        ({"algorithms": FollowTheLeader(AROW(), {"r": [1.0]}, epochs=3)}, "leave epochs out"),
        (
            {"algorithms": FollowTheLeader(Resetting(AROW()), {"r": [1.0]})},
            "write Resetting(FollowTheLeader(...))",
        ),
        ({"algorithms": Resetting(Resetting(AROW()))}, "Resetting: its learner has 'reset' already"),
        ({"algorithms": [AROW(r=0.1), AROW(r=1.0)]}, "two entries are called 'AROW'"),
        ({"datasets": []}, "datasets: give at least 1 entry, not 0"),
        ({"datasets": load_iris()}, "data set 'data' is a Bunch of scikit-learn: give (bunch.data, bunch."),
        ({"datasets": {"mine": load_iris()}}, "data set 'mine' is a Bunch of scikit-learn"),
        ({"datasets": {"mine": 3}}, "data set 'mine' is a int: give a name, a path, (X, y)"),
        ({"datasets": {"mine": SEPARABLE[:1]}}, "data set 'mine' has 1 parts"),
        ({"datasets": {"mine": {"X": SEPARABLE[0], "y": SEPARABLE[1], "task": 3}}}, "datasets[1].task"),
        ({"datasets": {"mine": (*SEPARABLE, *SEPARABLE)}}, "leave X_test and y_test (or test) out"),
        ({"datasets": {"mine": (FRAME, Y, FRAME, Y)}}, "data set 'mine': protocol 'prequential' never reads"),
        ({"datasets": {"mine": {"X": FRAME, "y": Y, "y_test": Y}}}, "y_test is given without X_test"),
        ({"datasets": {"mine": (FRAME, Y, FRAME.to_numpy(), Y)}}, "X is a frame and X_test a ndarray"),
        ({"datasets": {"mine": {"path": "f.csv", "test": FRAME}}}, "'mine': test is a DataFrame: give both"),
        ({"datasets": {"mine": {"X": [[0]], "y": [1], "test": FRAME}}}, "'mine': test is a DataFrame: give"),
        ({"datasets": {"mine": {"compose": [{"X": FRAME, "y": Y}] * 2}}}, "data set 'mine': compose: each"),
        ({"datasets": {"mine": {"compose": [(FRAME, Y)] * 2}}}, "data set 'mine': compose: each source is a"),
        (
            {"datasets": {"mine": {"compose": [FRAME] * 2}}},
            "data set 'mine': compose: each source is a table",
        ),
        ({"datasets": {"mine": {"compose": ["sea", "sea"]}}}, "datasets[1].compose[1]: 'sea'"),
        ({"sedes": 3}, "did you mean 'seeds'?"),
        ({"noise": 1.5}, "noise"),
    ],
)
def test_what_is_wrong_is_one_line(keys: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as error:
        Study({"datasets": "digits", "algorithms": "AROW"}, **keys)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_a_sparse_array_that_is_a_dict() -> None:
    (entry,) = Study(datasets=(dok_array(SEPARABLE[0]), SEPARABLE[1]), algorithms="AROW").valid.datasets
    assert str(entry.name).startswith("arrays:")


def test_a_bunch_without_data_and_target_is_a_table() -> None:
    rows = Bunch(X=SEPARABLE[0], y=SEPARABLE[1])
    for given, label in ((rows, "data"), (Bunch(own=SEPARABLE), "own")):
        study = Study(extends="quickstart", datasets=given)
        assert [entry.label for entry in study.valid.datasets] == [label]


def test_invalid_studies_are_refused() -> None:
    with pytest.raises(InputError, match="study: expected a TOML file, a dictionary or keywords, got a int"):
        Study(3)  # type: ignore[arg-type]


def test_the_representation_of_a_study() -> None:
    study = Study(**KEYS)
    assert repr(study) == (
        "Study 'study': 1 data set (round), 3 algorithms (Perceptron, AROW, PA-II), noise 0%, 10%, "
        "2 repetitions"
    )
    assert keys_of(Study(study.table)) == keys_of(study)


def test_values_of_numpy_become_plain() -> None:
    assert plain({"r": np.array([0.5, 1.0]), "seeds": range(2)}) == {"r": [0.5, 1.0], "seeds": [0, 1]}
