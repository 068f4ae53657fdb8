"""What happens in a worker of a cluster: it is prepared for a run, then runs cells as they come."""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import threading
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
    """

    run: str
    plugins: tuple[Plugin, ...]
    pins: tuple[data.Pin, ...]
    cell_limit: float


_prepared: dict[str, tuple[Preparation, dict[str, str]]] = {}
_arrived = threading.Condition()
# What lasts as long as the worker does.
_for_good = contextlib.ExitStack()


def prepare(preparation: Preparation) -> list[data.Lack]:
    """Take what a run needs; return the tables that have to come, after which it is called again."""
    lacking = data.lacking(preparation.pins)
    if not lacking:
        data.pin(preparation.pins)
        local = {plugin.path: _written(plugin) for plugin in preparation.plugins}
        with _arrived:
            if not _prepared:
                _for_good.enter_context(ended_when_frozen(preparation.cell_limit))
            _prepared[preparation.run] = preparation, local
            _arrived.notify_all()
    return lacking


def _written(plugin: Plugin) -> str:
    """Write a plug-in to this machine's cache, under its own name; return its path."""
    folder = data.cache_folder() / "plugins" / hashlib.sha256(plugin.content).hexdigest()[:32]
    path = folder / Path(plugin.path).name
    if not path.is_file() or path.read_bytes() != plugin.content:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = path.with_name(f".{threading.get_ident()}-{path.name}")
        scratch.write_bytes(plugin.content)
        scratch.rename(path)
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
        preparation, local = _prepared[run]
    paths = tuple(local[path] for path in cell.execution.plugins)
    here = replace(cell, execution=replace(cell.execution, plugins=paths)).with_key(cell.key)
    try:
        if apart:
            return run_apart(
                here, limit=preparation.cell_limit, memory=_memory_limit(), pins=preparation.pins
            )
        return run_limited(here, preparation.cell_limit)
    except Exception as error:
        return failed(cell, error)


def _memory_limit() -> float | None:
    """Return the bytes that this worker may take, None outside a worker or where none are set."""
    from distributed import get_worker

    with contextlib.suppress(ValueError, AttributeError):
        limit: float | None = get_worker().memory_manager.memory_limit
        return limit
    return None


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
