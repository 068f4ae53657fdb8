"""Test that the benchmark of the full covariance times updates."""

from __future__ import annotations

import pytest

from singlepass.workflows.bench import BENCHMARKS, linear, runner

from .untimed import untimed


@pytest.mark.slow
def test_every_row_updates() -> None:
    learner = linear.full_learner(123)
    # At least as many repetitions as the benchmark times.
    for _ in range(40):
        learner.learn_rows(*linear.random_rows(123))
    assert learner.n_updates_ == learner.n_examples_ == 40 * linear.ROWS


@pytest.mark.slow
def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear, "SIZES", (5, 20))
    monkeypatch.setattr(runner, "best_times", untimed)
    lines = linear.full()
    assert [line.ratio for line in lines] == [1.0] * 2
    assert [line.verdict for line in lines] == ["≥ 0.59"] * 2
    assert BENCHMARKS["full"].tables == ("linear.full",)
