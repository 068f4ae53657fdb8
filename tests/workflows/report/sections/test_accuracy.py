"""Test when box plots are drawn, and which tables of mistakes exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.workflows.report.page import view
from singlepass.workflows.report.page.blocks import Picture, walk
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import scores

from ...synthetic_results import make_results
from ..report_page import csv_rows, render


@pytest.mark.parametrize(
    ("datasets", "seeds", "panels"), [("a", 5, 1), ("abcd", 5, 4), ("abcde", 5, 0), ("a", 4, 0)]
)
def test_box_plots_for_few_data_sets_and_enough_seeds(datasets: str, seeds: int, panels: int) -> None:
    results = make_results(
        datasets=tuple(datasets), algorithms=("A", "B"), noise=(0.1,), seeds=seeds, tuned=()
    )
    found = scores.accuracy(StudyView(results))
    assert found is not None
    assert sum(isinstance(block, Picture) for block in walk(found.blocks)) == panels


@pytest.mark.slow
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


def test_without_noise_mistakes_are_tabled_once() -> None:
    results = make_results(datasets=("a", "b"), noise=(0.0, 0.1), seeds=2)
    found = scores.mistakes(StudyView(results))
    assert found is not None
    names = [block.name for block in walk(found.blocks) if isinstance(block, TableBlock)]
    assert names == ["mistakes-clean-noise-0", "mistakes-clean-noise-0.1", "mistakes-noise-0.1"]


def test_noise_in_features_leaves_the_given_labels_clean() -> None:
    features = {"model": "features", "rate": 0.1}
    results = make_results(datasets=("a", "b"), noise=(0.0, features), seeds=2, tuned=())
    found = scores.mistakes(StudyView(results))
    assert found is not None
    names = [block.name for block in walk(found.blocks) if isinstance(block, TableBlock)]
    assert names == ["mistakes-clean-noise-0", "mistakes-clean-noise-features_0.1"]
