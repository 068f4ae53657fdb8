"""Shared fixtures: where the optional real data lives, and one deterministic hypothesis profile."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import joblib
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


# Compiling makes many objects that stay, among which searching for garbage takes a tenth of the time.
gc.set_threshold(100_000, 20, 20)


def pytest_configure() -> None:
    """Handle SIGINT, so that the programs that tests start can be interrupted.

    A shell starts background jobs with SIGINT ignored, and programs pass that on to the programs they start.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """Folder with the real data sets, named by SINGLEPASS_DATA; the test is skipped if it is not set."""
    folder = os.environ.get("SINGLEPASS_DATA")
    if not folder or not Path(folder).is_dir():
        pytest.skip("needs real data sets: set SINGLEPASS_DATA to a folder that holds them")
    return Path(folder).resolve()


def pytest_collection_finish() -> None:
    """Exempt imported modules from garbage collection, which takes most of the time of a small run."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers() -> int:
    """Return two processes more than there are cores: some tests wait for processes that they start."""
    return joblib.cpu_count() + 2
