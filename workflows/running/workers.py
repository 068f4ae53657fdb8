"""Who runs cells: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import joblib

from ...learners.guests.given import find_given
from ...learners.guests.returned import GuestError
from ...pipeline import data
from ...pipeline.errors import InputError
from ...pipeline.store.cell_result import CellResult
from ...pipeline.store.store import LEFTOVERS, MARK, Store
from ...pipeline.study.cell import Cell
from ...pipeline.study.plan import Plan
from ...pipeline.workers.cluster.adaptive import Remaining
from ...pipeline.workers.cluster.cluster_file import started
from ...pipeline.workers.cluster.connection import SchedulerPlace
from ...pipeline.workers.cluster.feed import Feed
from ...pipeline.workers.cluster.on_worker import Plugin, Preparation
from ...pipeline.workers.cluster.tries import Ledger
from ...pipeline.workers.cluster.workforce import Workforce
from ...pipeline.workers.environment import Environment, this_environment
from ...pipeline.workers.in_flight import InFlight
from ...pipeline.workers.threads import compute_in_threads

# Runs cells and hands their outcomes on, batch by batch, in the caller's thread.
Compute: TypeAlias = Callable[[Iterable[Cell], Callable[[list[CellResult]], None]], None]

# Seconds for which a cluster is waited for.
PATIENCE = 600.0
# No cell that anybody waits for takes longer than a day.
CELL_LIMIT = 86_400.0


@dataclass(frozen=True)
class WorkerOptions:
    """Who is to run cells, and how long they are waited for.

    Attributes
    ----------
    threads : int or None
        Threads of this process; None: one a core that it may use. Ignored when a cluster is named.
    cluster : str or None
        ``"local:N"``, or the path of a TOML file that says which cluster to start.
    scheduler : str or None
        Address of a running Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.
    scheduler_file : str or None
        JSON file that ``dask scheduler --scheduler-file`` wrote.
    patience : float or None
        Seconds for which a scheduler, or a worker where there is none, is waited for; None: what the
        cluster's file says, or `PATIENCE`.
    cell_limit : float
        Seconds after which a cell that has not ended is given up and marked "crashed".
    allow_mismatch : bool
        Whether workers may have other versions than this process.
    workers_write : bool or None
        Whether workers write the cells that they run themselves, into a shared folder or to a URL: what has
        been handed out is then finished even when this process ends. True: all must; False: this process
        writes; None: those do that can, on a cluster that outlives this process (`scheduler`,
        `scheduler_file`).
    security : distributed.Security or None
        Of a running scheduler; None: what Dask's own configuration says.
    """

    threads: int | None = None
    cluster: str | None = None
    scheduler: str | None = None
    scheduler_file: str | None = None
    patience: float | None = None
    cell_limit: float = CELL_LIMIT
    allow_mismatch: bool = False
    workers_write: bool | None = None
    security: Any = None

    @property
    def on_cluster(self) -> bool:
        """Whether a cluster is named."""
        return bool(self.cluster or self.outlived)

    @property
    def outlived(self) -> bool:
        """Whether it is one that runs already, and goes on when this process has ended."""
        return bool(self.scheduler or self.scheduler_file)

    @property
    def shares_output(self) -> bool:
        """Whether workers are told of the output, so that they write there."""
        return self.outlived if self.workers_write is None else self.workers_write


@dataclass(frozen=True)
class Workers:
    """Who runs cells.

    Attributes
    ----------
    compute : callable
        Of cells, an iterable that is read lazily, and what is called with each batch of outcomes.
    environments : callable
        Returns what computes, by address of the worker; "" is this process.
    remaining : Remaining
        The work that is left, to be kept up to date: adaptive clusters are scaled by it.
    """

    compute: Compute
    environments: Callable[[], dict[str, Environment]]
    remaining: Remaining = field(default_factory=Remaining)


@contextlib.contextmanager
def workers(
    options: WorkerOptions, plan: Plan, output: str, note: Callable[[str], None]
) -> Iterator[Workers]:
    """Have cells run.

    Parameters
    ----------
    options : WorkerOptions
    plan : Plan
        Its plug-ins and data are what the workers of a cluster must have.
    output : str
        Folder or URL of the results.
    note : callable
        Told, in a line, what is waited for.

    Yields
    ------
    Workers

    Raises
    ------
    InputError
        Fewer threads than one; a cluster that cannot be started.
    """
    if not options.on_cluster:
        if options.threads is not None and options.threads < 1:
            raise InputError(f"threads must be 1 or more, got {options.threads}")
        n_threads = options.threads or joblib.cpu_count()
        with InFlight(str(Store(output).root), n_threads) as in_flight:
            compute = functools.partial(
                compute_in_threads, n_threads, cell_limit=options.cell_limit, in_flight=in_flight
            )
            yield Workers(compute, lambda: {"": this_environment()})
        return
    with contextlib.ExitStack() as stack:
        wait, remaining, store = PATIENCE, Remaining(), Store(output)
        if options.cluster:
            # Once the cluster has ended.
            stack.callback(store.folder.remove, LEFTOVERS)
            place, wait = stack.enter_context(started(options.cluster, remaining))
            if place.leftovers:
                store.write_json(LEFTOVERS, place.leftovers)
        else:
            place = SchedulerPlace(options.scheduler, options.scheduler_file, options.security)
        patience = wait if options.patience is None else options.patience
        preparation = _preparation(options, plan)
        seen: set[str] = set()
        if options.shares_output:
            preparation = shared(store, preparation)
            # What has been there before is not news.
            store.new_rows(seen, ["key"])
        workforce = Workforce(preparation, options.allow_mismatch, note)
        ledger = Ledger(lambda: store.new_rows(seen, ["key"])["key"])
        try:
            feed = Feed(place, workforce, patience, note, ledger)
            yield Workers(feed, lambda: workforce.environments, remaining)
        except KeyboardInterrupt:
            if not (options.outlived and workforce.writes):
                raise
            raise KeyboardInterrupt(
                "workers finish what was handed out to them, and write it; the same command joins them"
            ) from None


def _preparation(options: WorkerOptions, plan: Plan) -> Preparation:
    plugins = tuple(Plugin(path, Path(path).read_bytes()) for path in plan.plugins)
    must = bool(options.workers_write)
    _check_sendable(plan)
    pins = data.pins_of(plan.tasks)
    return Preparation(uuid.uuid4().hex, plugins, pins, options.cell_limit, must_write=must)


def _check_sendable(plan: Plan) -> None:
    """Refuse an object of a notebook that cannot be pickled."""
    for algorithm in plan.study.algorithms:
        given = find_given(algorithm.name)
        try:
            _ = given and given.content
        except GuestError as error:
            raise InputError(f"algorithm {algorithm.label!r}: {error}; threads need no copy of it") from None


def shared(store: Store, preparation: Preparation) -> Preparation:
    """Mark the output, so that workers know it; return what they need to write there.

    A run that left its mark was killed, and its cells may still wait on the cluster: this one takes its name,
    if workers are told the same of it. What cells of another one come to is dropped by workers.
    """
    output = str(store.root) if store.folder.is_local else store.url
    told = repr((output, preparation.plugins, preparation.pins))
    told = hashlib.sha256(told.encode()).hexdigest()
    mark = store.read_json(MARK)
    run = str(mark["run"]) if mark.get("told") == told else preparation.run
    store.write_json(MARK, {"run": run, "told": told})
    return replace(preparation, run=run, output=output)


def is_marked(store: Store) -> bool:
    """Return whether workers may write to a store: this run's, or those of one that has not ended well."""
    return bool(store.read_json(MARK))


def unmark(store: Store) -> None:
    """Say that a run has come to its end: workers of the next one need another mark."""
    store.folder.remove(MARK)
