"""Code that runs on a cluster's worker: prepare it, run cells, and store their results if it can."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import pickle
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ....learners.guests.given import Given
from ... import data
from ...errors import InputError
from ...run.readings import Reading
from ...run.task import failed
from ...store.schema import CellResult
from ...store.store import MARK, Store
from ...study.cell import Cell
from ...study.learner_factory import resolve_learner
from ..subprocess_runner import run_in_subprocess
from ..timeout import ended_when_frozen, run_with_timeout

# A worker writes results after this first pause, which then doubles up to the longest one. Short first pauses
# suit workers that live briefly, because cells since the last write are lost in a crash and run again. With
# pauses of 10 s, 1,000 workers write 100 files a second.
_FIRST_SECONDS, _WRITE_SECONDS = 1.0, 10.0
# Timeout of the test whether a worker can write to the store. Without it, libraries for object stores would
# try again for longer than the process that controls the run waits, if an account or network is missing.
_TRY_SECONDS = 20.0


class Writer:
    """Write the results of a run's cells to the store every few seconds, where the client finds them.

    The client is the process that controls the run. `output` is the folder or URL of the results, `run` the
    name of the run. Nothing is written unless the output has the client's marker file (`MARK`) with this
    name, because another folder may have the same path on this machine.
    """

    def __init__(self, output: str, run: str) -> None:
        self._store, self._run = Store(output), run
        self._pending: list[CellResult] = []
        # One lock for the list of results, one for writing, so that cells go on during a slow write.
        self._lock, self._writing = threading.Lock(), threading.Lock()
        threading.Thread(target=self._write_now_and_then, daemon=True).start()

    def add(self, outcomes: list[CellResult]) -> None:
        """Add results of cells, which the next write will store."""
        with self._lock:
            self._pending += outcomes

    def flush(self) -> None:
        """Write all results that are not stored yet."""
        with self._writing:
            with self._lock:
                pending, self._pending = self._pending, []
            try:
                if pending and self._store.read_json(MARK).get("run") == self._run:
                    self._store.write(pending)
            except BaseException:
                with self._lock:
                    self._pending = pending + self._pending
                raise

    def _write_now_and_then(self) -> None:
        pause = _FIRST_SECONDS
        while True:
            time.sleep(pause)
            pause = min(2 * pause, _WRITE_SECONDS)
            # Ignore errors, such as a full disk: the next write tries again, and the client learns of them
            # when it calls `flush`.
            with contextlib.suppress(Exception):
                self.flush()


def why_not(output: str, run: str) -> Exception | None:
    """Return the error that keeps this worker from writing a run's results to `output`, or None if it can."""
    found: list[Exception | None] = []

    def look() -> None:
        try:
            store = Store(output)
            if store.read_json(MARK).get("run") != run:
                raise InputError(
                    f"{output} is not the client's folder: share it, or run without --workers-write"
                )
            store.try_writing()
            found.append(None)
        except Exception as error:  # any kind: file systems differ in their errors, or need a missing package
            found.append(error)

    # A daemon thread, so that the worker process can end while this test still waits for an answer.
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(_TRY_SECONDS)
    return found[0] if found else InputError(f"{output}: no answer within {_TRY_SECONDS:g} s")


# Longest time that a task waits until its worker is prepared; tables may have to be sent to the worker first.
_PREPARED_SECONDS = 120.0
# If a worker is prepared for other runs, tasks of a run whose client has not called within this time after
# the first of them return at once: the run is abandoned, and its tasks would block the other runs' cells. A
# client calls each worker within seconds. If one is later, its cells are only sent again.
_ABANDONED_SECONDS = 30.0
# Seconds between two checks of a waiting task whether the client has cancelled it.
_CHECK_SECONDS = 1.0


class NotPrepared(RuntimeError):
    """Error: a cell arrived at a worker that was not prepared for the cell's run."""


@dataclass(frozen=True)
class Plugin:
    """A user's Python file that defines learners, with its content."""

    # Path on the client's machine, as in the cells that need the file.
    path: str
    # The file's bytes.
    content: bytes


class PlannedGuest(NamedTuple):
    """A learner of another package, in the version that the study was planned with."""

    name: str
    version: int | str
    # The learner itself, if it is an object or a class of a notebook; unpickling it makes its name known.
    given: Given | None


def guest_problem(guests: Iterable[PlannedGuest]) -> str:
    """Return why this machine cannot run learners of other packages as planned, or "" if it can."""
    for name, planned, _ in guests:
        try:
            here = resolve_learner(name, again=True)
        except InputError as error:
            problem = str(error)
        else:
            if not here.problem and here.version == planned:
                continue
            problem = here.problem or f"algorithm {name!r}: planned with {planned}, but has {here.version}"
        return f"{problem}; give it the client's packages and code, and restart it"
    return ""


