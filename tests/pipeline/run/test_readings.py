"""Cells that are read together get the rows of results that they get alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.run import prequential
from singlepass.pipeline.run import readings as readings_module
from singlepass.pipeline.run.readings import are_read_together, readings, run_reading
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import PROVENANCE, CellResult
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

RS = [1e-3, 0.1, 1.0, 10.0, 1e3]
GRIDS: list[dict[str, Any]] = [
    {"name": "AROW", "r": RS, "epochs": [1, 3]},
    {"name": "PassiveAggressive", "variant": "PA-I", "C": [*RS, 0.5, 2.0, 5.0, 7.0], "epochs": [2, 1]},
    {"name": "PassiveAggressive", "variant": "PA", "epochs": [1, 2, 5]},
    {"name": "OnlineGradientDescent", "eta": RS},
    {"name": "KernelPerceptron", "margin": [0.0, 0.5, 1.0], "epochs": [1, 2]},
    {"name": "Projectron", "gamma": [1e-3, 0.1, 1.0]},
    # Its points are learnt one after the other.
    {"name": "AROW", "label": "full", "covariance": "full", "r": RS},
]


def tuning_cells(grid: dict[str, Any], **keys: Any) -> list[Cell]:
    table = {"name": "s", "seeds": 1, "noise": 0.1, "max_examples": 200, **keys}
    table.setdefault("datasets", [{"name": "digits", "task": "round"}])
    return list(make_plan(parse_study({**table, "algorithms": [grid]})).tuning_cells())


def results(outcome: CellResult) -> dict[str, Any]:
    row = {name: value for name, value in outcome.row.items() if name not in PROVENANCE and value is not None}
    curve = {name: np.asarray(each).tolist() for name, each in outcome.curve.items() if name != "fit_seconds"}
    return row | {"curve": curve}


@pytest.mark.parametrize(
    "grid",
    [*GRIDS[:5], *(pytest.param(each, marks=pytest.mark.slow) for each in GRIDS[5:])],
    ids=lambda grid: f"{grid.get('label', grid['name'])}",
)
@pytest.mark.parametrize("protocol", ["holdout", "prequential"])
def test_cells_of_a_reading_equal_cells_alone(
    grid: dict[str, Any], protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = tuning_cells(grid, protocol=protocol)
    assert are_read_together(cells[0].spec, cells[0].execution)
    made = [outcome for reading in readings(cells) for outcome in run_reading(reading)]
    assert sorted(outcome.row["key"] for outcome in made) == sorted(cell.key for cell in cells)
    # Alone, cells make their passes one by one; a reading makes several in one call.
    monkeypatch.setattr(prequential, "BLOCK_ROWS", 0)
    alone = {cell.key: results(run_cell(cell)) for cell in cells}
    for outcome in made:
        assert outcome.row["points"] >= 1
        assert results(outcome) == alone[outcome.row["key"]]


def test_a_reading_has_at_most_eight_points_with_all_their_passes() -> None:
    cells = tuning_cells(GRIDS[1])
    found = list(readings(cells))
    assert [len(reading) for reading in found] == [16, 2]
    assert {dict(cell.spec.params)["epochs"] for cell in found[1]} == {1, 2}


def test_many_classes_and_sparse_rows(tmp_path: Path) -> None:
    lines = [f"{t % 3} 1:{t % 7}.5 {3 + t % 5}:-1.25 9:{t % 2 + 1}" for t in range(120)]
    (tmp_path / "three.svm").write_text("\n".join(lines))
    (tmp_path / "two.svm").write_text("\n".join(line for line in lines if line[0] != "2"))
    for name in ("two", "three"):
        datasets = [{"path": str(tmp_path / f"{name}.svm")}]
        cells = tuning_cells({"name": "AROW", "r": RS, "epochs": [1, 2]}, datasets=datasets)
        (reading,) = readings(cells)
        for outcome, cell in zip(run_reading(reading), reading, strict=True):
            assert results(outcome) == results(run_cell(cell))


@pytest.mark.parametrize(
    ("grid", "keys"),
    [
        ({"name": "AROW", "r": RS}, {"time_limit": 5.0}),
        ({"name": "AROW", "r": RS}, {"delay": 2}),
        ({"name": "AROW", "r": RS, "query": "random"}, {}),
        ({"name": "AROW", "r": RS, "reset": "ddm"}, {}),
        # It numbers the rows of each pass, and so ends passes itself.
        ({"name": "MarginPerceptron", "alpha_bound": 1, "eta": [0.5, 1.0], "epochs": [1, 3]}, {}),
        # It removes support vectors.
        ({"name": "RandomizedBudgetPerceptron", "budget": [5, 10]}, {}),
    ],
)
def test_cells_that_are_not_read_together(grid: dict[str, Any], keys: dict[str, Any]) -> None:
    cell = tuning_cells(grid, **keys)[0]
    assert not are_read_together(cell.spec, cell.execution)


def test_an_error_in_a_reading_is_that_of_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    (reading,) = readings(tuning_cells(GRIDS[0]))
    bad = reading[1]
    wrong = Cell(bad.spec.at(bad.spec.seed, (("r", -1.0),)), bad.execution)
    outcomes = run_reading((reading[0], wrong, *reading[2:]))
    assert [outcome.row["status"] for outcome in outcomes] == ["ok", "failed", *["ok"] * (len(reading) - 2)]
    assert "r must be" in outcomes[1].row["error"]
    assert all(outcome.row.get("points") is None for outcome in outcomes)
    monkeypatch.setattr(readings_module, "_read", None)
    assert results(run_reading(reading)[0]) == results(run_cell(reading[0]))


def test_seconds_are_shares_of_the_reading() -> None:
    (reading,) = readings(tuning_cells(GRIDS[0]))
    outcomes = run_reading(reading)
    assert {outcome.row["points"] for outcome in outcomes} == {len(RS)}
    assert len({outcome.row["total_seconds"] for outcome in outcomes}) == 1
    by_passes: dict[int, set[float]] = {}
    for outcome in outcomes:
        passes = json.loads(outcome.row["params"])["epochs"]
        by_passes.setdefault(passes, set()).add(outcome.row["fit_seconds"])
    assert len(by_passes[1]) == len(by_passes[3]) == 1
    assert max(by_passes[1]) < max(by_passes[3])
