"""Test that every line of the cluster benchmark has a figure, not how large the figures are."""

from __future__ import annotations

import math

import pytest

from singlepass.workflows.bench import BENCHMARKS, cluster


# Starts three clusters, one after the other.
@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "SCALES", (1, 2))
    # Enough work for cells to return in several batches.
    monkeypatch.setattr(cluster, "CELLS_A_WORKER", 24)
    monkeypatch.setattr(cluster, "ROWS", 32_000)
    lines = cluster.cluster(200)
    assert len(lines) == 4 + 1 + 2 + 1
    assert all(math.isfinite(line.ratio) and line.ratio > 0 for line in lines)
    assert BENCHMARKS["cluster"].counted
