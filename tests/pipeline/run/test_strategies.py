"""Test strategies that query labels at random in cells: their seeds, and the counted queries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from singlepass.learners import (
    ExponentialWeights,
    FollowTheLeader,
    PassiveAggressive,
    Perceptron,
    SelectiveSampling,
)
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.learner_factory import resolve_learner
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

SELECTIVE = {"name": "Perceptron", "query": "selective", "query_b": 0.5}
ADAPTIVE = {"name": "PassiveAggressive", "variant": "PA-II", "query": "selective-adaptive"}
RANDOM = {"name": "PassiveAggressive", "query": "random", "query_q": 0.25}


def cells(*algorithms: dict[str, Any], **study: Any) -> list[Cell]:
    dataset = study.pop("dataset", {"name": "gauss", "n_train": 400, "n_test": 200})
    entries = [each | {"label": str(i)} for i, each in enumerate(algorithms)]
    table = {"name": "s", "datasets": [dataset], "algorithms": entries, "seeds": 1, **study}
    return list(make_plan(parse_study(table)).evaluation_cells({}))


@pytest.mark.parametrize(
    "algorithm", [SELECTIVE, ADAPTIVE, RANDOM, pytest.param({"name": "BBQ"}, marks=pytest.mark.slow)], ids=str
)
def test_labels_are_counted_along_the_stream(algorithm: dict[str, Any]) -> None:
    study = {"protocol": "holdout", "checkpoints": 4, "test_curve": True}
    (cell,) = cells(algorithm, **study)
    learner, outcome = learn_cell(cell).learner, run_cell(cell)
    assert outcome.row["status"] == "ok", outcome.row["error"]
    asked = outcome.curve["queried"]
    assert asked == sorted(asked)
    assert 0 < asked[-1] == outcome.row["queried"] == learner.n_queried_ < 400
    assert len(outcome.curve["test_accuracy"]) == 4
    # A time limit splits the stream into short pieces.
    (limited,) = cells(algorithm, **study, time_limit=1000)
    pieces = run_cell(limited)
    assert {name: pieces.curve[name] for name in ("queried", "mistakes")} == {
        name: outcome.curve[name] for name in ("queried", "mistakes")
    }
    assert pieces.row["test_accuracy"] == outcome.row["test_accuracy"]


@pytest.mark.slow
def test_parameters_of_a_cell_are_the_strategys_too() -> None:
    (cell,) = cells({"name": "NAROW", "b": 2.0, "query": "selective"})
    assert json.loads(run_cell(cell).row["params"]) == {"b": 2.0, "query": "selective", "query_b": 1.0}
    made = learn_cell(cell).learner
    assert (made.b, made.learner.b) == (1.0, 2.0)


def test_draws_begin_with_the_repetition_and_are_everybodys() -> None:
    first, other = cells(SELECTIVE, seeds=2)
    states = [learn_cell(cell).learner.random_state for cell in (first, other, *cells(SELECTIVE, RANDOM))]
    assert states[0] == states[2] == states[3] != states[1]


def test_a_strategy_by_its_name() -> None:
    made = resolve_learner("Perceptron").make({"query": "selective"})
    assert repr(made) == repr(SelectiveSampling(Perceptron()))


def test_repetitions_are_kept_where_a_strategy_draws(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    np.savetxt(path, np.arange(80.0).reshape(20, 4) % 7 % 2, delimiter=",", header="a,b,c,y", comments="")
    study: dict[str, Any] = {"dataset": {"path": str(path), "target": "y"}, "order": "given", "seeds": 3}
    assert len(cells({"name": "Perceptron", "query": "all"}, **study)) == 1
    assert len(cells({"name": "BBQ"}, **study)) == 1
    assert len(cells(RANDOM, **study)) == 3


@pytest.mark.slow
def test_labels_that_come_late() -> None:
    (cell,) = cells(SELECTIVE, order="given", delay=5)
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    assert 0 < row["queried"] < 400


def test_a_kernel_learner_is_refused_where_lengths_of_rows_count() -> None:
    with pytest.raises(InputError, match="learner must be a linear one of this package, got KernelPercep"):
        cells({"name": "KernelPerceptron", "query": "selective-adaptive"})
    assert cells({"name": "KernelPerceptron", "query": "selective"})


@pytest.mark.parametrize(
    ("tune", "kind"),
    [("leader", FollowTheLeader), pytest.param("weights", ExponentialWeights, marks=pytest.mark.slow)],
    ids=str,
)
def test_a_grid_is_tuned_along_the_stream(tune: str, kind: Any) -> None:
    grid = {"C": [0.01, 0.1, 1]}
    plan = make_plan(
        parse_study(
            {
                "name": "s",
                "datasets": [{"name": "gauss", "n_train": 400, "n_test": 200}],
                "algorithms": [{"name": "PassiveAggressive", "tune": tune, **grid}],
                "protocol": "holdout",
            }
        )
    )
    assert not list(plan.tuning_cells())
    cell = next(plan.evaluation_cells({}))
    assert json.loads(run_cell(cell).row["params"]) == {"tune": tune, "tune_grid": '{"C": [0.01, 0.1, 1.0]}'}
    trained = learn_cell(cell)
    assert repr(trained.learner) == repr(kind(PassiveAggressive(), {"C": [0.01, 0.1, 1.0]}))
    alone = clone(trained.learner)
    part = trained.inputs.train
    alone.learn(part.X[part.rows], trained.inputs.noisy, [0, 1])
    assert trained.outcome.row["mistakes"] == alone.n_mistakes_ == trained.learner.n_mistakes_
    assert trained.learner.point_mistakes_.tolist() == alone.point_mistakes_.tolist()


def test_a_study_tunes_all_its_grids_along_the_stream() -> None:
    found = cells(
        {"name": "AROW", "r": [0.1, 1.0]},
        {"name": "Perceptron"},
        {"name": "AROW", "r": [0.1, 1.0], "tune": "weights"},
        {"name": "Perceptron", "query": "all"},
        tune="leader",
    )
    assert [dict(cell.spec.params).get("tune") for cell in found] == ["leader", None, "weights", None]


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ({"name": "AROW", "tune": "leader"}, "'0' has tune = 'leader' but no grid: give a parameter a list"),
        ({"name": "AROW", "r": [1, 2], "tune": "best"}, "'best' should be 'seed', 'leader' or 'weights'"),
        ({"name": "AROW", "r": [1, 2], "tune": "leader", "query": "all"}, "does not work with query"),
        (
            {"name": "AROW", "r": [1, 2], "tune": "leader", "epochs": 2},
            "tune compares points along one pass, so",
        ),
        ({"name": "AROW", "epochs": [1, 2], "tune": "leader"}, "grid must not contain epochs"),
        ({"name": "AROW", "r": [1, -2], "tune": "leader"}, "r must be a finite number > 0, got -2.0"),
        ({"name": "AROW", "class_weight": [{"1": 2}], "tune": "leader"}, "work with a grid of class_weight"),
        ({"name": "FollowTheLeader"}, "tunes a grid: name the learner, with tune = 'leader'"),
        (
            {"name": "sklearn.linear_model:SGDClassifier", "alpha": [0.1, 1.0], "tune": "leader"},
            "tune works with learners of this package only",
        ),
        ({"name": "AROW", "r": [1, 2], "tune": "leader", "tuned_as": "x"}, "is a grid, but tuned_as takes"),
    ],
)
def test_what_cannot_be_tuned_along_the_stream(algorithm: dict[str, Any], message: str) -> None:
    with pytest.raises((InputError, ValueError), match=message) as caught:
        cells(algorithm)
    assert "\n" not in str(caught.value)
