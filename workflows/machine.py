"""`singlepass doctor` of this machine: is it as a study needs it?"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import joblib
import psutil
from rich.filesize import decimal

from ..pipeline import data
from ..pipeline.study.absent import known_learners, missing_learners
from ..pipeline.workers.environment import this_environment
from .doctor import Findings, Subject

# With less than this a converted text corpus and compiled kernels may not fit.
ENOUGH_DISK = 2e9
# A line names so many data sets.
_NAMED = 5


def examine_machine(out: str, subject: Subject | None) -> Findings:
    """Look at this machine.

    Parameters
    ----------
    out : str
        Folder or URL that results are to be written to.
    subject : (Study, Path or None, tuple of str), or None
        A study whose data is looked for, its file, and plug-ins.
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
            # A table is one of its options: what was converted with others is not there.
            named = ", ".join(waiting[:_NAMED]) + (", …" if len(waiting) > _NAMED else "")
            found.advice.append(
                f"data {named}: to be parsed as this study wants them when it is run; ahead of it: "
                f"singlepass data convert {file or study.name}"
            )
    return found


def _look_at_cache(found: Findings) -> None:
    folder = data.cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        found.facts.append(("cache", f"{folder}: cannot be written"))
        found.problems.append(
            f"cache {folder}: cannot be written ({error.strerror}); set SINGLEPASS_CACHE to a folder that can"
        )
        return
    found.facts.append(("cache", f"{folder}: can be written, {decimal(free)} free"))
    if free < ENOUGH_DISK:
        found.advice.append(f"cache {folder}: {decimal(free)} free; move it with SINGLEPASS_CACHE")


def _look_at_output(found: Findings, out: str) -> None:
    """See whether a folder can be written, and whether its disk keeps two processes apart."""
    import filelock

    if "://" in out:
        found.facts.append(("output", f"{out}: a lease keeps two runs apart there"))
        return
    # The folder itself may not be there yet.
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
