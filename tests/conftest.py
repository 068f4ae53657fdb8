"""Shared fixtures: where the optional real data lives, and one deterministic hypothesis profile."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Derandomised: the suite gives the same verdict every time. No deadline: the first example of a property
# may compile a kernel.
settings.register_profile(
    "singlepass",
    derandomize=True,
    deadline=None,
    max_examples=25,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("singlepass")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the real data sets, named by SINGLEPASS_DATA; the test is skipped where there is none."""
    folder = os.environ.get("SINGLEPASS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data sets: set SINGLEPASS_DATA to a folder that holds them")
    return Path(folder).resolve()
