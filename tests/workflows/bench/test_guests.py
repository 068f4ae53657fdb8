"""Test the figures of the benchmark of third-party learners."""

from __future__ import annotations

from typing import Any

import pytest

from singlepass.workflows.bench import cells, runner

from .untimed import untimed


def test_every_figure_is_the_added_time_by_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def timed(works: dict[str, Any], repeats: int) -> dict[str, float]:
        # The works take 1, 2, … µs per row.
        return {name: 50e-6 * i for i, name in enumerate(untimed(works), 1)}

    monkeypatch.setattr(runner, "best_times", timed)
    monkeypatch.setattr(cells, "GUEST_ROWS", 50)
    lines = cells.guests()
    assert [line.aim for line in lines] == ["≤ 1", "≤ 1"]
    assert all(line.work.endswith(": added time / 10 µs") for line in lines)
    assert [line.ratio for line in lines] == pytest.approx([-0.1] * 2)
