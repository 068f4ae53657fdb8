"""Run cells with a timeout, and end a process that is frozen because compiled code keeps the GIL."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
import time
from collections.abc import Iterable, Iterator
from queue import Empty, SimpleQueue

from .. import data
from ..run.prequential import LIMITED_ROWS
from ..run.readings import Reading, run_reading
from ..run.task import crashed, failed
from ..store.schema import CellResult
from ..study.cell import Cell

# Seconds between two resets of the timer that ends a frozen process. The time until the process ends varies
# by at most this much.
_BEAT_SECONDS = 5.0
# The timer runs this much longer than a cell's timeout, because a busy machine may delay a reset.
_SLACK_SECONDS = 15.0


@contextlib.contextmanager
def ended_when_frozen(cell_limit: float) -> Iterator[None]:
    """In the ``with`` block, end this process if no Python thread could run for about `cell_limit` seconds.

    This uses the timer of `faulthandler`, which works in C: a Python thread could not act without the GIL.
    When the cells are tried again, each suspect runs in a subprocess, which shows the one at fault.
    """
    over = threading.Event()

    def beat() -> None:
        with open(os.devnull, "w") as nowhere:
            while not over.is_set():
                faulthandler.dump_traceback_later(cell_limit + _SLACK_SECONDS, exit=True, file=nowhere)
                over.wait(_BEAT_SECONDS)
            faulthandler.cancel_dump_traceback_later()

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


# Most seconds to load data and compile code on a busy machine, before the timeout of a cell begins to count.
START_SECONDS = 600.0

_own = threading.local()


class Deadline:
    """The deadline of a cell whose steps may have their own limits: `limit` seconds after the first step."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._until: float | None = None

    def after(self, step: float | None) -> tuple[float, float | None]:
        """Return the seconds that the next step may take, and `step` if this limit applies, otherwise None.

        `step` is the limit in seconds that the cell sets for its next step. If it is None, or ends after the
        deadline of the whole cell, the time left until that deadline applies.
        """
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._limit
        left = max(0.0, self._until - now)
        return (left, None) if step is None or step >= left else (step, step)


class _Companion:
    """A thread that runs groups of cells for another thread, which waits for the results with a timeout."""

    def __init__(self) -> None:
        self.readings: SimpleQueue[tuple[Reading, Iterable[data.Pin]]] = SimpleQueue()
        # Messages to the waiting thread for each group of cells: before each step the seconds that it may
        # take (None: all that are left), and finally the results.
        self.said: SimpleQueue[list[CellResult] | float | None] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            reading, pins = self.readings.get()
            try:
                with data.pinned_to(pins):
                    self.said.put(run_reading(reading, self._wait))
            except BaseException as error:  # also SystemExit: a plug-in that exits must not end the thread
                self.said.put([failed(cell, error) for cell in reading])

    def _wait(self, seconds: float | None = None) -> None:
        self.said.put(seconds)


def run_with_timeout(reading: Reading, limit: float, pins: Iterable[data.Pin] = ()) -> list[CellResult]:
    """Run a group of cells; if it takes over `limit` seconds per cell, return results of status "crashed".

    The time counts from when data and code are ready. Python cannot stop a thread: the thread of cells past
    their timeout runs on until its process ends. `pins` identify the tables from which the cells must read
    their data sets.
    """
    given, limit = limit, limit * len(reading)
    companion = getattr(_own, "companion", None)
    if companion is None:
        companion = _own.companion = _Companion()
    companion.readings.put((reading, pins))
    step: float | None = None
    patience = Deadline(limit)
    try:
        said = companion.said.get(timeout=START_SECONDS + limit)
        while not isinstance(said, list):
            left, step = patience.after(said)
            said = companion.said.get(timeout=left)
    except Empty:
        del _own.companion
        return [overdue(cell, given, step) for cell in reading]
    return said


def overdue(cell: Cell, limit: float, step: float | None = None) -> CellResult:
    """Return the "crashed" result of a cell that reached its timeout, or the limit `step` on some rows."""
    if step is None:
        return crashed(cell, f"had not ended after {limit:g} s")
    return crashed(
        cell,
        f"algorithm {cell.spec.algorithm!r}: had not learned its next rows (at most {LIMITED_ROWS}) after "
        f"{step:g} s, with a time limit of {cell.execution.time_limit:g} s: if no call hangs, raise "
        "time_limit",
    )
