"""Provide fixtures for processes that end with the test, and for commands that start none.

Modules of this folder: `processes` starts schedulers, workers and clients, most of them as forks of
`fork_server`; `studies` has studies and compares results; `poison` has plug-ins that crash or hang;
`disguises` makes workers look as if on other machines; `certificates` makes TLS certificates;
`late_cluster` imitates a batch queue and `batch_queue` Slurm's commands. `disturbance` is also a script: it
kills processes of a cluster in rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from singlepass.workflows.cli import main

from .processes import Processes


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Start processes in the test's folder; all of them end with the test."""
    with Processes(tmp_path / "processes") as started:
        yield started


@pytest.fixture
def error_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run a command that is refused before it starts anything, in this process; return its only line."""

    def call(*arguments: str) -> str:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("sys.argv", ["singlepass", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        [line] = capsys.readouterr().err.strip().splitlines()
        assert line.startswith("singlepass: error:")
        return str(line)

    return call
