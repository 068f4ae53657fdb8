"""The report's section on support sets: what it shows, and that studies without them have none."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report.render import render_report
from singlepass.workflows.report.sections.support import support_section

from ..synthetic_results import make_results

SIZES = {"Projectron 0.1": 300, "Projectron 0.5": 40, "Forgetron": 100}
LEARNERS = {name: name.partition(" ")[0] for name in SIZES}


def results_with_sizes(**options: object) -> StudyResults:
    """Four algorithms, of which all but AROW have a support set, 10 larger with every seed."""
    made = make_results(algorithms=(*SIZES, "AROW"), tuned=(), seeds=2, **options)  # type: ignore[arg-type]
    cells = made.cells
    size = cells["algorithm"].map(SIZES) + 10 * cells["seed"]
    cells = cells.assign(
        learner=cells["algorithm"].map({**LEARNERS, "AROW": "AROW"}),
        support_vectors=size,
        kernel_evaluations=2000 * size,
        model_bytes=800 * size,
    )
    sizes = cells.set_index("key")["support_vectors"]
    curves = made.curves
    curves = curves.assign(
        support_vectors=curves["key"].map(sizes) * curves["t"] / 1000,
        kernel_evaluations=curves["key"].map(sizes) * curves["t"] ** 2 / 1000,
    )
    return replace(made, cells=cells, curves=curves)


@pytest.fixture(scope="module")
def results() -> StudyResults:
    return results_with_sizes(datasets=("digits[0-vs-rest]", "digits[1-vs-rest]", "gauss"), noise=(0.0, 0.1))


def test_means_are_over_data_sets_and_seeds(results: StudyResults) -> None:
    design = study_design(results.cells, results.meta)
    section = support_section(results.cells, results.curves, design, METRICS["test_accuracy"])
    assert section is not None
    shown = [[cell.text for cell in row] for row in section.models.rows]
    assert shown == [
        ["Projectron 0.1", "305", "610.0", "244"],
        ["Projectron 0.5", "45", "90.0", "36"],
        ["Forgetron", "105", "210.0", "84"],
    ]
    # Base sets are drawn together: two digits, one gauss; AROW has no place in it.
    assert [picture.heading for picture in section.errors] == [
        "digits one-vs-rest, 0% label noise",
        "gauss, 0% label noise",
    ]
    assert [picture.heading for picture in section.curves] == [
        "digits[0-vs-rest], 0% label noise",
        "gauss, 0% label noise",
    ]
    assert "test error, %" in section.errors[0].svg
    assert "Projectron" in section.errors[0].svg
    assert "AROW" not in section.errors[0].svg
    assert len(section.sizes) == 2


def test_without_a_support_set_there_is_no_section(tmp_path: Path) -> None:
    made = make_results(datasets=("gauss",), noise=(0.0,), seeds=2)
    design = study_design(made.cells, made.meta)
    assert support_section(made.cells, made.curves, design, METRICS["test_accuracy"]) is None
    render_report(made, tmp_path)
    assert "Support sets" not in (tmp_path / "report.md").read_text()


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
    data = pd.read_csv(tmp_path / "tables/model-size.csv")
    assert set(data["metric"]) == {"support_vectors", "evaluation_rate", "model_kilobytes"}
    assert set(data["algorithm"]) == set(SIZES)


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
    design = study_design(cells, made.meta)
    section = support_section(cells, curves, design, METRICS["test_accuracy"])
    assert section is not None
    assert "SVC" in section.errors[0].svg
    assert [cell.text for cell in section.models.rows[2]] == ["Forgetron", "105", "–", "84"]
    render_report(made, tmp_path)


def test_a_study_says_whose_curves_are_drawn(results: StudyResults, tmp_path: Path) -> None:
    meta = {**results.meta, "study": {**results.meta["study"], "curves": ["Projectron 0.1", "AROW"]}}
    render_report(replace(results, meta=meta), tmp_path)
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
