"""How long a cell is waited for."""

from __future__ import annotations

import pytest

from singlepass.pipeline.workers import limited
from singlepass.pipeline.workers.limited import Deadline


def test_the_time_of_a_cell_is_not_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(limited.time, "monotonic", lambda: now)
    deadline = Deadline(60.0)
    assert deadline.after(None) == (60.0, None)
    now = 130.0
    assert deadline.after(None) == (30.0, None)
    # A step of its own ends it before that, or the whole time before the step.
    assert deadline.after(5.0) == (5.0, 5.0)
    assert deadline.after(40.0) == (30.0, None)
    now = 200.0
    assert deadline.after(5.0) == (0.0, None)
