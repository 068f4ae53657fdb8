"""Test workers that write their results themselves, because they can reach the output."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.store import MARK, Store
from singlepass.pipeline.workers.cluster.on_worker import why_not

from .disguises import with_file
from .poison import slow
from .processes import Processes, free_port
from .studies import assert_same, doubled, narrow_study, run_in_threads, stored_keys

LONGEST = 300.0


def _slow_study(folder: Path, seeds: int = 120) -> list[str]:
    """Write a study with cells that take 0.3 s; return the command that runs it, up to ``--out``."""
    (folder / "slow.py").write_text(slow(0.3))
    study = folder / "study.toml"
    study.write_text(narrow_study('name = "Slow"', 'name = "Perceptron"', seeds=seeds))
    return ["run", str(study), "--plugin", str(folder / "slow.py"), "--out"]


def _assert_as_in_threads(folder: Path, out: Path) -> None:
    """Assert that an output equals that of a run in threads, and has each cell once."""
    run_in_threads(folder / "study.toml", folder / "threads", folder / "slow.py")
    assert_same(folder / "threads", out)
    assert not any(doubled(out).values())


def _wait_until_written(out: Path, n_cells: int) -> None:
    deadline = time.monotonic() + LONGEST
    while len(stored_keys(out)) < n_cells and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(stored_keys(out)) >= n_cells


@pytest.mark.slow
def test_the_client_leaves_and_comes_back(processes: Processes, tmp_path: Path) -> None:
    """A worker with unwritten results and the client are killed; no cell is lost."""
    run = _slow_study(tmp_path)
    port, out = free_port(), tmp_path / "out"
    address = f"tcp://127.0.0.1:{port}"
    processes.scheduler(port)
    workers = [processes.worker(address) for _ in range(2)]
    # From another folder, by a relative path: a worker that resolved it would find another folder.
    command = [*run, "out", "--scheduler", address]
    client = processes.client(*command, cwd=tmp_path)
    client.wait_for(lambda: len(stored_keys(out)) > 5, LONGEST, "the first cells")
    workers[0].kill()
    client.popen.send_signal(signal.SIGKILL)
    client.popen.wait()
    there = len(stored_keys(out))
    # Now only the remaining worker writes.
    _wait_until_written(out, there + 5)
    # Other workers run the cells that were handed out, and the returning client finds their results.
    workers[1].kill()
    processes.worker(address)
    processes.worker(address)
    again = processes.client(*command, cwd=tmp_path)
    assert again.wait(LONGEST) == 0, again.said
    assert "Traceback" not in again.said
    _assert_as_in_threads(tmp_path, out)
    assert not (out / MARK).exists()


@pytest.mark.slow
def test_an_interrupted_client_says_who_goes_on(processes: Processes, tmp_path: Path) -> None:
    """Workers go on writing; a later run in threads has the same results, even if rows exist twice."""
    run = _slow_study(tmp_path, seeds=60)
    port, out = free_port(), tmp_path / "out"
    address = f"tcp://127.0.0.1:{port}"
    processes.scheduler(port)
    worker = processes.worker(address)
    client = processes.client(*run, str(out), "--scheduler", address)
    client.wait_for(lambda: len(stored_keys(out)) > 5, LONGEST, "the first cells")
    client.interrupt()
    assert client.wait(LONGEST) == 130, client.said
    assert client.stderr.splitlines()[-1] == (
        "singlepass: stopped; stored cells are kept, workers finish and store the cells they have; "
        "run the same command to continue with them"
    )
    _wait_until_written(out, len(stored_keys(out)) + 5)
    assert (out / MARK).exists()
    worker.kill()
    # Simulate two workers that wrote the same cells.
    parts = sorted((out / "cells").glob("*.parquet"))
    for table in ("cells", "curves"):
        part = out / table / parts[0].name
        part.with_name("part-again.parquet").write_bytes(part.read_bytes())
    assert any(doubled(out).values())
    threads = processes.client(*run, str(out), "--threads", "2")
    assert threads.wait(LONGEST) == 0, threads.said
    assert not (out / MARK).exists()
    _assert_as_in_threads(tmp_path, out)


@pytest.mark.slow
def test_a_client_that_is_to_write_leaves_nothing_to_workers(processes: Processes, tmp_path: Path) -> None:
    run = _slow_study(tmp_path, seeds=60)
    port, out = free_port(), tmp_path / "out"
    address = f"tcp://127.0.0.1:{port}"
    processes.scheduler(port)
    processes.worker(address)
    client = processes.client(*run, str(out), "--scheduler", address, "--client-writes")
    client.wait_for(lambda: len(stored_keys(out)) > 5, LONGEST, "the first cells")
    assert not (out / MARK).exists()
    client.interrupt()
    assert client.wait(LONGEST) == 130, client.said
    assert "run the same command to continue" in client.stderr.splitlines()[-1]


@pytest.mark.slow
def test_an_output_that_workers_do_not_see(processes: Processes, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Perceptron"'))
    port = free_port()
    processes.scheduler(port)
    processes.worker(f"tcp://127.0.0.1:{port}")
    # An output in the client's memory, which workers cannot reach.
    where = ["run", str(study), "--out", "memory://out", "--scheduler", f"tcp://127.0.0.1:{port}"]
    client = processes.client(*where)
    assert client.wait(LONGEST) == 0, client.said
    assert "4 cells computed, 0 reused, 0 failed" in client.stdout
    assert "memory://out" not in client.stderr
    strict = processes.client(*where, "--workers-write")
    assert strict.wait(LONGEST) == 2, strict.said
    assert "memory://out is not the client's" in strict.stderr.splitlines()[-1]


@pytest.mark.parametrize("option", ["--workers-write", "--client-writes"])
def test_without_a_cluster_nobody_is_to_write(
    error_line: Callable[..., str], tmp_path: Path, option: str
) -> None:
    (tmp_path / "study.toml").write_text(narrow_study('name = "Perceptron"'))
    assert f"{option} needs a cluster" in error_line("run", "study.toml", option)


@pytest.mark.slow
def test_a_worker_that_does_not_see_the_output_beside_one_that_does(
    processes: Processes, tmp_path: Path
) -> None:
    run = _slow_study(tmp_path, seeds=30)
    port, out = free_port(), tmp_path / "out"
    address = f"tcp://127.0.0.1:{port}"
    processes.scheduler(port)
    processes.worker(address)
    processes.worker(address, env=with_file(tmp_path / "blind", out / MARK, tmp_path / "nothing"))
    client = processes.client(*run, str(out), "--scheduler", address)
    assert client.wait(LONGEST) == 0, client.said
    assert read_results(str(out)).cells["worker"].nunique() == 2
    _assert_as_in_threads(tmp_path, out)


def test_who_cannot_write_creates_nothing(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    assert "is not the client's" in str(why_not(str(elsewhere), "a-run"))
    assert not elsewhere.exists()
    store = Store(str(tmp_path / "out"))
    store.prepare()
    store.write_json(MARK, {"run": "a-run"})
    there = sorted(tmp_path.rglob("*"))
    assert why_not(str(tmp_path / "out"), "a-run") is None
    assert "is not the client's" in str(why_not(str(tmp_path / "out"), "another-run"))
    assert sorted(tmp_path.rglob("*")) == there
    (tmp_path / "out" / "cells").rmdir()
    assert "cannot be written to" in str(why_not(str(tmp_path / "out"), "a-run"))
    assert not (tmp_path / "out" / "cells").exists()
    assert isinstance(why_not("nosuch://bucket/out", "a-run"), InputError)
