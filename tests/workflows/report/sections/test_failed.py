"""The table of cells without a result."""

from __future__ import annotations

from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import failed

from ...synthetic_results import fail, make_results


def test_failed_cells_are_sorted_by_noise_rate() -> None:
    made = make_results(
        datasets=("gauss",), algorithms=("A",), noise=(0.9, 1e-05, 0.0, 0.1), seeds=2, tuned=()
    )
    found = failed.section(StudyView(fail(made, made.cells["key"].tolist())))
    assert found is not None
    table = found.blocks[0]
    assert isinstance(table, TableBlock)
    assert [[row[2].text, row[3].text] for row in table.rows] == [
        [noise, seed] for noise in ("0%", "0.001%", "10%", "90%") for seed in ("0", "1")
    ]


def test_without_failures_there_is_no_section() -> None:
    assert failed.section(StudyView(make_results(datasets=("gauss",), noise=(0.1,), seeds=2))) is None
