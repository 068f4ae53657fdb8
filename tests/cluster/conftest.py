"""A fixture for processes that end with the test.

What this folder is made of: `processes` starts schedulers, workers and clients, `studies` has what they run
and how results are compared, `poison` plug-ins, `disguises` workers as if on other machines, `certificates`
those of TLS, `late_cluster` a stand-in for a batch queue, `batch_queue` one for Slurm's commands.
`disturbance` is a script, too: rounds of killing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .processes import Processes


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Start processes in the test's folder; all end with the test."""
    with Processes(tmp_path / "processes") as started:
        yield started
