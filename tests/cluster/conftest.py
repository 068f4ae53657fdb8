"""Provide a fixture for processes that end with the test.

Modules of this folder: `processes` starts schedulers, workers and clients; `studies` has studies and compares
results; `poison` has plug-ins that crash or hang; `disguises` makes workers look as if on other machines;
`certificates` makes TLS certificates; `late_cluster` imitates a batch queue and `batch_queue` Slurm's
commands. `disturbance` is also a script: it kills processes of a cluster in rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .processes import Processes


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Start processes in the test's folder; all of them end with the test."""
    with Processes(tmp_path / "processes") as started:
        yield started
