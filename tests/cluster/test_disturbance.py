"""Run rounds of `disturbance` on a smaller study; the script runs twenty rounds of the whole one."""

from __future__ import annotations

from pathlib import Path

import pytest

from .disturbance import Disturbance


@pytest.mark.faults
@pytest.mark.parametrize("nanny", [False, True], ids=["workers", "nannies"])
def test_a_disturbed_study_comes_to_the_same(tmp_path: Path, nanny: bool) -> None:
    # The last tasks are the long ones: with two of nine tasks the study ends before much is killed.
    verdict = Disturbance(tmp_path, n_tasks=6).round(1, nanny=nanny)
    assert not verdict.wrong, str(verdict)
