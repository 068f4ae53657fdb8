"""Test which metric ranks, which metrics have tables, and the notes about them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report.page.blocks import Text
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.opening import notes, opening
from singlepass.workflows.report.sections import scores

from ...synthetic_results import make_results
from ..report_page import csv_rows, render


def counted(
    results: StudyResults, positives: int = 30, constant: str | None = None, **study: Any
) -> StudyResults:
    """Add class counts to cells with `positives` of 1,000 rows; `constant` never finds any of them."""
    columns: dict[str, list[list[int]]] = {}
    for algorithm, seed in zip(results.cells["algorithm"], results.cells["seed"], strict=True):
        found, wrong = (0, 0) if algorithm == constant else (positives // 2 + seed, 10)
        rest = 1000 - positives
        counts = {
            "right": [rest - wrong, found],
            "predicted": [rest - wrong + positives - found, found + wrong],
            "occurred": [rest, positives],
        }
        for name, count in counts.items():
            columns.setdefault(name if name == "predicted" else f"{name}_clean", []).append(count)
            columns.setdefault(f"test_{name}", []).append(count)
    return replace(results, cells=results.cells.assign(**columns), study={**results.study, **study})


def small(**options: Any) -> StudyResults:
    return make_results(
        datasets=("a", "b", "c"), algorithms=("A", "B"), noise=(0.0,), seeds=2, tuned=(), **options
    )


def test_the_first_metric_ranks_and_the_others_have_tables(tmp_path: Path) -> None:
    asked = ["test_balanced_accuracy", "test_f1", "log_loss"]
    results = counted(small(), constant="A", metrics=asked)
    view = StudyView(results)
    assert view.metric.name == "test_balanced_accuracy"
    assert [[c.metric.name for c in series] for series in view.other_comparisons] == [["test_f1"]]
    page, markdown = render(results, tmp_path)
    assert "metrics" in page.ids
    assert "Algorithms are judged by test balanced accuracy." in markdown
    # A learner that never finds a positive gets one class in two right.
    head, *rows = csv_rows(tmp_path / "tables" / "test-balanced-accuracy-noise-0.csv")
    means = {row[head.index("algorithm")]: float(row[head.index("mean")]) for row in rows}
    assert means["A"] == 0.5 < means["B"]
    assert (tmp_path / "tables" / "mean-ranks-test-f1.csv").exists()
    # No learner gives probabilities, so the log loss has no table.
    assert not list((tmp_path / "tables").glob("*log-loss*"))
    assert "Requested, but without a value in any cell: online log loss." in markdown


def test_rank_by_names_another_and_without_metrics_nothing_changes() -> None:
    results = counted(small(), metrics=["test_f1", "test_error"], rank_by="test_error")
    view = StudyView(results)
    assert [metric.name for metric in view.asked] == ["test_error", "test_f1"]
    assert view.metric.direction == "lower"
    plain = StudyView(small())
    assert plain.metric.name == "test_accuracy"
    assert [series[0].metric.name for series in plain.other_comparisons] == ["clean_error"]
    assert scores.metrics(plain) is None
    assert notes(plain) == []


@pytest.mark.parametrize(
    ("positives", "study", "said"),
    [
        (30, {}, True),
        (30, {"metrics": ["test_error"]}, True),
        (30, {"metrics": ["test_f1"]}, False),
        (100, {}, False),
    ],
)
def test_rare_classes_are_noted_where_the_error_ranks(
    positives: int, study: dict[str, Any], said: bool
) -> None:
    found = [text for text in notes(StudyView(counted(small(), positives, **study))) if "rarest" in text]
    assert bool(found) == said
    if said:
        assert found[0].startswith("The rarest class has less than 5% of the rows in 3 data sets: a (3%)")


def test_of_many_classes_alike_none_is_rare() -> None:
    results = counted(small())
    cells = results.cells.assign(occurred_clean=[[40] * 25] * len(results.cells))
    assert not any("rarest" in text for text in notes(StudyView(replace(results, cells=cells))))


@pytest.mark.parametrize(
    ("delay", "due", "judging", "said"),
    [
        (0, "after", np.nan, False),
        (998, "after", np.nan, False),
        (999, "after", np.nan, True),
        (999, "before", np.nan, False),
        (1000, "before", np.nan, True),
        (1000, "after", 100, False),
        (1099, "after", 100, True),
    ],
)
def test_streams_that_end_before_a_label_comes_are_named(
    delay: int, due: str, judging: float, said: bool
) -> None:
    results = counted(small(), delay=delay, label_due=due)
    results = replace(results, cells=results.cells.assign(n_examples=1000, counted_from=judging))
    line = f"No prediction along the stream of a, b and c uses a label (delay = {delay})."
    assert (line in notes(StudyView(results))) == said


@pytest.mark.parametrize(("delay", "validated", "said"), [(98, 0, 0), (99, 0, 1), (99, 3, 0), (999, 0, 0)])
def test_grids_judged_before_a_label_comes_are_named(delay: int, validated: int, said: int) -> None:
    results = counted(small(), delay=delay)
    cells = results.cells
    judged = cells[cells["dataset"] == "b"].assign(stage="tune", n_examples=100)
    judged = judged.assign(validation_mistakes=validated or np.nan)
    cells = pd.concat([cells.assign(n_examples=1000), judged])
    found = [text for text in notes(StudyView(replace(results, cells=cells))) if "Grids" in text]
    assert [text.split(",")[0] for text in found] == [
        "Grids on b are judged on rows that are predicted before any label comes (delay = 99)"
    ] * said


def test_only_data_sets_with_a_grid_are_said_to_judge_one() -> None:
    results = small()
    for tuned, on in ((["b"], " on b"), (["a", "b", "c"], "")):
        counted_from = results.cells["dataset"].isin(tuned).map({True: 100.0, False: np.nan})
        cells = results.cells.assign(order="given", counted_from=counted_from)
        first = opening(StudyView(replace(results, cells=cells)))[1]
        assert isinstance(first, Text)
        assert f"Winners of grids{on} are chosen on the first 10% of such a stream." in first.text


@pytest.mark.parametrize(
    ("learned", "judging", "said"), [(9, np.nan, False), (0, np.nan, True), (0, 5, False)]
)
def test_tested_classes_that_are_not_learned_are_noted(learned: int, judging: float, said: bool) -> None:
    results = counted(small())
    n = len(results.cells)
    cells = results.cells.assign(
        occurred_clean=[[991, learned]] * n, test_occurred=[[50, 50]] * n, counted_from=judging
    )
    found = [text for text in notes(StudyView(replace(results, cells=cells))) if "learned row" in text]
    assert bool(found) == said
    if said:
        assert found[0].startswith("In the test part of a, b and c there are classes without a learned row")


@pytest.mark.parametrize(
    ("drawn", "limits", "remedy"),
    [
        (False, {}, "."),
        (False, {"max_train": 1000}, ": set a larger max_train."),
        (False, {"max_train": 5000, "max_examples": 1000}, ": set a larger max_examples."),
        (True, {"max_train": 5000}, ": set a larger n_train."),
        (True, {"max_train": 1000}, ": set a larger max_train."),
    ],
)
def test_the_remedy_for_unlearned_classes_is_what_limits_the_rows(
    drawn: bool, limits: dict[str, int], remedy: str
) -> None:
    results = counted(small(), **limits)
    n = len(results.cells)
    cells = results.cells.assign(
        n_examples=1000, drawn=drawn, occurred_clean=[[1000, 0]] * n, test_occurred=[[50, 50]] * n
    )
    [line] = [text for text in notes(StudyView(replace(results, cells=cells))) if "learned row" in text]
    assert line.endswith(f"which a model cannot predict{remedy}")


def test_who_is_below_the_most_frequent_class_is_named() -> None:
    results = counted(small(), positives=100)
    below = results.cells["algorithm"] == "B"
    cells = results.cells.assign(test_accuracy=np.where(below, 0.8, 0.96))
    found = [text for text in notes(StudyView(replace(results, cells=cells))) if text.startswith("Below")]
    assert found == [
        "Below the most frequent class: B is less often right than a constant prediction of it in 3 of 6 "
        "cases (a case is an algorithm on a data set at a noise level), most of all B on a, 0% label noise: "
        "80.0% against 90.0%."
    ]
    fine = replace(results, cells=results.cells.assign(test_accuracy=0.96))
    assert not any(text.startswith("Below") for text in notes(StudyView(fine)))
    # 1 - 7/30 is less than 23/30 in floats; a learner of one class is not below that class.
    constant = {"test_occurred": None, "right_clean": None, "mistakes_clean": 7, "n_examples": 30}
    occurred = pd.Series([np.array([23, 7])] * len(cells), cells.index)
    same = replace(results, cells=cells.assign(**constant, occurred_clean=occurred))
    assert not any(text.startswith("Below") for text in notes(StudyView(same)))
    # Along the stream ties are mistakes, but metrics of predictions count them as the first class.
    tied = cells.assign(test_occurred=None, mistakes_clean=500, n_examples=1000)
    right = pd.Series([np.array([880, 50])] * len(tied), tied.index)
    for stored, said in ((right, False), (None, True)):
        texts = notes(StudyView(replace(results, cells=tied.assign(right_clean=stored))))
        assert any(text.startswith("Below") for text in texts) == said


def test_ties_are_noted_where_they_matter() -> None:
    results = counted(small(), positives=1000)
    for ties, said in ((1, False), (100, True)):
        cells = results.cells.assign(ties=ties, test_ties=np.nan)
        found = [text for text in notes(StudyView(replace(results, cells=cells))) if text.startswith("Exact")]
        assert bool(found) == said
        if said:
            assert "10.0% of the stream for A on a" in found[0]


def test_sentences_name_data_sets_in_the_order_of_the_study() -> None:
    results = make_results(datasets=("c", "a", "b"), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    cells = results.cells.assign(own_test=False, scaling="gaps by learnt").sort_values("dataset")
    first = opening(StudyView(replace(results, cells=cells)))[1]
    assert isinstance(first, Text)
    assert "Test rows of c, a and b are drawn from all rows" in first.text
    filled = "Missing values of c, a and b, if any, are filled with means of all rows that are learned, so"
    assert filled in first.text
    assert "scaled by" not in first.text


def test_cells_of_earlier_versions_do_not_say_that_features_are_scaled_if_gaps_are_filled() -> None:
    results = make_results(datasets=("a", "b", "c"), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    keys = [{"missing": "mean"}, {"missing": "mean", "standardize": True}, {"compose": [{"name": "d"}]}]
    entries = [given | own for given, own in zip(results.study["datasets"], keys, strict=True)]
    cells = results.cells.assign(own_test=True, scaling="all")
    first = opening(StudyView(replace(results, cells=cells, study=results.study | {"datasets": entries})))[1]
    assert isinstance(first, Text)
    assert "Features of b and c are scaled by" in first.text
    assert "Missing values of a, if any, are filled" in first.text
