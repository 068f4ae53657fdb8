"""Which cells come first, and what is said of the time that they will take."""

from __future__ import annotations

import pytest

from singlepass.pipeline.store.cell_result import CellResult
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.running import work
from singlepass.workflows.running.costs import Costs
from singlepass.workflows.running.stages import Evaluation
from singlepass.workflows.running.work import Work

STUDY = {
    "name": "s",
    "seeds": 2,
    "datasets": [{"name": "digits", "task": "round"}, {"name": "breast-cancer"}],
    "algorithms": [{"name": "Perceptron"}, {"name": "AROW"}, {"name": "PassiveAggressive"}],
}


def row(dataset: str, algorithm: str, seconds: float, examples: int = 100) -> dict[str, object]:
    return {
        "dataset": dataset,
        "algorithm": algorithm,
        "status": "ok",
        "total_seconds": seconds,
        "n_examples": examples,
    }


@pytest.fixture
def stage() -> Evaluation:
    return Evaluation(make_plan(parse_study(STUDY)), {})


def test_the_keys_of_a_group_are_those_of_its_cells(stage: Evaluation) -> None:
    assert stage.keys == [cell.key for group in stage.groups for cell in group.cells()]
    assert len(set(stage.keys)) == 12


def test_the_longest_cells_come_first_and_short_ones_stay_in_order(stage: Evaluation) -> None:
    costs = Costs()
    given = Work(stage.groups, stage.keys, set())
    assert [cell.key for cell in given.cells(costs)] == stage.keys
    names = [group.name for group in stage.groups]
    seconds = dict(zip(names, [0.2, 3.0, 0.1, 0.3, 40.0, 0.05], strict=True))
    costs.learn(row(*name, each) for name, each in seconds.items())
    found = [cell.spec for cell in given.cells(costs)]
    order = [names[i] for i in (4, 1, 0, 2, 3, 5)]
    assert [(spec.dataset.label, spec.algorithm) for spec in found] == [
        name for name in order for _ in (0, 1)
    ]
    assert {cell.key for cell in given.cells(costs)} == set(stage.keys)


def test_what_is_there_is_not_run(stage: Evaluation) -> None:
    given = Work(stage.groups, stage.keys, {*stage.keys[:3], "another"})
    assert given.missing == 9
    assert [cell.key for cell in given.cells(Costs())] == stage.keys[3:]


def test_costs_of_cells_that_nobody_has_run_are_taken_from_their_like() -> None:
    costs = Costs()
    assert costs.seconds(("a", "x")) is None
    costs.learn([row("a", "x", 1.0, 100), row("a", "x", 3.0, 100)])
    assert costs.seconds(("a", "x")) == 2.0
    # Another algorithm here; the same one elsewhere; neither.
    assert costs.seconds(("a", "y")) == costs.seconds(("b", "x")) == costs.seconds(("b", "y")) == 2.0
    costs.learn([row("b", "y", 1.0, 1000)])
    # What x takes an example, for the examples of b.
    assert costs.seconds(("b", "x")) == pytest.approx(4.0 / 200 * 1000)
    # Failed ones teach nothing, nor do rows without a time.
    costs.learn([row("b", "y", 99.0) | {"status": "failed"}, row("b", "y", float("nan"))])
    assert costs.seconds(("b", "y")) == 1.0


def test_the_time_left_is_that_of_the_cells_left(stage: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 10.1, 30.0])
    monkeypatch.setattr(work.time, "monotonic", lambda: next(clock))
    costs, given = Costs(), Work(stage.groups, stage.keys, set())
    finished = [row(*stage.groups[0].name, 10.0)]
    assert (given.left, given.thread_seconds_left(later=3)) == (12, None)
    costs.learn(finished)
    given.note(CellResult(each) for each in finished)
    # A cell has taken 10 s in 10 s; eleven are left.
    assert given.seconds_left(costs) == pytest.approx(110.0)
    # With three of another stage, which take what this one's have taken.
    assert (given.left, given.thread_seconds_left(later=3)) == (11, pytest.approx(140.0))
    given.note(CellResult(each) for each in finished)
    assert given.seconds_left(costs) == pytest.approx(110.0)
    # Two cells in 30 s, 20 s of cells: ten are left, two thirds of a cell's second a second.
    assert given.seconds_left(costs) == pytest.approx(10 * 10.0 * 30 / 20)


def test_the_first_of_very_many_cells_do_not_tell_the_time_left(stage: Evaluation) -> None:
    costs, given = Costs(), Work(stage.groups, stage.keys, set())
    finished = [row(*stage.groups[0].name, 10.0)]
    costs.learn(finished)
    given.missing = 101
    given.note(CellResult(each) for each in finished)
    assert given.seconds_left(costs) is None
    given = Work(stage.groups, stage.keys, set())
    given.missing = 100
    given.note(CellResult(each) for each in finished)
    assert given.seconds_left(costs) is not None
