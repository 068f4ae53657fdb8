"""Who runs cells: threads of this process, or the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import joblib

from ..errors import InputError
from ..store.cell_result import CellResult
from ..study.cell import Cell
from .cluster.feed import compute, connect
from .threads import compute_in_threads

# Runs cells and hands their outcomes on, batch by batch, in the caller's thread.
Compute: TypeAlias = Callable[[Iterable[Cell], Callable[[list[CellResult]], None]], None]


@contextlib.contextmanager
def workers(
    *, threads: int | None = None, scheduler: str | None = None, scheduler_file: str | None = None
) -> Iterator[Compute]:
    """Have cells run.

    Parameters
    ----------
    threads : int, default=None
        Threads of this process; None: one a core that it may use. Ignored when a scheduler is named.
    scheduler : str, default=None
        Address of a running Dask scheduler, such as ``"tcp://10.0.0.1:8786"``.
    scheduler_file : str, default=None
        JSON file that ``dask scheduler --scheduler-file`` wrote.

    Yields
    ------
    callable
        Of cells, an iterable that is read lazily, and what is called with each batch of outcomes.

    Raises
    ------
    InputError
        No scheduler answers, or it has no workers (see `connect`); fewer threads than one.
    """
    if scheduler is None and scheduler_file is None:
        if threads is not None and threads < 1:
            raise InputError(f"threads must be 1 or more, got {threads}")
        yield functools.partial(compute_in_threads, threads or joblib.cpu_count())
        return
    with connect(scheduler, scheduler_file) as client:
        yield functools.partial(compute, client)
