"""The workers that a run requests for its own cluster: how many are useful, what the batch queue reports."""

from __future__ import annotations

import math
import re
import subprocess
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .connection import last_error

if TYPE_CHECKING:
    from distributed.deploy.adaptive import Adaptive

# Timeout of a batch queue's command.
_COMMAND_SECONDS = 20.0
# Number of lines shown of a job's log, and of jobs named for each state.
_LOG_LINES, _JOBS_NAMED = 5, 5
# The command that lists jobs, by dask_jobqueue's name of the queue.
_LISTINGS = {
    "slurm": "squeue --me",
    "pbs": "qstat",
    "sge": "qstat",
    "lsf": "bjobs",
    "oar": "oarstat",
    "moab": "showq",
    "htcondor": "condor_q",
}
_ADVICE = {
    "distributed.LocalCluster": "do its processes have enough memory (n_workers, memory_limit)?",
    "distributed.SSHCluster": "do its hosts answer to ssh, and do they reach the scheduler's address?",
}


class Starting:
    """The workers requested from a cluster; `name` is the cluster's class, as its file gives it."""

    def __init__(self, cluster: Any, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._queue = getattr(getattr(cluster, "job_cls", None), "config_name", None)

    @property
    def advice(self) -> str:
        """What to check if no worker comes."""
        if self._queue is None:
            return _ADVICE.get(self.name, f"see what {self.name} says of its workers")
        listing = _LISTINGS.get(self._queue, "the queue's own command")
        return (
            f"look at the jobs with `{listing}`, and check queue, account and walltime in the cluster's file"
        )

    @property
    def n_asked(self) -> int:
        """Number of workers or jobs requested, including those that have not started."""
        return len(getattr(self._cluster, "workers", ()))

    def error(self) -> str | None:
        """Return the batch queue's last error message on submission, or None."""
        return last_error() if self._queue else None

    def all_refused(self) -> bool:
        """Return whether the queue refused every job; dask_jobqueue does not submit them again."""
        jobs = self._jobs()
        return bool(jobs) and self.error() is not None and not any(job.job_id for job in jobs)

    def report(self) -> tuple[str, bool]:
        """Return the states of the jobs ("" if unknown), and whether all jobs have ended."""
        jobs = {str(job.job_id): job for job in self._jobs() if job.job_id}
        states = _slurm_states(list(jobs)) if jobs and self._queue == "slurm" else None
        if states is None:
            return (f"last error: {error}" if (error := self.error()) else ""), False
        by_state: dict[str, list[str]] = {}
        for number in jobs:
            by_state.setdefault(states.get(number, "ended without a worker"), []).append(number)
        lines = [f"{_named(numbers)}: {state}" for state, numbers in by_state.items()]
        ended = [number for number in jobs if number not in states]
        started = ended or [number for number in jobs if states[number].startswith("RUNNING")]
        log = _end_of_log(jobs[started[0]], started[0]) if started else ""
        return "; ".join(lines) + log, len(ended) == len(jobs)

    def _jobs(self) -> list[Any]:
        # A copy, because another thread adds jobs.
        jobs = list(self._cluster.workers.values()) if self._queue else []
        return sorted(jobs, key=lambda job: (len(str(job.job_id)), str(job.job_id)))


def _slurm_states(numbers: Sequence[str]) -> dict[str, str] | None:
    """Return the state and reason of each job that has not ended, or None if Slurm does not answer."""
    command = ["squeue", "-h", "-j", ",".join(numbers), "-o", "%i %T %r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Slurm forgets a job minutes after its end, and reports an error if only such jobs are asked for.
    if done.returncode and "Invalid job id" not in done.stderr:
        return None
    states = {}
    for line in done.stdout.splitlines():
        number, _, state = line.strip().partition(" ")
        word, _, reason = state.partition(" ")
        states[number] = f"{word} ({reason})" if reason not in ("", "None") else word
    return states


def _named(numbers: Sequence[str]) -> str:
    more = len(numbers) - _JOBS_NAMED
    listed = ", ".join(numbers[:_JOBS_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"job{'' if len(numbers) == 1 else 's'} {listed}"


def _end_of_log(job: Any, number: str) -> str:
    """Return the last lines of a Slurm job's log, or "" if there is no log."""
    for path in _logs(job.job_script(), str(job.job_name or ""), number):
        try:
            with path.open(errors="replace") as file:
                lines = deque((line.rstrip() for line in file if line.strip()), maxlen=_LOG_LINES)
        except OSError:
            continue
        if lines:
            return f"; {path} ends with: {' | '.join(lines)}"
    return ""


def _logs(script: str, name: str, number: str) -> list[Path]:
    """Return the paths of a job's error and output logs, as its script sets them, errors first."""
    found = {}
    for option, path in re.findall(r"^#SBATCH\s+(-[eo]|--error|--output)[ =](\S+)", script, re.MULTILINE):
        found[option.lstrip("-")[0]] = path
    paths = [found[kind] for kind in "eo" if kind in found] or ["slurm-%j.out"]
    # Slurm replaces %j, %J and %A by the job's number, %x by its name.
    return [Path(re.sub("%[jJA]", number, path).replace("%x", name)) for path in paths]


# Seconds of work per thread for which one more worker is worth requesting: it first waits in a queue, starts
# Python, compiles and reads tables. In the same time after the first worker came, measured times of cells are
# not used yet.
WORTH_SECONDS = 30.0


@dataclass
class Remaining:
    """The work that is left, written by the run and read by its cluster."""

    # Number of cells; initially 1, so that the cluster starts a worker.
    cells: int = 1
    # Expected seconds of all these cells in one thread; None until a cell has finished.
    seconds: float | None = None

    def workers(self, threads: float, elapsed: float) -> int:
        """Return how many workers the remaining work can use.

        `threads` is the number of threads of a worker; `elapsed` is the time in seconds since the first
        worker came, or 0 before that.
        """
        if elapsed < WORTH_SECONDS:
            # The first cells read tables and compile, so their times say little about the others.
            return min(1, self.cells)
        # Until a cell has finished, assume that each takes as long as the time elapsed.
        seconds = self.cells * elapsed if self.seconds is None else self.seconds
        useful = min(self.cells / threads, seconds / threads / WORTH_SECONDS)
        return max(min(1, self.cells), math.ceil(useful))


def adaptive_for(remaining: Remaining) -> type[Adaptive]:
    """Return an `Adaptive` class that scales one of Dask's clusters by the remaining work.

    Dask's own class counts only the cells that the scheduler has, and assumes that all take as long as the
    first ones, which include compilation.
    """
    from distributed.deploy.adaptive import Adaptive

    class AdaptiveByWork(Adaptive):
        _first: float | None = None

        async def target(self) -> int:
            there: list[dict[str, Any]] = list(self.cluster.scheduler_info["workers"].values())
            if not there:
                return remaining.workers(1, 0.0)
            self._first = self._first or time.monotonic()
            threads = sum(worker["nthreads"] for worker in there) / len(there)
            return remaining.workers(threads, time.monotonic() - self._first)

        async def workers_to_close(self, target: int) -> list[str]:
            # Close only workers without a cell; a running cell would have to be recomputed.
            closed: list[str] = await self.scheduler.workers_to_close(minimum=target, attribute="name")
            return closed

    return AdaptiveByWork
