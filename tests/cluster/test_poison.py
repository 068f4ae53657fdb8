"""Test cells that crash their process, never end or exhaust memory: they are reported, all others are ok.

Such a cell gets status ``crashed`` after three tries in a subprocess, and the run ends with status 1. A
second run computes nothing; only ``--retry-failed`` tries the cell again.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import read_results

from .poison import poison, slow
from .processes import Processes, Running, free_port
from .studies import doubled, narrow_study, stored_keys

# A busy machine takes four times as long as an idle one.
LONGEST = 300.0
# Timeout for cells that never end: long compared with a cell of these studies, and short enough to wait for
# three times.
CELL_LIMIT = "12"
# Timeout for cells that end their process: no process takes that long to start, on any machine.
NO_LIMIT = "100"
OTHERS = ['name = "AROW"\nr = [0.1, 1.0, 10.0]', 'name = "PassiveAggressive"', 'name = "Perceptron"']
TASKS = (
    '[[datasets]]\nname = "breast-cancer"\n[[datasets]]\nname = "arow-synthetic"\nn_train = 200\nn_test = 99'
)
# 3 tasks, each with a grid of 3 and 4 algorithms.
PLANNED = 3 * (3 + 4)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


def _prepare(folder: Path, kind: str) -> list[str]:
    """Write a study with one poisoned cell and return the arguments that run it."""
    (folder / "poison.py").write_text(poison(kind))
    study = narrow_study(*OTHERS, 'name = "Poison"', seeds=1, datasets=TASKS)
    (folder / "study.toml").write_text(study)
    arguments = ["run", str(folder / "study.toml"), "--out", str(folder / "out")]
    limit = CELL_LIMIT if kind in ("sleep", "busy", "freeze") else NO_LIMIT
    return [*arguments, "--plugin", str(folder / "poison.py"), "--cell-limit", limit]


def _cluster(processes: Processes, *options: str) -> list[str]:
    """Start a scheduler and two workers under nannies, and return the client's option for them."""
    port = free_port()
    processes.scheduler(port)
    for _ in range(2):
        processes.worker(f"tcp://127.0.0.1:{port}", nanny=True, options=options)
    return ["--scheduler", f"tcp://127.0.0.1:{port}"]


def _poisoned(out: Path) -> pd.Series:
    """Assert that every cell but the poisoned one is ok, and return that cell."""
    cells = read_results(str(out)).cells
    assert len(cells) == PLANNED
    assert doubled(out) == {"cells": 0, "curves": 0}
    bad = cells[cells["status"] != "ok"]
    expected = ("Poison", "breast-cancer")
    assert [tuple(row) for row in bad[["algorithm", "dataset"]].to_numpy()] == [expected], bad[
        "error"
    ].tolist()
    return bad.iloc[0]


def _check_crashed(client: Running, out: Path, *reasons: str) -> None:
    assert client.wait(LONGEST) == 1, client.said
    cell = _poisoned(out)
    assert cell["status"] == "crashed"
    assert any(reason in cell["error"] for reason in reasons), cell["error"]
    assert "Traceback" not in client.said
    # A cell that was lost before it was written counts only once.
    told = [(int(done), int(total)) for done, total in re.findall(r"(\d+)/(\d+) cells", client.said)]
    assert all(done <= total for done, total in told), told
    named = [line for line in client.said.splitlines() if "Poison" in line and "breast-cancer" in line]
    assert any(cell["error"] in line for line in named), client.said


def _check_second_run(processes: Processes, arguments: list[str], out: Path) -> None:
    before = _poisoned(out)
    client = processes.client(*arguments)
    assert client.wait(LONGEST) == 1, client.said
    assert f" 0 cells computed, {PLANNED} reused" in client.stdout
    after = _poisoned(out)
    assert (after["status"], after["error"]) == (before["status"], before["error"])


TOOK_ALONG = "crashed its process 3 times"
NOT_ENDED = f"had not ended after {CELL_LIMIT} s"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "reasons"),
    [
        ("exit", (f"{TOOK_ALONG}: exit status 1",)),
        pytest.param("kill", (TOOK_ALONG,), marks=pytest.mark.faults),
        pytest.param("sleep", (NOT_ENDED,), marks=pytest.mark.faults),
        pytest.param("busy", (NOT_ENDED,), marks=pytest.mark.faults),
        pytest.param("freeze", (NOT_ENDED, TOOK_ALONG), marks=pytest.mark.faults),
    ],
)
def test_on_a_cluster(
    processes: Processes, tmp_path: Path, out: Path, kind: str, reasons: tuple[str, ...]
) -> None:
    arguments = _prepare(tmp_path, kind) + _cluster(processes)
    _check_crashed(processes.client(*arguments), out, *reasons)
    _check_second_run(processes, arguments, out)


