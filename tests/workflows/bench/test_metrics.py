"""Test that the benchmark of metrics compares cells that differ in nothing else."""

from __future__ import annotations

import pytest

from singlepass.pipeline.data import describe
from singlepass.workflows.bench import BENCHMARKS, cells, runner, streams

from .untimed import untimed


@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    small = {"name": "arow-synthetic", "n_train": 50, "n_test": 0}
    monkeypatch.setattr(cells, "DATASETS", (small, {"name": "a9a"}))
    counting = []

    def timed(works, repeats, **options):  # type: ignore[no-untyped-def]
        counting.append([bool(work.args[0].spec.kept) for work in works.values()])
        return untimed(works) | {"with metrics": 2.0}

    monkeypatch.setattr(runner, "best_times", timed)
    others = [entry for entry in describe() if entry.name != "a9a"]
    monkeypatch.setattr(streams, "describe", lambda: others)
    lines = cells.metrics()
    assert [(line.work, line.ours) for line in lines[2:]] == [("a9a", "skipped")]
    assert [line.work for line in lines[:2]] == [
        "arow-synthetic, AROW (50 rows)",
        "arow-synthetic, PA-I (50 rows)",
    ]
    assert [line.ratio for line in lines[:2]] == [2.0, 2.0]
    assert counting == [[True, False]] * 2
    assert lines[0].verdict == "≤ 1.05: missed"
    assert BENCHMARKS["metrics"].tables == ("cells.metrics",)
