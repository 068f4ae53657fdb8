"""Looking at a cluster before a study is run on it: who is there, with what, how fast, unlike us in what."""

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

# Tasks that do nothing, of which the time of one is made out: more than a worker is handed at once, done in a
# second.
EMPTY_TASKS = 300
# What is looked at of a scheduler, which needs none of this package.
SCHEDULER_PACKAGES = ("dask", "distributed", "singlepass")
# What a worker may take for an answer; importing the package takes seconds, from a shared disk a minute.
_ANSWER_SECONDS = 120.0
# Between two looks for a first worker.
_PAUSE_SECONDS = 0.2


@dataclass(frozen=True)
class WorkerCheckup:
    """What a worker is.

    Attributes
    ----------
    threads : int
    memory : int
        Bytes that it may take; 0 where there is no limit.
    environment : Environment or str
        What it computes with; a text says why it cannot.
    lacking : list of data.Lack, or str
        Tables that it would be sent; a text says why it could not tell.
    """

    threads: int
    memory: int
    environment: Environment | str
    lacking: list[data.Lack] | str


@dataclass(frozen=True)
class Checkup:
    """What a cluster is.

    Attributes
    ----------
    scheduler : str
        Its address.
    versions : dict of str to str or None
        Of Python and of packages, where the scheduler runs.
    settings : dict of str to object
        Of the scheduler, those of `SCHEDULER_SETTINGS`; None where it does not know one.
    dashboard : str
    encrypted : bool
        Whether connections are TLS.
    workers : dict of str to WorkerCheckup
        By address; empty when none came.
    first_task, a_task : float
        Seconds until the first task was back, and of one of many; NaN without workers.
    no_worker : str
        Why no worker came.
    """

    scheduler: str
    versions: dict[str, str | None]
    settings: dict[str, object]
    dashboard: str
    encrypted: bool
    workers: dict[str, WorkerCheckup]
    first_task: float
    a_task: float
    no_worker: str = ""


def check_up(
    place: SchedulerPlace, patience: float, pins: tuple[data.Pin, ...], note: Callable[[str], None]
) -> Checkup:
    """Look at a cluster.

    Parameters
    ----------
    place : SchedulerPlace
    patience : float
        Seconds for which the scheduler, then a first worker, is waited for.
    pins : tuple of data.Pin
        Tables that workers are asked for.
    note : callable
        Told, in a line, what is waited for.

    Returns
    -------
    Checkup

    Raises
    ------
    InputError
        There is no scheduler, or it goes meanwhile.
    """
    return asyncio.run(_check_up(place, patience, pins, note))


async def _check_up(
    place: SchedulerPlace, patience: float, pins: tuple[data.Pin, ...], note: Callable[[str], None]
) -> Checkup:
    async with connected(place, patience, note) as client:
        try:
            no_worker = await _wait_for_worker(client, Waiting(place, patience, note))
            # There as long as the client is connected.
            scheduler: Any = client.scheduler
            there = (await scheduler.identity())["workers"]
            environments = await _ask(client, this_environment)
            lacking = await _ask(client, data.lacking, pins)
            speed = _speed(client) if there else _no_speed()
            first, each = await asyncio.wait_for(speed, _ANSWER_SECONDS)
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
                    )
                    for address, told in there.items()
                },
                first_task=first,
                a_task=each,
                no_worker=no_worker,
            )
        except (Exception, asyncio.CancelledError) as error:
            # Cancelled are also futures whose scheduler is gone.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            reason = str(error).partition("\n")[0] or type(error).__name__
            raise InputError(f"{place}: stopped answering while it was looked at ({reason})") from None


async def _wait_for_worker(client: Client, waiting: Waiting) -> str:
    """Wait for a first worker; return why none came, "" if one did."""
    while not await client.nthreads():
        try:
            await waiting.look(ready=False)
        except InputError as error:
            return str(error)
        await asyncio.sleep(_PAUSE_SECONDS)
    return ""


async def _ask(client: Client, function: Callable[..., Any], *args: Any) -> Mapping[str, Any]:
    """Return what each worker answers, or the error that it has."""
    call = client.run(loads, message(function, *args), on_error="return")
    answers: Mapping[str, Any] = await asyncio.wait_for(call, _ANSWER_SECONDS)
    return answers


def _or_words(answer: Any) -> Any:
    """Return an answer; of an error its words."""
    if isinstance(answer, ModuleNotFoundError) and str(answer.name).startswith("singlepass"):
        return "singlepass is missing"
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {str(answer).partition(chr(10))[0]}"
    return "gone" if answer is None else answer


async def _speed(client: Client) -> tuple[float, float]:
    """Return the seconds until a first task is back, and of one of many."""
    began = time.perf_counter()
    await client.submit(loads, message(divmod, 17, 5), pure=False)
    first = time.perf_counter() - began
    began = time.perf_counter()
    futures = client.map(loads, [message(divmod, 17, 5)] * EMPTY_TASKS, pure=False)
    await client.gather(futures)
    return first, (time.perf_counter() - began) / EMPTY_TASKS


async def _no_speed() -> tuple[float, float]:
    return math.nan, math.nan


async def _versions(client: Client) -> dict[str, str | None]:
    # Functions of the standard library: a scheduler has them, whatever else it lacks.
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
    """Return what would be handed to a batch system, None where a cluster has no such script.

    It is that of a cluster without workers, which is made for it and submits nothing. What is wrong with the
    file is said when it is started.

    Parameters
    ----------
    text : str
        What ``--cluster`` names.
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
