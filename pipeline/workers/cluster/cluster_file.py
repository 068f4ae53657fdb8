"""Start a cluster that a TOML file describes, of any class with Dask's cluster interface."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import logging
import re
import secrets
import signal
import socket
import threading
import tomllib
from collections.abc import Callable, Iterator
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...errors import InputError, did_you_mean
from .connection import SchedulerPlace, forget_errors, hush, message_of
from .jobs import Remaining, Starting, adaptive_for

# Longest wait for a first worker of ``--cluster local:N``, which starts within three to ten seconds.
_LOCAL_WAIT_MINUTES = 2.0
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
# Settings of a scheduler that this process starts. unknown-task-duration: with Dask's 0.5 s a worker would be
# handed too few tasks of unknown duration. worker-saturation: a worker gets one cell more than it has
# threads; the others stay with the scheduler and are not lost with a worker. allowed-failures: a cell during
# which two workers crashed is run in a subprocess.
SCHEDULER_SETTINGS = {
    "distributed.scheduler.unknown-task-duration": "10ms",
    "distributed.scheduler.worker-saturation": 1.1,
    "distributed.scheduler.allowed-failures": 1,
}
# For the case that this process is killed. The scheduler of an SSHCluster then ends, with its workers, after
# it had no cell for `IDLE_TIMEOUT`; the time must suffice to send tables to the first worker. A worker that
# has lost its scheduler ends after `DEATH_TIMEOUT`.
IDLE_TIMEOUT, DEATH_TIMEOUT = "30 minutes", "60 seconds"
# Seconds after which a scheduler counts as gone: a running one answers at once.
_ANSWER_SECONDS = 2.0


class Adapt(BaseModel):
    """Least and greatest number of workers of a cluster that grows and shrinks with the remaining work."""

    model_config = ConfigDict(extra="forbid")

    minimum: int = Field(default=0, ge=0)
    maximum: int = Field(ge=1)

    @model_validator(mode="after")
    def _in_order(self) -> Adapt:
        if self.minimum > self.maximum:
            raise ValueError(f"minimum {self.minimum} is more than maximum {self.maximum}")
        return self


class ClusterFile(BaseModel):
    """The content of a TOML file that describes a cluster to start."""

    model_config = ConfigDict(extra="forbid")

    # Import path of the class, such as ``"dask_jobqueue.SLURMCluster"``; key ``class``.
    class_: str = Field(alias="class")
    # Keyword arguments for the class.
    kwargs: dict[str, Any] = {}
    # Fixed number of workers, or of batch jobs, to request.
    scale: int | None = Field(default=None, ge=1)
    # Bounds of a number of workers that follows the remaining work; replaces `scale`.
    adapt: Adapt | None = None
    # Minutes to wait for a first worker before giving up.
    wait: float = Field(default=10.0, gt=0)


def read_cluster(text: str) -> ClusterFile:
    """Return the cluster that ``--cluster`` names: ``local:N``, or the path of a file."""
    kind, _, number = text.partition(":")
    if kind == "local" and number:
        if not number.isdecimal() or int(number) < 1:
            raise InputError(
                f"--cluster {text}: local: needs a number of worker processes, 1 or more, as in local:4"
            )
        kwargs = {"n_workers": int(number), "threads_per_worker": 1, "host": "127.0.0.1"}
        # Any free port, because another cluster may use the default one.
        kwargs["dashboard_address"] = "127.0.0.1:0"
        return ClusterFile.model_validate(
            {"class": "distributed.LocalCluster", "kwargs": kwargs, "wait": _LOCAL_WAIT_MINUTES}
        )
    try:
        content = tomllib.loads(Path(text).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise InputError(
            f"--cluster {text}: {error.strerror or error}; give a TOML file, or local:N for N processes"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{text}: not TOML: {error}") from None
    try:
        found = ClusterFile.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        known = "class, kwargs, scale, adapt, wait"
        what = "unknown key" if first["type"] == "extra_forbidden" else first["msg"]
        raise InputError(f"{text}: {key}: {what}; the keys are {known}") from None
    if found.scale is not None and found.adapt is not None:
        raise InputError(f"{text}: scale and adapt: give one of them")
    return found


@contextlib.contextmanager
def started(
    text: str, remaining: Remaining | None = None, *, one_worker: bool = False
) -> Iterator[tuple[SchedulerPlace, float]]:
    """Start a cluster, and close it after the ``with`` block.

    Yields the address of its scheduler, and the seconds to wait for a first worker. `text` is ``local:N`` or
    the path of a file, see `ClusterFile`. `remaining` is the work that is left, by which an adaptive cluster
    chooses its number of workers. With `one_worker` only one worker is requested, except from an SSHCluster,
    which starts one per host. Raises InputError if the class is not found or the cluster cannot be started.
    """
    import dask
    from distributed import SpecCluster

    hush()
    forget_errors()
    file = read_cluster(text)
    if one_worker:
        file = _with_one_worker(file)
    make = class_of(file.class_, text)
    _check_kwargs(make, file, text)
    with dask.config.set(SCHEDULER_SETTINGS), contextlib.ExitStack() as stack:
        try:
            kwargs = completed(make, file.kwargs)
            with _without_interrupts():
                cluster = make(**_hushed(make) | kwargs)
            if not hasattr(cluster, "scheduler_address"):
                raise TypeError("it is not a class for Dask clusters")
            stack.callback(_close, cluster)
            if file.scale is not None:
                cluster.scale(file.scale)
            if file.adapt is not None:
                # Scale by the work that is left. Clusters that are no SpecCluster, such as Kubernetes ones,
                # choose their number of workers remotely.
                by_work = {"Adaptive": adaptive_for(remaining or Remaining())}
                ours = by_work if isinstance(cluster, SpecCluster) else {}
                cluster.adapt(minimum=file.adapt.minimum, maximum=file.adapt.maximum, **ours)
        except Exception as error:
            raise InputError(
                f"--cluster {text}: {file.class_} cannot be started ({message_of(error)})"
            ) from None
        address = cluster.scheduler_address
        security = getattr(cluster, "security", None)
        leftovers = _leftovers(cluster, file.class_, kwargs)
        starting = Starting(cluster, file.class_)
        place = SchedulerPlace(address, security=security, starting=starting, leftovers=leftovers)
        yield place, file.wait * 60


def _with_one_worker(file: ClusterFile) -> ClusterFile:
    change: dict[str, Any] = {"adapt": None, "scale": 1} if file.scale or file.adapt else {}
    if file.kwargs.get("n_workers"):
        change["kwargs"] = file.kwargs | {"n_workers": 1}
    return file.model_copy(update=change)


def _check_kwargs(make: Callable[..., Any], file: ClusterFile, text: str) -> None:
    """Refuse keyword arguments that neither a cluster class nor its workers accept."""
    known = _parameters(make)
    for key in file.kwargs if known else ():
        if key not in known:
            raise InputError(
                f"--cluster {text}: [kwargs]: {file.class_} takes no {key!r}: {did_you_mean(key, known)}"
            )


def _parameters(make: Any) -> set[str]:
    """Return the names of the arguments that a cluster class or its workers accept; empty if unknown."""
    from distributed import LocalCluster, Nanny, Worker

    handed = {LocalCluster: (Nanny, Worker)}
    found: set[str] = set()
    for kind in (make, *handed.get(make, (getattr(make, "job_cls", None),))):
        if not isinstance(kind, type):
            # The class passes further arguments on, and it is unknown which are accepted there.
            if any(each.kind == each.VAR_KEYWORD for each in inspect.signature(make).parameters.values()):
                return set()
            continue
        for base in kind.__mro__:
            if "__init__" in vars(base) and base is not object:
                signature = inspect.signature(vars(base)["__init__"])
                found |= {name for name, each in signature.parameters.items() if each.kind in _NAMED}
    return found - {"self"}


def _hushed(make: Any) -> dict[str, Any]:
    """Return arguments for a cluster class that keep its local workers' tracebacks off the terminal."""
    from distributed import LocalCluster

    local = isinstance(make, type) and issubclass(make, LocalCluster)
    takes = local and "silence_logs" in inspect.signature(make).parameters
    return {"silence_logs": logging.CRITICAL} if takes else {}


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let threads and processes that are started in the ``with`` block ignore Ctrl-C (SIGINT).

    A terminal sends Ctrl-C to all processes: a worker would print a traceback, and a command that submits a
    job would lose the job's number. After Ctrl-C, this process ends workers and jobs itself.
    """
    # Start multiprocessing's resource tracker now: a later start would unblock SIGINT in this thread.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def completed(make: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the cluster file's arguments, with further options in case this process is killed.

    The options make remote schedulers and workers end by themselves, and give jobs a name to find them by.
    """
    from distributed import SSHCluster

    # Only an SSHCluster runs its scheduler remotely; others end with this process, and so do their workers.
    if make is SSHCluster:
        scheduler = {"idle_timeout": IDLE_TIMEOUT} | kwargs.get("scheduler_options", {})
        worker = {"death_timeout": DEATH_TIMEOUT} | kwargs.get("worker_options", {})
        kwargs = kwargs | {"scheduler_options": scheduler, "worker_options": worker}
    # By this name a user finds jobs that still wait in the queue after this process was killed. Some queues
    # accept only 15 characters.
    if "job_name" in _parameters(make):
        kwargs = {"job_name": f"singlepass-{secrets.token_hex(2)}"} | kwargs
    for name in ("worker_extra_args", "worker_command"):
        if isinstance(kwargs.get(name), list):
            kwargs = kwargs | {name: _staggered(kwargs[name])}
    if "worker_options" in kwargs:
        kwargs = kwargs | {"worker_options": _spread(kwargs["worker_options"])}
    return _spread(kwargs)


