"""Test that every line of the benchmark of third-party learners has a figure."""

from __future__ import annotations

import pytest

from singlepass.workflows.bench import cells, runner

from .untimed import untimed


def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)
    monkeypatch.setattr(cells, "GUEST_ROWS", 50)
    lines = cells.guests()
    assert [line.aim for line in lines] == ["≤ 10", "≤ 10", ""]
    # The "ratio" of these lines is a difference.
    assert all(line.work.endswith(": µs added per row") for line in lines)
    assert all(line.ratio == line.ratio for line in lines)
