"""Inspect a cluster before a study runs on it: its workers, their versions, tables, disks and speed."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pickle import loads
from platform import python_version
from typing import TYPE_CHECKING, Any

from ... import data
from ...errors import InputError
from ..environment import Environment, this_environment
from .cluster_file import SCHEDULER_SETTINGS, class_of, completed, read_cluster
from .connection import SchedulerPlace, connected, raise_if_cancelled
from .on_worker import PlannedGuest, guest_problem, message
from .waiting import Waiting

if TYPE_CHECKING:
    from distributed import Client

# Number of tasks without work by which the time per task is measured: more than a worker gets at once, but
# few enough to take only a second.
EMPTY_TASKS = 300
# Packages whose versions on the scheduler are shown. The scheduler needs Dask only; it may lack singlepass.
SCHEDULER_PACKAGES = ("dask", "distributed", "singlepass")
# Timeout of a worker's answer. It must first import this package, which takes seconds, or a minute from a
# shared disk.
_ANSWER_SECONDS = 120.0
# Seconds between two checks whether a first worker has connected.
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class WorkerCheckup:
    """The findings of a cluster's inspection about one worker."""

    threads: int
    # Memory limit in bytes; 0 if there is no limit.
    memory: int
    # The worker's package versions and machine, or a text that says why they are unknown.
    environment: Environment | str
    # The data tables that the worker lacks and would be sent, or a text that says why they are unknown.
    lacking: list[data.Lack] | str
    # Free bytes on the disk of the worker's cache folder, or a text that says why it cannot be written.
    cache_free: int | str
    # Why the worker cannot run the learners of other packages as planned, or "" if it can.
    guests: str = ""


@dataclass(frozen=True)
class Checkup:
    """The findings of a cluster's inspection: its scheduler, its workers and its speed."""

    # Address of the scheduler.
    scheduler: str
    # Versions of Python and of `SCHEDULER_PACKAGES` on the scheduler; None if a package is missing.
    versions: dict[str, str | None]
    # The scheduler's values of `SCHEDULER_SETTINGS`; None if a setting is unknown there.
    settings: dict[str, object]
    # URL of the dashboard, or "" if there is none.
    dashboard: str
    # Whether connections use TLS.
    encrypted: bool
    # What was found about each worker, by its address; empty if no worker connected.
    workers: dict[str, WorkerCheckup]
    # Seconds that a first task without work took, and mean seconds per task of `EMPTY_TASKS` more; NaN
    # without workers.
    first_task: float
    a_task: float
    # Why no worker connected, or "" if one did.
    no_worker: str = ""


async def check_up(
    place: SchedulerPlace,
    patience: float,
    pins: tuple[data.Pin, ...],
    guests: tuple[PlannedGuest, ...],
    note: Callable[[str], None],
) -> Checkup:
    """Connect to a cluster and inspect it.

    `patience` is the longest wait in seconds, for the scheduler and then for a first worker. `pins` identify
    the tables of data that the workers need; `guests` are the learners of other packages. `note` receives a
    line when something is waited for.
    """
    async with connected(place, patience, note) as client:
        try:
            no_worker = await _wait_for_worker(client, Waiting(place, patience, note))
            # Typed as Any, because Dask declares it as possibly None; it is set while the client is
            # connected.
            scheduler: Any = client.scheduler
            there = (await scheduler.identity())["workers"]
            environments = await _ask(client, this_environment)
            lacking = await _ask(client, data.lacking, pins)
            free = await _ask(client, data.cache_space)
            problems = await _ask(client, guest_problem, guests)
            first = each = math.nan
            if there:
                first, each = await asyncio.wait_for(_speed(client), _ANSWER_SECONDS)
            return Checkup(
                scheduler=str(scheduler.address),
                versions=await _versions(client),
                settings=await _settings(client),
                dashboard=str(client.dashboard_link or ""),
                encrypted=str(scheduler.address).startswith(("tls", "wss")),
                workers={
                    address: WorkerCheckup(
                        threads=int(told["nthreads"]),
                        memory=int(told["memory_limit"] or 0),
                        environment=_or_words(environments.get(address)),
                        lacking=_or_words(lacking.get(address)),
                        cache_free=_or_words(free.get(address)),
                        guests=_or_words(problems.get(address)),
                    )
                    for address, told in there.items()
                },
                first_task=first,
                a_task=each,
                no_worker=no_worker,
            )
        except (Exception, asyncio.CancelledError) as error:
            # CancelledError also arises for futures when their scheduler is gone.
            raise_if_cancelled()
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(f"{place}: stopped answering during the check ({reason})") from None


async def _wait_for_worker(client: Client, waiting: Waiting) -> str:
    """Wait until a first worker connects; return why none did in time, or "" if one did."""
    while not await client.nthreads():
        try:
            await waiting.look(ready=False)
        except InputError as error:
            return str(error)
        await asyncio.sleep(_PAUSE_SECONDS)
    return ""


async def _ask(client: Client, function: Callable[..., Any], *args: Any) -> Mapping[str, Any]:
    """Call a function on every worker; return each worker's answer, or its error, by address."""
    call = client.run(loads, message(function, *args), on_error="return")
    answers: Mapping[str, Any] = await asyncio.wait_for(call, _ANSWER_SECONDS)
    return answers


def _or_words(answer: Any) -> Any:
    """Return a worker's answer unchanged; if it is an error or missing, return a text that says so."""
    if isinstance(answer, ModuleNotFoundError) and str(answer.name).startswith("singlepass"):
        return "singlepass is missing"
    if isinstance(answer, InputError):
        return str(answer)
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {str(answer).partition(chr(10))[0]}"
    return "gone" if answer is None else answer


async def _speed(client: Client) -> tuple[float, float]:
    """Measure tasks without work: return the seconds of a first one, and the mean of `EMPTY_TASKS` more."""
    began = time.perf_counter()
    await client.submit(loads, message(divmod, 17, 5), pure=False)
    first = time.perf_counter() - began
    began = time.perf_counter()
    futures = client.map(loads, [message(divmod, 17, 5)] * EMPTY_TASKS, pure=False)
    await client.gather(futures)
    return first, (time.perf_counter() - began) / EMPTY_TASKS


async def _versions(client: Client) -> dict[str, str | None]:
    # The calls use the standard library only, because the scheduler may lack this package.
    found: dict[str, str | None] = {"python": await client.run_on_scheduler(python_version)}
    for name in SCHEDULER_PACKAGES:
        found[name] = None
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = await client.run_on_scheduler(metadata.version, name)
    return found


async def _settings(client: Client) -> dict[str, object]:
    import dask

    return {
        name: await client.run_on_scheduler(dask.config.get, name, default=None)
        for name in SCHEDULER_SETTINGS
    }


def job_script(text: str) -> str | None:
    """Return the script that a cluster would submit to its batch queue, or None if it has none.

    `text` is the value of ``--cluster``. The function creates a cluster without workers, which submits
    nothing. If the file sets no `job_name`, the name ends in XXXX, because each run draws its own. The
    function returns None for a faulty class or call: starting the cluster reports the fault.
    """
    file = read_cluster(text)
    try:
        made: Any = class_of(file.class_, text)
        if not hasattr(made, "job_script"):
            return None
        kwargs = completed(made, file.kwargs) | {"n_workers": 0}
        if "job_name" not in file.kwargs and "job_name" in kwargs:
            kwargs["job_name"] = f"{kwargs['job_name'][:-4]}XXXX"
        cluster = made(**kwargs)
        try:
            return str(cluster.job_script())
        finally:
            cluster.close()
    except Exception:
        return None
