"""A small study on disk, a silent progress, and the command line as a user types it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

STUDY = """
name = "small"
protocol = "holdout"
noise = [0.0, 0.2]
seeds = 2
checkpoints = 4
tune_by = "validation"
[[datasets]]
name = "gauss"
bias = true
n_train = 200
n_test = 100
[[datasets]]
name = "breast-cancer"
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "AROW"
r = [0.1, 1.0, 10.0]
"""


class Silent:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.total = self.finished = 0
        self.notes: list[str] = []

    def start(self, total: int, already: int) -> None:
        self.total, self.finished = total, already

    def advance(self, cells: int) -> None:
        self.finished += cells

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def silent() -> Silent:
    return Silent()


@pytest.fixture
def study_file(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    return path


@pytest.fixture
def singlepass(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in a process of its own, in an empty folder."""

    def call(*arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from singlepass.workflows.cli import main; main()", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=timeout)

    return call
