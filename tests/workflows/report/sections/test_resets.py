"""Test studies with drift detectors: cells, the report's counts of restarts, and bad keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singlepass.learners import AROW, FollowTheLeader, Resetting
from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report.sections.resets import delays_of
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

from ...conftest import Silent
from ..report_page import render

STAGGER = {
    "label": "stagger",
    "compose": [{"name": "stagger", "concept": each} for each in (1, 2)],
    "n_train": 600,
    "bias": True,
}


def _study(**algorithm: Any) -> dict[str, Any]:
    own = {"name": "AROW", "label": "restarted", "reset": "ddm", **algorithm}
    return {
        "name": "s",
        "order": "given",
        "seeds": 2,
        "window": 100,
        "datasets": [STAGGER],
        "algorithms": [{"name": "AROW"}, own],
    }


def test_delays() -> None:
    assert delays_of([40, 130, 150, 420], [100, 200, 400]) == [30, 20]
    assert delays_of([100], [100]) == []
    assert delays_of([], [100]) == []
    # Restarts just before the middle of a gradual change find that change, not the one before.
    assert delays_of([136, 1_967, 4_065], [100, 2_000, 4_000], early=100) == [36, -33, 65]


@pytest.mark.slow
@pytest.mark.parametrize("tuned", [{}, {"tune": "leader", "r": [0.1, 1.0]}])
def test_a_report_counts_restarts(tmp_path: Path, tuned: dict[str, Any]) -> None:
    out = tmp_path / "out"
    run_study(parse_study(_study(**tuned)), str(out), progress=Silent(), options=WorkerOptions(threads=1))
    results = read_results(str(out))
    cells = results.cells.set_index(["algorithm", "seed"])
    assert cells.loc["AROW", "switches"].isna().all()
    found = [switches.tolist() for switches in cells.loc["restarted", "switches"]]
    late = [delay for restarts in found for delay in delays_of(restarts, [300])]
    assert late
    _, text = render(results, tmp_path / "report")
    counted = sum(map(len, found)) / 2, 1.0, len(late) / 2, sum(late) / len(late)
    row = " | ".join(["stagger", "0% label noise", "restarted", *(f"{each:.1f}" for each in counted)])
    assert row in text


def test_a_tuned_grid_is_restarted_as_a_whole() -> None:
    plan = make_plan(parse_study(_study(tune="leader", r=[0.1, 1.0])))
    spec = plan.study.algorithms[1]
    made = plan.learners["restarted"].make({**spec.fixed, **spec.strategy})
    assert repr(made) == repr(Resetting(FollowTheLeader(AROW(), {"r": [0.1, 1.0]}), "ddm"))


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        ({"query": "all"}, "reset = 'ddm' does not work with query: remove one of the two"),
        ({"name": "BBQ"}, "BBQ decides itself which labels to ask for: remove reset"),
        ({"epochs": 2}, "reset detects changes along one pass, so epochs must be 1, got 2"),
        ({"name": "sklearn.linear_model:SGDClassifier"}, "reset works with learners of this package only"),
        ({"name": "Resetting", "reset": None}, "name the learner, with reset = 'ddm'"),
    ],
)
def test_a_reset_that_cannot_work_is_one_line(algorithm: dict[str, Any], message: str) -> None:
    table = _study(**algorithm)
    table["algorithms"][1] = {key: each for key, each in table["algorithms"][1].items() if each is not None}
    with pytest.raises(InputError, match=message):
        make_plan(parse_study(table))
