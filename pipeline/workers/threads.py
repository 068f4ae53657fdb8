"""Run cells in threads of this process."""

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

from ..run.readings import Reading, run_reading
from ..run.task import failed
from ..store.schema import CellResult
from ..study.cell import Cell
from .in_flight import InFlight
from .subprocess_runner import run_in_subprocess
from .timeout import START_SECONDS, Deadline, ended_when_frozen, overdue

# Interval at which outcomes are passed to `done` together: long compared with one such call, short compared
# with the interval at which they are written to the store.
_BATCH_SECONDS = 0.05
# A thread that returns from compiled code gets the GIL at most this much later. With Python's default of 5 ms
# it would wait longer than most cells of a small study take, whenever the main thread stores outcomes.
_SWITCH_SECONDS = 0.0005
# A thread begins no reading while this many earlier ones run or have outcomes that are not collected. Without
# this limit the threads would have the GIL most of the time, and the thread that writes outcomes would fall
# behind: in a test with 100,000 empty cells by 15,000.
_UNTAKEN = 1024
# Interval of the checks for cells past their timeout.
_LOOK_SECONDS = 0.5
# The share of the free memory that a subprocess may take.
_SHARE_OF_MEMORY = 0.8

# The outcomes of a reading, an error of the iterator, or None when a thread ends.
_Finished: TypeAlias = list[CellResult] | BaseException | None


def compute_in_threads(
    n_threads: int,
    readings: Iterable[Reading],
    done: Callable[[list[CellResult]], None],
    *,
    cell_limit: float,
    in_flight: InFlight,
) -> None:
    """Run readings in `n_threads` threads, one at a time in each.

    This is a plain thread pool: a Dask scheduler in this process would add 0.3 ms to each cell, which is more
    than most cells of a small study take.

    `readings` are consumed lazily, unless the previous run crashed. In that case the cells that were running
    at the crash run first, in subprocesses. If one of them crashes again, all cells of its learner run in
    subprocesses at the end. `done` is called in this thread with each batch of outcomes, in no particular
    order. `cell_limit` is the timeout of a cell in seconds. `in_flight` records which cells are running.
    """
    apart: list[Cell] = []
    if in_flight.left:
        readings, apart = _without_the_guilty(list(readings), done, cell_limit, in_flight.left)
    pool = _Pool(readings, n_threads, cell_limit, in_flight)
    users_choice = sys.getswitchinterval()
    try:
        sys.setswitchinterval(_SWITCH_SECONDS)
        with ended_when_frozen(cell_limit):
            for slot in range(n_threads):
                pool.start(slot)
            while pool.at_work:
                pool.wait()
                if not pool.is_full:
                    pool.all_ended.wait(_BATCH_SECONDS)
                _hand_on(pool.take(), done)
        for cell in apart:
            done([_run_apart(cell, cell_limit)])
    finally:
        pool.stop()
        sys.setswitchinterval(users_choice)
        # Outcomes that were ready when the run was interrupted.
        _hand_on(pool.take(), done)


def _without_the_guilty(
    readings: list[Reading], done: Callable[[list[CellResult]], None], cell_limit: float, left: frozenset[str]
) -> tuple[list[Reading], list[Cell]]:
    """Run in subprocesses the cells that were running when the last run crashed; return the others.

    A reading is a tuple of cells that run together; `left` has the first key of each one that was running.
    The others are returned in two lists: readings to run in threads, and cells to run in subprocesses because
    their learner has crashed again.
    """
    guilty, others = set(), []
    for reading in readings:
        if reading[0].key not in left:
            others.append(reading)
            continue
        for cell in reading:
            outcome = _run_apart(cell, cell_limit)
            if outcome.row["status"] == "crashed":
                guilty.add(cell.spec.learner)
            done([outcome])
    return (
        [reading for reading in others if reading[0].spec.learner not in guilty],
        [cell for reading in others if reading[0].spec.learner in guilty for cell in reading],
    )


def _run_apart(cell: Cell, cell_limit: float) -> CellResult:
    memory = _SHARE_OF_MEMORY * psutil.virtual_memory().available
    return run_in_subprocess(cell, limit=cell_limit, memory=memory)


def _hand_on(batch: list[_Finished], done: Callable[[list[CellResult]], None]) -> None:
    outcomes = [outcome for each in batch if isinstance(each, list) for outcome in each]
    if outcomes:
        done(outcomes)
    for each in batch:
        if isinstance(each, BaseException):
            raise each