@pytest.mark.faults
def test_memory_on_a_cluster(processes: Processes, tmp_path: Path, out: Path) -> None:
    """The nanny ends its worker before the cell has used all memory."""
    arguments = _prepare(tmp_path, "memory") + _cluster(processes, "--memory-limit", "700MiB")
    _check_crashed(processes.client(*arguments), out, TOOK_ALONG)
    _check_second_run(processes, arguments, out)


@pytest.mark.faults
@pytest.mark.parametrize("where", ["cluster", "threads"])
def test_a_polite_exit(processes: Processes, tmp_path: Path, out: Path, where: str) -> None:
    """`sys.exit` raises an exception; whether a worker or only the cell ends, no other cell is lost."""
    arguments = _prepare(tmp_path, "sys.exit")
    arguments += _cluster(processes) if where == "cluster" else ["--threads", "2"]
    client = processes.client(*arguments)
    assert client.wait(LONGEST) == 1, client.said
    assert _poisoned(out)["status"] in ("failed", "crashed")
    assert "Traceback" not in client.said
    _check_second_run(processes, arguments, out)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("exit", f"{TOOK_ALONG}: exit status 1"),
        pytest.param("kill", TOOK_ALONG, marks=pytest.mark.faults),
    ],
)
def test_threads_that_go_with_their_process(
    processes: Processes, tmp_path: Path, out: Path, kind: str, reason: str
) -> None:
    """The next run knows which cells were running, and runs them in subprocesses."""
    arguments = [*_prepare(tmp_path, kind), "--threads", "2"]
    first = processes.client(*arguments)
    assert first.wait(LONGEST) in (1, -9), first.said
    _check_crashed(processes.client(*arguments), out, reason)
    _check_second_run(processes, arguments, out)
    again = processes.client(*arguments, "--retry-failed")
    # Either the cell crashes the process again, or it runs in a subprocess.
    assert again.wait(LONGEST) in (1, -9), again.said


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("sleep", marks=pytest.mark.slow),
        *(pytest.param(kind, marks=pytest.mark.faults) for kind in ("busy", "freeze")),
    ],
)
def test_threads_that_never_return(processes: Processes, tmp_path: Path, out: Path, kind: str) -> None:
    arguments = [*_prepare(tmp_path, kind), "--threads", "2"]
    client = processes.client(*arguments)
    if kind == "freeze":
        # No Python thread can run: the process may end itself, and the next run uses a subprocess.
        client.wait(LONGEST)
        client = processes.client(*arguments)
    _check_crashed(client, out, NOT_ENDED, TOOK_ALONG)
    _check_second_run(processes, arguments, out)


@pytest.mark.slow
def test_memory_in_threads(processes: Processes, tmp_path: Path, out: Path) -> None:
    """A refused allocation is an ordinary error of the cell."""
    arguments = [*_prepare(tmp_path, "array"), "--threads", "2"]
    client = processes.client(*arguments, address_space=16 << 30)
    assert client.wait(LONGEST) == 1, client.said
    cell = _poisoned(out)
    assert (cell["status"], "MemoryError" in cell["error"]) == ("failed", True)
    _check_second_run(processes, arguments, out)


@pytest.mark.faults
def test_cells_in_flight_when_a_run_is_killed(processes: Processes, tmp_path: Path, out: Path) -> None:
    """Running cells are not blamed: however often a run is killed from outside, all cells end ok."""
    (tmp_path / "slow.py").write_text(slow(0.4))
    (tmp_path / "study.toml").write_text(narrow_study('name = "Slow"', seeds=30))
    arguments = ["run", str(tmp_path / "study.toml"), "--out", str(out), "--threads", "2"]
    arguments += ["--plugin", str(tmp_path / "slow.py")]
    for _ in range(4):
        before = len(stored_keys(out))
        client = processes.client(*arguments)
        client.wait_for(lambda before=before: len(stored_keys(out)) > before, LONGEST, "another part")
        client.kill()
    client = processes.client(*arguments)
    assert client.wait(LONGEST) == 0, client.said
    cells = read_results(str(out)).cells
    assert (len(cells), cells["status"].unique().tolist()) == (30, ["ok"])
    assert doubled(out) == {"cells": 0, "curves": 0}
