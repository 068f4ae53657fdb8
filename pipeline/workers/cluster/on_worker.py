"""What happens in a worker of a cluster: it is prepared for a run, then runs cells as they come."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import pickle
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ... import data
from ...run.task import failed
from ...store.cell_result import CellResult
from ...study.cell import Cell
from ..apart import run_apart
from ..frozen import ended_when_frozen
from ..limited import run_limited
from .writer import Writer, why_not

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
        Folder or URL of the results, if workers that see it are to write them; None: the client does.
    must_write : bool
        Whether a worker that cannot write there is refused; otherwise the client writes its cells.
    """

    run: str
    plugins: tuple[Plugin, ...]
    pins: tuple[data.Pin, ...]
    cell_limit: float
    output: str | None = None
    must_write: bool = False


@dataclass(frozen=True)
class Answer:
    """What a worker says that has been told of a run.

    Attributes
    ----------
    lacking : list of data.Lack
        The tables that have to come, after which it is told again.
    writes : bool
        Whether it writes the cells that it runs.
    """

    lacking: list[data.Lack]
    writes: bool = False


@dataclass(frozen=True)
class _Prepared:
    """A run on this worker."""

    preparation: Preparation
    plugins: dict[str, str]
    writer: Writer | None


_prepared: dict[str, _Prepared] = {}
_arrived = threading.Condition()
_watching = contextlib.ExitStack()


def prepare(preparation: Preparation) -> Answer:
    """Take what a run needs.

    Raises
    ------
    InputError
        This worker must write its cells, and cannot.
    """
    if lacking := data.lacking(preparation.pins):
        return Answer(lacking)
    data.pin(preparation.pins)
    local = {plugin.path: _written(plugin) for plugin in preparation.plugins}
    output = preparation.output
    error = None if output is None else why_not(output, preparation.run)
    if error is not None and preparation.must_write:
        raise error
    with _arrived:
        # The last word counts: what was prepared before may be long over.
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


def run_here(run: str, cell: Cell, apart: bool, lost: int) -> CellResult:
    """Run a cell in this worker, or in a process beside it.

    Parameters
    ----------
    run : str
    cell : Cell
    apart : bool
    lost : int
        How often it was lost on its way before.

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
    if lost:
        outcome.row["attempts"] = lost + 1
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


def cell_message(run: str, cell: Cell, apart: bool, lost: int) -> bytes:
    """Return the message that has a worker run a cell."""
    return message(run_here, run, cell, apart, lost)
