"""Test runs that are stopped or killed: how they end, what they keep, and which processes remain."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from . import batch_queue
from .poison import slow
from .processes import Processes, Running, free_port
from .studies import narrow_study, stored_keys

# A busy machine takes four times as long as an idle one.
LONGEST = 300.0
# Seconds within which every process of a stopped run must be gone.
GONE = 30.0
SLURM = """
class = "dask_jobqueue.SLURMCluster"
{workers}
wait = 2
[kwargs]
cores = 1
processes = 1
memory = "1 GB"
death_timeout = 5
scheduler_options = {{ host = "127.0.0.1", dashboard_address = "127.0.0.1:0" }}
"""
needs_jobqueue = pytest.mark.skipif(
    importlib.util.find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue: the extra `test`"
)


@pytest.fixture
def spool(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Install a batch queue of two nodes, or the test's number; its jobs end with the test."""
    spool = batch_queue.install(tmp_path / "queue", nodes=getattr(request, "param", 2))
    yield spool
    for number in batch_queue.jobs(spool):
        batch_queue.end(spool, number, signal.SIGKILL)


def _start(
    processes: Processes, folder: Path, *workers: str, cells: int = 400, seconds: float = 0.3
) -> Running:
    (folder / "study.toml").write_text(narrow_study('name = "Slow"', seeds=cells))
    (folder / "slow.py").write_text(slow(seconds))
    arguments = ["--plugin", str(folder / "slow.py"), "--out", str(folder / "out"), *workers]
    environment = batch_queue.on_path(folder / "queue")
    return processes.client("run", str(folder / "study.toml"), *arguments, env=environment)


def _slurm(folder: Path, workers: str = "scale = 4") -> list[str]:
    (folder / "slurm.toml").write_text(SLURM.format(workers=workers))
    return ["--cluster", str(folder / "slurm.toml")]


def _wait_until(gone: Callable[[], bool], seconds: float) -> None:
    until = time.monotonic() + seconds
    while not gone() and time.monotonic() < until:
        time.sleep(0.1)
    assert gone()


def _stops(client: Running, folder: Path, how: signal.Signals) -> str:
    """Send a signal to a run and all its processes, as a terminal does; return the run's last line."""
    client.wait_for(lambda: len(stored_keys(folder / "out")) > 2, LONGEST, "stored cells")
    kept, started = stored_keys(folder / "out"), psutil.Process(client.popen.pid).children(recursive=True)
    said = len(client.stderr)
    os.killpg(client.popen.pid, how)
    assert client.wait(LONGEST) == 128 + how
    assert set(kept) <= set(stored_keys(folder / "out"))
    _wait_until(lambda: not any(each.is_running() for each in started), GONE)
    # A progress line may still appear.
    lines = [line for line in client.stderr[said:].splitlines() if "/400 cells" not in line]
    assert len(lines) == 1, client.stderr
    assert lines[0].startswith("singlepass: stopped; stored cells are kept, ")
    assert client.stdout == ""
    return lines[0]


both = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])


@both
def test_threads(processes: Processes, tmp_path: Path, how: signal.Signals) -> None:
    assert _stops(_start(processes, tmp_path, "--threads", "2"), tmp_path, how).endswith(
        "run the same command to continue"
    )


@pytest.mark.slow
@both
def test_processes_of_this_machine(processes: Processes, tmp_path: Path, how: signal.Signals) -> None:
    line = _stops(_start(processes, tmp_path, "--cluster", "local:2"), tmp_path, how)
    assert line.endswith("run the same command to continue")


@pytest.mark.slow
@needs_jobqueue
@both
def test_jobs_of_slurm(processes: Processes, tmp_path: Path, spool: Path, how: signal.Signals) -> None:
    """Running and waiting jobs are cancelled, although dask_jobqueue installs a signal handler on import."""
    client = _start(processes, tmp_path, *_slurm(tmp_path))
    assert _stops(client, tmp_path, how).endswith("run the same command to continue")
    _wait_until(lambda: not batch_queue.jobs(spool), GONE)
    assert len(list(spool.iterdir())) == 4
    assert not (tmp_path / "out" / "cluster.json").exists()


@pytest.mark.slow
@both
def test_a_scheduler_that_runs_already(processes: Processes, tmp_path: Path, how: signal.Signals) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    scheduler = processes.scheduler(int(address.rpartition(":")[2]))
    worker = processes.worker(address)
    line = _stops(_start(processes, tmp_path, "--scheduler", address), tmp_path, how)
    assert line.endswith("run the same command to continue with them")
    assert scheduler.alive
    assert worker.alive


@pytest.mark.slow
def test_in_the_background_of_a_script(processes: Processes, tmp_path: Path) -> None:
    """In the background SIGINT is ignored, but SIGTERM is not."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        client = _start(processes, tmp_path, "--threads", "1")
    finally:
        signal.signal(signal.SIGINT, before)
    client.wait_for(lambda: len(stored_keys(tmp_path / "out")) > 0, LONGEST, "a stored cell")
    client.interrupt()
    _stops(client, tmp_path, signal.SIGTERM)


@pytest.mark.slow
@needs_jobqueue
@pytest.mark.parametrize("spool", [0], indirect=True)
def test_before_the_first_job_starts(processes: Processes, tmp_path: Path, spool: Path) -> None:
    client = _start(processes, tmp_path, *_slurm(tmp_path))
    client.wait_for(lambda: len(batch_queue.jobs(spool)) == 4, LONGEST, "jobs in the queue")
    client.popen.terminate()
    assert client.wait(LONGEST) == 143
    _wait_until(lambda: not batch_queue.jobs(spool), GONE)


@needs_jobqueue
@pytest.mark.faults
def test_a_client_that_is_killed(processes: Processes, tmp_path: Path, spool: Path) -> None:
    """Running jobs end; waiting jobs find no scheduler and end; until then `status` names them."""
    client = _start(processes, tmp_path, *_slurm(tmp_path))
    client.wait_for(lambda: len(stored_keys(tmp_path / "out")) > 2, LONGEST, "stored cells")
    client.popen.kill()
    client.popen.wait()
    script = (spool / "1" / "script").read_text()
    name = next(line for line in script.splitlines() if line.startswith("#SBATCH -J ")).split()[-1]
    assert name.startswith("singlepass-")
    status = processes.client("status", str(tmp_path / "out"))
    assert status.wait(LONGEST) == 0, status.said
    left = f"left     perhaps jobs named {name} of dask_jobqueue.SLURMCluster, whose client was killed"
    assert left in status.stdout
    _wait_until(lambda: not batch_queue.jobs(spool), LONGEST)


@pytest.mark.slow
@needs_jobqueue
def test_jobs_for_little_work(processes: Processes, tmp_path: Path, spool: Path) -> None:
    """An adaptive cluster with a minimum of 0 and a maximum of 64 jobs requests one."""
    adaptive = _slurm(tmp_path, "adapt = { minimum = 0, maximum = 64 }")
    client = _start(processes, tmp_path, *adaptive, cells=40, seconds=0.1)
    assert client.wait(LONGEST) == 0, client.said
    assert len(stored_keys(tmp_path / "out")) == 40
    assert [each.name for each in spool.iterdir()] == ["1"]
    _wait_until(lambda: not batch_queue.jobs(spool), GONE)
