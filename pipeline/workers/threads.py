"""Running cells in threads of this process."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import TypeAlias

import psutil

from ..run.task import failed, run_cell
from ..store.cell_result import CellResult
from ..study.cell import Cell
from .apart import run_apart
from .frozen import ended_when_frozen
from .in_flight import InFlight
from .limited import START_SECONDS, Deadline, overdue

# Finished cells are handed on together this often: long beside what handing on takes, short beside a flush.
_BATCH_SECONDS = 0.05
# A thread that comes back from compiled code asks for the interpreter, and is given it after this long. With
# Python's own 5 ms it would wait longer than most cells of a small study take, whenever this thread stores.
_SWITCH_SECONDS = 0.0005
# So many cells may be begun and not yet taken by who hands them on; then threads wait. While finished cells
# are written, threads would else have the interpreter most of the time: of 100,000 empty cells 15,000 waited.
_UNTAKEN = 1024
# Between two looks for cells that have not ended.
_LOOK_SECONDS = 0.5
# Of the memory that is free when a cell is run apart, the share that it may take.
_SHARE_OF_MEMORY = 0.8

# An outcome, an error of the iterator, or None from each thread at its end.
_Finished: TypeAlias = CellResult | BaseException | None


def compute_in_threads(
    n_threads: int,
    cells: Iterable[Cell],
    done: Callable[[list[CellResult]], None],
    *,
    cell_limit: float,
    in_flight: InFlight,
) -> None:
    """Run cells, one after the other in each thread.

    A pool and nothing else: a Dask scheduler in this process would cost each cell 0.3 ms of it, more than
    most cells of a small study take.

    Parameters
    ----------
    n_threads : int
    cells : iterable of Cell
        Read lazily, unless the run before died: what it was at then is run in processes apart first, and at
        the end all cells of the learners that turn out to take their process along.
    done : callable
        Called in this thread with each batch of outcomes as they come in, in no particular order.
    cell_limit : float
        Seconds after which a cell that has not ended is given up.
    in_flight : InFlight
        Told which cells are being run.
    """
    apart: list[Cell] = []
    if in_flight.left:
        cells, apart = _without_the_guilty(list(cells), done, cell_limit, in_flight.left)
    pool = _Pool(cells, n_threads, cell_limit, in_flight)
    users_choice = sys.getswitchinterval()
    try:
        sys.setswitchinterval(_SWITCH_SECONDS)
        with ended_when_frozen(cell_limit):
            for slot in range(n_threads):
                pool.start(slot)
            while pool.at_work:
                pool.wait()
                if not pool.is_full:
                    time.sleep(_BATCH_SECONDS)
                _hand_on(pool.take(), done)
        for cell in apart:
            done([_run_apart(cell, cell_limit)])
    finally:
        pool.stop()
        sys.setswitchinterval(users_choice)
        # What had been finished when it was interrupted.
        _hand_on(pool.take(), done)


def _without_the_guilty(
    cells: list[Cell], done: Callable[[list[CellResult]], None], cell_limit: float, left: frozenset[str]
) -> tuple[list[Cell], list[Cell]]:
    """Run what a run that died was at; return the other cells, those to be run apart by themselves."""
    guilty = set()
    for cell in cells:
        if cell.key in left:
            outcome = _run_apart(cell, cell_limit)
            if outcome.row["status"] == "crashed":
                guilty.add(cell.spec.learner)
            done([outcome])
    others = [cell for cell in cells if cell.key not in left]
    return (
        [cell for cell in others if cell.spec.learner not in guilty],
        [cell for cell in others if cell.spec.learner in guilty],
    )


def _run_apart(cell: Cell, cell_limit: float) -> CellResult:
    memory = _SHARE_OF_MEMORY * psutil.virtual_memory().available
    return run_apart(cell, limit=cell_limit, memory=memory)


def _hand_on(batch: list[_Finished], done: Callable[[list[CellResult]], None]) -> None:
    outcomes = [each for each in batch if isinstance(each, CellResult)]
    if outcomes:
        done(outcomes)
    for each in batch:
        if isinstance(each, BaseException):
            raise each


@dataclass
class _Place:
    """What a thread is at, and until when that is waited for."""

    slot: int
    cell: Cell | None = None
    until: float = 0.0
    # What the cell has asked for itself, where that comes first.
    step: float | None = None
    deadline: Deadline | None = None


class _Pool:
    """Cells that threads take from an iterator, and what comes of them."""

    def __init__(self, cells: Iterable[Cell], n_threads: int, cell_limit: float, in_flight: InFlight) -> None:
        self._cells = iter(cells)
        self._lock = threading.Lock()
        self._stopped = False
        self._finished: SimpleQueue[_Finished] = SimpleQueue()
        self._first: deque[_Finished] = deque()
        self._room = threading.Semaphore(_UNTAKEN)
        self._places: list[_Place] = [_Place(slot) for slot in range(n_threads)]
        self._limit, self._in_flight = cell_limit, in_flight
        self.at_work = 0

    def start(self, slot: int) -> None:
        """Start a thread."""
        self._places[slot] = _Place(slot)
        self.at_work += 1
        # A daemon: a run that is interrupted does not wait for a cell of an hour.
        threading.Thread(target=self._work, args=(self._places[slot],), daemon=True).start()

    def wait(self) -> None:
        """Wait until something is finished, or given up."""
        while not self._first:
            with contextlib.suppress(Empty):
                self._first.append(self._finished.get(timeout=_LOOK_SECONDS))
            self._give_up()

    def _give_up(self) -> None:
        """Replace the threads whose cells do not end."""
        for place in [*self._places]:
            with self._lock:
                cell = place.cell
                if cell is None or time.monotonic() <= place.until:
                    continue
                self._places[place.slot] = _Place(place.slot)
            self._first.append(overdue(cell, self._limit, place.step))
            self.at_work -= 1
            self.start(place.slot)

    @property
    def is_full(self) -> bool:
        """Whether threads wait, or soon will."""
        return self._finished.qsize() >= _UNTAKEN // 2

    def take(self) -> list[_Finished]:
        """Return what is finished."""
        batch = [*self._first]
        self._first.clear()
        with contextlib.suppress(Empty):
            while True:
                batch.append(self._finished.get_nowait())
        ended = sum(each is None for each in batch)
        self.at_work -= ended
        # A thread that ended had asked for room, too.
        if freed := ended + sum(isinstance(each, CellResult) for each in batch):
            self._room.release(freed)
        return batch

    def stop(self) -> None:
        """Let every thread end after its cell."""
        self._stopped = True
        self._room.release(len(self._places))

    def _work(self, place: _Place) -> None:
        """Run cells until there are none."""

        def begins(seconds: float | None = None) -> None:
            assert place.deadline is not None
            left, place.step = place.deadline.after(seconds)
            place.until = time.monotonic() + left

        try:
            while self._room.acquire() and (cell := self._next(place)) is not None:
                try:
                    outcome = run_cell(cell, begins)
                except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                    outcome = failed(cell, error)
                if not self._ends(place):
                    return
                self._finished.put(outcome)
        except BaseException as error:
            self._stopped = True
            self._finished.put(error)
        self._finished.put(None)

    def _next(self, place: _Place) -> Cell | None:
        with self._lock:
            for cell in () if self._stopped else self._cells:
                self._in_flight.begin(place.slot, cell.key)
                place.cell, place.until = cell, time.monotonic() + START_SECONDS + self._limit
                place.step, place.deadline = None, Deadline(self._limit)
                return cell
            self._in_flight.end(place.slot)
            return None

    def _ends(self, place: _Place) -> bool:
        """Note that a thread's cell has ended; return False when it had been given up by then."""
        with self._lock:
            place.cell = None
            if self._places[place.slot] is not place:
                return False
            # It may wait for room now.
            self._in_flight.end(place.slot)
            return True
