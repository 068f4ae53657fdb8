"""Workers of a cluster that a run starts itself: how many to request, and what the batch queue reports."""

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

# Timeout of a command that asks the batch queue for jobs.
_COMMAND_SECONDS = 20.0
# Most lines of a job's log that are shown, and most jobs that are named for each state.
_LOG_LINES, _JOBS_NAMED = 5, 5
# The command that lists a user's jobs, by the name that dask_jobqueue gives the batch system.
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
    """The workers or batch jobs that this process requested, and what is known about their start.

    `name` is the class of the cluster, as the cluster file gives it.
    """

    def __init__(self, cluster: Any, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._queue = getattr(getattr(cluster, "job_cls", None), "config_name", None)

    @property
    def advice(self) -> str:
        """Advice to the user on what to check if no worker connects."""
        if self._queue is None:
            return _ADVICE.get(self.name, f"check what {self.name} reports about its workers")
        listing = _LISTINGS.get(self._queue, "the queue's own command")
        return (
            f"look at the jobs with `{listing}`, and check queue, account and walltime in the cluster's file"
        )

    @property
    def n_asked(self) -> int:
        """Number of workers or jobs requested, including those that have not started."""
        return len(getattr(self._cluster, "workers", ()))

    def error(self) -> str | None:
        """Return the last error message of the batch queue when jobs were submitted, or None."""
        return last_error() if self._queue else None

    def all_refused(self) -> bool:
        """Return whether the batch queue refused every job, so that none will start."""
        jobs = self._jobs()
        return bool(jobs) and self.error() is not None and not any(job.job_id for job in jobs)

    def report(self) -> tuple[str, bool]:
        """Return the states of the jobs, or the last error if unknown, and whether all jobs have ended."""
        jobs = {str(job.job_id): job for job in self._jobs() if job.job_id}
        states = _slurm_states(list(jobs)) if jobs and self._queue == "slurm" else None
        if states is None:
            return (f"last error: {error}" if (error := last_error()) else ""), False
        by_state: dict[str, list[str]] = {}
        for number in jobs:
            by_state.setdefault(states.get(number, "ended without a worker"), []).append(number)
        lines = [f"{_named(numbers)}: {state}" for state, numbers in by_state.items()]
        ended = [number for number in jobs if number not in states]
        started = ended or [number for number in jobs if states[number].startswith("RUNNING")]
        log = _end_of_log(jobs[started[0]], started[0]) if started else ""
        return "; ".join(lines) + log, len(ended) == len(jobs)

    def _jobs(self) -> list[Any]:
        # Copy the jobs to a list first, because another thread may add jobs.
        jobs = list(self._cluster.workers.values()) if self._queue else []
        return sorted(jobs, key=lambda job: (len(str(job.job_id)), str(job.job_id)))


def _slurm_states(numbers: Sequence[str]) -> dict[str, str] | None:
    """Return the state and reason of each job that has not ended, or None if Slurm does not answer."""
    command = ["squeue", "-h", "-j", ",".join(numbers), "-o", "%i %T %r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # The error "Invalid job id" means that all jobs have ended: Slurm forgets a job minutes after its end.
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
    """Return the paths of a Slurm job's logs, as its script sets them: the error log, then the output log."""
    found = {}
    for option, path in re.findall(r"^#SBATCH\s+(-[eo]|--error|--output)[ =](\S+)", script, re.MULTILINE):
        found[option.lstrip("-")[0]] = path
    paths = [found[kind] for kind in "eo" if kind in found] or ["slurm-%j.out"]
    # Slurm replaces %j, %J and %A by the job's number, %x by its name.
    return [Path(re.sub("%[jJA]", number, path).replace("%x", name)) for path in paths]


# One more worker is requested only if it would have this many seconds of work per thread, because it first
# waits in a queue, starts Python, compiles and reads tables. For as long after the first worker connected, no
# second worker is requested, because the times of the first cells say little.
WORTH_SECONDS = 30.0


@dataclass
class Remaining:
    """The work that is left. The run updates it; an adaptive cluster chooses its number of workers by it."""

    # Number of cells; initially 1, so that the cluster starts a worker.
    cells: int = 1
    # Expected seconds of all these cells in one thread; None until a cell has finished.
    seconds: float | None = None

    def workers(self, threads: float, elapsed: float) -> int:
        """Return for how many workers the remaining work suffices.

        `threads` is the number of threads of a worker; `elapsed` is the time in seconds since the first
        worker connected, or 0 before that.
        """
        if elapsed < WORTH_SECONDS:
            # One worker at first: the first cells read tables and compile, so their times say little.
            return min(1, self.cells)
        # Until a cell has finished, assume that each cell takes as long as the time elapsed so far.
        seconds = self.cells * elapsed if self.seconds is None else self.seconds
        useful = min(self.cells / threads, seconds / threads / WORTH_SECONDS)
        return max(min(1, self.cells), math.ceil(useful))


def adaptive_for(remaining: Remaining) -> type[Adaptive]:
    """Return a class derived from Dask's `Adaptive` that chooses the number of workers by the remaining work.

    Dask's own class counts only the cells that the scheduler has at the moment, and assumes that all take as
    long as the first ones, which include compilation.
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
