"""Run cells in a pool of threads of this process."""

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

from ..errors import InputError
from ..run.readings import Reading, run_reading
from ..run.task import failed
from ..store.schema import CellResult
from ..study.cell import Cell
from .in_flight import InFlight
from .subprocess_runner import run_in_subprocess
from .timeout import START_SECONDS, Deadline, ended_when_frozen, overdue

# Results are collected for this many seconds and passed to `done` together: long compared with one such call,
# short compared with the interval at which results are written to the store.
_BATCH_SECONDS = 0.05
# Python's switch interval during a run: a thread that returns from compiled code gets the GIL after at most
# this many seconds. With the default of 5 ms it would wait longer than most cells of a small study take,
# whenever the main thread stores results.
_SWITCH_SECONDS = 0.0005
# Threads begin no further group of cells while this many run or have results that are not collected yet.
# Without this limit the threads would have the GIL most of the time, and the thread that writes results would
# fall behind: in a test with 100,000 empty cells by 15,000.
_UNTAKEN = 1024
# Seconds between two checks for cells that have exceeded their timeout.
_LOOK_SECONDS = 0.5
# A subprocess may take at most this share of the free memory.
_SHARE_OF_MEMORY = 0.8

# An item that a thread puts into the queue: the results of a group of cells that ran together, an error of
# the iterator of groups, or None when the thread ends.
_Finished: TypeAlias = list[CellResult] | BaseException | None


def compute_in_threads(
    n_threads: int,
    readings: Iterable[Reading],
    done: Callable[[list[CellResult]], None],
    *,
    cell_limit: float,
    in_flight: InFlight,
) -> None:
    """Run groups of cells (readings) in `n_threads` threads, one group at a time in each.

    This is a plain thread pool: a Dask scheduler in this process would add 0.3 ms to each cell, which is more
    than most cells of a small study take.

    `readings` are consumed lazily, unless the previous run crashed. In that case the cells that were running
    at the crash run first, in subprocesses. If one of them crashes again, all cells of its learner run in
    subprocesses at the end. `done` is called in this thread with each batch of results, in no particular
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
                try:
                    pool.start(slot)
                except RuntimeError as error:
                    raise InputError(
                        f"threads: this machine starts only {slot:,} of {n_threads:,} ({error}): give fewer, "
                        "or raise the limit of memory or processes (ulimit -v, ulimit -u)"
                    ) from None
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
        # If the run was interrupted, pass on the results that are ready.
        _hand_on(pool.take(), done)


def _without_the_guilty(
    readings: list[Reading], done: Callable[[list[CellResult]], None], cell_limit: float, left: frozenset[str]
) -> tuple[list[Reading], list[Cell]]:
    """Run the cells that were running when the previous run crashed, in subprocesses; return all other cells.

    A reading is a tuple of cells that run together; `left` has the first cell's key of each reading that was
    running. The others are returned in two lists: readings to run in threads, and cells to run in
    subprocesses, because a cell with their learner has crashed again.
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
    """The group of cells that a thread is running, and the time until which it may run (monotonic clock)."""

    slot: int
    reading: Reading = ()
    until: float = 0.0
    # If a limit on the current step ends before the deadline of the whole group: its seconds; else None.
    step: float | None = None
    deadline: Deadline | None = None


class _Pool:
    """Threads that run groups of cells from an iterator, and the queue of their results."""

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
        #: Set when all threads have ended, so that no further results will come.
        self.all_ended = threading.Event()

    def start(self, slot: int) -> None:
        """Start thread number `slot`: its first one, or one that replaces a thread past its timeout."""
        self._places[slot] = _Place(slot)
        self.at_work += 1
        with self._lock:
            self._n_running += 1
            self.all_ended.clear()
        # Use a daemon thread, so that an interrupted run does not wait for a cell that takes an hour.
        # The command line looks for threads of this name when it exits.
        name = "singlepass cells"
        threading.Thread(target=self._work, args=(self._places[slot],), name=name, daemon=True).start()

    def wait(self) -> None:
        """Wait until results are ready or a group of cells has reached its timeout."""
        while not self._first:
            with contextlib.suppress(Empty):
                self._first.append(self._finished.get(timeout=_LOOK_SECONDS))
            self._give_up()

    def _give_up(self) -> None:
        """Replace threads whose cells are past their deadline; the results of these cells are "crashed"."""
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
        """Whether so many results are ready that threads must soon wait for them to be collected."""
        return self._finished.qsize() >= _UNTAKEN // 2

    def take(self) -> list[_Finished]:
        """Return what is in the queue, without waiting: results, errors, and None for each ended thread."""
        batch = [*self._first]
        self._first.clear()
        with contextlib.suppress(Empty):
            while True:
                batch.append(self._finished.get_nowait())
        ended = sum(each is None for each in batch)
        self.at_work -= ended
        # Release the semaphore for what was collected: threads acquire it for each group of cells, and once
        # more before they find that none is left and end.
        if freed := ended + sum(isinstance(each, list) for each in batch):
            self._room.release(freed)
        return batch

    def stop(self) -> None:
        """Let every thread end after the group of cells that it is running."""
        self._stopped = True
        self._room.release(len(self._places))

    def _work(self, place: _Place) -> None:
        """Run groups of cells, in a thread, until the iterator is exhausted."""

        def begins(seconds: float | None = None) -> None:
            assert place.deadline is not None
            left, place.step = place.deadline.after(seconds)
            place.until = time.monotonic() + left

        try:
            while self._room.acquire() and (reading := self._next(place)):
                try:
                    outcomes = run_reading(reading, begins)
                except BaseException as error:  # even SystemExit: a plug-in's exit must not end the thread
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
        """Take the next group of cells from the iterator, and set its deadline; return () at the end."""
        with self._lock:
            for reading in () if self._stopped else self._readings:
                # Recording the first cell's key suffices: after a crash no cell of the group has results, so
                # the next run makes a group with the same first cell.
                self._in_flight.note(place.slot, reading[0].key)
                limit = self._limit * len(reading)
                place.reading, place.until = reading, time.monotonic() + START_SECONDS + limit
                place.step, place.deadline = None, Deadline(limit)
                return reading
            self._in_flight.note(place.slot, "")
            return ()

    def _ends(self, place: _Place) -> bool:
        """Note that a thread has run its cells; return False if a timeout had ended them before."""
        with self._lock:
            place.reading = ()
            if self._places[place.slot] is not place:
                return False
            # Record the thread as idle, because it may have to wait before it begins its next cells.
            self._in_flight.note(place.slot, "")
            return True
