"""Processes that end with the test, and a cluster made of them."""

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
