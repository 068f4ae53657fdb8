"""Test cells that draw their rows while they learn: equal to cells that read them from memory."""

from __future__ import annotations

from typing import Any

import pytest

from singlepass.pipeline.run import drawn_inputs as module
from singlepass.pipeline.run import task
from singlepass.pipeline.run.drawn_inputs import drawn_inputs
from singlepass.pipeline.run.readings import readings, run_reading
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.study_file import parse_study

from .test_readings import results

ROWS = 9000


def plan(*algorithms: dict[str, Any], options: dict[str, Any] | None = None, **keys: Any) -> Plan:
    datasets = [{"name": "clicks", "n_train": ROWS, "hash_bits": 8, "rows_per_day": 2500, **(options or {})}]
    table = {"name": "s", "seeds": 1, "protocol": "prequential", "order": "given", "datasets": datasets}
    return make_plan(parse_study({**table, "algorithms": list(algorithms), **keys}))


@pytest.fixture
def long_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let streams of 1,000 rows be long, and chunks short."""
    monkeypatch.setattr(module, "_SHARED_ROWS", 1000)
    monkeypatch.setattr(module, "BLOCK_ROWS", 3000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "keys",
    [
        pytest.param({}, id="plain"),
        pytest.param({"delay": 7, "window": 500, "fading": 0.99, "checkpoints": 6}, id="course"),
        pytest.param({"max_train": 7000, "max_examples": 8000}, id="shorter"),
    ],
)
def test_they_change_no_result(
    monkeypatch: pytest.MonkeyPatch, long_streams: None, keys: dict[str, Any]
) -> None:
    grid = {"name": "PassiveAggressive", "variant": "PA-I", "C": [0.1, 1.0], "epochs": 2}
    study = plan(grid, {"name": "AROW", "query": "selective"}, **keys)
    tuning = list(study.tuning_cells())
    winners = {(cell.spec.group, cell.spec.seed): dict(cell.spec.params) for cell in tuning}
    cells = [*tuning, *study.evaluation_cells(winners)]
    assert len(cells) == 4
    found = []
    for _ in range(2):
        assert all((drawn_inputs(cell.spec) is None) == bool(found) for cell in cells)
        outcomes = [outcome for reading in readings(cells) for outcome in run_reading(reading)]
        found.append([results(outcome) for outcome in outcomes])
        monkeypatch.setattr(module, "_SHARED_ROWS", ROWS)
    assert {row["status"] for row in found[0]} == {"ok"}
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "changed",
    [
        {"order": "shuffled"},
        {"noise": 0.1},
        {"protocol": "holdout"},
        {"metrics": ["auc"]},
        {"options": {"bias": True}},
        {"options": {"positive": "no click"}},
        {"max_train": 1000},
    ],
    ids=lambda changed: next(iter(changed)),
)
def test_other_cells_read_whole_streams(long_streams: None, changed: dict[str, Any]) -> None:
    algorithm = {"name": "AROW"}
    (cell,) = plan(algorithm).evaluation_cells({})
    assert drawn_inputs(cell.spec) is not None
    (cell,) = plan(algorithm, **changed).evaluation_cells({})
    assert drawn_inputs(cell.spec) is None


@pytest.mark.slow
def test_other_learners_read_whole_streams(monkeypatch: pytest.MonkeyPatch, long_streams: None) -> None:
    # Other learners learn one row at a time, which takes 1 ms.
    algorithms = {"name": "sklearn.linear_model:Perceptron"}, {"name": "AROW"}
    cells = list(plan(*algorithms, max_train=1200).evaluation_cells({}))
    monkeypatch.setattr(task, "drawn_inputs", lambda spec: pytest.fail("it drew its own rows"))
    assert run_cell(cells[0]).row["status"] == "ok"
    with pytest.raises(pytest.fail.Exception):
        learn_cell(cells[1], all_features=False)
