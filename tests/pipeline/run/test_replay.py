"""Test that a finished cell's model is learned again, or that one line says why it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import registry
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import noise_of
from singlepass.pipeline.run.replay import learn_again, planned_cell
from singlepass.pipeline.run.task import learn_cell, run_cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import TUNING_SEED, Study
from singlepass.pipeline.study.study_file import parse_study

TABLE = {
    "name": "flat",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 2,
    "datasets": [
        {"name": "gauss", "n_train": 60, "n_test": 40, "parameters": {"gamma": 0.5}},
        {"name": "gauss", "label": "wide", "n_train": 70, "n_test": 40, "parameters": {"gamma": 0.1}},
    ],
    "algorithms": [
        {"name": "Perceptron"},
        {"name": "SVC", "C": 10.0},
        {"name": "SVC", "label": "tuned", "C": [0.1, 1.0]},
        {"name": "SVC", "label": "served", "tuned_as": "tuned"},
        {"name": "SVC", "label": "matched", "cache_size": {"support_of": "SVC"}},
    ],
}


def rows_of(study: Study, base: Path | None = None) -> list[dict[str, Any]]:
    """Return the store's rows of a study whose grids were won by C = 1."""
    plan = make_plan(study, base=base)
    gammas = {entry.label: entry.parameters["gamma"] for entry in study.datasets if entry.parameters}
    winners = {
        ((task.label, "tuned", noise), TUNING_SEED): {"C": 1.0, "gamma": gammas[task.label]}
        for task in plan.tasks
        for noise in study.noise
        if task.label in gammas
    }
    rows = [run_cell(cell).row for cell in plan.evaluation_cells(winners)]
    sizes = {
        ((row["dataset"], "SVC", noise_of(row["noise"])), row["seed"]): row["support_vectors"]
        for row in rows
        if row["algorithm"] == "SVC"
    }
    return rows + [run_cell(cell).row for group in plan.matched_groups(sizes) for cell in group.cells()]


@pytest.fixture(scope="module")
def study() -> Study:
    return parse_study(TABLE)


@pytest.fixture(scope="module")
def rows(study: Study) -> list[dict[str, Any]]:
    return rows_of(study)


def test_every_cell_is_found_by_its_row(study: Study, rows: list[dict[str, Any]]) -> None:
    assert len(rows) == 2 * 2 * 2 * 5
    for row in rows:
        assert planned_cell(study, row).key == row["key"]


def test_a_repetition_of_every_seed_is_found_by_the_seed_of_its_key(
    study: Study, rows: list[dict[str, Any]]
) -> None:
    """In merged results it has the first seed, though another one may have computed it."""
    row = next(row for row in rows if row["seed"] == 1)
    assert planned_cell(study, {**row, "seed": 0, "repetitions": 1}).key == row["key"]


def test_the_model_is_the_cells(study: Study, rows: list[dict[str, Any]]) -> None:
    for row in rows:
        if row["seed"] == 1 and row["noise"] == "0.2":
            learnt = learn_again(study, row)
            test = learnt.inputs.test
            assert test is not None
            wrong = learnt.learner.predict(test.X[test.rows]) != test.codes
            assert wrong.sum() == row["test_mistakes"]
            assert np.mean(learnt.inputs.noisy != learnt.inputs.train.codes) == row["noise_realised"]
            if row["learner"] == "SVC":
                assert len(learnt.learner.support_vectors_) == row["support_vectors"]
                assert learnt.learner.gamma == (0.1 if row["dataset"] == "wide" else 0.5)


def test_a_cells_model_has_not_seen_what_judges_a_grid(study: Study) -> None:
    cell = next(make_plan(study).tuning_cells())
    learnt = learn_cell(cell)
    assert learnt.inputs.held_out is not None
    assert (len(learnt.inputs.train.rows), len(learnt.inputs.held_out[0].rows)) == (48, 12)
    assert not {*learnt.inputs.train.rows} & {*learnt.inputs.held_out[0].rows}
    assert learnt.learner.shape_fit_ == (48, 2)


def test_a_time_limit_does_not_stop_it(rows: list[dict[str, Any]]) -> None:
    limited = parse_study({**TABLE, "time_limit": 1e-9})
    row = rows[0]
    assert row["algorithm"] == "Perceptron"
    assert learn_again(limited, row).outcome.row["n_examples"] == row["n_examples"]


def test_another_outcome_is_refused(study: Study, rows: list[dict[str, Any]]) -> None:
    row = next(row for row in rows if row["algorithm"] == "SVC")
    size = row["support_vectors"]
    with pytest.raises(InputError, match=f"support vectors {size}, but the results have {size + 1}"):
        learn_again(study, {**row, "support_vectors": size + 1})
    # Missing values in a table are ignored.
    learn_again(study, {**row, "support_vectors": float("nan"), "mistakes": None})


def test_other_data_and_learners_are_no_cell_of_the_study(
    study: Study, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    longer = [{**entry, "n_train": 80} for entry in TABLE["datasets"]]  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="data set 'gauss' or learner 'Perceptron' has changed since"):
        planned_cell(parse_study({**TABLE, "datasets": longer}), rows[0])
    with pytest.raises(InputError, match="learner 'SVC' is unknown: your own learners need --plugin FILE"):
        planned_cell(study, {**rows[0], "algorithm": "gone", "learner": "SVC"})
    # A missing learner does not affect the others.
    known = {name: learner for name, learner in registry.available().items() if name != "SVC"}
    monkeypatch.setattr(registry, "available", lambda: known)
    monkeypatch.setattr(registry, "built_in", known.get)
    row = {**rows[0], "learner": "SVC", "algorithm": "tuned"}
    with pytest.raises(InputError, match="learner 'SVC' is unknown"):
        planned_cell(study, row)
    bare = [{key: entry[key] for key in ("name", "n_train", "n_test")} for entry in TABLE["datasets"]]  # type: ignore[attr-defined]
    without = parse_study({**TABLE, "datasets": bare[:1]})
    assert planned_cell(without, rows[0]).key == rows[0]["key"]


def test_a_file_is_found_from_wherever_the_report_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.RandomState(0)
    lines = [f"{a:.3f},{b:.3f},{int(a > 0)}" for a, b in rng.standard_normal((40, 2))]
    (tmp_path / "data").mkdir()
    (tmp_path / "data/mine.csv").write_text("\n".join(["a,b,y", *lines]))
    study = parse_study(
        {
            "name": "own",
            "datasets": [{"path": "./data/mine.csv", "target": "y"}],
            "algorithms": [{"name": "Perceptron"}],
        }
    )
    row = rows_of(study, base=tmp_path)[0]
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert learn_again(study, row).outcome.row["mistakes"] == row["mistakes"]
    (tmp_path / "data/mine.csv").rename(tmp_path / "moved.csv")
    with pytest.raises(InputError, match=r"mine\.csv"):
        learn_again(study, row)
