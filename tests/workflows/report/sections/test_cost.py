"""Test the costs in the report: errors within a time, what counts, and which studies have the section."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report.page.blocks import Panels, Text, walk
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections.cost import _limits, section, within_seconds

from ...synthetic_results import fail, make_results

SECONDS = {"small": 0.02, "large": 0.2}
MISTAKES = {("slow", "small"): 100, ("slow", "large"): 60, ("fast", "small"): 80, ("fast", "large"): 90}


@pytest.fixture
def results() -> StudyResults:
    made = make_results(
        datasets=("small", "large", "other"),
        algorithms=("slow", "fast"),
        noise=(0.0,),
        protocol="prequential",
    )
    cells = made.cells.copy()
    for (algorithm, dataset), wrong in MISTAKES.items():
        own = (cells["algorithm"] == algorithm) & (cells["dataset"] == dataset)
        cells.loc[own, "source"] = "stream"
        cells.loc[own, "mistakes_clean"] = wrong
        cells.loc[own, "fit_seconds"] = SECONDS[dataset] / (2 if algorithm == "fast" else 1)
    return replace(made, cells=cells, study={**made.study, "metrics": ["clean_error", "ram_hours"]})


def test_the_budget_that_errs_least_within_a_time_counts(results: StudyResults) -> None:
    found = within_seconds(StudyView(results))
    assert found is not None
    assert isinstance(found.blocks[0], Text)
    assert (
        "one source with budgets of different sizes; each size has its own row order" in found.blocks[0].text
    )
    (table,) = (block for block in walk(found.blocks) if isinstance(block, TableBlock))
    assert table.header == ["algorithm", "0.01 s", "0.03 s", "0.1 s", "0.3 s"]
    shown = [[(cell.text, cell.best) for cell in row] for row in table.rows]
    assert shown == [
        [("slow", False), ("–", False), ("10.00", False), ("10.00", False), ("6.00", True)],
        # The larger budget errs more, so the smaller one still counts.
        [("fast", False), ("8.00", True), ("8.00", True), ("8.00", True), ("8.00", False)],
    ]
    assert table.data is not None
    assert len(table.data) == 4
    (panels,) = (block for block in walk(found.blocks) if isinstance(block, Panels))
    assert [picture.file for picture in panels.pictures] == ["figures/error-by-time-1-stream.svg"]
    assert "learning, milliseconds" in panels.pictures[0].svg


def test_another_metric_is_never_shown_as_an_error(results: StudyResults) -> None:
    cells = results.cells.assign(hinge_loss_clean=0.75)
    study = {**results.study, "metrics": ["hinge_loss", "ram_hours"]}
    found = within_seconds(StudyView(replace(results, cells=cells, study=study)))
    assert found is not None
    (table,) = (block for block in walk(found.blocks) if isinstance(block, TableBlock))
    assert table.title == "Least online error (%) within a time, stream"
    assert [row[-1].text for row in table.rows] == ["6.00", "8.00"]


def test_streams_without_a_test_part_have_online_errors(results: StudyResults) -> None:
    """Another data set of the study has a test part."""
    cells = results.cells.assign(hinge_loss_clean=0.75)
    cells["test_accuracy"] = cells["dataset"].map({"other": 0.9})
    study = {**results.study, "metrics": ["hinge_loss", "ram_hours"]}
    found = within_seconds(StudyView(replace(results, cells=cells, study=study)))
    assert found is not None
    (table,) = (block for block in walk(found.blocks) if isinstance(block, TableBlock))
    assert table.title == "Least online error (%) within a time, stream"
    # Ranked by the test accuracy, which the stream lacks, the study has no such section.
    study = {**results.study, "metrics": ["test_accuracy", "ram_hours"], "rank_by": "test_accuracy"}
    assert within_seconds(StudyView(replace(results, cells=cells, study=study))) is None


def test_the_note_names_the_noise_level() -> None:
    made = make_results(datasets=("small", "large"), algorithms=("slow", "fast"), noise=(0.1, 0.3))
    study = {**made.study, "metrics": ["clean_error", "ram_hours"]}
    found = within_seconds(StudyView(replace(made, cells=made.cells.assign(source="stream"), study=study)))
    assert found is not None
    assert isinstance(found.blocks[0], Text)
    assert found.blocks[0].text.endswith("Errors and times are those at 10% label noise.")


def test_who_has_no_such_section(results: StudyResults) -> None:
    silent = replace(results, study={**results.study, "metrics": ["clean_error"]})
    assert within_seconds(StudyView(silent)) is None
    cells = results.cells.assign(source=results.cells["dataset"])
    assert within_seconds(StudyView(replace(results, cells=cells))) is None
    # Other tasks of the same rows are other streams.
    tasks = (
        results.cells["dataset"].map({"small": "one-vs-rest:1", "large": "one-vs-rest:2"}).fillna("binary")
    )
    assert within_seconds(StudyView(replace(results, cells=results.cells.assign(task=tasks)))) is None


def test_limits_are_round_and_met_by_some_and_by_all() -> None:
    assert _limits(pd.Series([0.02, 0.4])) == [0.03, 0.1, 0.3, 1.0]


def test_the_note_explains_more_updates_than_examples(results: StudyResults) -> None:
    (table,) = section(StudyView(results)).blocks
    assert isinstance(table, TableBlock)
    assert (
        "a grid tuned along the stream (leader, weights) counts the updates of all its points" in table.note
    )


def test_the_note_says_that_only_data_sets_of_all_algorithms_count(results: StudyResults) -> None:
    lost = results.cells["dataset"].eq("small") & results.cells["algorithm"].eq("fast")
    cells = results.cells.assign(queried=10)
    failed = fail(replace(results, cells=cells), cells.loc[lost, "key"].tolist())
    (table,) = section(StudyView(failed)).blocks
    assert isinstance(table, TableBlock)
    assert "Updates: mean over the 2 of 3 data sets on which every algorithm finished." in table.note
    assert "mean over the cells of these data sets." in table.note
    assert "median over the cells of these data sets, of the learner's own pass" in table.note


def test_the_note_names_algorithms_that_finished_nowhere() -> None:
    results = make_results(datasets=("a", "b", "c"), algorithms=("slow", "fast", "never"), noise=(0.0,))
    cells = results.cells
    lost = cells["algorithm"].eq("never") | (cells["dataset"].eq("a") & cells["algorithm"].eq("fast"))
    (table,) = section(StudyView(fail(results, cells.loc[lost, "key"].tolist()))).blocks
    assert isinstance(table, TableBlock)
    assert "mean over the 2 of 3 data sets on which every algorithm except never finished." in table.note
