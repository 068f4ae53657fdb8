"""Rounds of `disturbance` on a smaller study; the script runs twenty of the whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from .disturbance import Disturbance


@pytest.mark.faults
@pytest.mark.parametrize("nanny", [False, True], ids=["workers", "nannies"])
def test_a_disturbed_study_comes_to_the_same(tmp_path: Path, nanny: bool) -> None:
    # The last tasks are the long ones: with two of nine the study is over before much has happened to it.
    verdict = Disturbance(tmp_path, n_tasks=6).round(1, nanny=nanny)
    assert not verdict.wrong, str(verdict)
