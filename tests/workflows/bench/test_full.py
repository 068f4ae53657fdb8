"""Test that the benchmark of the full covariance times updates."""

from __future__ import annotations

from typing import Any

import pytest

from singlepass.workflows.bench import BENCHMARKS, full


def test_every_row_updates() -> None:
    for density in (1.0, full.DENSITY):
        learner = full.learner(123)
        # At least as many repetitions as the benchmark times.
        for _ in range(40):
            learner.learn_rows(*full.stream(123, density))
        assert learner.n_updates_ == learner.n_examples_ == 40 * full.ROWS


@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    def untimed(works: dict[str, Any], repeats: int) -> dict[str, float]:
        for work in works.values():
            work()
        return dict.fromkeys(works, 1.0)

    monkeypatch.setattr(full, "SIZES", (5, 20))
    monkeypatch.setattr(full, "best_times", untimed)
    lines = full.measure()
    assert [line.ratio for line in lines] == [1.0] * 4
    assert [line.verdict for line in lines] == ["≥ 0.59", ""] * 2
    assert BENCHMARKS["full"].modules == ("full",)
