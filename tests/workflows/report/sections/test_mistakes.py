"""Mistakes along the stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.workflows.report.page import view

from ...synthetic_results import make_results
from ..report_page import csv_rows, render


def test_tables_by_task_of_many_tasks_are_files_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = make_results(noise=(0.1,), seeds=2)
    monkeypatch.setattr(view, "FILES_ONLY_ABOVE", 10)
    page, markdown = render(results, tmp_path)
    assert {"accuracy", "mistakes"} <= set(page.ids)
    assert not any("labels, 10% label noise" in text for text in page.captions)
    for name in ("mistakes-clean-noise-0.1", "mistakes-noise-0.1", "tuning-noise-0.1"):
        assert f"[tables/{name}.csv](tables/{name}.csv)" in markdown
        assert f"tables/{name}.csv" in page.text
        assert len(csv_rows(tmp_path / "tables" / f"{name}.csv")) > 10
