"""Test that every line of the benchmark of third-party learners has a figure."""

from __future__ import annotations

import pytest

from singlepass.workflows.bench import guests

from .untimed import untimed


def test_every_line_has_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guests, "best_times", untimed)
    monkeypatch.setattr(guests, "ROWS", 50)
    lines = guests.measure()
    assert [line.aim for line in lines] == ["≤ 10", "≤ 10", ""]
    assert all(line.ratio == line.ratio for line in lines)
