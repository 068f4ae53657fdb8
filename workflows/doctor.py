"""`singlepass doctor` of a cluster: is it as a study needs it?"""

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

# Seconds for a scheduler that runs already: who asks a doctor wants to know now.
_PATIENCE = 20.0
# Workers that are alike are one line; so many kinds are shown, and so many tables that a worker lacks.
KINDS_SHOWN, LACKS_SHOWN = 10, 5


@dataclass
class Findings:
    """What was found.

    Attributes
    ----------
    facts : list of (str, str)
        What of which thing.
    problems : list of str
        What is not as it must be.
    advice : list of str
        What could be better.
    """

    facts: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    advice: list[str] = field(default_factory=list)

    def show(self) -> bool:
        """Print it; return whether something is not as it must be."""
        width = max((len(name) for name, _ in self.facts), default=0)
        for name, fact in self.facts:
            # A job script is many lines.
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
    """Start or reach a cluster, and look at it.

    Parameters
    ----------
    cluster, scheduler, scheduler_file : str or None
        One of them, as in `WorkerOptions`.
    patience : float or None
        Seconds to wait for the scheduler and a first worker; None: as long as a run would.
    subject : (Study, Path or None, tuple of str), or None
        A study whose data is looked for on the workers, its file, and plug-ins.
    """
    found = Findings()
    pins: tuple[data.Pin, ...] = ()
    if subject is not None:
        study, file, plugins = subject
        try:
            # What a run does first, too: files are downloaded and parsed here when they have to be.
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
    """Tell what a checkup has found.

    Parameters
    ----------
    found : Findings
        What is added to.
    checkup : Checkup
    n_tables : int
        Tables that workers were asked for.
    """
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
            found.problems.append(f"worker {where}: {listed}; a run refuses it, or takes --allow-mismatch")
    if len(kinds) > KINDS_SHOWN:
        found.facts.append(("", f"… and {len(kinds) - KINDS_SHOWN:,} more kinds"))
    if n_tables:
        _compare_data(found, checkup, n_tables)


def _versions(here: Environment, there: Environment | str) -> str:
    """Return the versions of a worker, those that differ marked."""
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
        # What outcomes depend on does not run there; Dask's own messages go back and forth.
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
            # Why it cannot tell is why it cannot compute; said above.
            continue
        have_all += not worker.lacking
        reasons = list(dict.fromkeys(lack.reason for lack in worker.lacking))
        for reason in reasons[:LACKS_SHOWN]:
            found.advice.append(f"worker {address}: {reason}; a run sends it this machine's table")
    found.facts.append(("data", f"{n_tables:,} tables; {have_all:,} workers have all of them"))
