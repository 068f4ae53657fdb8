"""The report's pictures of what is measured along the stream besides mistakes."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.analysis.averages import study_design
from singlepass.pipeline.analysis.curves import Curve
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report.plots import line_plots
from singlepass.workflows.report.plots.line_plots import Axis, learning_curves
from singlepass.workflows.report.render import render_report
from singlepass.workflows.report.sections.curves_section import along_stream

from ..synthetic_results import make_results


@pytest.fixture(scope="module")
def results() -> StudyResults:
    """Test accuracy along the stream, of "PA" against a fifth of the labels, of "CW" with a complexity."""
    made = make_results(datasets=("gauss", "digits[0-vs-rest]"), noise=(0.0, 0.2), seeds=2)
    algorithm = made.curves["key"].map(made.cells.set_index("key")["algorithm"])
    t = made.curves["t"].astype("float64")
    curves = made.curves.assign(
        test_accuracy=1 - 0.4 / np.sqrt(t),
        queried=(t // 5).where(algorithm == "PA"),
        complexity=(1 + t // 500).where(algorithm == "CW"),
    )
    return replace(made, curves=curves)


def test_every_quantity_has_its_pictures(results: StudyResults) -> None:
    found = along_stream(results.cells, results.curves, study_design(results.cells, results.meta))
    assert [each.title for each in found] == [
        "Test error along the stream",
        "Test error against labels asked for",
        "Complexity in use along the stream",
    ]
    error, by_labels, complexity = found
    assert len(error.drawn) == 7
    assert by_labels.drawn == ["PA"]
    assert complexity.drawn == ["CW"]
    assert [panel.heading for panel in error.panels] == ["gauss", "digits[0-vs-rest]"]
    assert "labels asked for" in by_labels.sheet.svg
    assert "test error, %" in by_labels.sheet.svg


def test_the_study_says_who_is_drawn(results: StudyResults) -> None:
    design = study_design(results.cells, results.meta)
    found = along_stream(results.cells, results.curves, design, ["AROW", "CW"])
    assert [each.drawn for each in found] == [["CW", "AROW"], ["CW"]]


def test_the_section_is_in_every_form_of_the_report(results: StudyResults, tmp_path: Path) -> None:
    names = {str(path.relative_to(tmp_path)) for path in render_report(results, tmp_path)}
    assert {
        "figures/test-error.svg",
        "figures/test-error-by-labels.svg",
        "figures/complexity.svg",
    } <= names
    page, text = ((tmp_path / f"report.{kind}").read_text() for kind in ("html", "md"))
    assert '<section id="along">' in page
    assert "(figures/test-error-by-labels.svg)" in text


def test_without_such_columns_there_is_no_section(tmp_path: Path) -> None:
    made = make_results(datasets=("gauss",), noise=(0.0,), seeds=2)
    assert along_stream(made.cells, made.curves, study_design(made.cells, made.meta)) == []
    render_report(made, tmp_path)
    assert '<section id="along">' not in (tmp_path / "report.html").read_text()


def test_logarithmic_axes_have_plain_numbers(results: StudyResults) -> None:
    curves = results.curves.assign(kernel_evaluations=results.curves["t"].astype("float64") ** 3)
    design = study_design(results.cells, results.meta)
    [evaluations] = [
        each
        for each in along_stream(results.cells, curves, design)
        if each.title == "Kernel evaluations along the stream"
    ]
    assert "10⁶" in evaluations.panels[0].svg
    assert "mathdefault" not in evaluations.panels[0].svg


def test_test_error_has_logarithmic_axes_whose_numbers_are_written_out(results: StudyResults) -> None:
    # 40% down to 0.4%, and one curve that reaches 0.
    curves = results.curves.copy()
    curves.loc[curves.index[-1], "test_accuracy"] = 1.0
    error, *_ = along_stream(results.cells, curves, study_design(results.cells, results.meta))
    svg = error.panels[0].svg
    written = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"10", "1,000"} <= set(written)
    assert not any("10⁻" in text or "e-" in text for text in written)
    assert "nan" not in svg
    assert "Rings" not in error.note


def test_switches_are_rings_on_the_test_error(results: StudyResults) -> None:
    switches = results.cells["algorithm"].map({"CW": [20, 300]})
    cells = results.cells.assign(switches=switches.where(switches.notna(), None))
    design = study_design(cells, results.meta)
    error, *_ = along_stream(cells, results.curves, design)
    assert error.note.endswith("Rings: where a seed's model became more complex.")
    plain, *_ = along_stream(results.cells, results.curves, design)
    rings = [each.panels[0].svg.count("<use ") for each in (error, plain)]
    assert rings[0] == rings[1] + 2


@pytest.mark.parametrize(
    ("t", "mean"),
    [([10.0], [0.2]), ([10.0, 20.0], [0.0, 0.0]), ([0.0], [5.0]), ([0.0, 9.0], [1.0, 0.0])],
)
def test_logarithmic_axes_of_few_and_zero_values(t: list[float], mean: list[float]) -> None:
    """A warning of Matplotlib's is an error here."""
    curve = Curve("AROW", np.array(t), np.array(mean), np.zeros(len(t)), 1)
    svg = learning_curves([curve], ["AROW"], Axis("examples seen", "test error, %", log=True))
    assert svg.count("<text") > 2


def test_unknown_values_are_not_drawn() -> None:
    t = np.array([10.0, 20.0, 30.0])
    curve = Curve("AROW", t, np.array([np.nan, 3.0, np.inf]), np.zeros(3), 1)
    assert "nan" not in learning_curves([curve], ["AROW"], Axis("t", "%", log=True)).lower()


@pytest.mark.parametrize(
    ("first", "last", "written"),
    [
        (10, 60_000, ["10", "100", "1,000", "10,000"]),
        (2.2, 3.2, ["2.5", "3"]),
        (24, 43, ["25", "30", "35", "40"]),
        (1e6, 6e7, ["10⁶", "2·10⁶", "5·10⁶", "10⁷", "2·10⁷", "5·10⁷"]),
    ],
)
def test_numbers_of_a_logarithmic_axis(first: float, last: float, written: list[str]) -> None:
    shown = [line_plots._written(tick, last > 1e6) for tick in line_plots.logarithmic_ticks(first, last)]
    assert set(written) <= set(shown)
    assert len(shown) <= 8
