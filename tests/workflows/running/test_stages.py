"""Test the stages of a study: their order, how often they read the store, and which cells they miss."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd

from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.running.stages import Evaluation, Matched, Stage, Tuning

GRID = {"name": "AROW", "r": [0.1, 1.0, 10.0]}
MATCHED = {"name": "Forgetron", "budget": {"support_of": "Projectron"}}


def cells_of(stage: Stage) -> list[Cell]:
    return [cell for group in stage.groups for cell in group.cells()]


def plan_of(*algorithms: dict[str, Any]) -> Plan:
    dataset = {"name": "gauss", "n_train": 50, "n_test": 20}
    table = {"name": "s", "noise": [0.0, 0.1], "seeds": 2, "datasets": [dataset], "algorithms": algorithms}
    return make_plan(parse_study(table))


class Table:
    """Provide a cells table that counts its reads; the middle of a grid is the best point."""

    def __init__(self, cells: list[Cell], **columns: Any) -> None:
        self.reads = 0
        self.rows = pd.DataFrame(
            [
                {
                    "key": cell.key,
                    "dataset": cell.spec.dataset.label,
                    "algorithm": cell.spec.algorithm,
                    "noise": cell.spec.noise.slug,
                    "seed": cell.spec.seed,
                    "stage": cell.spec.stage,
                    "status": "ok",
                    "params": json.dumps(dict(cell.spec.params)),
                    # Recorded by an earlier form of the study; the plan's grid counts.
                    "grid": json.dumps({"r": [7.0]}),
                    "repetitions": float("nan"),
                    "parent": cell.spec.dataset.parent,
                    "source": cell.spec.dataset.source,
                    "started": pd.Timestamp("2026-01-01"),
                    "validation_mistakes": float("nan"),
                    "validation_examples": float("nan"),
                    "n_examples": 50,
                    "mistakes": 5 if dict(cell.spec.params).get("r") == 1.0 else 9,
                    "support_vectors": 12,
                }
                | columns
                for cell in cells
            ]
        )

    def __call__(self) -> pd.DataFrame:
        self.reads += 1
        return self.rows


def unread() -> pd.DataFrame:
    raise AssertionError("the store is not needed")


def test_stages_come_in_order_and_read_once_each() -> None:
    plan = plan_of(GRID, {"name": "Projectron"}, MATCHED)
    stages: list[Stage] = []
    stage: Stage | None = Tuning(plan)
    while stage is not None:
        stages.append(stage)
        cells = cells_of(stage)
        assert stage.keys == [cell.key for cell in cells]
        table = Table(cells)
        stage = stage.after(table)
        assert table.reads == (stage is not None)
    assert [type(each) for each in stages] == [Tuning, Evaluation, Matched]
    assert [each.counts for each in stages] == [False, True, True]
    tuning, evaluation, matched = (cells_of(each) for each in stages)
    assert len(tuning) == 2 * 3
    assert {(cell.spec.algorithm, dict(cell.spec.params).get("r")) for cell in evaluation} == {
        ("AROW", 1.0),
        ("Projectron", None),
    }
    assert [dict(cell.spec.params)["budget"] for cell in matched] == [12] * 4
    assert [list(each.lacking()) for each in stages] == [[], [], []]


def test_a_stage_reads_only_what_it_needs() -> None:
    evaluation = Tuning(plan_of({"name": "Perceptron"})).after(unread)
    assert isinstance(evaluation, Evaluation)
    assert len(cells_of(evaluation)) == 4
    assert evaluation.after(unread) is None


def test_rows_of_other_cells_are_ignored() -> None:
    plan = plan_of(GRID)
    table = Table(cells_of(Tuning(plan)))
    table.rows["key"] = "another study's " + table.rows["key"]
    evaluation = Tuning(plan).after(table)
    assert cells_of(evaluation) == []


def test_models_without_a_support_size_are_named_with_how_often() -> None:
    plan = plan_of({"name": "Projectron"}, MATCHED)
    table = Table(cells_of(Evaluation(plan, {})))
    table.rows.loc[0, "status"] = "failed"
    table.rows["support_vectors"] = table.rows["support_vectors"].astype("float64")
    table.rows.loc[1, "support_vectors"] = float("nan")
    matched = Evaluation(plan, {}).after(table)
    assert matched is not None
    assert len(cells_of(matched)) == 2
    assert list(matched.lacking()) == [
        "Forgetron: not run 2 times, because Projectron has no number of support vectors there"
    ]


def test_grids_without_a_finished_point_are_named() -> None:
    plan = plan_of(GRID, {"name": "Perceptron"})
    tuning = Tuning(plan)
    table = Table(cells_of(tuning), status="stopped")
    evaluation = tuning.after(table)
    assert list(evaluation.lacking()) == [
        "AROW: no point of its grid was finished on gauss, noise 0.0, and 1 more: its cells there are not run"
    ]
    assert {cell.spec.algorithm for cell in cells_of(evaluation)} == {"Perceptron"}
    assert not list(tuning.after(Table(cells_of(tuning))).lacking())
