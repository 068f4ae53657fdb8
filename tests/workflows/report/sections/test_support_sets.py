"""Test the report's section on support sets, and that studies without them have none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report import render_report
from singlepass.workflows.report.page.blocks import Panels, Section, walk
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import cost, support_sets

from ...synthetic_results import SIZES, fail, make_results, results_with_sizes
from ..report_page import texts


@pytest.fixture(scope="module")
def results() -> StudyResults:
    return results_with_sizes(datasets=("digits[0-vs-rest]", "digits[1-vs-rest]", "gauss"), noise=(0.0, 0.1))


def section(results: StudyResults) -> Section:
    found = support_sets.section(StudyView(results))
    assert found is not None
    return found


def tables(section: Section) -> list[TableBlock]:
    return [block for block in walk(section.blocks) if isinstance(block, TableBlock)]


def panels(section: Section) -> list[Panels]:
    return [block for block in walk(section.blocks) if isinstance(block, Panels)]


@pytest.mark.slow
def test_means_are_over_data_sets_and_seeds(results: StudyResults) -> None:
    found = section(results)
    models, *sizes = tables(found)
    shown = [[cell.text for cell in row] for row in models.rows]
    assert shown == [
        ["Projectron 0.1", "305", "610.0", "244"],
        ["Projectron 0.5", "45", "90.0", "36"],
        ["Forgetron", "105", "210.0", "84"],
    ]
    # Tasks of one base set share a panel: the two digits tasks do, gauss has its own; AROW is left out.
    errors, curves = panels(found)
    assert [picture.heading for picture in errors.pictures] == [
        "digits one-vs-rest, 0% label noise",
        "gauss, 0% label noise",
    ]
    assert [picture.heading for picture in curves.pictures] == [
        "digits[0-vs-rest], 0% label noise",
        "gauss, 0% label noise",
    ]
    assert "test error, %" in errors.pictures[0].svg
    assert {*SIZES} <= set(texts(errors.pictures[0].sheet))
    assert "AROW" not in {*texts(errors.pictures[0].sheet), *texts(errors.pictures[0].svg)}
    assert len(sizes) == 2


@pytest.mark.slow
def test_captions_count_data_sets_by_noise_level_and_restriction(results: StudyResults) -> None:
    def notes(made: StudyResults) -> tuple[str, str]:
        updates = next(
            block for block in cost.section(StudyView(made)).blocks if isinstance(block, TableBlock)
        )
        return tables(section(made))[0].note, updates.note

    for note, noise in zip(notes(results), ("2 noise levels and ", ""), strict=True):
        assert f"mean over {noise}3 data sets." in note
    cells = results.cells
    gone = cells[(cells["algorithm"] == "AROW") & (cells["dataset"] == "gauss") & (cells["noise"] == "0.1")]
    for note in notes(fail(results, gone["key"].tolist())):
        assert "the data sets on which every algorithm finished (3 at 0%, 2 at 10%)." in note
    *others, last = results.study["algorithms"]
    study = {**results.study, "algorithms": [*others, last | {"datasets": ["gauss"]}]}
    bound = cells[(cells["algorithm"] != "AROW") | (cells["dataset"] == "gauss")]
    for note in notes(replace(results, cells=bound, study=study)):
        assert "3 data sets, except those where the algorithm does not run." in note


@pytest.mark.slow
@pytest.mark.parametrize(("protocol", "error"), [("holdout", "test"), ("prequential", "online")])
def test_errors_are_drawn_if_another_metric_ranks(protocol: str, error: str) -> None:
    made = results_with_sizes(datasets=("gauss",), noise=(0.0,), protocol=protocol)
    ranked = replace(made, cells=made.cells.assign(auc_clean=0.99), study={**made.study, "metrics": ["auc"]})
    (drawn, _), (usual, _) = panels(section(ranked)), panels(section(made))
    assert (
        drawn.pictures[0].title
        == f"{error.capitalize()} error against support vectors, gauss, 0% label noise"
    )
    assert drawn.pictures[0].svg == usual.pictures[0].svg


def test_without_a_support_set_there_is_no_section(tmp_path: Path) -> None:
    made = make_results(datasets=("gauss",), noise=(0.0,), seeds=2)
    assert support_sets.section(StudyView(made)) is None
    render_report(made, tmp_path)
    assert "Support sets" not in (tmp_path / "report.md").read_text()


@pytest.mark.slow
def test_the_section_is_in_every_form_of_the_report(results: StudyResults, tmp_path: Path) -> None:
    names = {str(path.relative_to(tmp_path)) for path in render_report(results, tmp_path)}
    assert {
        "tables/model-size.csv",
        "tables/support-vectors-noise-0.1.tex",
        "figures/error-by-support-2-gauss.svg",
        "figures/support-vectors.svg",
    } <= names
    page, text = ((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))
    assert '<section id="support">' in page
    assert "![Test error against support vectors, gauss, 0% label noise]" in text
    assert "(figures/support-vectors.svg)" in text
    sums = (
        "For a grid tuned along the stream (tune = leader or weights), each number is the sum over all points"
    )
    assert sums in page
    assert sums in text
    data = pd.read_csv(tmp_path / "tables/model-size.csv")
    assert set(data["metric"]) == {"support_vectors", "evaluation_rate", "model_kilobytes"}
    assert set(data["algorithm"]) == set(SIZES)


@pytest.mark.slow
def test_a_batch_baseline_takes_part_without_a_curve(tmp_path: Path) -> None:
    made = results_with_sizes(datasets=("gauss",), noise=(0.0,))
    batch = made.cells["algorithm"] == "Forgetron"
    cells = made.cells.assign(learner=made.cells["learner"].where(~batch, "SVC"))
    missing = ["mistakes", "mistakes_clean", "updates", "kernel_evaluations"]
    cells[missing] = cells[missing].astype("float64")
    cells.loc[batch, missing] = float("nan")
    gone = set(cells.loc[batch, "key"])
    curves = made.curves[~made.curves["key"].isin(gone)]
    made = replace(made, cells=cells, curves=curves)
    found = section(made)
    errors, along = panels(found)
    assert "Forgetron" in texts(errors.pictures[0].sheet)
    assert along.sheet is not None
    assert "Forgetron" not in texts(along.sheet.svg)
    assert [cell.text for cell in tables(found)[0].rows[2]] == ["Forgetron", "105", "–", "84"]
    render_report(made, tmp_path)


@pytest.mark.slow
def test_a_study_says_whose_curves_are_drawn(results: StudyResults, tmp_path: Path) -> None:
    study = {**results.study, "curves": ["Projectron 0.1", "AROW"]}
    render_report(replace(results, study=study), tmp_path)
    sheets = [path.read_text() for path in sorted(tmp_path.glob("figures/learning-curves-*.svg"))]
    assert len(sheets) == 2
    for sheet in sheets:
        assert "Projectron 0.1" in sheet
        assert "AROW" in sheet
        assert "Forgetron" not in sheet
    sizes = (tmp_path / "figures/support-vectors.svg").read_text()
    assert "Projectron 0.1" in sizes
    assert "Forgetron" not in sizes
    assert "2 of 4 algorithms are drawn, as the study asks." in (tmp_path / "report.md").read_text()
