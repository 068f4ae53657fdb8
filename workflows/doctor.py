"""Implement `singlepass doctor`: check that this machine, or a cluster, meets a study's needs."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import click
import filelock
import joblib
import psutil
from rich.filesize import decimal

from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.store.folder import local_folder
from ..pipeline.study.learner_factory import known_learners, missing_learners
from ..pipeline.study.plan import make_plan
from ..pipeline.study.study import Study
from ..pipeline.workers.cluster.checkup import Checkup, check_up, job_script
from ..pipeline.workers.cluster.cluster_file import SCHEDULER_SETTINGS, started
from ..pipeline.workers.cluster.connection import SchedulerPlace
from ..pipeline.workers.cluster.on_worker import PlannedGuest
from ..pipeline.workers.environment import COMPARED, Environment, differences, this_environment
from .progress import progress_display
from .report.words.wording import count
from .running.workers import guests_of

# The study to check, the file that it was read from, and the paths of its plug-ins.
Subject: TypeAlias = tuple[Study, Path | None, tuple[str, ...]]

# Seconds to wait for a running scheduler: short, because the user wants an answer now.
_PATIENCE = 20.0
# Bytes of free disk below which a converted text corpus and compiled code may not fit.
ENOUGH_DISK = 2e9
# Largest numbers of lines about groups of identical workers, and about tables that a worker lacks.
KINDS_SHOWN, LACKS_SHOWN = 10, 5
# Largest number of data sets named in a line.
_NAMED = 5


@dataclass
class Findings:
    """Collect the results of a check: named facts, problems that break a run, and advice."""

    facts: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    def fact(self, name: str, text: str) -> None:
        """Add a named fact, such as a version, for `show` to print."""
        self.facts.append((name, text))

    def show(self) -> bool:
        """Print the findings; return whether there are problems."""
        width = max((len(name) for name, _ in self.facts), default=0)
        for name, fact in self.facts:
            # A fact of several lines, such as a job script, begins on a line of its own.
            click.echo(f"{name}:\n{fact}\n" if "\n" in fact else f"{name:{width}}  {fact}")
        for line in self.advice:
            click.echo(f"better: {line}")
        for line in self.problems:
            click.echo(f"wrong: {line}")
        if not self.problems:
            click.echo("all is well")
        return bool(self.problems)


def examine_machine(subject: Subject | None, out: str) -> Findings:
    """Check this machine, the folder or URL `out` for results, and the data and learners of a study."""
    here, memory = this_environment(), psutil.virtual_memory()
    found = Findings([(name, here.shown(name)) for name in here.versions if here.versions[name]])
    found.fact(
        "processor", f"{here.cpu}; this process may use {joblib.cpu_count()} of {os.cpu_count()} threads"
    )
    found.fact("memory", f"{decimal(memory.total)}, {decimal(memory.available)} available")
    _check_cache(found)
    _check_output(found, out)
    if subject is not None:
        study, file, _ = subject
        base = Path() if file is None else file.parent
        found.problems += missing_learners(known_learners(study))
        waiting: list[str] = []
        for each in study.datasets:
            look = data.look(**each.entry, base=base)
            found.fact(f"data {look.label}", look.state.partition(":")[0])
            if look.state.startswith("to be parsed"):
                waiting.append(look.label)
            if look.missing:
                found.problems.append(f"data set {look.label}: {look.state}")
        if waiting:
            # These data sets may have been parsed before, but with other options, so that the tables cannot
            # be used.
            named = ", ".join(waiting[:_NAMED]) + (", …" if len(waiting) > _NAMED else "")
            found.advice.append(
                f"data {named}: not yet parsed with the options of this study; the run does it, or now: "
                f"singlepass data convert {file or study.name}"
            )
    return found


def _check_cache(found: Findings) -> None:
    folder = data.cache_folder()
    try:
        free = data.cache_space()
    except InputError as error:
        found.fact("cache", f"{folder}: cannot be written")
        found.problems.append(str(error))
        return
    found.fact("cache", f"{folder}: can be written, {decimal(free)} free")
    if free < ENOUGH_DISK:
        found.advice.append(f"cache {folder}: {decimal(free)} free; move it with SINGLEPASS_CACHE")


def _check_output(found: Findings, out: str) -> None:
    """Check whether a folder can be written, and whether its file system has the locks that a run needs."""
    if "://" in out:
        found.fact("output", f"{out}: a lease prevents two runs at a time")
        return
    # Test the nearest parent that exists, because the folder itself may not exist yet.
    folder = local_folder(out).absolute()
    while not folder.exists():
        folder = folder.parent
    state, problem = "can be written and locked", ""
    try:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".doctor-") as scratch:
            path = Path(scratch, "lock")
            with filelock.FileLock(path), contextlib.suppress(filelock.Timeout):
                with filelock.FileLock(path, timeout=0):
                    pass
                state = "its file system has no locks"
                problem = "its file system locks no files, so two runs would not notice each other"
    except OSError as error:
        state = "cannot be written"
        problem = f"cannot be written or locked ({error.strerror})"
    found.fact("output", f"{folder}: {state}")
    if problem:
        found.problems.append(f"output {folder}: {problem}; choose another --out")


def examine_cluster(
    subject: Subject | None,
    out: str,
    cluster: str | None,
    scheduler: str | None,
    scheduler_file: str | None,
    patience: float | None,
) -> Findings:
    """Start a cluster or connect to one. Check it, and whether its workers have the data of a study.

    `out` is checked on this machine. The parameters after it are those of `WorkerOptions`. For a
    scheduler that runs already, `patience` is by default `_PATIENCE` seconds.
    """
    found = Findings()
    pins: tuple[data.Pin, ...] = ()
    guests: tuple[PlannedGuest, ...] = ()
    if subject is not None:
        study, file, plugins = subject
        try:
            # Download and parse files on this machine if necessary, as at the start of a run.
            with progress_display() as progress, data.watched(progress.read):
                plan = make_plan(study, base=Path() if file is None else file.parent, plugins=plugins)
                pins, guests = data.pins_of(plan.tasks), guests_of(plan)
        except InputError as error:
            found.problems.append(f"study {study.name}: {error}")
    try:
        with contextlib.ExitStack() as stack:
            if cluster:
                if script := job_script(cluster):
                    found.fact("job script", script.strip())
                place, wait = stack.enter_context(started(cluster, one_worker=True))
            else:
                place, wait = SchedulerPlace(scheduler, scheduler_file), 0.0
            longest = (wait or _PATIENCE) if patience is None else patience
            note = functools.partial(click.echo, err=True)
            checkup = asyncio.run(check_up(place, longest, pins, guests, note))
            describe(found, checkup, len(pins))
        _check_output(found, out)
    except InputError as error:
        found.problems.append(str(error))
    return found


def describe(found: Findings, checkup: Checkup, n_tables: int) -> None:
    """Add the results of a checkup to `found`; `n_tables` counts the tables that workers need."""
    here = this_environment()
    encrypted = "TLS" if checkup.encrypted else "not encrypted: anyone who reaches the port can run code"
    found.fact("scheduler", f"{checkup.scheduler}, {encrypted}")
    found.fact("dashboard", checkup.dashboard or "none")
    if checkup.workers:
        found.fact("first task", f"returned after {checkup.first_task * 1e3:.0f} ms")
        found.fact("mean task", f"{checkup.a_task * 1e3:.2f} ms, over many tasks that do nothing")
    else:
        found.problems.append(f"no worker came: {checkup.no_worker}")
    _compare_scheduler(found, checkup, here)
    _compare_settings(found, checkup)
    kinds: dict[tuple[int, int, object], list[str]] = defaultdict(list)
    for address, worker in checkup.workers.items():
        what = worker.environment
        shown = what if isinstance(what, str) else tuple(what.shown(name) for name in COMPARED)
        kinds[worker.threads, worker.memory, shown].append(address)
    n_threads = sum(worker.threads for worker in checkup.workers.values())
    found.fact("workers", f"{len(checkup.workers):,} with {count(n_threads, 'thread')}")
    found.fact("versions here", ", ".join(f"{name} {here.shown(name)}" for name in COMPARED))
    for (threads, memory, _), addresses in [*kinds.items()][:KINDS_SHOWN]:
        what = checkup.workers[addresses[0]].environment
        where = addresses[0] if len(addresses) == 1 else f"{addresses[0]} and {len(addresses) - 1:,} more"
        limit = decimal(memory) if memory else "no memory limit"
        found.fact(f"  {where}", f"{count(threads, 'thread')}, {limit}; {_versions(here, what)}")
        if isinstance(what, str):
            found.problems.append(f"worker {where}: {what}: install the same packages as here")
        elif unlike := differences(here, what):
            listed = ", ".join(f"{name} {there} instead of {own}" for name, own, there in unlike)
            found.problems.append(
                f"worker {where}: {listed}; a run sends it no cells unless --allow-mismatch is set"
            )
    _check_fitness(found, checkup)
    if len(kinds) > KINDS_SHOWN:
        found.fact("", f"… and {len(kinds) - KINDS_SHOWN:,} more kinds")
    if n_tables:
        _compare_data(found, checkup, n_tables)


def _check_fitness(found: Findings, checkup: Checkup) -> None:
    """Report workers refused for other reasons than versions, and those whose cache is nearly full."""
    unfit: dict[str, list[str]] = defaultdict(list)
    low: dict[str, list[str]] = defaultdict(list)
    for address, worker in checkup.workers.items():
        if isinstance(worker.environment, str):
            # Skip a worker that cannot import this package; the lines about versions already say so.
            continue
        if worker.guests:
            unfit[worker.guests].append(address)
        if isinstance(worker.cache_free, str):
            unfit[worker.cache_free].append(address)
        elif isinstance(worker.lacking, str):
            unfit[worker.lacking].append(address)
        elif worker.cache_free < ENOUGH_DISK:
            low[worker.environment.cache].append(address)
    for cause, addresses in unfit.items():
        found.problems.append(f"worker {_some(checkup, addresses)}: {cause}; a run sends it no cells")
    for cache, addresses in low.items():
        free = decimal(int(checkup.workers[addresses[0]].cache_free))
        found.advice.append(f"worker {_some(checkup, addresses)}: cache {cache}: {free} free")


def _some(checkup: Checkup, addresses: list[str]) -> str:
    """Describe workers in a message by the first one's address and host, and the number of the others."""
    environment = checkup.workers[addresses[0]].environment
    host = "" if isinstance(environment, str) else f" at {environment.host}"
    more = f" and {len(addresses) - 1:,} more" if len(addresses) > 1 else ""
    return f"{addresses[0]}{host}{more}"


