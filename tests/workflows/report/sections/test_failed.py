"""Test the table of cells without a result."""

from __future__ import annotations

from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import provenance

from ...synthetic_results import fail, make_results


def test_equal_failures_are_one_row() -> None:
    made = make_results(datasets=("gauss",), algorithms=("A",), noise=(0.0, 0.1), seeds=2, tuned=())
    found = provenance.failed(StudyView(fail(made, made.cells["key"].tolist())))
    assert found is not None
    table = found.blocks[0]
    assert isinstance(table, TableBlock)
    (row,) = [[cell.text for cell in row] for row in table.rows]
    assert row[:4] == ["A", "failed", "4", "gauss"]


def test_without_failures_there_is_no_section() -> None:
    assert provenance.failed(StudyView(make_results(datasets=("gauss",), noise=(0.1,), seeds=2))) is None
