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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of everything but the learners in the middle.

    Of two workers one begins with the first half of the list and one with the second. Both would compile the
    learners' kernels at the same time, each for itself; so the second finds them compiled when it comes to
    them.
    """
    learners = [item for item in items if "learners" in item.path.parts]
    others = [item for item in items if "learners" not in item.path.parts]
    middle = len(items) // 2
    items[:] = learners[:middle] + others + learners[middle:]


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the real data sets, named by SINGLEPASS_DATA; the test is skipped where there is none."""
    folder = os.environ.get("SINGLEPASS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data sets: set SINGLEPASS_DATA to a folder that holds them")
    return Path(folder).resolve()
