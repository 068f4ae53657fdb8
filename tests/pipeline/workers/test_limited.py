"""Test the timeout of a cell."""

from __future__ import annotations

import pytest

from singlepass.pipeline.workers import timeout
from singlepass.pipeline.workers.timeout import Deadline


def test_the_time_of_a_cell_is_not_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(timeout.time, "monotonic", lambda: now)
    deadline = Deadline(60.0)
    assert deadline.after(None) == (60.0, None)
    now = 130.0
    assert deadline.after(None) == (30.0, None)
    # A step's own limit ends it earlier, unless the total time runs out first.
    assert deadline.after(5.0) == (5.0, 5.0)
    assert deadline.after(40.0) == (30.0, None)
    now = 200.0
    assert deadline.after(5.0) == (0.0, None)
