"""Fork programs from a process that has imported what they import, which takes most of their processor time.

`processes` runs this script once per test process and writes a job to its standard input for each program: a
line of JSON. The answer is the line of the program's process id; its exit status is written to a file.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import Any

import dask.config
import distributed.cli.dask_scheduler
import distributed.cli.dask_worker  # noqa: F401

import singlepass.workflows.running.run  # noqa: F401

_PR_SET_PDEATHSIG = 1


def _next_job() -> dict[str, Any] | None:
    """Return the job in a fork of the server; return None in the server, when its input ends."""
    # Garbage collection in a fork would copy the memory that it shares with the server.
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        sys.stdout.flush()
        if os.fork():
            _reap()
            continue
        _end_with_parent()
        job: dict[str, Any] = json.loads(line)
        if not (pid := os.fork()):
            _end_with_parent()
            return job
        # This process waits for the program, so that the server can go on.
        print(pid, flush=True)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        path = Path(job["status"])
        path.with_suffix(".new").write_text(str(code))
        path.with_suffix(".new").rename(path)
        os._exit(0)
    _reap()
    return None


def _reap() -> None:
    """Collect forks that have ended, also so that their processor time counts as this process's."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(job: dict[str, Any]) -> None:
    """Run a program with the session, files, folder and environment of the job."""
    os.setsid()
    for fd, (path, flags) in enumerate(
        ((os.devnull, os.O_RDONLY), (job["out"], os.O_WRONLY), (job["err"], os.O_WRONLY))
    ):
        opened = os.open(path, flags)
        os.dup2(opened, fd)
        os.close(opened)
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    dask.config.refresh()
    if job["ignores_sigint"]:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if added := job["env"].get("PYTHONPATH"):
        sys.path.insert(1, added)
        if (custom := Path(added, "sitecustomize.py")).is_file():
            runpy.run_path(str(custom))
    command = job["command"]
    if command[0] == sys.executable:
        # -P and -m or -c
        option, name, *arguments = command[2:]
        sys.argv = [name, *arguments]
        if option == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            exec(compile(name, "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = command
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__" and (job := _next_job()):
    _become(job)
