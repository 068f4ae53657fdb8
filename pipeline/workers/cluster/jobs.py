"""The workers that a cluster of ours was asked for: what its queue says of their jobs, and where to look."""

from __future__ import annotations

import re
import subprocess
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .connection import last_error

# A command of a queue that does not answer for so long is not waited for.
_COMMAND_SECONDS = 20.0
# The end of a job's log that is shown, and the jobs that a state names.
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
    """The workers that a cluster was asked for.

    Parameters
    ----------
    cluster : distributed.deploy.Cluster
    name : str
        Its class, as the cluster's file names it.
    """

    def __init__(self, cluster: Any, name: str) -> None:
        self.name = name
        self._cluster = cluster
        self._queue = getattr(getattr(cluster, "job_cls", None), "config_name", None)

    @property
    def advice(self) -> str:
        """Where to look when no worker comes."""
        if self._queue is None:
            return _ADVICE.get(self.name, f"see what {self.name} says of its workers")
        listing = _LISTINGS.get(self._queue, "the queue's own command")
        return (
            f"look at the jobs with `{listing}`, and check queue, account and walltime in the cluster's file"
        )

    def error(self) -> str | None:
        """Return the message with which the queue last refused a job, or None."""
        return last_error() if self._queue else None

    def all_refused(self) -> bool:
        """Return whether the queue has taken none of the jobs: dask_jobqueue does not submit them again."""
        jobs = self._jobs()
        return bool(jobs) and self.error() is not None and not any(job.job_id for job in jobs)

    def report(self) -> tuple[str, bool]:
        """Return what the queue says of the jobs ("" if unknown), and whether all of them have ended."""
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
        # Another thread adds to them.
        jobs = list(self._cluster.workers.values()) if self._queue else []
        return sorted(jobs, key=lambda job: (len(str(job.job_id)), str(job.job_id)))


def _slurm_states(numbers: Sequence[str]) -> dict[str, str] | None:
    """Return the state of each job that has not ended, with its reason; None if Slurm does not say."""
    command = ["squeue", "-h", "-j", ",".join(numbers), "-o", "%i %T %r"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_COMMAND_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    # Slurm forgets jobs minutes after their end, and asked for one alone says so by an error.
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
    """Return what the last lines of a Slurm job's log are, or "" if there is none."""
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
    """Return where a job script has Slurm write errors and output, errors first."""
    found = {}
    for option, path in re.findall(r"^#SBATCH\s+(-[eo]|--error|--output)[ =](\S+)", script, re.MULTILINE):
        found[option.lstrip("-")[0]] = path
    paths = [found[kind] for kind in "eo" if kind in found] or ["slurm-%j.out"]
    # %j, %J and %A are the job's number, %x its name.
    return [Path(re.sub("%[jJA]", number, path).replace("%x", name)) for path in paths]
