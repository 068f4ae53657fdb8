"""Run cells in threads of this process or on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from numbers import Integral
from typing import Any

import joblib

from ...learners.guests.given import find_given
from ...learners.guests.returned import GuestError
from ...learners.registry import loaded_content
from ...pipeline import data
from ...pipeline.errors import InputError
from ...pipeline.run.readings import Reading
from ...pipeline.store.schema import CellResult
from ...pipeline.store.store import CLUSTER, MARK, Store
from ...pipeline.study.plan import Plan
from ...pipeline.workers.cluster.aside import SILENT_SECONDS, Attendance
from ...pipeline.workers.cluster.cluster_file import started
from ...pipeline.workers.cluster.connection import SchedulerPlace
from ...pipeline.workers.cluster.feed import Feed, Ledger
from ...pipeline.workers.cluster.jobs import Remaining
from ...pipeline.workers.cluster.on_worker import PlannedGuest, Plugin, Preparation
from ...pipeline.workers.cluster.workforce import Workforce
from ...pipeline.workers.environment import Environment, this_environment
from ...pipeline.workers.in_flight import InFlight
from ...pipeline.workers.threads import compute_in_threads
from .progress import RunProgress

# Seconds to wait for a cluster's scheduler or first worker, unless the user sets another time.
PATIENCE = 600.0
# Timeout of a cell in seconds, unless the user sets another: a day, longer than any useful cell takes.
CELL_LIMIT = 86_400.0
# Longest timeout of a cell in seconds: timers overflow for much longer ones.
_LONGEST_LIMIT = 1e7


@dataclass(frozen=True)
class WorkerOptions:
    """Configure what runs cells, and how long to wait for it."""

    # Threads of this process; None: one per core that it may use. Ignored if a cluster is named.
    threads: int | None = None
    # ``"local:N"``, or the path of a TOML file that describes the cluster to start.
    cluster: str | None = None
    # Address of a running Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.
    scheduler: str | None = None
    # JSON file that ``dask scheduler --scheduler-file`` wrote.
    scheduler_file: str | None = None
    # Seconds to wait for a scheduler, or for a first worker; None: the value of the cluster's file, or
    # `PATIENCE`.
    patience: float | None = None
    # Seconds after which an unfinished cell is marked "crashed".
    cell_limit: float = CELL_LIMIT
    # Whether workers may have other package versions than this process.
    allow_mismatch: bool = False
    # Whether workers write their own results, into a shared folder or to a URL, so that cells already handed
    # out finish even if this process ends. True: all workers must. False: this process writes. None: on a
    # cluster that outlives this process (`scheduler`, `scheduler_file`), those workers write that can.
    workers_write: bool | None = None
    # TLS settings to connect to a running scheduler (Dask's `Security`); None: Dask's own configuration.
    security: Any = None
    # Seconds without a heartbeat after which a worker's cells go to others.
    silent_seconds: float = SILENT_SECONDS

    def __post_init__(self) -> None:
        """Raise InputError for a timeout that is NaN, not positive, or too long for a timer."""
        if not 0 < self.cell_limit <= _LONGEST_LIMIT:
            raise InputError(
                f"cell_limit must be > 0 and at most {_LONGEST_LIMIT:g} s, got {self.cell_limit}"
            )

    @property
    def on_cluster(self) -> bool:
        """Return whether cells run on a Dask cluster rather than in threads."""
        return bool(self.cluster or self.outlived)

    @property
    def outlived(self) -> bool:
        """Return whether the cluster was already running and continues after this process ends."""
        return bool(self.scheduler or self.scheduler_file)

    @property
    def shares_output(self) -> bool:
        """Return whether workers receive the output's location, so that they write there."""
        return self.outlived if self.workers_write is None else self.workers_write


@dataclass(frozen=True)
class Workers:
    """Describe the workers (threads or a cluster), with a function that runs cells on them."""

    # Runs readings (tuples of cells that learn together in one pass over the rows), which it consumes lazily,
    # and passes batches of the cells' results to a callback in this thread.
    compute: Callable[[Iterable[Reading], Callable[[list[CellResult]], None]], None]
    # Returns the environments of the workers by their address; the address of this process is "".
    environments: Callable[[], dict[str, Environment]]
    # The amount of work left, which the caller keeps up to date: adaptive clusters choose their number of
    # workers by it.
    remaining: Remaining = field(default_factory=Remaining)


