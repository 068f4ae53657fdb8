"""Test class weights in a study: tables by class name, grids of them, and their use in cells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from singlepass.learners import AROW
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.specs import by_code
from singlepass.pipeline.study.study import Study
from singlepass.pipeline.study.study_file import parse_study


def study_of(*algorithms: dict[str, Any], **dataset: Any) -> Study:
    entry = {"name": "digits", "task": "one-vs-rest:3", "max_examples": 300, **dataset}
    return parse_study({"name": "mine", "seeds": 1, "datasets": [entry], "algorithms": list(algorithms)})


def cells_of(study: Study) -> dict[str, Any]:
    return {cell.spec.algorithm: cell for cell in make_plan(study).evaluation_cells({})}


@pytest.mark.slow
def test_cells_weigh_the_classes_by_their_names() -> None:
    cells = cells_of(
        study_of(
            {"name": "AROW", "label": "plain"},
            {"name": "AROW", "label": "ones", "class_weight": {"3": 1, "rest": 1.0}},
            {"name": "AROW", "label": "weighted", "class_weight": {"3": 8}},
            {"name": "AROW", "label": "asked", "class_weight": {"3": 8}, "query": "all"},
            {"name": "sklearn.linear_model:SGDClassifier", "label": "theirs", "class_weight": {"3": 8}},
        )
    )
    assert len({cell.key for cell in cells.values()}) == 5
    learnt = {label: learn_cell(cell) for label, cell in cells.items()}
    assert learnt["ones"].learner.coef_.tolist() == learnt["plain"].learner.coef_.tolist()
    assert learnt["weighted"].learner.class_weight == {1: 8}
    assert learnt["theirs"].learner.class_weight == {1: 8}
    assert learnt["asked"].learner.learner_.coef_.tolist() == learnt["weighted"].learner.coef_.tolist()
    given = learnt["weighted"].inputs
    by_hand = AROW(class_weight={1: 8.0}).fit(given.train.X[given.train.rows], given.noisy)
    assert learnt["weighted"].learner.coef_.tolist() == by_hand.coef_.tolist()
    row = run_cell(cells["weighted"]).row
    assert row["status"] == "ok"
    assert json.loads(row["params"]) == {"class_weight": '{"3": 8}'}


def test_a_data_set_weighs_the_classes_of_one_algorithm() -> None:
    study = study_of(
        {"name": "AROW", "label": "A"},
        {"name": "AROW", "label": "B"},
        parameters={"A": {"class_weight": {"3": 4}}, "class_weight": {"3": 2}},
    )
    cells = cells_of(study)
    given = {label: dict(cell.spec.params)["class_weight"] for label, cell in cells.items()}
    assert given == {"A": '{"3": 4}', "B": '{"3": 2}'}
    assert learn_cell(cells["A"]).learner.class_weight == {1: 4}


def test_a_grid_of_weights_and_one_of_a_data_set() -> None:
    grid = [{"3": 1}, {"3": 4}]
    study = study_of({"name": "AROW", "class_weight": grid})
    points = [dict(cell.spec.params)["class_weight"] for cell in make_plan(study).tuning_cells()]
    assert points == ['{"3": 1}', '{"3": 4}']
    assert run_cell(next(make_plan(study).tuning_cells())).row["status"] == "ok"
    given = study_of({"name": "AROW"}, {"name": "ALMA"}, parameters={"class_weight": {"3": 4}})
    assert {label: dict(cell.spec.params) for label, cell in cells_of(given).items()} == {
        "AROW": {"class_weight": '{"3": 4}'},
        "ALMA": {},
    }


def test_a_study_that_is_read_back_has_the_same_cells() -> None:
    study = study_of({"name": "AROW", "class_weight": {"rest": 2, "3": 0.5}})
    again = parse_study(json.loads(study.model_dump_json(exclude_unset=True)))
    assert cells_of(again)["AROW"].key == cells_of(study)["AROW"].key
    turned = study_of({"name": "AROW", "class_weight": {"3": 0.5, "rest": 2}})
    assert cells_of(turned)["AROW"].key == cells_of(study)["AROW"].key


@pytest.mark.slow
def test_every_class_of_many_may_have_one() -> None:
    cells = cells_of(study_of({"name": "Perceptron", "class_weight": {"0": 2, "9": 0.5}}, task="multiclass"))
    assert learn_cell(cells["Perceptron"]).learner.class_weight == {0: 2, 9: 0.5}


@pytest.mark.parametrize(
    "named",
    [
        {"algorithms": [{"name": "AROW", "class_weight": {"rest": 2}}]},
        {"algorithms": [{"name": "AROW"}], "noise": [{"model": "class", "rates": {"rest": 0.3}}]},
    ],
)
def test_a_name_of_both_classes_is_refused(tmp_path: Path, named: dict[str, Any]) -> None:
    (tmp_path / "moves.csv").write_text("x,label\n" + "0,rest\n1,walk\n2,run\n" * 5)
    dataset = {"path": str(tmp_path / "moves.csv"), "task": "one-vs-rest:rest"}
    study = parse_study({"name": "s", "datasets": [dataset], **named})
    with pytest.raises(InputError, match=r"\[rest-vs-rest\]': 'rest' names both classes"):
        make_plan(study)


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ({"class_weight": {"4": 2}}, "algorithm 'AROW': class_weight names class '4', which data set "),
        (
            {"class_weight": [{"3": 1}, {"three": 2}]},
            "algorithm 'AROW': class_weight names class 'three', wh",
        ),
        (
            {"class_weight": {"3": 0}},
            "algorithm 'AROW': class_weight of '3' must be a number > 0, from 1e-150",
        ),
        ({"class_weight": {"3": {"a": 1}}}, "algorithm 'AROW': class_weight of '3' must be a number > 0, fr"),
        ({"class_weight": "balanced"}, "algorithm 'AROW': class_weight must be None or a dict"),
        ({"class_weight": "{3"}, "algorithm 'AROW': class_weight must be None or a dict"),
        ({"class_weight": 2.0}, "algorithm 'AROW': class_weight must be None or a dict"),
        ({"name": "ALMA", "class_weight": {"3": 2}}, "algorithm 'ALMA' has no parameter 'class_weight'"),
        (
            {"class_weight": [{"3": 1}, {"3": 1}]},
            "study: algorithms[1]: the grid of 'class_weight' contains a",
        ),
    ],
)
def test_one_line_for_what_is_wrong(algorithm: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError) as refused:
        make_plan(study_of({"name": "AROW", **algorithm}))
    assert str(refused.value).startswith(said)
    assert "\n" not in str(refused.value)


def test_a_cell_whose_data_have_changed() -> None:
    with pytest.raises(ValueError, match="class_weight names class 'b', which is not one of a, c"):
        by_code({"class_weight": '{"b": 2}'}, ["a", "c"])
    assert by_code({"class_weight": "balanced"}, ["a", "c"]) == {"class_weight": "balanced"}
    assert by_code({"r": 1, "class_weight": '{"c": 2}'}, ["a", "c"]) == {"r": 1, "class_weight": {1: 2}}


def test_of_several_data_sets_it_is_said_where_weights_of_one_stand() -> None:
    table = {
        "name": "s",
        "datasets": [{"name": "digits", "task": "one-vs-rest:3"}, {"name": "gauss", "n_train": 20}],
        "algorithms": [{"name": "AROW", "class_weight": {"3": 2}}],
    }
    with pytest.raises(InputError, match=r'parameters = \{ "AROW" = \{ class_weight = … \} \} in its table$'):
        make_plan(parse_study(table))
