"""Test cluster files: any importable class, its arguments, the number of workers, the longest wait."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from distributed import LocalCluster, SSHCluster

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import cluster_file

from .poison import slow
from .processes import Processes
from .studies import assert_same, doubled, narrow_study, run_in_threads, stored_keys

# A busy machine takes four times as long as an idle one.
LONGEST = 400.0
LOCAL = """
class = "distributed.LocalCluster"
wait = 1
[kwargs]
n_workers = 2
threads_per_worker = 1
dashboard_address = "127.0.0.1:0"
"""
LATE = """
class = "late_cluster.LateCluster"
scale = 2
wait = 5
[kwargs]
queue_seconds = 5.0
wall_seconds = {wall}
"""


def _wall_seconds() -> float:
    """Return a wall time in which a worker starts and computes a few cells, even on a busy machine."""
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import distributed, singlepass.learners.linear"], check=True)
    # A worker imports as much, receives the study's files and compiles; that leaves half of its time.
    return max(15.0, 8 * (time.monotonic() - began))


def _run(processes: Processes, folder: Path, cluster: str, *more: str, env: dict[str, str] | None = None):
    (folder / "cluster.toml").write_text(cluster)
    arguments = ["run", str(folder / "study.toml"), "--cluster", str(folder / "cluster.toml")]
    return processes.client(*arguments, "--out", str(folder / "out"), *more, env=env)


@pytest.mark.slow
def test_a_local_cluster(processes: Processes, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Perceptron"', 'name = "AROW"\nr = [0.1, 1.0]'))
    client = _run(processes, tmp_path, LOCAL)
    run_in_threads(study, tmp_path / "threads")
    assert client.wait(LONGEST) == 0, client.said
    assert_same(tmp_path / "threads", tmp_path / "out")
    assert "Traceback" not in client.said


@pytest.mark.faults
def test_a_local_cluster_by_its_short_name(processes: Processes, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Perceptron"'))
    out = tmp_path / "out"
    client = processes.client("run", str(study), "--out", str(out), "--cluster", "local:2")
    assert client.wait(LONGEST) == 0, client.said
    assert len(stored_keys(out)) == 4


@pytest.mark.faults
def test_workers_that_come_late_and_end(processes: Processes, tmp_path: Path) -> None:
    """Workers like those of a batch queue: each starts after 5 s, and is killed after a few cells."""
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Slow"', 'name = "AROW"\nr = [0.1, 1.0]', seeds=20))
    (tmp_path / "slow.py").write_text(slow(0.5))
    plugin = ["--plugin", str(tmp_path / "slow.py")]
    threads = processes.client(
        "run", str(study), "--out", str(tmp_path / "threads"), "--threads", "2", *plugin
    )
    own = {"PYTHONPATH": str(Path(__file__).parent)}
    client = _run(processes, tmp_path, LATE.format(wall=_wall_seconds()), *plugin, env=own)
    assert client.wait(LONGEST) == 0, client.said
    assert threads.wait(LONGEST) == 0, threads.said
    assert_same(tmp_path / "threads", tmp_path / "out")
    assert doubled(tmp_path / "out") == {"cells": 0, "curves": 0}
    assert "Traceback" not in client.said


@pytest.mark.parametrize(
    ("cluster", "word"),
    [
        (LOCAL.replace("LocalCluster", "NoSuchCluster"), "NoSuchCluster"),
        (LOCAL.replace("distributed.LocalCluster", "no_such_package.Cluster"), "no_such_package"),
        (LOCAL.replace("distributed.LocalCluster", "SLURMCluster"), "dask_jobqueue.SLURMCluster"),
        (LOCAL.replace("distributed.LocalCluster", "math.sqrt"), "math.sqrt"),
        (LOCAL.replace("wait", "await"), "await"),
        (LOCAL.replace("wait = 1", 'wait = "long"'), "wait"),
        (LOCAL.replace("class =", "clas ="), "clas"),
        ("class = [", "cluster.toml"),
    ],
    ids=[
        "no-class",
        "no-module",
        "no-package",
        "no-cluster",
        "unknown-key",
        "no-number",
        "no-key",
        "no-toml",
    ],
)
def test_what_is_wrong_with_a_file(
    error_line: Callable[..., str], tmp_path: Path, cluster: str, word: str
) -> None:
    (tmp_path / "study.toml").write_text(narrow_study('name = "Perceptron"'))
    (tmp_path / "cluster.toml").write_text(cluster)
    line = error_line("run", "study.toml", "--cluster", "cluster.toml", "--out", "out")
    assert word in line
    assert "cluster.toml" in line
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.parametrize("number", ["0", "two", "²"])
def test_a_number_of_processes(number: str) -> None:
    with pytest.raises(InputError, match=f"--cluster local:{number}: local: needs a number of worker"):
        cluster_file.read_cluster(f"local:{number}")


def test_a_file_that_is_not_there(processes: Processes, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(narrow_study('name = "Perceptron"'))
    client = processes.client("run", str(tmp_path / "study.toml"), "--cluster", str(tmp_path / "none.toml"))
    assert client.wait(LONGEST) == 2, client.said
    assert len(client.stderr.strip().splitlines()) == 1
    assert "none.toml" in client.stderr


@pytest.mark.faults
def test_an_argument_that_the_class_does_not_take(processes: Processes, tmp_path: Path) -> None:
    """The class and its processes may print anything; the last line is the client's, and names the file."""
    (tmp_path / "study.toml").write_text(narrow_study('name = "Perceptron"'))
    client = _run(processes, tmp_path, LOCAL.replace("n_workers", "n_wokers"))
    assert client.wait(LONGEST) == 2, client.said
    last = client.stderr.strip().splitlines()[-1]
    assert last.startswith("singlepass: error:")
    assert "cluster.toml" in last
    assert "LocalCluster" in last


