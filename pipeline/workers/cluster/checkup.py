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
from .cluster_file import SCHEDULER_SETTINGS, class_of, read_cluster
from .connection import SchedulerPlace, connected
from .on_worker import message
from .waiting import Waiting

if TYPE_CHECKING:
    from distributed import Client

# Number of empty tasks that measure the time per task: more than a worker gets at once, yet done in a second.
EMPTY_TASKS = 300
# Packages whose versions are read on the scheduler; it needs only Dask, not singlepass.
SCHEDULER_PACKAGES = ("dask", "distributed", "singlepass")
# Timeout of a worker's answer: importing the package takes seconds, from a shared disk a minute.
_ANSWER_SECONDS = 120.0
# Interval of the checks for a first worker.
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class WorkerCheckup:
    """The state of a worker."""

    threads: int
    # Memory limit in bytes; 0 if there is no limit.
    memory: int
    # The worker's versions and machine; a text says why they are unknown.
    environment: Environment | str
    # Tables that must be sent to the worker; a text says why they are unknown.
    lacking: list[data.Lack] | str
    # Free bytes on the disk of the worker's cache; a text says why the cache cannot be written.
    cache_free: int | str


@dataclass(frozen=True)
class Checkup:
    """The state of a cluster."""

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
    # The workers by address; empty if none came.
    workers: dict[str, WorkerCheckup]
    # Seconds of a first task, and mean seconds per task of `EMPTY_TASKS` more tasks; NaN without workers.
    first_task: float
    a_task: float
    # Why no worker came, or "".
    no_worker: str = ""


def check_up(
    place: SchedulerPlace, patience: float, pins: tuple[data.Pin, ...], note: Callable[[str], None]
) -> Checkup:
    """Connect to a cluster and inspect it.

    `patience` is the longest wait in seconds, for the scheduler and then for a first worker. `pins` identify
    the tables of data that the workers need. `note` receives a line when something is waited for.
    """
    return asyncio.run(_check_up(place, patience, pins, note))


async def _check_up(
    place: SchedulerPlace, patience: float, pins: tuple[data.Pin, ...], note: Callable[[str], None]
) -> Checkup:
    async with connected(place, patience, note) as client:
        try:
            no_worker = await _wait_for_worker(client, Waiting(place, patience, note))
            # `client.scheduler` is set while the client is connected.
            scheduler: Any = client.scheduler
            there = (await scheduler.identity())["workers"]
            environments = await _ask(client, this_environment)
            lacking = await _ask(client, data.lacking, pins)
            free = await _ask(client, data.cache_space)
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
                    )
                    for address, told in there.items()
                },
                first_task=first,
                a_task=each,
                no_worker=no_worker,
            )
        except (Exception, asyncio.CancelledError) as error:
            # CancelledError also arises for futures when their scheduler is gone.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(f"{place}: stopped answering during the check ({reason})") from None


async def _wait_for_worker(client: Client, waiting: Waiting) -> str:
    """Wait for a first worker; return why none came, or "" if one did."""
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
    """Return an answer unchanged, or a text for an error or a missing answer."""
    if isinstance(answer, ModuleNotFoundError) and str(answer.name).startswith("singlepass"):
        return "singlepass is missing"
    if isinstance(answer, InputError):
        return str(answer)
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {str(answer).partition(chr(10))[0]}"
    return "gone" if answer is None else answer


async def _speed(client: Client) -> tuple[float, float]:
    """Return the seconds of a first task, and the mean seconds per task of `EMPTY_TASKS` more tasks."""
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
    nothing. It returns None for a faulty class or call: starting the cluster reports the fault.
    """
    file = read_cluster(text)
    try:
        made: Any = class_of(file.class_, text)
        if not hasattr(made, "job_script"):
            return None
        cluster = made(**{**file.kwargs, "n_workers": 0})
        try:
            return str(cluster.job_script())
        finally:
            cluster.close()
    except Exception:
        return None
