"""Test a batch queue that supplies no worker: its message, the jobs' states and a log's end are shown."""

from __future__ import annotations

import importlib.util
import itertools
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from singlepass.pipeline.workers.cluster.connection import message_of
from singlepass.pipeline.workers.cluster.jobs import Starting

from . import batch_queue
from .processes import Processes, Running
from .studies import narrow_study

LONGEST = 300.0
# Seconds within which a cancelled job must have ended.
GONE = 10.0
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("dask_jobqueue") is None, reason="needs dask-jobqueue: the extra `test`"
)
INVALID = """sbatch: error: invalid partition specified: gpuu
sbatch: error: Batch job submission failed: Invalid partition name specified
"""
SLURM = """
class = "dask_jobqueue.SLURMCluster"
scale = 3
wait = {wait}
[kwargs]
cores = 1
processes = 1
memory = "1 GB"
job_script_prologue = [{prologue}]
scheduler_options = {{ host = "127.0.0.1", dashboard_address = "127.0.0.1:0" }}
"""


@pytest.fixture
def queue(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Install a batch queue of one node, or the test's number; return its folder."""
    spool = batch_queue.install(tmp_path / "queue", nodes=getattr(request, "param", 1))
    yield spool.parent
    for number in batch_queue.jobs(spool):
        batch_queue.end(spool, number, signal.SIGKILL)


def _client(
    processes: Processes, folder: Path, command: str, wait: float = 10, prologue: str = ""
) -> Running:
    (folder / "slurm.toml").write_text(SLURM.format(wait=wait, prologue=prologue))
    (folder / "study.toml").write_text(narrow_study('name = "Perceptron"'))
    out = ["--out", str(folder / "out")] if command == "run" else []
    return processes.client(
        command,
        str(folder / "study.toml"),
        "--cluster",
        str(folder / "slurm.toml"),
        *out,
        env=batch_queue.on_path(folder / "queue"),
    )


@pytest.mark.slow
def test_a_refused_job(processes: Processes, tmp_path: Path, queue: Path) -> None:
    """The run ends long before `wait`, and reports what sbatch printed."""
    (queue / "refusal").write_text(INVALID)
    client = _client(processes, tmp_path, "run")
    assert client.wait(LONGEST) == 2, client.said
    errors = [line for line in client.stderr.splitlines() if "error" in line]
    assert len(errors) == 1, client.stderr
    assert "the queue refused its jobs: " + "; ".join(INVALID.splitlines()) in errors[0]
    assert "squeue" in errors[0]
    assert "dask worker" not in client.stderr
    assert "Traceback" not in client.said


@pytest.mark.parametrize("queue", [0], indirect=True)
def test_jobs_that_wait(processes: Processes, tmp_path: Path, queue: Path) -> None:
    (queue / "reason").write_text("ReqNodeNotAvail, UnavailableNodes:n1")
    client = _client(processes, tmp_path, "run", wait=0.15)
    assert client.wait(LONGEST) == 2, client.said
    lines = [line for line in client.stderr.splitlines() if "jobs 1, 2, 3: PENDING (ReqNodeNotAvail" in line]
    assert [line.startswith("singlepass: error") for line in lines] == [False, True], client.stderr


@pytest.mark.slow
def test_a_prologue_that_fails(processes: Processes, tmp_path: Path, queue: Path) -> None:
    """The run stops waiting when all jobs have ended; the log shows why."""
    client = _client(processes, tmp_path, "run", prologue='"echo no such module: cuda >&2; exit 1"')
    assert client.wait(LONGEST) == 2, client.said
    assert "jobs 1, 2, 3: ended without a worker" in client.stderr
    assert "slurm-1.out ends with: no such module: cuda" in client.stderr


@pytest.mark.slow
@pytest.mark.parametrize("refused", [True, False])
def test_the_doctor(processes: Processes, tmp_path: Path, queue: Path, refused: bool) -> None:
    """The doctor starts one worker, and ends it."""
    if refused:
        (queue / "refusal").write_text(INVALID)
    client = _client(processes, tmp_path, "doctor")
    assert client.wait(LONGEST) == refused, client.said
    found = "wrong: no worker came: dask_jobqueue.SLURMCluster: the queue refused its jobs: sbatch: error"
    assert (found in client.stdout) == refused, client.said
    assert len([*(queue / "spool").iterdir()]) == (not refused)
    until = time.monotonic() + GONE
    while batch_queue.jobs(queue / "spool") and time.monotonic() < until:
        time.sleep(0.1)
    assert not batch_queue.jobs(queue / "spool")


def test_advice_of_each_kind_of_cluster() -> None:
    def advice(name: str) -> str:
        return Starting(None, name).advice

    pbs = type("PBSJob", (), {"config_name": "pbs"})
    queue = Starting(type("PBSCluster", (), {"job_cls": pbs})(), "dask_jobqueue.PBSCluster")
    assert "`qstat`" in queue.advice
    assert "hosts" in advice("distributed.SSHCluster")
    assert "memory" in advice("distributed.LocalCluster")
    assert advice("mine.Cluster") == "check what mine.Cluster reports about its workers"


def test_a_line_of_an_error() -> None:
    assert message_of(RuntimeError("Exit code: 1\nstdout:\n\nstderr:\nno\n such\n\n")) == "no; such"
    assert message_of(OSError("no sbatch\nanywhere")) == "OSError: no sbatch"


def test_a_line_of_an_error_has_its_cause() -> None:
    first, last = OSError("Address in use"), RuntimeError("Cluster failed to start.\nSee above.")
    last.__cause__ = ValueError("between")
    last.__cause__.__context__ = first
    line = "RuntimeError: Cluster failed to start; cause: OSError: Address in use"
    assert message_of(last) == line
    # A chain that is a cycle ends.
    first.__context__ = last
    assert message_of(last) == line
    last.__cause__ = KeyError()
    assert message_of(last) == "RuntimeError: Cluster failed to start."


@pytest.mark.parametrize(
    ("chain", "line"),
    [
        # The first error has no text.
        (
            [RuntimeError("Nanny failed."), OSError("timed out: tcp://node1:1"), TimeoutError()],
            "RuntimeError: Nanny failed; cause: OSError: timed out: tcp://node1:1",
        ),
        # The first error repeats a part of a later one.
        (
            [RuntimeError("Nanny failed."), KeyError("Invalid unit: x"), KeyError("x")],
            "RuntimeError: Nanny failed; cause: KeyError: 'Invalid unit: x'",
        ),
        # The last error repeats the first.
        ([RuntimeError("Failed: no port"), ValueError("no port")], "RuntimeError: Failed: no port"),
    ],
)
def test_a_cause_adds_to_what_the_error_says(chain: list[Exception], line: str) -> None:
    for error, cause in itertools.pairwise(chain):
        error.__cause__ = cause
    assert message_of(chain[0]) == line


def test_a_hidden_error_is_no_cause() -> None:
    error = ValueError("unknown unit")
    error.__context__ = KeyError("seconds")
    assert message_of(error) == "ValueError: unknown unit; cause: KeyError: 'seconds'"
    error.__suppress_context__ = True
    assert message_of(error) == "ValueError: unknown unit"
