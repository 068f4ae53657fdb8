"""Running cells in threads of this process."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import TypeAlias

from ..run.task import failed, run_cell
from ..store.cell_result import CellResult
from ..study.cell import Cell

# Finished cells are handed on together this often: long beside what handing on takes, short beside a flush.
_BATCH_SECONDS = 0.05
# A thread that comes back from compiled code asks for the interpreter, and is given it after this long. With
# Python's own 5 ms it would wait longer than most cells of a small study take, whenever this thread stores.
_SWITCH_SECONDS = 0.0005


# An outcome, an error of the iterator, or None from each thread at its end.
_Finished: TypeAlias = CellResult | BaseException | None


def compute_in_threads(
    n_threads: int, cells: Iterable[Cell], done: Callable[[list[CellResult]], None]
) -> None:
    """Run cells, one after the other in each thread.

    A pool and nothing else: a Dask scheduler in this process would cost each cell 0.3 ms of it, more than
    most cells of a small study take.

    Parameters
    ----------
    n_threads : int
    cells : iterable of Cell
        Read lazily.
    done : callable
        Called in this thread with each batch of outcomes as they come in, in no particular order.
    """
    pool = _Pool(iter(cells))
    # Daemons: a run that is interrupted does not wait for a cell of an hour.
    threads = [threading.Thread(target=pool.work, daemon=True) for _ in range(n_threads)]
    at_work, users_choice = n_threads, sys.getswitchinterval()
    try:
        sys.setswitchinterval(_SWITCH_SECONDS)
        for thread in threads:
            thread.start()
        while at_work:
            pool.wait()
            time.sleep(_BATCH_SECONDS)
            batch = pool.take()
            _hand_on(batch, done)
            at_work -= sum(each is None for each in batch)
            for each in batch:
                if isinstance(each, BaseException):
                    raise each
    finally:
        pool.stop()
        sys.setswitchinterval(users_choice)
        # What had been finished when it was interrupted.
        _hand_on(pool.take(), done)


def _hand_on(batch: list[_Finished], done: Callable[[list[CellResult]], None]) -> None:
    outcomes = [each for each in batch if isinstance(each, CellResult)]
    if outcomes:
        done(outcomes)


class _Pool:
    """Cells that threads take from an iterator, and what comes of them."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = iter(cells)
        self._taking = threading.Lock()
        self._stopped = False
        self._finished: SimpleQueue[_Finished] = SimpleQueue()
        self._first: list[_Finished] = []

    def wait(self) -> None:
        """Wait until something is finished."""
        self._first.append(self._finished.get())

    def take(self) -> list[_Finished]:
        """Return what is finished."""
        batch, self._first = self._first, []
        with contextlib.suppress(Empty):
            while True:
                batch.append(self._finished.get_nowait())
        return batch

    def stop(self) -> None:
        """Let every thread end after its cell."""
        self._stopped = True

    def work(self) -> None:
        """Run cells until there are none."""
        try:
            while (cell := self._next()) is not None:
                try:
                    self._finished.put(run_cell(cell))
                except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                    self._finished.put(failed(cell, error))
        except BaseException as error:
            self._stopped = True
            self._finished.put(error)
        finally:
            self._finished.put(None)

    def _next(self) -> Cell | None:
        with self._taking:
            return None if self._stopped else next(self._cells, None)
