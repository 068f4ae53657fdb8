"""Test the report's plots of quantities along the stream other than mistakes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline import counts
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report import render_report
from singlepass.workflows.report.page.blocks import Heading, Legend, Panels, Text
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import curves

from ...synthetic_results import make_results
from ..report_page import texts


@pytest.fixture(scope="module")
def results() -> StudyResults:
    """Return results with test accuracy, queried labels for "PA", and complexity for "CW" over time."""
    made = make_results(datasets=("gauss", "digits[0-vs-rest]"), noise=(0.0, 0.2), seeds=2)
    algorithm = made.curves["key"].map(made.cells.set_index("key")["algorithm"])
    t = made.curves["t"].astype("float64")
    curves = made.curves.assign(
        test_accuracy=1 - 0.4 / np.sqrt(t),
        queried=(t // 5).where(algorithm == "PA"),
        complexity=(1 + t // 500).where(algorithm == "CW"),
    )
    return replace(made, curves=curves)


@dataclass(frozen=True)
class Drawn:
    """Hold what the section shows for one quantity."""

    title: str
    note: str
    drawn: list[str]
    panels: Panels

    @property
    def sheet(self) -> str:
        assert self.panels.sheet is not None
        return self.panels.sheet.svg


def along(results: StudyResults) -> list[Drawn]:
    found = curves.along_stream(StudyView(results))
    blocks = list(found.blocks) if found else []
    drawn = []
    for heading, note, legend, panels in zip(*(blocks[i::4] for i in range(4)), strict=True):
        assert isinstance(heading, Heading)
        assert isinstance(note, Text)
        assert isinstance(legend, Legend)
        assert isinstance(panels, Panels)
        drawn.append(Drawn(heading.text, note.text, [name for name, _ in legend.entries], panels))
    return drawn


def test_every_quantity_has_its_pictures(results: StudyResults) -> None:
    found = along(results)
    assert [each.title for each in found] == [
        "Test error along the stream",
        "Test error against labels asked for",
        "Complexity in use along the stream",
    ]
    error, by_labels, complexity = found
    assert len(error.drawn) == 7
    assert by_labels.drawn == ["PA"]
    assert complexity.drawn == ["CW"]
    assert [panel.heading for panel in error.panels.pictures] == ["gauss", "digits[0-vs-rest]"]
    assert "labels asked for" in by_labels.sheet
    assert "test error, %" in by_labels.sheet


def test_the_study_says_who_is_drawn(results: StudyResults) -> None:
    found = along(replace(results, study={**results.study, "curves": ["AROW", "CW"]}))
    assert [each.drawn for each in found] == [["CW", "AROW"], ["CW"]]


@pytest.mark.slow
def test_a_count_with_a_trace_is_drawn(results: StudyResults, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that declaring a count with a trace suffices."""
    trace = counts.Trace("Merges along the stream", "As they happen.", steps=True)
    declared = {**counts.COUNTS, "row_merges": counts.Count("row_merges", "rows merged", trace=trace)}
    monkeypatch.setattr(curves, "COUNTS", declared)
    made = replace(results, curves=results.curves.assign(row_merges=results.curves["t"] // 7))
    merges = along(made)[-1]
    assert (merges.title, len(merges.drawn)) == (trace.title, 7)
    assert merges.note == f"{trace.note} Drawn at 0% label noise."
    assert "rows merged" in merges.sheet
    assert merges.panels.sheet is not None
    assert merges.panels.sheet.file == "figures/row-merges.svg"


@pytest.mark.slow
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
    assert along(made) == []
    render_report(made, tmp_path)
    assert '<section id="along">' not in (tmp_path / "report.html").read_text()


@pytest.mark.slow
def test_logarithmic_axes_have_plain_numbers(results: StudyResults) -> None:
    curves = results.curves.assign(kernel_evaluations=results.curves["t"].astype("float64") ** 3)
    found = along(replace(results, curves=curves))
    [evaluations] = [each for each in found if each.title == "Kernel evaluations along the stream"]
    assert "10⁶" in evaluations.panels.pictures[0].svg
    assert "mathdefault" not in evaluations.panels.pictures[0].svg


def test_test_error_has_logarithmic_axes_whose_numbers_are_written_out(results: StudyResults) -> None:
    # 40% down to 0.4%, and one curve that reaches 0.
    curves = results.curves.copy()
    curves.loc[curves.index[-1], "test_accuracy"] = 1.0
    error, *_ = along(replace(results, curves=curves))
    svg = error.panels.pictures[0].svg
    written = texts(svg)
    assert {"10", "1,000"} <= set(written)
    assert not any("10⁻" in text or "e-" in text for text in written)
    assert "nan" not in svg
    assert "Rings" not in error.note


@pytest.mark.slow
def test_errors_of_0_on_a_logarithmic_axis_are_told(results: StudyResults) -> None:
    curves = results.curves
    right = curves.assign(test_accuracy=curves["test_accuracy"].mask(curves["t"] == 1000, 1.0))
    assert along(replace(results, curves=right))[0].note.endswith(". 0 is drawn at the bottom.")
    assert "0 is drawn" not in along(results)[0].note


def with_switches(results: StudyResults, *times: int) -> pd.DataFrame:
    switches = results.cells["algorithm"].map({"CW": [*times]})
    return results.cells.assign(switches=switches.where(switches.notna(), None))


@pytest.mark.slow
def test_switches_are_rings_on_the_test_error(results: StudyResults) -> None:
    cells = with_switches(results, 20, 300)
    error, *_ = along(replace(results, cells=cells))
    assert "Rings: where a seed's model was replaced or became more complex." in error.note
    assert error.note.endswith("Drawn at 0% label noise: mean over seeds, shaded by one standard deviation.")
    plain, *_ = along(results)
    rings = [each.panels.pictures[0].svg.count("<use ") for each in (error, plain)]
    assert rings[0] == rings[1] + 2


@pytest.mark.slow
def test_switches_in_rows_that_only_tune_are_not_drawn(results: StudyResults) -> None:
    """Check that the place of a ring does not count the 100 rows on which parameters are chosen."""
    made = with_switches(results, 20, 300).assign(counted_from=100)
    drawn, expected = (
        along(replace(results, cells=cells))[0] for cells in (made, with_switches(results, 200))
    )
    assert drawn.panels.pictures[0].svg == expected.panels.pictures[0].svg
