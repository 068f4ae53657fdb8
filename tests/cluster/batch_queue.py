"""Imitate Slurm's commands with jobs that are local processes: ``batch_queue.py SPOOL NODES COMMAND ...``.

A job waits until one of the nodes is free, then runs its script. SPOOL/ID holds everything about a job. If a
file "refusal" exists next to SPOOL, sbatch prints it and refuses the job; a file "reason" there is squeue's
reason for waiting jobs. The script needs only the standard library, so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

COMMANDS = ("sbatch", "squeue", "scancel")


def install(folder: Path, nodes: int) -> Path:
    """Write the commands to a subfolder for a client's PATH; return the spool folder."""
    spool, commands = folder / "spool", folder / "bin"
    spool.mkdir(parents=True)
    commands.mkdir()
    for name in COMMANDS:
        script = commands / name
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {__file__} {spool} {nodes} {name} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return spool


def on_path(folder: Path) -> dict[str, str]:
    """Return the environment of a client that finds the commands of `install` in this folder."""
    return {"PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def jobs(spool: Path) -> dict[str, str]:
    """Return the state of each job that has not ended, by its number."""
    found = {}
    for folder in sorted(spool.iterdir(), key=lambda each: int(each.name)):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
            os.killpg(int((folder / "pid").read_text()), 0)
            found[folder.name] = "RUNNING" if (folder / "runs").exists() else "PENDING"
    return found


def end(spool: Path, number: str, how: signal.Signals) -> None:
    """Send a signal to all processes of a job."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError, PermissionError):
        os.killpg(int((spool / number / "pid").read_text()), how)


def _submit(spool: Path, nodes: str, script: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        sys.exit((spool.parent / "refusal").read_text())
    number = 1
    while True:
        with contextlib.suppress(FileExistsError):
            (spool / str(number)).mkdir()
            break
        number += 1
    folder = spool / str(number)
    shutil.copy(script, folder / "script")
    job = [sys.executable, "-I", "-S", __file__, str(spool), nodes, "job", str(number)]
    # As in Slurm, the log goes to the folder from which the job is submitted.
    with Path(f"slurm-{number}.out").open("wb") as log:
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(job, stdin=nothing, stdout=log, stderr=log, start_new_session=True)
    (folder / "pid").write_text(str(process.pid))
    print("Submitted batch job", number)


def _become(spool: Path, nodes: int, number: str) -> None:
    """Wait for a free node, which is a lock file, and execute the job in this process."""
    while True:
        for node in range(nodes):
            held = os.open(spool.parent / f"node-{node}", os.O_CREAT | os.O_RDWR)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(held)
                continue
            os.set_inheritable(held, True)
            (spool / number / "runs").touch()
            os.execvp("bash", ["bash", str(spool / number / "script")])
        time.sleep(0.2)


def main() -> None:
    """Execute a command."""
    spool, nodes, command, *arguments = sys.argv[1:]
    if command == "sbatch":
        _submit(Path(spool), nodes, arguments[-1])
    elif command == "job":
        _become(Path(spool), int(nodes), arguments[0])
    elif command == "scancel":
        for number in arguments:
            end(Path(spool), number, signal.SIGTERM)
    else:
        _list(Path(spool), arguments)


def _list(spool: Path, arguments: list[str]) -> None:
    asked = arguments[arguments.index("-j") + 1].split(",") if "-j" in arguments else None
    found = {number: state for number, state in jobs(spool).items() if asked is None or number in asked}
    if asked is not None and len(asked) == 1 and not found:
        sys.exit("slurm_load_jobs error: Invalid job id specified")
    reason = "Resources"
    with contextlib.suppress(FileNotFoundError):
        reason = (spool.parent / "reason").read_text()
    for number, state in found.items():
        print(number, state, reason if state == "PENDING" else "None")


if __name__ == "__main__":
    main()
