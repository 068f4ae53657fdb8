"""Implement `singlepass doctor` for a cluster: check that it meets a study's needs."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import click
from rich.filesize import decimal

from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.study.plan import make_plan
from ..pipeline.study.study import Study
from ..pipeline.workers.cluster.checkup import Checkup, check_up, job_script
from ..pipeline.workers.cluster.cluster_file import SCHEDULER_SETTINGS, started
from ..pipeline.workers.cluster.connection import SchedulerPlace
from ..pipeline.workers.environment import COMPARED, Environment, differences, this_environment
from .progress import progress_display

# A study, its file, and plug-ins.
Subject: TypeAlias = tuple[Study, Path | None, tuple[str, ...]]

# Seconds to wait for a running scheduler: short, because the user wants an answer now.
_PATIENCE = 20.0
# With less free disk, a converted text corpus and compiled kernels may not fit.
ENOUGH_DISK = 2e9
# Identical workers share a line; this many kinds are shown, and this many tables that a worker lacks.
KINDS_SHOWN, LACKS_SHOWN = 10, 5


@dataclass
class Findings:
    """Collect what a check found.

    Attributes
    ----------
    facts : list of (str, str)
        Name and value of each fact.
    problems : list of str
        What prevents or breaks a run.
    advice : list of str
        What could be better.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    def show(self) -> bool:
        """Print the findings; return whether there are problems."""
        width = max((len(name) for name, _ in self.facts), default=0)
        for name, fact in self.facts:
            # A job script has several lines.
            click.echo(f"{name}:\n{fact}\n" if "\n" in fact else f"{name:{width}}  {fact}")
        for line in self.advice:
            click.echo(f"better: {line}")
        for line in self.problems:
            click.echo(f"wrong: {line}")
        if not self.problems:
            click.echo("all is well")
        return bool(self.problems)


def examine_cluster(
    cluster: str | None,
    scheduler: str | None,
    scheduler_file: str | None,
    patience: float | None,
    subject: Subject | None,
) -> Findings:
    """Start or reach a cluster and check it.

    One of `cluster`, `scheduler` and `scheduler_file` is set, as in `WorkerOptions`. `patience` is the number
    of seconds to wait for the scheduler and a first worker; None waits as long as a run for a cluster that is
    started here, and `_PATIENCE` for a running scheduler. `subject` is a study whose data the workers should
    have, with its file and plug-ins.
    """
    found = Findings()
    pins: tuple[data.Pin, ...] = ()
    if subject is not None:
        study, file, plugins = subject
        try:
            # As at the start of a run, files are downloaded and parsed here if necessary.
            with progress_display() as progress, data.watched(progress.read):
                plan = make_plan(study, base=Path() if file is None else file.parent, plugins=plugins)
                pins = data.pins_of(plan.tasks)
        except InputError as error:
            found.problems.append(f"study {study.name}: {error}")
    try:
        with contextlib.ExitStack() as stack:
            if cluster:
                if script := job_script(cluster):
                    found.facts.append(("job script", script.strip()))
                place, wait = stack.enter_context(started(cluster, one_worker=True))
            else:
                place, wait = SchedulerPlace(scheduler, scheduler_file), 0.0
            longest = (wait or _PATIENCE) if patience is None else patience
            describe(found, check_up(place, longest, pins, _say), len(pins))
    except InputError as error:
        found.problems.append(str(error))
    return found


def _say(line: str) -> None:
    click.echo(line, err=True)


