"""Provide a small study on disk, a silent progress, and the command line as a user types it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from singlepass.workflows.cli import main
from singlepass.workflows.running.progress import RunProgress

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


class Silent(RunProgress):
    """Record lines for the user instead of showing them."""

    def __init__(self) -> None:
        self.notes: list[str] = []

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


@dataclass(frozen=True)
class Result:
    """Store the outcome of a command."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def singlepass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Result]:
    """Run the entry point in an empty folder, in this process because a new one takes seconds to start."""

    def call(*arguments: str) -> Result:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["singlepass", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        captured = capsys.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 0, captured.out, captured.err)

    return call