@dataclass(frozen=True)
class Preparation:
    """Everything that a worker needs for a run."""

    # Name of the run.
    run: str
    plugins: tuple[Plugin, ...]
    # Identify the tables of the study's data sets.
    pins: tuple[data.Pin, ...]
    # Seconds after which a cell counts as crashed.
    cell_limit: float
    # Folder or URL to which workers write results themselves if they can; None if only the client writes.
    output: str | None = None
    # Whether a worker that cannot write results is refused; otherwise the client writes them for it.
    must_write: bool = False
    # The study's learners of other packages. A worker that cannot run each as planned is refused.
    guests: tuple[PlannedGuest, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A worker's answer when the client prepares it."""

    # Tables that the worker lacks; the client sends them and then prepares the worker again.
    lacking: list[data.Lack]
    # Whether the worker writes the results of its cells to the store itself.
    writes: bool = False


@dataclass(frozen=True)
class _Prepared:
    """A run for which this worker is prepared; `plugins` maps the client's plug-in paths to local paths."""

    preparation: Preparation
    plugins: dict[str, str]
    writer: Writer | None


_prepared: dict[str, _Prepared] = {}
# The runs whose client has called `prepare` without a refusal; they may be waiting for tables.
_called: set[str] = set()
# When the first task arrived of each run that was not prepared, on the monotonic clock.
_first_tasks: dict[str, float] = {}
_arrived = threading.Condition()
_watching = contextlib.ExitStack()


def prepare(preparation: Preparation) -> Answer:
    """Prepare this worker for a run; if it lacks tables, only return these.

    Raises an error that says why, if this worker lacks a learner's package or has another version of it, or
    if it must write results to the store and cannot.
    """
    _called.add(preparation.run)
    if problem := guest_problem(preparation.guests):
        _called.discard(preparation.run)
        raise InputError(problem)
    if lacking := data.lacking(preparation.pins):
        return Answer(lacking)
    local = {plugin.path: _written(plugin) for plugin in preparation.plugins}
    output = preparation.output
    error = None if output is None else why_not(output, preparation.run)
    if error is not None and preparation.must_write:
        _called.discard(preparation.run)
        raise error
    with _arrived:
        # Use the timeout of the latest run, because earlier ones may have ended long ago.
        _watching.close()
        _watching.enter_context(ended_when_frozen(preparation.cell_limit))
        before = _prepared.get(preparation.run)
        writer = None
        if output is not None and error is None:
            writer = (before.writer if before else None) or Writer(output, preparation.run)
        _prepared[preparation.run] = _Prepared(preparation, local, writer)
        _arrived.notify_all()
    return Answer([], writes=writer is not None)


def flush(run: str) -> None:
    """Write all results of a run that this worker has not stored yet."""
    found = _prepared.get(run)
    if found is not None and found.writer is not None:
        found.writer.flush()


def _written(plugin: Plugin) -> str:
    """Store a plug-in file in this machine's cache, unless it is there; return its path in the cache."""
    folder = data.cache_folder() / "plugins" / hashlib.sha256(plugin.content).hexdigest()[:32]
    path = folder / Path(plugin.path).name
    if not path.is_file() or path.read_bytes() != plugin.content:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{uuid.uuid4().hex}-{path.name}")
        scratch.write_bytes(plugin.content)
        scratch.replace(path)
    return str(path)


def run_here(run: str, reading: Reading, apart: bool, lost: int) -> list[CellResult]:
    """Run a group of cells in a thread of this worker, or with `apart` each cell in a subprocess.

    `lost` is the number of earlier tries that were lost. Returns the results; if this worker stores them
    itself, only the columns that the client needs. Raises NotPrepared if this worker is not prepared in time,
    or if the client has taken the cells back, to run them elsewhere.
    """
    until = time.monotonic() + _PREPARED_SECONDS
    with _arrived:
        # The task may have overtaken the client's call of `prepare`.
        while run not in _prepared:
            # Stop waiting, so that this thread is free for the cells of other clients.
            if time.monotonic() > until or _is_abandoned(run) or _taken_back():
                raise NotPrepared
            _arrived.wait(_CHECK_SECONDS)
        prepared = _prepared[run]
    preparation, writer = prepared.preparation, prepared.writer
    here = tuple(_with_local_paths(cell, prepared.plugins) for cell in reading)
    limit, memory = preparation.cell_limit, _memory_limit()
    try:
        if apart:
            outcomes = [
                run_in_subprocess(cell, limit=limit, memory=memory, pins=preparation.pins) for cell in here
            ]
        else:
            outcomes = run_with_timeout(here, limit, preparation.pins)
    except Exception as error:
        outcomes = [failed(cell, error) for cell in reading]
    for outcome in outcomes if lost else ():
        outcome.row["attempts"] = lost + 1
    if writer is None:
        return outcomes
    writer.add(outcomes)
    return [outcome.receipt() for outcome in outcomes]


def _with_local_paths(cell: Cell, plugins: Mapping[str, str]) -> Cell:
    paths = tuple(plugins[path] for path in cell.execution.plugins)
    return replace(cell, execution=replace(cell.execution, plugins=paths)).with_key(cell.key)


def _is_abandoned(run: str) -> bool:
    """Return whether this worker is prepared for another run, and this run's client has not called."""
    waited = time.monotonic() - _first_tasks.setdefault(run, time.monotonic())
    return bool(_prepared) and run not in _called and waited > _ABANDONED_SECONDS


def _taken_back() -> bool:
    """Return whether the scheduler has cancelled the task that this thread runs."""
    from distributed import get_worker

    with contextlib.suppress(ValueError, AttributeError, KeyError):
        worker = get_worker()
        return bool(worker.state.tasks[worker.get_current_task()].state == "cancelled")
    return False


def _memory_limit() -> float | None:
    """Return the memory limit of this worker in bytes, or None outside a worker or without a limit."""
    from distributed import get_worker

    with contextlib.suppress(ValueError, AttributeError):
        limit: float | None = get_worker().memory_manager.memory_limit
        return limit
    return None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in another thread, so that the worker's event loop is not blocked meanwhile."""
    return await asyncio.to_thread(function, *args)


class _Call:
    """An object that calls a function when it is unpickled."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._function, self._args


def message(function: Callable[..., Any], *args: Any) -> bytes:
    """Return bytes that make `pickle.loads` call a function with these arguments and return its result.

    Tasks call ``pickle.loads`` with such bytes, because a worker without this package would crash when it
    receives a task that names a function of the package. Instead, an error is returned to the client.

    Examples
    --------
    >>> pickle.loads(message(divmod, 17, 5))
    (3, 2)
    """
    return pickle.dumps(_Call(function, args))
