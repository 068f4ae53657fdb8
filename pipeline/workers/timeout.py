"""Run a cell with a timeout, and end a process whose compiled code keeps the GIL."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue

from ..run.readings import Reading, run_reading
from ..run.task import crashed, failed
from ..store.schema import CellResult
from ..study.cell import Cell

# Interval at which the timer is reset. The time until a frozen process ends varies by at most this much.
_BEAT_SECONDS = 5.0
# Extra time for a busy machine, which may delay a reset beyond a cell's timeout.
_SLACK_SECONDS = 15.0


@contextlib.contextmanager
def ended_when_frozen(cell_limit: float) -> Iterator[None]:
    """End this process once no Python thread could run for `cell_limit` seconds.

    The timer of `faulthandler` counts in C, because a Python thread could not act without the GIL. The next
    attempt runs each suspect cell in a subprocess, which finds the one at fault.
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


# Longest time to parse tables and compile code on a busy machine, before a cell's timeout starts to count.
START_SECONDS = 600.0

_own = threading.local()


class Deadline:
    """The deadline for all steps of a cell together: `limit` seconds after `after` is first called."""

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._until: float | None = None

    def after(self, step: float | None) -> tuple[float, float | None]:
        """Return the seconds that the next step may take, and which limit that is.

        `step` is the time in seconds that the cell allows for its next step; None allows all that is left.
        The second result is `step`, or None if the deadline comes first.
        """
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._limit
        left = max(0.0, self._until - now)
        return (left, None) if step is None or step >= left else (step, step)


class _Companion:
    """A thread that runs readings for another thread, which waits for the outcomes."""

    def __init__(self) -> None:
        self.readings: SimpleQueue[Reading] = SimpleQueue()
        # For each reading: the seconds that it allows for each of its steps (None: all that are left), then
        # its outcomes.
        self.said: SimpleQueue[list[CellResult] | float | None] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            reading = self.readings.get()
            try:
                self.said.put(run_reading(reading, self._wait))
            except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                self.said.put([failed(cell, error) for cell in reading])

    def _wait(self, seconds: float | None = None) -> None:
        self.said.put(seconds)


def run_with_timeout(reading: Reading, limit: float) -> list[CellResult]:
    """Run a reading; its cells are "crashed" if it takes over `limit` seconds per cell after its start.

    The start is when data and code are ready. Python cannot stop a thread: the thread of a reading past its
    timeout runs on until its process ends.
    """
    given, limit = limit, limit * len(reading)
    companion = getattr(_own, "companion", None)
    if companion is None:
        companion = _own.companion = _Companion()
    companion.readings.put(reading)
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
    """Return the outcome of a cell that reached its timeout, or whose step took more than `step` seconds."""
    if step is None:
        return crashed(cell, f"had not ended after {limit:g} s")
    return crashed(
        cell,
        f"algorithm {cell.spec.algorithm!r}: a call had not returned after {step:g} s, with a time limit of "
        f"{cell.execution.time_limit:g} s",
    )