def _staggered(words: list[Any]) -> list[Any]:
    """Return a worker's command line; if it has a lifetime without a stagger, add one, as `_spread` does."""
    line = " ".join(map(str, words))
    lifetime = re.search(r"--lifetime[ =](\S+)", line)
    if lifetime is None or "--lifetime-stagger" in line:
        return words
    shorter = "--lifetime {lifetime} --lifetime-stagger {lifetime_stagger}"
    return line.replace(lifetime[0], shorter.format(**_spread({"lifetime": lifetime[1]}))).split(" ")


def _spread(options: dict[str, Any]) -> dict[str, Any]:
    """Return a worker's options; if they have a lifetime without a stagger, add one.

    Workers then end at random times in the last tenth of their lifetime, instead of all at once.
    """
    from dask.utils import parse_timedelta

    if "lifetime" not in options or "lifetime_stagger" in options:
        return options
    # Dask ends a worker at a uniformly random time in lifetime ± stagger.
    lifetime = parse_timedelta(options["lifetime"])
    return options | {"lifetime": f"{0.95 * lifetime:g}s", "lifetime_stagger": f"{0.05 * lifetime:g}s"}


def _leftovers(cluster: Any, name: str, kwargs: dict[str, Any]) -> dict[str, str]:
    """Return what keeps running if this process is killed, so that a user can find and end it.

    It is the cluster's class, with the name of its jobs or the address of its remote scheduler.
    """
    from distributed import Scheduler

    if "job_name" in kwargs:
        return {"cluster": name, "jobs": str(kwargs["job_name"])}
    if isinstance(getattr(cluster, "scheduler", None), Scheduler):
        return {}
    return {"cluster": name, "scheduler": str(cluster.scheduler_address)}


