"""Test the benchmark of the multiclass learners."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.workflows.bench import linear, runner, streams

from .untimed import untimed


@pytest.mark.slow
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_every_line_has_a_figure(convert, monkeypatch):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(runner, "best_times", untimed)
    X, y = np.eye(30, dtype=np.float32), np.arange(30) % 3
    lines = linear.measure_classes(streams.NamedStream("generated", convert(X), y))
    assert [line.aim for line in lines] == [""] * len(linear.MANY_CLASSES) + ["≥ 0.5"]
    assert all(np.isfinite(line.ratio) for line in lines)
    assert ("dense" in lines[0].work) == (convert is np.asarray)


def test_what_is_not_here_is_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "describe", list)
    monkeypatch.setattr(linear, "measure_classes", lambda stream: [])
    lines = linear.multiclass()
    assert [line.ours for line in lines] == ["skipped"] * 3
    assert lines[1].peer == "not on this machine: singlepass data fetch usps"
