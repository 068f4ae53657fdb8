"""Running cells in threads of this process."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue

from ..store.cell_result import CellResult
from ..study.cell import Cell
from .task import failed, run_cell

# Finished cells are handed on together this often: long beside what handing on takes, short beside a flush.
_BATCH_SECONDS = 0.05
# A thread that comes back from compiled code asks for the interpreter, and is given it after this long. With
# Python's own 5 ms it would wait longer than most cells of a small study take, whenever this thread stores.
_SWITCH_SECONDS = 0.0005


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
    for thread in threads:
        thread.start()
    at_work = n_threads
    users_choice = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        while at_work:
            batch = [pool.finished.get()]
            time.sleep(_BATCH_SECONDS)
            while True:
                try:
                    batch.append(pool.finished.get_nowait())
                except Empty:
                    break
            outcomes = [each for each in batch if isinstance(each, CellResult)]
            if outcomes:
                done(outcomes)
            at_work -= sum(each is None for each in batch)
            for each in batch:
                if isinstance(each, BaseException):
                    raise each
    finally:
        pool.stop()
        sys.setswitchinterval(users_choice)


class _Pool:
    """Cells that threads take from an iterator, and what comes of them."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self._cells = iter(cells)
        self._taking = threading.Lock()
        self._stopped = False
        # Outcomes, an error of the iterator, and None from each thread at its end.
        self.finished: SimpleQueue[CellResult | BaseException | None] = SimpleQueue()

    def stop(self) -> None:
        """Let every thread end after its cell."""
        self._stopped = True

    def work(self) -> None:
        """Run cells until there are none."""
        try:
            while (cell := self._next()) is not None:
                try:
                    self.finished.put(run_cell(cell))
                except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                    self.finished.put(failed(cell, error))
        except BaseException as error:
            self._stopped = True
            self.finished.put(error)
        finally:
            self.finished.put(None)

    def _next(self) -> Cell | None:
        with self._taking:
            return None if self._stopped else next(self._cells, None)
