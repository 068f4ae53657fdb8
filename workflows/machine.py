"""Implement `singlepass doctor` for this machine: check that it meets a study's needs."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

import joblib
import psutil
from rich.filesize import decimal

from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.study.learner_factory import known_learners, missing_learners
from ..pipeline.workers.environment import this_environment
from .doctor import ENOUGH_DISK, Findings, Subject

# Data sets that a line names at most.
_NAMED = 5


def examine_machine(out: str, subject: Subject | None) -> Findings:
    """Check this machine.

    `out` is the folder or URL for results. `subject` is a study whose data and learners are checked too, with
    its file and plug-ins.
    """
    found = Findings()
    here = this_environment()
    found.facts += [(name, here.shown(name)) for name in here.versions if here.versions[name]]
    memory = psutil.virtual_memory()
    found.facts += [
        ("processor", f"{here.cpu}; {joblib.cpu_count()} threads of {os.cpu_count()} are ours"),
        ("memory", f"{decimal(memory.total)}, {decimal(memory.available)} available"),
    ]
    _look_at_cache(found)
    _look_at_output(found, out)
    if subject is not None:
        study, file, _ = subject
        found.problems += missing_learners(known_learners(study))
        waiting: list[str] = []
        for each in study.datasets:
            look = data.look(
                **each.entry,
                base=Path() if file is None else file.parent,
            )
            found.facts.append((f"data {look.label}", look.state.partition(":")[0]))
            if look.state.startswith("to be parsed"):
                waiting.append(look.label)
            if look.missing:
                found.problems.append(f"data set {look.label}: {look.state}")
        if waiting:
            # A table depends on its options: one converted with other options does not count.
            named = ", ".join(waiting[:_NAMED]) + (", …" if len(waiting) > _NAMED else "")
            found.advice.append(
                f"data {named}: to be parsed as this study wants them when it is run; ahead of it: "
                f"singlepass data convert {file or study.name}"
            )
    return found


def _look_at_cache(found: Findings) -> None:
    folder = data.cache_folder()
    try:
        free = data.cache_space()
    except InputError as error:
        found.facts.append(("cache", f"{folder}: cannot be written"))
        found.problems.append(str(error))
        return
    found.facts.append(("cache", f"{folder}: can be written, {decimal(free)} free"))
    if free < ENOUGH_DISK:
        found.advice.append(f"cache {folder}: {decimal(free)} free; move it with SINGLEPASS_CACHE")


def _look_at_output(found: Findings, out: str) -> None:
    """Check whether a folder can be written, and whether its file system has locks, which keep runs apart."""
    import filelock

    if "://" in out:
        found.facts.append(("output", f"{out}: a lease keeps two runs apart there"))
        return
    # The folder itself may not exist yet.
    folder = Path(out).absolute()
    while not folder.exists():
        folder = folder.parent
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".doctor-") as scratch:
            path = Path(scratch, "lock")
            with filelock.FileLock(path), contextlib.suppress(filelock.Timeout):
                with filelock.FileLock(path, timeout=0):
                    pass
                found.facts.append(("output", f"{folder}: its file system has no locks"))
                found.problems.append(
                    f"output {folder}: two runs would not notice each other there: its file system locks no "
                    "files; take another --out"
                )
                return
    except OSError as error:
        found.facts.append(("output", f"{folder}: cannot be written"))
        found.problems.append(
            f"output {folder}: cannot be written or locked ({error.strerror}): another --out"
        )
        return
    found.facts.append(("output", f"{folder}: can be written and locked"))
