"""Test workers that are set aside while the run goes on with others: full disks, frozen processes."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from pathlib import Path

import pytest
from distributed import Client, LocalCluster

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.workers.cluster import aside
from singlepass.workflows.status import run_status

from .disguises import with_full_disk
from .poison import slow
from .processes import Processes, Running, free_port
from .studies import doubled, narrow_study, stored_keys

LONGEST = 300.0
# Seconds without a heartbeat after which a worker is silent in these tests.
SILENT = 3.0
RUN = """
from singlepass.workflows.progress import progress_display
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study
options = WorkerOptions(scheduler={address!r}, workers_write={writes}, silent_seconds={silent})
with progress_display() as progress:
    study, _ = find_study("study.toml")
    run_study(study, "out", progress=progress, plugins=({plugin!r},), options=options)
"""


def _cluster(processes: Processes) -> str:
    port = free_port()
    processes.scheduler(port)
    return f"tcp://127.0.0.1:{port}"


def _worker(processes: Processes, address: str, env: dict[str, str] | None = None) -> tuple[Running, str]:
    worker = processes.worker(address, env=env)
    worker.wait_for(lambda: "Registered to:" in worker.said, 120, "registration")
    return worker, worker.said.partition("Start worker at:")[2].split()[0]


def _study(folder: Path, seeds: int, seconds: float) -> None:
    (folder / "slow.py").write_text(slow(seconds))
    (folder / "study.toml").write_text(narrow_study('name = "Slow"', seeds=seeds))


def _command(address: str) -> list[str]:
    return ["run", "study.toml", "--out", "out", "--plugin", "slow.py", "--scheduler", address]


@pytest.mark.slow
def test_a_full_disk(processes: Processes, tmp_path: Path) -> None:
    """The worker is reported with host and path and gets no cell; the run ends if no other worker is left."""
    address = _cluster(processes)
    _, full = _worker(processes, address, with_full_disk(tmp_path / "full"))
    good, _ = _worker(processes, address)
    _study(tmp_path, 40, 0.05)
    client = processes.client(*_command(address), cwd=tmp_path)
    assert client.wait(LONGEST) == 0, client.said
    lines = [line for line in client.stderr.splitlines() if "given no cells" in line]
    assert len(lines) == 1, client.said
    for part in (f"worker {full} at ", str(tmp_path / "full" / "cache"), "No space left on device"):
        assert part in lines[0]
    cells = read_results(str(tmp_path / "out")).cells
    assert (len(cells), cells["status"].unique().tolist()) == (40, ["ok"])
    assert cells["worker"].str.endswith(f":{good.popen.pid}").all()

    good.kill()
    client = processes.client(*_command(address)[:2], "--out", "second", *_command(address)[4:], cwd=tmp_path)
    assert client.wait(LONGEST) == 2, client.said
    assert "no worker is left" in client.stderr


@pytest.mark.slow
def test_a_full_disk_that_joins_later(processes: Processes, tmp_path: Path) -> None:
    """The cells that it got before its preparation failed go to the other worker."""
    address = _cluster(processes)
    good, _ = _worker(processes, address)
    _study(tmp_path, 60, 0.3)
    client = processes.client(*_command(address), cwd=tmp_path)
    client.wait_for(lambda: stored_keys(tmp_path / "out"), LONGEST, "first cells")
    _, full = _worker(processes, address, with_full_disk(tmp_path / "full"))
    assert client.wait(LONGEST) == 0, client.said
    assert f"worker {full} at " in client.stderr
    assert read_results(str(tmp_path / "out")).cells["worker"].str.endswith(f":{good.popen.pid}").all()


def _frozen(processes: Processes, folder: Path, writes: bool | None) -> None:
    address = _cluster(processes)
    workers = [_worker(processes, address) for _ in range(2)]
    _study(folder, 120, 0.2)
    code = RUN.format(address=address, writes=writes, silent=SILENT, plugin=str(folder / "slow.py"))
    client = processes.start("run", [sys.executable, "-P", "-c", code], cwd=folder)
    client.wait_for(lambda: len(stored_keys(folder / "out")) > 4, LONGEST, "first cells")
    frozen, where = workers[0]
    frozen.popen.send_signal(signal.SIGSTOP)
    # Less than a scheduler's answer may take: a result that the worker holds must not delay the line.
    client.wait_for(
        lambda: "has been silent for" in client.stderr, SILENT + 20, "a line on the silent worker"
    )
    line = next(line for line in client.stderr.splitlines() if "has been silent for" in line)
    assert line.startswith(f"worker {where} at ")
    assert " to others" in line
    client.wait_for(
        lambda: str(run_status(str(folder / "out")).attendance) == "2 workers, 1 silent", LONGEST, "a count"
    )
    time.sleep(2)
    frozen.popen.send_signal(signal.SIGCONT)
    assert client.wait(LONGEST) == 0, client.said
    assert f"worker {where} at " in client.stderr
    assert "sends heartbeats again" in client.stderr
    cells = read_results(str(folder / "out")).cells
    assert (len(cells), cells["status"].unique().tolist()) == (120, ["ok"])
    assert not any(doubled(folder / "out").values())


@pytest.mark.slow
def test_a_frozen_worker(processes: Processes, tmp_path: Path) -> None:
    """Its cells go to the other worker; after it wakes up, each cell's outcome is used once."""
    _frozen(processes, tmp_path, writes=False)