@contextlib.contextmanager
def workers(options: WorkerOptions, plan: Plan, output: str, progress: RunProgress) -> Iterator[Workers]:
    """Yield the workers that run a plan's cells: threads, a new cluster, or one that is running already.

    `output` is the folder or URL of the results. Raises InputError for fewer threads than one, or if a
    cluster cannot be started.
    """
    if not options.on_cluster:
        threads: Any = options.threads
        if threads is not None and (not isinstance(threads, Integral) or threads < 1):
            raise InputError(f"threads must be a whole number, 1 or more, got {threads}")
        n_threads = options.threads or joblib.cpu_count()
        with InFlight(str(Store(output).root), n_threads) as in_flight:
            compute = functools.partial(
                compute_in_threads, n_threads, cell_limit=options.cell_limit, in_flight=in_flight
            )
            yield Workers(compute, lambda: {"": this_environment()})
        return
    with contextlib.ExitStack() as stack:
        wait, remaining, store = PATIENCE, Remaining(), Store(output)
        # Remove the file about the cluster. This callback is registered first, so that it runs last, when the
        # cluster has ended or is disconnected.
        stack.callback(_forget_cluster, store)
        if options.cluster:
            place, wait = stack.enter_context(started(options.cluster, remaining))
            if place.leftovers:
                store.write_json(CLUSTER, place.leftovers)
        else:
            place = SchedulerPlace(options.scheduler, options.scheduler_file, options.security)
        patience = wait if options.patience is None else options.patience
        plugins = tuple(Plugin(path, loaded_content(path)) for path in plan.plugins)
        _check_sendable(plan)
        pins, must = data.pins_of(plan.here), bool(options.workers_write)
        preparation = Preparation(
            uuid.uuid4().hex, plugins, pins, options.cell_limit, must_write=must, guests=guests_of(plan)
        )
        seen: set[str] = set()
        if options.shares_output:
            preparation = shared(store, preparation)
            # Mark the parts already in the store as read, so that later calls return only the keys of new
            # cells.
            store.new_rows(seen, ["key"])
        workforce = Workforce(preparation, options.allow_mismatch, progress.note)
        ledger = Ledger(lambda: store.new_rows(seen, ["key"])["key"])
        try:
            attend = functools.partial(_attend, store, place, progress)
            feed = Feed(place, workforce, patience, progress.note, ledger, attend, options.silent_seconds)
            yield Workers(feed, lambda: workforce.environments, remaining)
        except KeyboardInterrupt:
            if not (options.outlived and (workforce.writes or workforce.may_write)):
                raise
            which = "workers" if workforce.writes else "workers that still run"
            raise KeyboardInterrupt(
                f"{which} finish and store the cells they have; run the same command to continue with them"
            ) from None


def _attend(store: Store, place: SchedulerPlace, progress: RunProgress, attendance: Attendance) -> None:
    """Show the numbers of a cluster's workers, and write them to the store for `singlepass status`."""
    progress.attend(str(attendance))
    store.check_lock()
    # The run goes on if these numbers of workers cannot be written.
    with contextlib.suppress(InputError):
        store.write_json(CLUSTER, {**place.leftovers, "workers": asdict(attendance)})


def _forget_cluster(store: Store) -> None:
    """Remove the store's file about the cluster, unless another run has taken the store over."""
    with contextlib.suppress(InputError):
        store.check_lock()
        store.folder.remove(CLUSTER)


def guests_of(plan: Plan) -> tuple[PlannedGuest, ...]:
    """Return the learners of other packages that workers need for a plan, without those that lack theirs."""
    found = {each.name: each.version for each in plan.learners.values() if each.package and not each.problem}
    return tuple(PlannedGuest(name, version, find_given(name)) for name, version in found.items())


def _check_sendable(plan: Plan) -> None:
    """Raise InputError if a learner given as an object, as in a notebook, cannot be pickled for workers."""
    for algorithm in plan.study.algorithms:
        given = find_given(algorithm.name)
        try:
            _ = given and given.content
        except GuestError as error:
            raise InputError(f"algorithm {algorithm.label!r}: {error}; run it without a cluster") from None


def shared(store: Store, preparation: Preparation) -> Preparation:
    """Write this run's name into the store, and return what workers need to write their results there.

    Workers write a result only if the store names the run that its cell belongs to. If the store already has
    a name, a killed run left it, and cells of that run may still wait on the cluster. If this run has the
    same output, plug-ins and data, it takes over that run's name, so that results of those cells are written.
    """
    output = str(store.root) if store.folder.is_local else store.url
    told = repr((output, preparation.plugins, preparation.pins))
    told = hashlib.sha256(told.encode()).hexdigest()
    mark = store.read_json(MARK)
    run = str(mark["run"]) if mark.get("told") == told else preparation.run
    store.write_json(MARK, {"run": run, "told": told})
    return replace(preparation, run=run, output=output)
