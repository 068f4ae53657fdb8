"""Test the subprocess of a cell where systems differ."""

import os

import pytest

from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.pipeline.workers.subprocess_runner import run_in_subprocess


@pytest.mark.slow
def test_a_group_of_ended_processes_may_refuse_a_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(group: int, number: int) -> None:  # as on macOS
        raise PermissionError

    monkeypatch.setattr(os, "killpg", refuse)
    table = {
        "name": "s",
        "seeds": 1,
        "datasets": [{"name": "breast-cancer"}],
        "algorithms": [{"name": "MajorityClass"}],
    }
    [cell] = make_plan(parse_study(table)).evaluation_cells({})
    row = run_in_subprocess(cell).row
    assert row["status"] == "ok", row["error"]