def left_behind(leftovers: dict[str, Any]) -> str:
    """Return a line about jobs or a scheduler that a killed run has left behind, or an empty text."""
    cluster, jobs = leftovers.get("cluster"), leftovers.get("jobs")
    if jobs:
        return f"jobs named {jobs} of {cluster}, whose client was killed; they end soon after they start"
    address = urlsplit(leftovers.get("scheduler", ""))
    if address.hostname and address.port:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((address.hostname, address.port), _ANSWER_SECONDS),
        ):
            return f"scheduler {address.geturl()} of {cluster}, whose client was killed, and its workers"
    return ""


def _close(cluster: Any) -> None:
    from distributed.core import Status

    for job in list(getattr(cluster, "workers", {}).values()):
        # Skip a job that the queue refused, which has no number: `close` would wait 10 s for it to start.
        if getattr(job, "job_id", "") is None:
            job.status = Status.failed
    with contextlib.suppress(Exception):
        cluster.close()


def class_of(name: str, text: str) -> Callable[..., Any]:
    """Import a cluster class by its path; `text` is the value of ``--cluster``, for error messages."""
    module, _, attribute = name.rpartition(".")
    if not module:
        raise InputError(
            f"--cluster {text}: class {name!r}: write its module, too, as in dask_jobqueue.SLURMCluster"
        )
    interrupted = signal.getsignal(signal.SIGINT)
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"--cluster {text}: class {name!r} cannot be imported ({error}); install its package, or give "
            "another class, such as distributed.LocalCluster"
        ) from None
    finally:
        # dask_jobqueue installs a SIGINT handler on import; with it, Ctrl-C would end this process at once.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)
    return found
