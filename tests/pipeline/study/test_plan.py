"""Test plans: the product, the grids, and keys that change if and only if the outcome may."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from singlepass.learners import OnlineClassifier, registry
from singlepass.pipeline.data import TaskRef, open_stream, remote
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import Noise
from singlepass.pipeline.study.cell import Cell, CellSpec, Execution
from singlepass.pipeline.study.learner_factory import ResolvedLearner
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import TUNING_SEED
from singlepass.pipeline.study.study_file import parse_study

STUDY: dict[str, Any] = {
    "name": "mine",
    "noise": [0.0, 0.2],
    "seeds": 3,
    "datasets": [{"name": "gauss", "n_train": 50, "n_test": 20}, {"name": "breast-cancer"}],
    "algorithms": [
        {"name": "Perceptron"},
        {"name": "AROW", "r": [0.1, 1.0], "loss": ["hinge", "squared_hinge"]},
    ],
}


def first_cell() -> Cell:
    return next(make_plan(parse_study(STUDY)).evaluation_cells({}))


def test_the_product_is_complete() -> None:
    plan = make_plan(parse_study(STUDY))
    tuning = list(plan.tuning_cells())
    assert len(tuning) == plan.n_tuning_cells == 2 * 2 * 4
    assert {cell.spec.seed for cell in tuning} == {TUNING_SEED}
    assert {cell.spec.algorithm for cell in tuning} == {"AROW"}
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    cells = list(plan.evaluation_cells(winners))
    assert len(cells) == plan.n_evaluation_cells == 2 * 2 * 2 * 3
    keys = [cell.key for cell in tuning + cells]
    assert len(set(keys)) == len(keys)


def test_each_plan_asks_a_server_once_whether_a_file_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path))
    bucket, asked, state = fsspec.filesystem("memory"), [], remote._state
    monkeypatch.setattr(remote, "_state", lambda files, name: asked.append(name) or state(files, name))
    study = parse_study(STUDY | {"datasets": [{"path": "memory://plans/f.csv"}]})
    rows = []
    for n in (5, 6):
        bucket.pipe("/plans/f.csv", b"a,label\n" + b"1,x\n2,y\n" * n)
        rows.append(len(open_stream(make_plan(study).tasks[0]).y))
    bucket.rm("/plans/f.csv")
    assert rows == [10, 12]
    assert len(asked) == 2


def test_a_cell_is_found_by_its_properties_if_the_study_has_it() -> None:
    plan = make_plan(parse_study(STUDY))
    tuning = list(plan.tuning_cells())
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    cells = [*tuning, *plan.evaluation_cells(winners)]
    for cell in cells:
        spec = cell.spec
        found = plan.cell(spec.group, spec.stage, spec.seed, dict(spec.params))
        assert found is not None
        assert found.key == cell.key
    group, params = tuning[0].spec.group, dict(tuning[0].spec.params)
    assert plan.cell(group, "run", 2, params) is not None
    for stage, seed, other in (
        ("run", 3, {}),
        ("run", TUNING_SEED, {}),
        ("tune", 2, {}),
        ("other", 2, {}),
        ("run", 2, {"r": 37.0}),
        ("run", 2, {"epochs": 5}),
    ):
        assert plan.cell(group, stage, seed, params | other) is None
    assert plan.cell(("gauss", "Perceptron", group[2]), "tune", TUNING_SEED, {}) is None
    assert plan.cell(("gauss", "Other", group[2]), "run", 0, {}) is None


def test_a_data_set_may_have_a_protocol_of_its_own() -> None:
    own = {"name": "breast-cancer", "protocol": "holdout", "max_examples": 50}
    study = parse_study({**STUDY, "protocol": "crossval", "datasets": [STUDY["datasets"][0], own]})
    cells = list(make_plan(study).tuning_cells())
    found = {(cell.spec.dataset.label, cell.spec.protocol, cell.spec.max_examples) for cell in cells}
    assert found == {("gauss", "crossval", None), ("breast-cancer", "holdout", 50)}


def test_a_data_set_gives_its_parameters_to_those_that_do_not_set_them() -> None:
    given = {"name": "gauss", "parameters": {"gamma": 2.0, "budget": 7}}
    algorithms = [
        {"name": "Forgetron"},
        {"name": "Forgetron", "label": "narrow", "gamma": 9.0},
        {"name": "Forgetron", "label": "tuned", "gamma": [1.0, 3.0]},
        {"name": "AROW"},
    ]
    plan = make_plan(parse_study({**STUDY, "datasets": [given], "algorithms": algorithms, "noise": 0.0}))
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in plan.tuning_cells()}
    assert {tuned["gamma"] for tuned in winners.values()} == {3.0}
    found = {cell.spec.algorithm: dict(cell.spec.params) for cell in plan.evaluation_cells(winners)}
    assert found == {
        "Forgetron": {"gamma": 2.0, "budget": 7},
        "narrow": {"gamma": 9.0, "budget": 7},
        "tuned": {"gamma": 3.0, "budget": 7},
        "AROW": {},
    }


def test_a_data_set_gives_parameters_to_one_algorithm_before_those_for_all() -> None:
    given = {"name": "gauss", "parameters": {"gamma": 2.0, "budget": 7, "wide": {"budget": 9, "gamma": 5.0}}}
    algorithms = [{"name": "Forgetron"}, {"name": "Forgetron", "label": "wide", "gamma": 0.5}]
    plan = make_plan(parse_study({**STUDY, "datasets": [given], "algorithms": algorithms, "noise": 0.0}))
    found = {cell.spec.algorithm: dict(cell.spec.params) for cell in plan.evaluation_cells({})}
    assert found == {"Forgetron": {"gamma": 2.0, "budget": 7}, "wide": {"gamma": 0.5, "budget": 9}}


def test_a_grid_that_a_data_set_gives_to_one_algorithm_is_its_alone() -> None:
    given = {"name": "gauss", "parameters": {"AROW": {"r": [0.1, 10.0]}}}
    algorithms = [{"name": "AROW"}, {"name": "AROW", "label": "other"}]
    plan = make_plan(parse_study({**STUDY, "datasets": [given], "algorithms": algorithms, "noise": 0.0}))
    assert [dict(cell.spec.params) for cell in plan.tuning_cells()] == [{"r": 0.1}, {"r": 10.0}]
    assert {cell.spec.algorithm for cell in plan.tuning_cells()} == {"AROW"}


def test_a_list_of_a_data_set_is_a_grid() -> None:
    given = {"name": "gauss", "parameters": {"gamma": [1.0, 2.0]}}
    algorithms = [
        {"name": "KernelPassiveAggressive", "C": [0.1, 1.0, 10.0]},
        {"name": "Projectron", "gamma": 9.0},
    ]
    datasets = [given, {"name": "checkerboard"}]
    plan = make_plan(parse_study({**STUDY, "datasets": datasets, "algorithms": algorithms, "noise": 0.0}))
    tuning = list(plan.tuning_cells())
    assert len(tuning) == plan.n_tuning_cells == 3 * 2 + 3
    assert {cell.execution.grid for cell in tuning if cell.spec.dataset.label == "gauss"} == {
        '{"C": [0.1, 1.0, 10.0], "gamma": [1.0, 2.0]}'
    }
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    found = {
        (cell.spec.dataset.label, cell.spec.algorithm): dict(cell.spec.params)
        for cell in plan.evaluation_cells(winners)
    }
    assert found == {
        ("gauss", "KernelPassiveAggressive"): {"C": 10.0, "gamma": 2.0},
        ("gauss", "Projectron"): {"gamma": 9.0},
        ("checkerboard", "KernelPassiveAggressive"): {"C": 10.0},
        ("checkerboard", "Projectron"): {"gamma": 9.0},
    }


def test_a_data_set_may_have_a_split_and_tuning_rows_of_its_own() -> None:
    own = {"name": "breast-cancer", "test_fraction": 0.1, "max_tune": 80}
    limits = {"protocol": "holdout", "max_tune": 40, "test_fraction": 0.25}
    study = parse_study({**STUDY, **limits, "datasets": [STUDY["datasets"][0], own], "noise": 0.0})
    plan = make_plan(study)
    tuning = list(plan.tuning_cells())
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    cells = [*tuning, *plan.evaluation_cells(winners)]
    found = {(c.spec.dataset.label, c.spec.stage, c.spec.test_fraction, c.spec.max_train) for c in cells}
    assert found == {
        ("gauss", "tune", 0.25, 40),
        ("gauss", "run", 0.25, None),
        ("breast-cancer", "tune", 0.1, 80),
        ("breast-cancer", "run", 0.1, None),
    }


def test_a_grid_may_serve_another_algorithm() -> None:
    datasets = [
        {"name": "gauss", "n_train": 50, "n_test": 20, "parameters": {"gamma": [1.0, 2.0]}},
        {"name": "breast-cancer", "parameters": {"gamma": 0.5}},
    ]
    algorithms = [
        {"name": "SVC", "label": "batch", "C": [1.0, 10.0], "cache_size": 50.0},
        {"name": "IncrementalSVM", "label": "online", "tuned_as": "batch", "fit_intercept": False},
        {"name": "IncrementalSVM", "label": "narrow", "tuned_as": "batch", "gamma": 9.0},
    ]
    limits = {"protocol": "holdout", "noise": 0.0, "seeds": 1}
    plan = make_plan(parse_study({**STUDY, **limits, "datasets": datasets, "algorithms": algorithms}))
    tuning = list(plan.tuning_cells())
    assert len(tuning) == plan.n_tuning_cells == 4 + 2
    assert {cell.spec.algorithm for cell in tuning} == {"batch"}
    assert not list(plan.evaluation_cells({}))
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    found = {
        (cell.spec.dataset.label, cell.spec.algorithm): dict(cell.spec.params)
        for cell in plan.evaluation_cells(winners)
        if cell.spec.algorithm != "batch"
    }
    assert found == {
        ("gauss", "online"): {"C": 10.0, "gamma": 2.0, "fit_intercept": False},
        ("gauss", "narrow"): {"C": 10.0, "gamma": 9.0},
        ("breast-cancer", "online"): {"C": 10.0, "gamma": 0.5, "fit_intercept": False},
        ("breast-cancer", "narrow"): {"C": 10.0, "gamma": 9.0},
    }


def test_each_repetition_may_tune_its_own_grid() -> None:
    study = {**STUDY, "protocol": "holdout", "seeds": 2, "tune_each": True, "noise": 0.1}
    study |= {"datasets": [{"name": "breast-cancer"}], "algorithms": [{"name": "AROW", "r": [0.1, 1.0]}]}
    plan = make_plan(parse_study(study))
    tuning = list(plan.tuning_cells())
    assert plan.n_tuning_cells == len(tuning) == 2 * 2
    assert [(cell.spec.seed, dict(cell.spec.params)["r"]) for cell in tuning] == [
        (0, 0.1),
        (0, 1.0),
        (1, 0.1),
        (1, 1.0),
    ]
    group = tuning[0].spec.group
    cells = list(plan.evaluation_cells({(group, 0): {"r": 0.1}, (group, 1): {"r": 1.0}}))
    assert [(cell.spec.seed, dict(cell.spec.params)["r"]) for cell in cells] == [(0, 0.1), (1, 1.0)]
    # Without it the cells have the keys that they always had.
    shared = make_plan(parse_study({**study, "tune_each": False}))
    assert {cell.spec.seed for cell in shared.tuning_cells()} == {1_000_000}
    [first, _] = shared.evaluation_cells({(group, 1_000_000): {"r": 0.1}})
    assert first.key == cells[0].key
    with pytest.raises(InputError, match="tune_each: data set 'breast-cancer' would tune its grids"):
        parse_study({**study, "protocol": "prequential"})
    with pytest.raises(InputError, match="of the stream, which is not reported: remove tune_each"):
        parse_study({**study, "order": "given"})
    with pytest.raises(InputError, match="stream of each repetition: remove tune_each"):
        parse_study({**study, "protocol": "prequential", "tune": "leader"})


def test_a_parameter_may_be_the_support_size_of_another_algorithm() -> None:
    algorithms = [{"name": "Projectron"}, {"name": "Forgetron", "budget": {"support_of": "Projectron"}}]
    study = {**STUDY, "algorithms": algorithms, "datasets": STUDY["datasets"][:1], "noise": 0.1}
    plan = make_plan(parse_study(study))
    assert {cell.spec.algorithm for cell in plan.evaluation_cells({})} == {"Projectron"}
    group = ("gauss", "Projectron", Noise(0.1))
    (matched,) = plan.matched_groups({(group, 0): 12, (group, 1): 0})
    cells = list(matched.cells())
    # A cell needs the outcome of the model it matches; an empty support set gives a budget of 1.
    assert [(cell.spec.seed, dict(cell.spec.params)) for cell in cells] == [
        (0, {"budget": 12}),
        (1, {"budget": 1}),
    ]


def test_a_grid_without_a_winner_is_not_run() -> None:
    plan = make_plan(parse_study(STUDY))
    assert {cell.spec.algorithm for cell in plan.evaluation_cells({})} == {"Perceptron"}


@pytest.mark.parametrize(
    "change",
    [
        {"noise": Noise(0.1)},
        {"seed": 7},
        {"params": (("average", True),)},
        {"fingerprint": "other"},
        {"algorithm_version": 2},
        {"protocol": "holdout"},
        {"checkpoints": 7},
        {"checkpoints": (7,)},
        {"root_seed": 1},
        {"stage": "tune"},
        {"max_train": 10},
        {"learner": "AROW"},
    ],
)
def test_what_changes_the_outcome_changes_the_key(change: dict[str, Any]) -> None:
    cell = first_cell()
    assert replace(cell, spec=replace(cell.spec, **change)).key != cell.key


def test_what_does_not_change_the_outcome_does_not_change_the_key() -> None:
    cell = first_cell()
    moved = replace(cell.spec.dataset, source="/elsewhere/gauss")
    elsewhere = Cell(
        replace(cell.spec, dataset=moved), Execution(grid="{}", plugins=("p.py",), time_limit=1.0)
    )
    assert elsewhere.key == cell.key
    # A label only names the algorithm in the report.
    assert Cell(replace(cell.spec, algorithm="Rosenblatt's")).key == cell.key


def test_a_cell_is_small_and_travels() -> None:
    cell = first_cell()
    sent = pickle.dumps(cell)
    # The task's message to the scheduler is small, because data are opened where the cell runs.
    assert len(sent) < 2000
    assert pickle.loads(sent).key == cell.key


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"algorithms": [{"name": "AORW"}]}, "algorithm 'AORW' is unknown: did you mean 'AROW'?"),
        ({"algorithms": [{"name": "nope"}]}, "need --plugin FILE (with compare: --with FILE.py:NAME)"),
        ({"algorithms": [{"name": "AROW", "R": 1.0}]}, "has no parameter 'R': did you mean 'r'?"),
        ({"algorithms": [{"name": "AROW", "r": -1.0}]}, "r must be a finite number > 0, got -1.0"),
        ({"algorithms": [{"name": "AROW", "r": [1.0, 0.0]}]}, "r must be a finite number > 0, got 0.0"),
        ({"algorithms": [{"name": "PassiveAggressive", "variant": "PA-3"}]}, "variant must be one of"),
        (
            {"algorithms": [{"name": "AROW", "class_weight": [{"a": 1.0}, {"a": 1}]}]},
            "algorithm 'AROW': the grid of 'class_weight' contains a value twice",
        ),
        ({"datasets": [{"name": "gauss", "positive": float("nan")}]}, "'nan'"),
        ({"datasets": [{"name": "digts", "task": "pairs"}]}, "did you mean 'digits'?"),
        ({"datasets": [{"name": "digits", "task": "paris"}]}, "unknown task 'paris'"),
        ({"datasets": [{"name": "digits", "task": "binary"}]}, "needs two classes, found 10"),
        ({"datasets": [{"name": "gauss", "n_trian": 5}]}, "did you mean 'n_train'?"),
        ({"datasets": [{"name": "gauss"}, {"name": "gauss"}]}, "two tasks are called 'gauss'"),
        ({"datasets": [{"path": "nowhere.csv"}]}, "nowhere.csv"),
        (
            {"datasets": [{"name": "gauss", "parameters": {"gama": 1.0}}]},
            "data set 'gauss': no algorithm of the study has a parameter 'gama'",
        ),
        (
            {"datasets": [{"name": "gauss", "parameters": {"AROv": {"r": 1.0}}}]},
            "data set 'gauss': parameters of 'AROv', but no algorithm with this label runs on it: "
            "did you mean 'AROW'?",
        ),
        (
            {"datasets": [{"name": "gauss", "parameters": {"AROW": {"s": 1.0}}}]},
            "algorithm 'AROW' has no parameter 's'",
        ),
        (
            {"datasets": [{"name": "gauss", "parameters": {"AROW": {"winner": "sparsest"}}}]},
            "data set 'gauss': parameters of 'AROW' cannot set 'winner', a key of [[algorithms]]: "
            "set it there, or rename the parameter of the class",
        ),
        (
            {
                "datasets": [{"name": "gauss", "parameters": {"loss": "ramp"}}],
                "algorithms": [{"name": "AROW"}],
            },
            "algorithm 'AROW': loss must be one of",
        ),
        (
            {
                "datasets": [{"name": "gauss", "parameters": {"gamma": [1.0, 2.0]}}],
                "algorithms": [
                    {"name": "Projectron"},
                    {"name": "Forgetron", "budget": {"support_of": "Projectron"}},
                ],
            },
            "algorithm 'Forgetron' on data set 'gauss': 'budget' is the support size of another",
        ),
        (
            {"algorithms": [{"name": "SVC"}]},
            "algorithm 'SVC' is fitted in batch and predicts nothing along the stream: data set 'gauss' "
            "needs protocol 'holdout' or 'crossval'",
        ),
        (
            {"algorithms": [{"name": "SVC", "C": [1.0, 2.0]}], "protocol": "holdout", "tune_by": "online"},
            "its grid needs tune_by = 'validation'",
        ),
        ({"algorithms": [{"name": "SVC", "C": -1.0}], "protocol": "holdout"}, "'C' parameter of SVC must be"),
        (
            {"algorithms": [{"name": "OfflineRampSVM", "C": -1.0}], "protocol": "holdout"},
            "algorithm 'OfflineRampSVM': C must be a finite number > 0, got -1.0",
        ),
        (
            {
                "algorithms": [
                    *STUDY["algorithms"],
                    {"name": "Forgetron", "size": {"support_of": "Perceptron"}},
                ]
            },
            "algorithm 'Forgetron' has no parameter 'size'",
        ),
        (
            {
                "algorithms": [
                    {"name": "AROW", "label": "A"},
                    {"name": "Forgetron", "budget": {"support_of": "A"}},
                ]
            },
            "algorithm 'Forgetron': 'budget' is the support size of 'A', a linear learner, which has none",
        ),
        (
            {
                "algorithms": [
                    {"name": "Projectron", "gamma": [1.0, 2.0], "tune": "weights"},
                    {"name": "Forgetron", "budget": {"support_of": "Projectron"}},
                ]
            },
            "algorithm 'Forgetron': 'budget' is the support size of 'Projectron', which has one for each "
            "point of its grid with tune = 'weights' on data set 'gauss': give it tune = 'seed'",
        ),
        (
            {
                "algorithms": [{"name": "AROW"}],
                "datasets": [
                    {"name": "digits", "task": "multiclass", "parameters": {"AROW": {"query": "greedy"}}}
                ],
            },
            "algorithm 'AROW' takes two with query = 'greedy': remove query, ",
        ),
        (
            {
                "algorithms": [{"name": "KernelPerceptron", "query": "greedy"}],
                "datasets": [{"name": "digits", "task": "multiclass"}],
            },
            "has more than two classes, but algorithm 'KernelPerceptron' takes two with query = 'greedy': "
            "remove query, give the data set task",
        ),
        (
            {
                "algorithms": [{"name": "ALMA", "query": "greedy"}],
                "datasets": [{"name": "digits", "task": "multiclass"}],
            },
            "has more than two classes, but algorithm 'ALMA' takes two: give the data set task",
        ),
        (
            {
                "algorithms": [{"name": "Projectron", "U": [3.0, 4.0]}],
                "datasets": [{"name": "digits", "task": "multiclass"}],
            },
            "has more than two classes, but algorithm 'Projectron' takes two: give the data set task",
        ),
        (
            {"algorithms": [{"name": "Projectron"}, {"name": "Forgetron", "tuned_as": "Projectron"}]},
            "algorithm 'Forgetron' is tuned as 'Projectron', which has no grid on data set 'gauss': give one",
        ),
        (
            {
                "algorithms": [
                    {"name": "Projectron", "gamma": [1.0, 2.0], "tune": "leader"},
                    {"name": "Forgetron", "tuned_as": "Projectron"},
                ]
            },
            "algorithm 'Forgetron' is tuned as 'Projectron', which has no winner with tune = 'leader' on "
            "data set 'gauss': give it tune = 'seed'",
        ),
        (
            {
                "algorithms": [
                    {"name": "Forgetron", "budget": [5, 10]},
                    {"name": "KernelPerceptron", "tuned_as": "Forgetron"},
                ]
            },
            "algorithm 'KernelPerceptron' has no parameter 'budget'",
        ),
        (
            {"algorithms": [{"name": "AROW", "query": "all", "epochs": [1, 2]}]},
            "algorithm 'AROW': query asks for labels along one pass, so epochs must be 1, got 2",
        ),
        (
            {"algorithms": [{"name": "BBQ", "query": "all"}]},
            "algorithm 'BBQ': BBQ decides itself which labels to ask for: remove query",
        ),
        (
            {"algorithms": [{"name": "ActiveRampSVM", "label": "A", "query": "greedy", "h": 2}]},
            "algorithm 'A': ActiveRampSVM decides itself which labels to ask for: remove query",
        ),
        (
            {"algorithms": [{"name": "OnlineModelSelection", "gamma_init": "auto"}]},
            "gamma_init must be 'cv' or a finite number > 0, got 'auto'",
        ),
    ],
)
def test_unknown_names_are_one_line(change: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError) as caught:
        make_plan(parse_study({**STUDY, **change}))
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


class TwoOnly(OnlineClassifier):
    """A learner that accepts two classes only."""

    def __init__(self, epochs: int = 1) -> None:
        self.epochs = epochs


def test_many_classes_for_a_learner_of_two_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry._plugins, "TwoOnly", TwoOnly)
    study = {**STUDY, "datasets": [{"name": "digits"}]}
    make_plan(parse_study(study))
    with pytest.raises(InputError) as caught:
        make_plan(parse_study({**study, "algorithms": [{"name": "Perceptron"}, {"name": "TwoOnly"}]}))
    assert "more than two classes, but algorithm 'TwoOnly' takes two" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("many", [True, False])
def test_tags_that_fail_are_not_asked(many: bool) -> None:
    """The wrappers of River inherit a method of tags whose base class is missing."""

    class Wrapper:
        _multiclass = many

        def __sklearn_tags__(self) -> Any:
            return super().__sklearn_tags__()  # type: ignore[misc]

    assert ResolvedLearner("Wrapper", Wrapper).takes_many_classes({}) == many


class Foreign:
    """A learner of another package whose parameters have the names of keys of a study file."""

    def __init__(self, tune_grid: int = 0, label: int = 0, reset: str = "") -> None:
        self.tune_grid = tune_grid

    def partial_fit(self, X: Any, y: Any) -> None: ...

    def predict(self, X: Any) -> Any: ...


def test_a_learner_may_have_a_parameter_called_tune_grid() -> None:
    assert ResolvedLearner("Foreign", Foreign).make({"tune_grid": 1}).tune_grid == 1


@pytest.mark.parametrize("parameters", [{"label": 1}, {"reset": "ddm"}, {"Foreign": {"reset": "ddm"}}])
def test_a_data_set_does_not_set_keys_of_algorithms(
    parameters: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry._plugins, "Foreign", Foreign)
    change = {
        "datasets": [{"name": "gauss", "parameters": parameters}],
        "algorithms": [{"name": "Foreign"}, {"name": "AROW"}],
    }
    with pytest.raises(InputError, match=r"cannot set '(label|reset)', a key of \[\[algorithms\]\]: set it"):
        make_plan(parse_study({**STUDY, **change}))


def test_a_data_set_may_set_what_wraps_a_learner() -> None:
    table = {"query": "random", "h": 3}
    reset = {"reset": "ddm"}
    tables = {"AROW": reset, "asking": table, "own": table, "reset": reset}
    given = {"name": "gauss", "parameters": tables}
    algorithms = [
        {"name": "AROW"},
        {"name": "AROW", "label": "asking", "query": "greedy"},
        {"name": "AROW", "label": "own", "query": "greedy", "h": 2},
        {"name": "AROW", "label": "reset", "reset": "adwin"},
    ]
    plan = make_plan(parse_study({**STUDY, "datasets": [given], "algorithms": algorithms, "noise": 0.0}))
    found = {cell.spec.algorithm: dict(cell.spec.params) for cell in plan.evaluation_cells({})}
    asking = {"query": "greedy", "h": 3}
    own = {"own": {**asking, "h": 2}, "reset": {"reset": "adwin"}}
    assert found == {"AROW": reset, "asking": asking, **own}


def test_a_drawing_strategy_of_a_data_set_makes_its_repetitions_differ() -> None:
    asking = {"name": "digits", "task": "one-vs-rest:3", "parameters": {"AROW": {"query": "random"}}}
    silent = {"name": "digits", "task": "one-vs-rest:4", "parameters": {"AROW": {"query": "greedy"}}}
    study = {**STUDY, "datasets": [asking, silent], "algorithms": [{"name": "AROW"}], "noise": 0.0}
    plan = make_plan(parse_study({**study, "order": "given", "seeds": 3}))
    found = [(cell.spec.dataset.task, cell.spec.seed) for cell in plan.evaluation_cells({})]
    assert found == [("one-vs-rest:3", 0), ("one-vs-rest:3", 1), ("one-vs-rest:3", 2), ("one-vs-rest:4", 0)]


def test_the_tune_of_a_data_set_wins_over_that_of_the_study() -> None:
    own = {"tune": "seed"}
    tables = {"grid": own, "asking": {**own, "query": "greedy", "h": 3}}
    algorithms = [{"name": "PassiveAggressive", "label": label, "C": [0.1, 1.0]} for label in tables]
    study = {**STUDY, "tune": "leader", "algorithms": algorithms, "noise": 0.0}
    study["datasets"] = [{"name": "gauss", "parameters": tables}]
    plan = make_plan(parse_study(study))
    groups = [[dict(params) for _, params in group.members] for group in plan.tuning_groups()]
    assert groups == [
        [{"C": 0.1}, {"C": 1.0}],
        [{"C": C, "query": "greedy", "h": 3} for C in (0.1, 1.0)],
    ]


def test_a_missing_plugin_is_one_line(tmp_path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        make_plan(parse_study(STUDY), plugins=(str(tmp_path / "none.py"),))


def test_the_key_is_pinned() -> None:
    # Existing results are found by this key. It changes with CELL_VERSION and with what the cell computes,
    # never with the name of a field or a module.
    spec = CellSpec(
        dataset=TaskRef("d[a-vs-b]", "somewhere", "pair:a,b", "d"),
        fingerprint="0123",
        algorithm="AROW, r small",
        learner="AROW",
        algorithm_version=1,
        params=(("r", 0.1),),
        noise=Noise(0.2),
        seed=3,
        root_seed=0,
        stage="run",
        protocol="holdout",
        judge="validation",
        checkpoints="log",
        test_fraction=0.3,
        validation_fraction=0.2,
        folds=10,
        max_examples=None,
        max_train=1000,
        max_test=None,
    )
    assert Cell(spec).key == "5ea73cb3bf627999227cd6bff9337d59"


@pytest.mark.parametrize(
    ("algorithm", "own"),
    [
        ({"name": "MarginPerceptron", "output": ["last", "voted"], "tune": "leader"}, True),
        ({"name": "MarginPerceptron", "output": ["last", "voted"], "tune": "weights"}, True),
        ({"name": "MarginPerceptron", "output": ["voted"], "eta": [0.1, 1.0], "tune": "leader"}, False),
        ({"name": "Perceptron", "average": [True, False], "tune": "leader"}, False),
    ],
)
def test_cells_whose_points_shared_an_output_have_other_keys(algorithm: dict[str, Any], own: bool) -> None:
    cell = next(make_plan(parse_study({**STUDY, "algorithms": [algorithm]})).evaluation_cells({}))
    assert ("outputs" in cell.spec.document) == own


def test_a_renamed_learner_keeps_its_keys() -> None:
    """`RemoveOldestPerceptron` was called `ShiftingPerceptron`, which names a linear learner now."""
    names = ["RemoveOldestPerceptron", "ShiftingPerceptron"]
    plan = make_plan(parse_study({**STUDY, "algorithms": [{"name": name} for name in names]}))
    documents = {cell.spec.learner: cell.spec.document for cell in plan.evaluation_cells({})}
    stored = [(documents[name]["learner"], documents[name]["learner_version"]) for name in names]
    assert stored == [("ShiftingPerceptron", 1), ("ShiftingPerceptron", 2)]


def test_the_keys_of_a_study_are_pinned() -> None:
    """A new option of a data set does not change the keys of studies that do not use it."""
    limits = {"protocol": "holdout", "seeds": 1, "max_tune": 100, "test_fraction": 0.25}
    algorithms = [{"name": "SVC", "label": "LibSVM", "C": [1.0]}, {"name": "IncrementalSVM", "C": 1.0}]
    plain = {"name": "mine", **limits, "datasets": STUDY["datasets"][:1], "algorithms": algorithms}
    own = {**STUDY["datasets"][0], "test_fraction": 0.25, "max_tune": 100}
    for study in (plain, {**plain, "datasets": [own]}):
        plan = make_plan(parse_study(study))
        keys = [cell.key for cell in (*plan.tuning_cells(), *plan.evaluation_cells({}))]
        assert keys == ["5d195673a443791145f89e5e5f97e7ba", "1b665cd544e713853a9a8d8a572bd87c"]


def test_an_edited_plugin_has_other_cells(tmp_path: Path) -> None:
    """Only the keys of the edited plug-in change; those of built-in learners stay."""
    study = {**STUDY, "algorithms": [{"name": "Perceptron"}, {"name": "OwnEdited"}], "noise": 0.0}
    keys = []
    for text in ("", "  # edited"):
        path = tmp_path / f"plugin{len(keys)}" / "own.py"
        path.parent.mkdir()
        path.write_text(f"from singlepass.learners import AROW\nclass OwnEdited(AROW):\n    pass{text}\n")
        monkey = registry._plugins.pop("OwnEdited", None)
        assert (monkey is None) == (not keys)
        plan = make_plan(parse_study(study), plugins=(str(path),))
        keys.append({cell.spec.algorithm: cell.key for cell in plan.evaluation_cells({})})
    registry._plugins.pop("OwnEdited")
    assert keys[0]["Perceptron"] == keys[1]["Perceptron"]
    assert keys[0]["OwnEdited"] != keys[1]["OwnEdited"]


def test_a_metric_of_two_classes_ranks_no_task_of_many() -> None:
    study = {**STUDY, "datasets": [{"name": "digits"}], "metrics": ["f1", "balanced_accuracy"]}
    with pytest.raises(InputError, match="more than two classes, but 'f1', which ranks, needs two"):
        make_plan(parse_study(study))
    make_plan(parse_study({**study, "rank_by": "balanced_accuracy"}))
    make_plan(parse_study({**study, "datasets": [{"name": "digits", "task": "one-vs-rest:3"}]}))