@dataclass
class _Place:
    """The reading that a thread runs, and its deadline on the monotonic clock."""

    slot: int
    reading: Reading = ()
    until: float = 0.0
    # The seconds that the reading's current step may take; None if the deadline comes first.
    step: float | None = None
    deadline: Deadline | None = None


class _Pool:
    """Threads that take readings from an iterator, and the queue of their outcomes."""

    def __init__(
        self, readings: Iterable[Reading], n_threads: int, cell_limit: float, in_flight: InFlight
    ) -> None:
        self._readings = iter(readings)
        self._lock = threading.Lock()
        self._stopped = False
        self._finished: SimpleQueue[_Finished] = SimpleQueue()
        self._first: deque[_Finished] = deque()
        self._room = threading.Semaphore(_UNTAKEN)
        self._places: list[_Place] = [_Place(slot) for slot in range(n_threads)]
        self._limit, self._in_flight = cell_limit, in_flight
        self.at_work = 0
        self._n_running = 0
        #: Set when all threads have ended, so that no further outcome will come.
        self.all_ended = threading.Event()

    def start(self, slot: int) -> None:
        """Start a thread in a slot."""
        self._places[slot] = _Place(slot)
        self.at_work += 1
        with self._lock:
            self._n_running += 1
            self.all_ended.clear()
        # A daemon thread, so that an interrupted run does not wait for a cell that takes an hour.
        threading.Thread(target=self._work, args=(self._places[slot],), daemon=True).start()

    def wait(self) -> None:
        """Wait until an outcome is ready or a reading has reached its timeout."""
        while not self._first:
            with contextlib.suppress(Empty):
                self._first.append(self._finished.get(timeout=_LOOK_SECONDS))
            self._give_up()

    def _give_up(self) -> None:
        """Replace threads whose readings are past their deadlines, and record those cells as crashed."""
        for place in [*self._places]:
            with self._lock:
                reading = place.reading
                if not reading or time.monotonic() <= place.until:
                    continue
                self._places[place.slot] = _Place(place.slot)
            self._first.append([overdue(cell, self._limit, place.step) for cell in reading])
            self.at_work -= 1
            self.start(place.slot)

    @property
    def is_full(self) -> bool:
        """Whether threads wait for their outcomes to be collected, or soon will."""
        return self._finished.qsize() >= _UNTAKEN // 2

    def take(self) -> list[_Finished]:
        """Return the outcomes that are ready, without waiting."""
        batch = [*self._first]
        self._first.clear()
        with contextlib.suppress(Empty):
            while True:
                batch.append(self._finished.get_nowait())
        ended = sum(each is None for each in batch)
        self.at_work -= ended
        # A thread acquires the semaphore for each reading, and once more before it finds that none is left.
        if freed := ended + sum(isinstance(each, list) for each in batch):
            self._room.release(freed)
        return batch

    def stop(self) -> None:
        """Let every thread end after its current reading."""
        self._stopped = True
        self._room.release(len(self._places))

    def _work(self, place: _Place) -> None:
        """Run readings until the iterator is exhausted."""

        def begins(seconds: float | None = None) -> None:
            assert place.deadline is not None
            left, place.step = place.deadline.after(seconds)
            place.until = time.monotonic() + left

        try:
            while self._room.acquire() and (reading := self._next(place)):
                try:
                    outcomes = run_reading(reading, begins)
                except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                    outcomes = [failed(cell, error) for cell in reading]
                if not self._ends(place):
                    return
                self._finished.put(outcomes)
        except BaseException as error:
            self._stopped = True
            self._finished.put(error)
        self._finished.put(None)
        with self._lock:
            self._n_running -= 1
            if not self._n_running:
                self.all_ended.set()

    def _next(self, place: _Place) -> Reading:
        """Take the next reading; return () at the end."""
        with self._lock:
            for reading in () if self._stopped else self._readings:
                # The first cell identifies the reading: a crash leaves all its cells without a result, so the
                # next run makes a reading with the same first cell.
                self._in_flight.note(place.slot, reading[0].key)
                limit = self._limit * len(reading)
                place.reading, place.until = reading, time.monotonic() + START_SECONDS + limit
                place.step, place.deadline = None, Deadline(limit)
                return reading
            self._in_flight.note(place.slot, "")
            return ()

    def _ends(self, place: _Place) -> bool:
        """Note that a thread's reading has ended; return False if it was already past its timeout."""
        with self._lock:
            place.reading = ()
            if self._places[place.slot] is not place:
                return False
            # The thread may wait for room before its next reading: until then it runs none.
            self._in_flight.note(place.slot, "")
            return True
