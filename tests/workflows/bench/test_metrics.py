"""Test that the benchmark of metrics compares cells that differ in nothing else."""

from __future__ import annotations

import pytest

from singlepass.workflows.bench import BENCHMARKS, metrics


@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"name": "arow-synthetic", "n_train": 50, "n_test": 0}
    monkeypatch.setattr(metrics, "DATASETS", (small, {"name": "a9a"}))
    monkeypatch.setattr(metrics, "_REPEATS", 1)
    monkeypatch.setattr(metrics, "_seconds", lambda cell: 2.0 if cell.spec.kept else 1.0)
    monkeypatch.setenv("SINGLEPASS_DATA", "/nowhere")
    lines = metrics.measure()
    assert [line.work for line in lines[:2]] == [
        "arow-synthetic, AROW (50 rows)",
        "arow-synthetic, PA-I (50 rows)",
    ]
    assert [line.ratio for line in lines[:2]] == [2.0, 2.0]
    assert lines[0].verdict == "≤ 1.05: missed"
    assert BENCHMARKS["metrics"].modules == ("metrics",)
