"""Shared fixtures: where the optional real data lives, and one deterministic hypothesis profile."""

from __future__ import annotations

import os
import signal
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


def pytest_configure() -> None:
    """Let the programs that tests start be interrupted.

    A shell has its background jobs ignore that, and what ignores it hands this on to what it starts.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the real data sets, named by SINGLEPASS_DATA; the test is skipped where there is none."""
    folder = os.environ.get("SINGLEPASS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data sets: set SINGLEPASS_DATA to a folder that holds them")
    return Path(folder).resolve()