@pytest.mark.slow
def test_a_frozen_worker_that_writes(processes: Processes, tmp_path: Path) -> None:
    _frozen(processes, tmp_path, writes=None)


@pytest.mark.slow
def test_a_worker_that_is_killed_is_counted(processes: Processes, tmp_path: Path) -> None:
    address = _cluster(processes)
    killed, _ = _worker(processes, address)
    _worker(processes, address)
    _study(tmp_path, 150, 0.2)
    client = processes.client(*_command(address), cwd=tmp_path)
    client.wait_for(lambda: stored_keys(tmp_path / "out"), LONGEST, "first cells")
    assert str(run_status(str(tmp_path / "out")).attendance) == "2 workers"
    killed.kill()
    client.wait_for(
        lambda: str(run_status(str(tmp_path / "out")).attendance) == "1 worker, 1 lost", LONGEST, "a loss"
    )
    assert client.wait(LONGEST) == 0, client.said
    assert "1 worker, 1 lost" in client.stderr
    # The run has ended, so no worker is attending.
    assert run_status(str(tmp_path / "out")).attendance is None


@pytest.mark.slow
def test_the_only_worker_freezes(processes: Processes, tmp_path: Path) -> None:
    """No cell is taken back, and the worker goes on when it wakes up."""
    address = _cluster(processes)
    worker, _ = _worker(processes, address)
    _study(tmp_path, 40, 0.2)
    code = RUN.format(address=address, writes=False, silent=SILENT, plugin=str(tmp_path / "slow.py"))
    client = processes.start("run", [sys.executable, "-P", "-c", code], cwd=tmp_path)
    client.wait_for(lambda: len(stored_keys(tmp_path / "out")) > 2, LONGEST, "first cells")
    worker.popen.send_signal(signal.SIGSTOP)
    client.wait_for(lambda: "no other worker can run its cells" in client.stderr, SILENT + 10, "a line")
    worker.popen.send_signal(signal.SIGCONT)
    assert client.wait(LONGEST) == 0, client.said
    assert len(read_results(str(tmp_path / "out")).cells) == 40


def test_a_worker_that_two_clients_set_aside() -> None:
    """It gets tasks again when both have released it; one that paused itself is found and stays paused."""

    async def check() -> None:
        options = {"n_workers": 1, "processes": False, "dashboard_address": None, "asynchronous": True}
        async with (
            LocalCluster(**options) as cluster,
            Client(cluster, asynchronous=True) as one,
            Client(cluster, asynchronous=True) as two,
        ):
            ((address, worker),) = cluster.scheduler.workers.items()
            for client in (one, two):
                await aside._on_scheduler(client, aside._hold, [address], client.id)
            await aside.release_all(one)
            assert worker.status.name == "paused"
            await aside.release_all(two)
            assert worker.status.name == "running"
            assert await aside._on_scheduler(one, aside._silent_and_paused, 30.0) == ({}, {})
            cluster.scheduler.handle_worker_status_change("paused", worker, "memory")
            found = await aside._on_scheduler(one, aside._silent_and_paused, 30.0)
            assert found == ({}, {address: 0})
            await aside._on_scheduler(one, aside._hold, [address], one.id)
            await aside.release_all(one)
            assert worker.status.name == "paused"

    asyncio.run(check())
