"""What happens in a worker of a cluster: it is prepared for a run, then runs cells as they come."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import pickle
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import data
from ...errors import InputError
from ...run.task import failed
from ...store.cell_result import CellResult
from ...store.store import Store
from ...study.cell import Cell
from ..apart import run_apart
from ..frozen import ended_when_frozen
from ..limited import run_limited

# Between two parts: what a worker that dies can lose, of cells that are then run again.
_WRITE_SECONDS = 10.0
# By this file workers know the output; it names the run, which a client that comes back goes on with.
MARK = "shared.json"
# A task on a worker that has not been prepared waits this long: tables may have to come first.
_PREPARED_SECONDS = 120.0


class NotPrepared(RuntimeError):
    """A cell came to a worker that nobody has prepared for its run."""


@dataclass(frozen=True)
class Plugin:
    """A file with learners.

    Attributes
    ----------
    path : str
        Where it is on the machine of the client, as cells name it.
    content : bytes
    """

    path: str
    content: bytes


@dataclass(frozen=True)
class Preparation:
    """What a worker needs for a run.

    Attributes
    ----------
    run : str
        Name of the run.
    plugins : tuple of Plugin
    pins : tuple of data.Pin
        The tables of the study's data sets.
    cell_limit : float
        Seconds after which a cell that has not ended is given up.
    output : str or None
        Folder or URL of the results, if workers are to write them; None: the client does.
    """

    run: str
    plugins: tuple[Plugin, ...]
    pins: tuple[data.Pin, ...]
    cell_limit: float
    output: str | None = None


class _Writer:
    """Writes the cells of a run, a part every few seconds; the client reads in the store what has come."""

    def __init__(self, output: str) -> None:
        self._store = Store(output)
        self._pending: list[CellResult] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._write_now_and_then, daemon=True).start()

    def add(self, outcome: CellResult) -> None:
        """Have a cell written with the next part."""
        with self._lock:
            self._pending.append(outcome)

    def flush(self) -> None:
        """Write what is there."""
        with self._lock:
            pending, self._pending = self._pending, []
            try:
                self._store.write(pending)
            except BaseException:
                self._pending = pending + self._pending
                raise

    def _write_now_and_then(self) -> None:
        while True:
            time.sleep(_WRITE_SECONDS)
            # A disk that is full, a network that is away: the next time, or the client's question, will do.
            with contextlib.suppress(Exception):
                self.flush()


@dataclass(frozen=True)
class _Prepared:
    """A run on this worker."""

    preparation: Preparation
    plugins: dict[str, str]
    writer: _Writer | None


_prepared: dict[str, _Prepared] = {}
_arrived = threading.Condition()
_watching = contextlib.ExitStack()


def prepare(preparation: Preparation) -> list[data.Lack]:
    """Take what a run needs; return the tables that have to come, after which it is called again."""
    lacking = data.lacking(preparation.pins)
    if not lacking:
        data.pin(preparation.pins)
        local = {plugin.path: _written(plugin) for plugin in preparation.plugins}
        with _arrived:
            # The last word counts: what was prepared before may be long over.
            _watching.close()
            _watching.enter_context(ended_when_frozen(preparation.cell_limit))
            before = _prepared.get(preparation.run)
            writer = None if before is None else before.writer
            if preparation.output is not None and writer is None:
                writer = _Writer(_visible(preparation))
            _prepared[preparation.run] = _Prepared(preparation, local, writer)
            _arrived.notify_all()
    return lacking


def _visible(preparation: Preparation) -> str:
    """Return the output, which must be the client's and not another folder of that name.

    Raises
    ------
    InputError
        It is not.
    """
    output = str(preparation.output)
    if Store(output).read_json(MARK).get("run") != preparation.run:
        raise InputError(f"{output} is not the client's: share it, or run without --workers-write")
    return output


def flush(run: str) -> None:
    """Write what this worker has run and not written yet."""
    found = _prepared.get(run)
    if found is not None and found.writer is not None:
        found.writer.flush()


def _written(plugin: Plugin) -> str:
    """Write a plug-in to this machine's cache, under its own name; return its path."""
    folder = data.cache_folder() / "plugins" / hashlib.sha256(plugin.content).hexdigest()[:32]
    path = folder / Path(plugin.path).name
    if not path.is_file() or path.read_bytes() != plugin.content:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{uuid.uuid4().hex}-{path.name}")
        scratch.write_bytes(plugin.content)
        scratch.replace(path)
    return str(path)


def run_here(run: str, cell: Cell, apart: bool) -> CellResult:
    """Run a cell in this worker, or in a process beside it.

    Raises
    ------
    NotPrepared
        Nobody has prepared this worker within a while: the cell is to be run elsewhere.
    """
    with _arrived:
        if not _arrived.wait_for(lambda: run in _prepared, _PREPARED_SECONDS):
            raise NotPrepared
        prepared = _prepared[run]
    preparation, writer = prepared.preparation, prepared.writer
    paths = tuple(prepared.plugins[path] for path in cell.execution.plugins)
    here = replace(cell, execution=replace(cell.execution, plugins=paths)).with_key(cell.key)
    try:
        if apart:
            limit, memory = preparation.cell_limit, _memory_limit()
            outcome = run_apart(here, limit=limit, memory=memory, pins=preparation.pins)
        else:
            outcome = run_limited(here, preparation.cell_limit)
    except Exception as error:
        outcome = failed(cell, error)
    if writer is None:
        return outcome
    writer.add(outcome)
    return outcome.receipt()


def _memory_limit() -> float | None:
    """Return the bytes that this worker may take, None outside a worker or where none are set."""
    from distributed import get_worker

    with contextlib.suppress(ValueError, AttributeError):
        limit: float | None = get_worker().memory_manager.memory_limit
        return limit
    return None


async def in_thread(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function beside the worker's event loop."""
    return await asyncio.to_thread(function, *args)


class _Call:
    """A call that is made when it is unpickled."""

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self._function, self._args = function, args

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self._function, self._args


def message(function: Callable[..., Any], *args: Any) -> bytes:
    """Return bytes that `pickle.loads` makes a call of.

    A worker that lacks this package cannot even read a task that names a function of it, and dies of that.
    ``pickle.loads`` it has, and what goes wrong in there is an error that comes back.

    Examples
    --------
    >>> pickle.loads(message(divmod, 17, 5))
    (3, 2)
    """
    return pickle.dumps(_Call(function, args))


def cell_message(run: str, cell: Cell, apart: bool) -> bytes:
    """Return the message that has a worker run a cell."""
    return message(run_here, run, cell, apart)
