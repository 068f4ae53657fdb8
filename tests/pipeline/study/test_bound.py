"""Test algorithms that run on only some of a study's data sets."""

from __future__ import annotations

from typing import Any

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.study_file import parse_study

GAUSS = {"name": "gauss", "n_train": 50, "n_test": 20}
DIGITS = {"name": "digits", "task": "multiclass"}


def plan_of(*algorithms: dict[str, Any], **keys: Any) -> Plan:
    table = {"name": "s", "seeds": 2, "datasets": [GAUSS, DIGITS], "algorithms": list(algorithms), **keys}
    return make_plan(parse_study(table))


def test_it_has_cells_on_its_data_sets_alone_and_they_are_the_same_cells() -> None:
    free, bound = {"name": "AROW"}, {"name": "KernelPerceptron", "datasets": ["gauss"]}
    plan = plan_of(free, bound)
    cells = list(plan.evaluation_cells({}))
    where = [(cell.spec.dataset.label, cell.spec.algorithm) for cell in cells[::2]]
    assert where == [("gauss", "AROW"), ("gauss", "KernelPerceptron"), ("digits", "AROW")]
    assert len(cells) == plan.n_evaluation_cells == 6
    alone = plan_of({"name": "KernelPerceptron"}, datasets=[GAUSS]).evaluation_cells({})
    assert {cell.key for cell in alone} < {cell.key for cell in cells}


def test_its_grid_and_its_parameters_are_asked_for_there_alone() -> None:
    svm = {"name": "SVC", "C": [1.0, 10.0], "datasets": ["gauss"]}
    datasets = [{**GAUSS, "protocol": "holdout", "parameters": {"gamma": 0.1}}, DIGITS]
    plan = plan_of({"name": "AROW"}, svm, datasets=datasets)
    assert plan.n_tuning_cells == len(list(plan.tuning_cells())) == 2


def test_a_learner_of_two_classes_is_still_refused_where_it_is_bound_to_more() -> None:
    with pytest.raises(
        InputError, match=r"takes two with query = .* or restrict the algorithm with datasets"
    ):
        plan_of({"name": "KernelPerceptron", "query": "greedy", "datasets": ["digits"]})
    plan_of({"name": "AROW"}, {"name": "KernelPerceptron", "query": "greedy", "datasets": ["gauss"]})


@pytest.mark.parametrize(
    ("algorithms", "line"),
    [
        (
            [{"name": "AROW", "datasets": ["gaus"]}],
            "algorithms: datasets of 'AROW': no data set is called 'gaus': did you mean 'gauss'?",
        ),
        ([{"name": "AROW", "datasets": "gauss"}], "algorithms[1].datasets: 'gauss' should be a valid list"),
        (
            [
                {"name": "Projectron", "datasets": ["gauss"]},
                {"name": "Forgetron", "budget": {"support_of": "Projectron"}},
            ],
            "algorithms: 'Forgetron' depends on 'Projectron', which does not run on data set 'digits': "
            "give both the same datasets",
        ),
    ],
)
def test_what_is_wrong_is_one_line(algorithms: list[dict[str, Any]], line: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_of(*algorithms)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)
