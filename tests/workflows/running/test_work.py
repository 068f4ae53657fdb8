"""Test which cells run first, and the estimate of the remaining time."""

from __future__ import annotations

import pytest

from singlepass.pipeline.store.schema import CellResult
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.running import work
from singlepass.workflows.running.stages import Evaluation, Tuning
from singlepass.workflows.running.work import Costs, Work

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


def ran(given: Work, costs: Costs) -> list[tuple[int, str, str]]:
    return [
        (each.spec.seed, each.spec.dataset.label, each.spec.algorithm) for (each,) in given.readings(costs)
    ]


def test_cells_run_seed_by_seed_with_data_sets_together(stage: Evaluation) -> None:
    given = Work(stage.groups, stage.keys, set())
    names = [group.name for group in stage.groups]
    assert ran(given, Costs()) == [(seed, *name) for seed in (0, 1) for name in names]
    cells = [cell for (cell,) in given.readings(Costs())]
    assert sorted(cell.key for cell in cells) == sorted(stage.keys)
    # Each cell is yielded with its own key.
    assert [cell.key for cell in cells] == [Cell(cell.spec).key for cell in cells]


def test_seeds_that_change_nothing_run_once() -> None:
    datasets = [{"name": "digits", "task": "round", "order": "given"}, {"name": "breast-cancer"}]
    once = Evaluation(make_plan(parse_study(STUDY | {"datasets": datasets})), {})
    names = [group.name for group in once.groups]
    expected = [(0, *name) for name in names] + [(1, *name) for name in names[3:]]
    assert ran(Work(once.groups, once.keys, set()), Costs()) == expected


def test_the_points_of_a_grid_stay_together() -> None:
    grid = {"name": "AROW", "r": [0.1, 1.0]}
    tuning = Tuning(make_plan(parse_study(STUDY | {"algorithms": [grid]})))
    found = list(Work(tuning.groups, tuning.keys, set()).readings(Costs()))
    assert [[cell.key for cell in reading] for reading in found] == [tuning.keys[:2], tuning.keys[2:]]
    assert len(tuning.keys) == 4


def test_only_the_missing_points_of_a_grid_are_read() -> None:
    grid = {"name": "AROW", "r": [0.1, 1.0, 10.0]}
    tuning = Tuning(make_plan(parse_study(STUDY | {"algorithms": [grid]})))
    known = {tuning.keys[1], *tuning.keys[3:]}
    (reading,) = Work(tuning.groups, tuning.keys, known).readings(Costs())
    assert [cell.key for cell in reading] == [tuning.keys[0], tuning.keys[2]]


def test_the_longest_cells_of_a_seed_come_first_and_short_ones_stay_in_order(stage: Evaluation) -> None:
    costs = Costs()
    given = Work(stage.groups, stage.keys, set())
    names = [group.name for group in stage.groups]
    seconds = dict(zip(names, [0.2, 3.0, 0.1, 0.3, 40.0, 0.05], strict=True))
    costs.learn(row(*name, each) for name, each in seconds.items())
    order = [names[i] for i in (4, 1, 0, 2, 3, 5)]
    assert ran(given, costs) == [(seed, *name) for seed in (0, 1) for name in order]


def test_stored_cells_are_not_run(stage: Evaluation) -> None:
    given = Work(stage.groups, stage.keys, {*stage.keys[:3], "another"})
    assert given.missing == 9
    # Done already: the first two cells of the first group, and the first of the second.
    names = [group.name for group in stage.groups]
    assert ran(given, Costs()) == [(0, *name) for name in names[2:]] + [(1, *name) for name in names[1:]]


def test_costs_of_new_cells_are_estimated_from_similar_cells() -> None:
    costs = Costs()
    assert costs.seconds(("a", "x")) is None
    costs.learn([row("a", "x", 1.0, 100), row("a", "x", 3.0, 100)])
    assert costs.seconds(("a", "x")) == 2.0
    # Another algorithm here; the same one elsewhere; neither.
    assert costs.seconds(("a", "y")) == costs.seconds(("b", "x")) == costs.seconds(("b", "y")) == 2.0
    costs.learn([row("b", "y", 1.0, 1000)])
    # The time of x per example, applied to the examples of b.
    assert costs.seconds(("b", "x")) == pytest.approx(4.0 / 200 * 1000)
    # Failed cells and rows without a time are ignored.
    costs.learn([row("b", "y", 99.0) | {"status": "failed"}, row("b", "y", float("nan"))])
    assert costs.seconds(("b", "y")) == 1.0


def test_the_time_left_is_that_of_the_cells_left(stage: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 10.0, 10.1, 30.0])
    monkeypatch.setattr(work.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(work, "_COMPILING_SECONDS", 0.0)
    costs, given = Costs(), Work(stage.groups, stage.keys, set())
    finished = [row(*stage.groups[0].name, 10.0)]
    assert (given.left, given.thread_seconds_left(later=3)) == (12, None)
    costs.learn(finished)
    given.note(CellResult(each) for each in finished)
    # A cell took 10 s in 10 s; eleven are left.
    assert given.seconds_left(costs) == pytest.approx(110.0)
    # Three cells of another stage are assumed to take as long as the cells of this one.
    assert (given.left, given.thread_seconds_left(later=3)) == (11, pytest.approx(140.0))
    given.note(CellResult(each) for each in finished)
    assert given.seconds_left(costs) == pytest.approx(110.0)
    # Two cells, 20 s of work, took 30 s: ten are left, at two thirds of a second's work per second.
    assert given.seconds_left(costs) == pytest.approx(10 * 10.0 * 30 / 20)


def test_time_spent_on_compiling_does_not_count_for_the_time_left(
    stage: Evaluation, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(work.time, "monotonic", lambda: clock[0])
    costs, given = Costs(), Work(stage.groups, stage.keys, set())
    names = {group.name[1]: group.name for group in stage.groups}

    def finish(*labels: str) -> None:
        rows = [row(*names[label], 0.1) for label in labels]
        costs.learn(rows)
        given.note(CellResult(each) for each in rows)

    first, *others = names
    finish(first)
    clock[0] = 10.0
    assert given.seconds_left(costs) is None
    # Now all learners are compiled.
    finish(*others)
    clock[0] = 20.0
    assert given.seconds_left(costs) is None
    finish(first, others[0])
    clock[0] = 21.0
    assert given.seconds_left(costs) == pytest.approx(given.left * 0.1 / 0.2)


def test_few_of_many_cells_give_no_time_left(stage: Evaluation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_COMPILING_SECONDS", 0.0)
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


def test_cells_of_later_stages_count_for_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    grids = [*STUDY["algorithms"][:2], {"name": "PassiveAggressive", "C": [0.1, 1.0, 10.0]}]  # type: ignore[index]
    tuning = Tuning(make_plan(parse_study(STUDY | {"algorithms": grids})))
    assert tuning.later.total() == 2 * 3 * 2
    clock = [0.0]
    monkeypatch.setattr(work, "_COMPILING_SECONDS", 0.0)
    monkeypatch.setattr(work.time, "monotonic", lambda: clock[0])
    found, costs = Work(tuning.groups, tuning.keys, set(), tuning.later), Costs()
    results = [CellResult(row(*group.name, 1.0)) for group in tuning.groups for _ in range(len(group))]
    found.note(results)
    costs.learn(result.row for result in results)
    clock[0] = float(len(results))
    # Other stages follow the last cell of a grid: each of their twelve cells takes a second, too.
    assert found.seconds_left(costs) == pytest.approx(12.0)
