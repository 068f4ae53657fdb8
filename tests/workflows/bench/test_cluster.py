"""The benchmark of clusters: that every line has a figure; the figures are no matter of tests."""

from __future__ import annotations

import math

import pytest

from singlepass.workflows.bench import BENCHMARKS, cluster


# Three clusters are started for it, one after the other.
@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SCALES", (1, 2))
    # Long enough that cells come back one batch after the other.
    monkeypatch.setattr(cluster, "CELLS_A_WORKER", 24)
    monkeypatch.setattr(cluster, "ROWS", 32_000)
    lines = cluster.measure(200)
    assert len(lines) == 4 + 1 + 2 + 1
    assert all(math.isfinite(line.ratio) and line.ratio > 0 for line in lines)
    assert BENCHMARKS["cluster"].counted