def describe(found: Findings, checkup: Checkup, n_tables: int) -> None:
    """Add the results of a checkup to `found`; `n_tables` counts the tables that workers need."""
    here = this_environment()
    encrypted = "TLS" if checkup.encrypted else "not encrypted: who reaches the port can run code"
    found.facts += [
        ("scheduler", f"{checkup.scheduler}, {encrypted}"),
        ("dashboard", checkup.dashboard or "none"),
    ]
    if checkup.workers:
        found.facts += [
            ("time to the first task", f"{checkup.first_task * 1e3:.0f} ms"),
            ("a task", f"{checkup.a_task * 1e3:.2f} ms, of many that do nothing"),
        ]
    else:
        found.problems.append(f"no worker came: {checkup.no_worker}")
    _compare_scheduler(found, checkup, here)
    _compare_settings(found, checkup)
    kinds: dict[tuple[object, ...], list[str]] = defaultdict(list)
    for address, worker in checkup.workers.items():
        what = worker.environment
        shown = what if isinstance(what, str) else tuple(what.shown(name) for name in COMPARED)
        kinds[worker.threads, worker.memory, shown].append(address)
    found.facts.append(
        (
            "workers",
            f"{len(checkup.workers):,} with {sum(w.threads for w in checkup.workers.values()):,} threads",
        )
    )
    found.facts.append(("versions here", ", ".join(f"{name} {here.shown(name)}" for name in COMPARED)))
    for (threads, memory, _), addresses in [*kinds.items()][:KINDS_SHOWN]:
        what = checkup.workers[addresses[0]].environment
        where = addresses[0] if len(addresses) == 1 else f"{len(addresses):,}, {addresses[0]} one of them"
        limit = decimal(int(str(memory))) if memory else "no limit of memory"
        found.facts.append(
            (f"  {where}", f"{threads} thread{'' if threads == 1 else 's'}, {limit}; {_versions(here, what)}")
        )
        if isinstance(what, str):
            found.problems.append(f"worker {where}: {what}: install what is installed here")
        elif unlike := differences(here, what):
            listed = ", ".join(f"{name} {there} instead of {own}" for name, own, there in unlike)
            found.problems.append(
                f"worker {where}: {listed}; a run gives it no cells unless --allow-mismatch is set"
            )
    _look_at_caches(found, checkup)
    if len(kinds) > KINDS_SHOWN:
        found.facts.append(("", f"… and {len(kinds) - KINDS_SHOWN:,} more kinds"))
    if n_tables:
        _compare_data(found, checkup, n_tables)


def _look_at_caches(found: Findings, checkup: Checkup) -> None:
    """Report the workers whose cache is full or nearly full, grouped by message."""
    full: dict[str, list[str]] = defaultdict(list)
    low: dict[str, list[str]] = defaultdict(list)
    for address, worker in checkup.workers.items():
        if isinstance(worker.environment, str):
            # Without this package it has no cache.
            continue
        if isinstance(worker.cache_free, str):
            full[worker.cache_free].append(address)
        elif worker.cache_free < ENOUGH_DISK:
            low[worker.environment.cache].append(address)
    for cause, addresses in full.items():
        found.problems.append(f"worker {_some(checkup, addresses)}: {cause}; a run gives it no cells")
    for cache, addresses in low.items():
        free = decimal(int(checkup.workers[addresses[0]].cache_free))
        found.advice.append(f"worker {_some(checkup, addresses)}: cache {cache}: {free} free")


def _some(checkup: Checkup, addresses: list[str]) -> str:
    """Return the first of these workers with its host, and the number of the others."""
    environment = checkup.workers[addresses[0]].environment
    host = "" if isinstance(environment, str) else f" at {environment.host}"
    more = f" and {len(addresses) - 1:,} more" if len(addresses) > 1 else ""
    return f"{addresses[0]}{host}{more}"


def _versions(here: Environment, there: Environment | str) -> str:
    """Return the versions of a worker, with those that differ marked."""
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
    found.facts.append(("versions of the scheduler", ", ".join(shown)))


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
    found.facts.append(("settings of the scheduler", ", ".join(shown)))


def _compare_data(found: Findings, checkup: Checkup, n_tables: int) -> None:
    have_all = 0
    for address, worker in checkup.workers.items():
        if isinstance(worker.lacking, str):
            # The reason is already reported with the worker's environment.
            continue
        have_all += not worker.lacking
        reasons = list(dict.fromkeys(lack.reason for lack in worker.lacking))
        for reason in reasons[:LACKS_SHOWN]:
            found.advice.append(f"worker {address}: {reason}; a run sends it this machine's table")
    found.facts.append(("data", f"{n_tables:,} tables; {have_all:,} workers have all of them"))