def _versions(here: Environment, there: Environment | str) -> str:
    """Return a worker's versions as text, with "(!)" after those that differ from the versions here."""
    if isinstance(there, str):
        return there
    unlike = {name for name, _, _ in differences(here, there)}
    if not unlike:
        return "versions as here"
    return ", ".join(f"{name} {there.shown(name)}{' (!)' if name in unlike else ''}" for name in COMPARED)


def _compare_scheduler(found: Findings, checkup: Checkup, here: Environment) -> None:
    shown = []
    for name, version in checkup.versions.items():
        own = here.versions.get(name)
        # The scheduler computes no results, so its version of this package may differ; versions of Dask must
        # match.
        unlike = name != "singlepass" and version != own
        shown.append(f"{name} {version or 'missing'}{f' (!, here {own})' if unlike else ''}")
        if unlike and name in ("dask", "distributed"):
            found.problems.append(f"scheduler: {name} {version}, here {own}: install the same version")
    found.fact("versions of the scheduler", ", ".join(shown))


def _compare_settings(found: Findings, checkup: Checkup) -> None:
    from dask.utils import parse_timedelta

    shown = []
    for name, ours in SCHEDULER_SETTINGS.items():
        theirs, short = checkup.settings.get(name), name.rpartition(".")[2]
        duration = name.endswith("duration")
        same = parse_timedelta(str(theirs)) == parse_timedelta(str(ours)) if duration else theirs == ours
        shown.append(f"{short} {theirs}")
        if not same:
            variable = "DASK_" + name.upper().replace("-", "_").replace(".", "__")
            found.advice.append(f"scheduler: {short} is {theirs}: start it with {variable}={ours}")
    found.fact("settings of the scheduler", ", ".join(shown))


def _compare_data(found: Findings, checkup: Checkup, n_tables: int) -> None:
    have_all = 0
    for address, worker in checkup.workers.items():
        if isinstance(worker.lacking, str):
            # Skip a worker that could not be asked for its data; `describe` has already said why.
            continue
        have_all += not worker.lacking
        reasons = list(dict.fromkeys(lack.reason for lack in worker.lacking))
        for reason in reasons[:LACKS_SHOWN]:
            found.advice.append(f"worker {address}: {reason}; a run sends it this machine's table")
    found.fact("data", f"{count(n_tables, 'table')}; workers that have all of them: {have_all:,}")
