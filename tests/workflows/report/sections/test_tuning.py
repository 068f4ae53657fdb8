"""Test that reports say which rows are used for tuning, by protocol and test part."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults, read_results
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections.tuning import section
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

from ...conftest import Silent
from ...synthetic_results import make_results
from ..report_page import render

ALWAYS = "by the labels the learner is given, never by clean labels."
SPLIT = "Winners are chosen on another split of the rows: of the test rows of a seed up to "
OWN = "The data set has its own test part, of which no row is used for tuning"


def _made(protocol: str = "holdout", **columns: object) -> StudyResults:
    results = make_results(datasets=("gauss", "usps"), noise=(0.1,), seeds=2, protocol=protocol)
    return replace(results, cells=results.cells.assign(**columns))


def _tuning_each(results: StudyResults) -> StudyResults:
    return replace(results, study={**results.study, "tune_each": True})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("results", "said"),
    [
        (
            _made(drawn=False, own_test=True),
            f"{OWN}; mistakes along the stream are of rows that are also used for tuning.",
        ),
        (_made(drawn=False, own_test=False), f"{SPLIT}70%, on average, are also used for tuning."),
        (_made("crossval", drawn=False), f"{SPLIT}90%, on average, are also used for tuning."),
        (_made("prequential", drawn=False), "reported rows are also used for tuning."),
        (
            _made(drawn=True, own_test=True),
            "Rows are drawn for each seed: the results contain no row used for tuning.",
        ),
        (
            _made(drawn=False, order="given"),
            "Winners are chosen on the first 10% of the stream, which are not reported.",
        ),
        # The tuning cells of a repetition draw the same rows as its reported one.
        (
            _tuning_each(_made(drawn=True, own_test=True)),
            "No test row of a repetition is used for its tuning; mistakes along the stream are of rows that "
            "are also used for tuning.",
        ),
        # Results of earlier versions do not record whether the data set has its own test part or is drawn.
        (_made(), f"Otherwise: {SPLIT}70%"),
        (
            _made("prequential"),
            "If rows are drawn for each seed, the results contain no row used for tuning. Otherwise: Winners "
            "are chosen on the reported stream in another order",
        ),
    ],
)
def test_a_report_says_which_rows_tune(results: StudyResults, said: str, tmp_path: Path) -> None:
    _, text = render(results, tmp_path)
    assert f"{ALWAYS} " in text
    assert said in text
    assert "never by test data" not in text


@pytest.mark.slow
def test_grids_that_differ_by_data_set_have_a_row_each(tmp_path: Path) -> None:
    results = _made(drawn=False)
    tuning = [
        replace(each, grid={"r": [1.0, 2.0]}) if (each.dataset, each.algorithm) == ("usps", "AROW") else each
        for each in results.tuning
    ]
    _, text = render(replace(results, tuning=tuning), tmp_path)
    assert "| PA-I | 4 | r | 0.01, 0.1, 1, 10 |" in text
    assert "| AROW on gauss | 4 | r | 0.01, 0.1, 1, 10 |" in text
    assert "| AROW on usps | 2 | r | 1, 2 |" in text


def test_a_grid_whose_points_all_failed_names_no_criterion() -> None:
    results = _made(drawn=False)
    lost = {"criterion": "", "winner": None, "scores": [], "at_edge": ()}
    tuning = [
        replace(each, **lost) if each.algorithm == "AROW" or each.dataset == "usps" else each
        for each in results.tuning
    ]
    found = section(StudyView(replace(results, tuning=tuning)))
    assert found is not None
    grids = found.blocks[0]
    assert isinstance(grids, TableBlock)
    assert {row[0].text: row[4].text for row in grids.rows} == {"PA-I": "online mistakes", "AROW": "–"}


@pytest.mark.slow
def test_seeds_that_tune_share_nothing(tmp_path: Path) -> None:
    results = _made(drawn=False)
    _, text = render(results, tmp_path / "shared")
    assert "over seeds, which share what tuning chose." in text
    for alone in ({"study": {**results.study, "tune_each": True}}, {"tuning": []}):
        _, text = render(replace(results, **alone), tmp_path)
        assert "over seeds." in text
        assert "share what tuning chose" not in text


@pytest.mark.slow
def test_data_sets_of_several_kinds_are_named(tmp_path: Path) -> None:
    results = _made(drawn=False, own_test=True)
    own = (results.cells["dataset"] == "usps").tolist()
    _, text = render(_made(drawn=False, own_test=own), tmp_path)
    assert f"gauss: {SPLIT}70%" in text
    assert f"usps: {OWN}" in text


def test_cells_say_whose_their_test_rows_are(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        rows = [f"{x},{int(x > 0)}" for x in rng.normal(size=60)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["x,label", *rows]), encoding="utf-8")
    table = {
        "name": "kinds",
        "protocol": "holdout",
        "test_fraction": 0.4,
        "seeds": 1,
        "datasets": [
            {"path": str(tmp_path / "train.csv"), "test": str(tmp_path / "test.csv"), "label": "own"},
            {"path": str(tmp_path / "train.csv"), "label": "cut"},
            {"name": "gauss", "n_train": 50, "n_test": 20},
            {"path": str(tmp_path / "train.csv"), "label": "stream", "protocol": "prequential"},
        ],
        "algorithms": [{"name": "AROW", "r": [0.1, 1.0]}],
    }
    out = tmp_path / "out"
    run_study(parse_study(table), str(out), progress=Silent(), options=WorkerOptions(threads=1))
    results = read_results(str(out))
    cells = results.cells[results.cells["stage"] == "run"].set_index("dataset")
    assert cells["drawn"].to_dict() == {"own": False, "cut": False, "gauss": True, "stream": False}
    found = {name: value for name, value in cells["own_test"].items() if value is not None and value == value}
    assert found == {"own": True, "cut": False, "gauss": True}
    _, text = render(results, tmp_path / "report")
    for each in (
        f"own: {OWN}",
        f"cut: {SPLIT}60%",
        "gauss: Rows are drawn",
        "stream: Winners are chosen on the",
    ):
        assert each in text