def test_a_class_of_ones_own_is_handed_no_keyword_that_it_does_not_take() -> None:
    class Own(LocalCluster):
        def __init__(self, n_workers: int = 1) -> None:
            super().__init__(n_workers=n_workers)

    class Wide(LocalCluster):
        def __init__(self, **kwargs: object) -> None:
            super().__init__(silence_logs=30, **kwargs)

    assert cluster_file._hushed(LocalCluster) == {"silence_logs": logging.CRITICAL}
    for make in (Own, Wide, dict, math.sqrt):
        assert cluster_file._hushed(make) == {}


def test_what_ssh_starts_ends_when_this_process_is_killed() -> None:
    """The scheduler and workers run on other machines, where nothing else would end them."""
    made = cluster_file.completed(SSHCluster, {"worker_options": {"nthreads": 2}})
    assert made["scheduler_options"] == {"idle_timeout": "30 minutes"}
    assert made["worker_options"] == {"death_timeout": "60 seconds", "nthreads": 2}
    own = {"scheduler_options": {"idle_timeout": "1h"}, "worker_options": {"death_timeout": 5}}
    assert cluster_file.completed(SSHCluster, own) == own
    assert cluster_file.completed(LocalCluster, {"n_workers": 2}) == {"n_workers": 2}


def test_jobs_have_a_name_by_which_they_are_found() -> None:
    class Jobs:
        def __init__(self, job_name: str | None = None) -> None: ...

    name = cluster_file.completed(Jobs, {})["job_name"]
    assert name.startswith("singlepass-")
    # Some queues refuse longer names.
    assert len(name) == 15
    assert cluster_file.completed(Jobs, {})["job_name"] != name
    assert cluster_file.completed(Jobs, {"job_name": "mine"}) == {"job_name": "mine"}


@pytest.mark.parametrize(
    ("words", "staggered"),
    [
        (
            ["--lifetime", "100m", "--nthreads", "2"],
            ["--lifetime", "5700s", "--lifetime-stagger", "300s", "--nthreads", "2"],
        ),
        (["--lifetime=1h"], ["--lifetime", "3420s", "--lifetime-stagger", "180s"]),
        (["worker", "--lifetime 1h"], ["worker", "--lifetime", "3420s", "--lifetime-stagger", "180s"]),
        (["--lifetime", "1h", "--lifetime-stagger", "1m"], ["--lifetime", "1h", "--lifetime-stagger", "1m"]),
        (["--no-nanny"], ["--no-nanny"]),
    ],
)
def test_workers_that_start_together_end_at_different_times(words: list[str], staggered: list[str]) -> None:
    """Dask adds at most the stagger to a lifetime: their sum is the lifetime in the file."""

    class Own:
        def __init__(self, **kwargs: object) -> None: ...

    for name in ("worker_extra_args", "worker_command"):
        assert cluster_file.completed(Own, {name: words}) == {name: staggered}


def test_a_lifetime_among_the_keys_is_staggered() -> None:
    staggered = {"lifetime": "3420s", "lifetime_stagger": "180s"}
    assert cluster_file.completed(LocalCluster, {"lifetime": "1h"}) == staggered
    made = cluster_file.completed(SSHCluster, {"worker_options": {"lifetime": "1h"}})
    assert made["worker_options"] == {"death_timeout": "60 seconds", **staggered}
    own = {"lifetime": "1h", "lifetime_stagger": "1m"}
    assert cluster_file.completed(LocalCluster, own) == own


LEVELS = """
import logging
from distributed import Client
from singlepass.pipeline.workers.cluster.cluster_file import started

def levels():
    return [handler.level for handler in logging.getLogger("distributed").handlers]

with started("local:1") as (place, _), Client(place.address) as client:
    client.wait_for_workers(1)
    [found] = client.run(levels).values()
assert found and all(level == logging.CRITICAL for level in found), found
"""


def test_workers_of_this_machine_log_nothing_to_the_terminal() -> None:
    # A worker that asks for a scheduler that is ending would log a traceback.
    ran = subprocess.run([sys.executable, "-c", LEVELS], capture_output=True, text=True, timeout=LONGEST)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
