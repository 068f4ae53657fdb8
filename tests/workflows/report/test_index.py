"""Test the index page of several results."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.workflows.report import index

from ..synthetic_results import make_results


def test_all_algorithms_with_the_best_mean_rank_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = make_results(datasets=("a", "b"), algorithms=("PA", "CW"), noise=(0.0,), seeds=1, tuned=())
    results.cells["test_accuracy"] = 0.5
    monkeypatch.setattr(index, "read_results", lambda _: results)
    _, best, *_ = index._row(tmp_path, tmp_path)
    assert best.text == "PA and CW (0%)"


@pytest.mark.slow
def test_titles_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = make_results(datasets=("a",), algorithms=("PA", "CW"), seeds=1, tuned=(), title="T\non 2\n")
    monkeypatch.setattr(index, "read_results", lambda _: results)
    title, *_ = index._row(tmp_path, tmp_path)
    assert title.text == "T on 2"
    assert (tmp_path / "report.md").read_text(encoding="utf-8").startswith("# T on 2\n")
