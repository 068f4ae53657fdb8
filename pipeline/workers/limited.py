"""A cell in a thread that is not waited for longer than a limit."""

from __future__ import annotations

import threading
import time
from queue import Empty, SimpleQueue

from ..run.task import crashed, failed, run_cell
from ..store.cell_result import CellResult
from ..study.cell import Cell

# What may pass before a cell's own time: tables are parsed and code compiled, on a busy machine.
START_SECONDS = 600.0

_own = threading.local()


class Deadline:
    """How long a cell is waited for: its time begins when it first says so, and is not begun anew.

    Parameters
    ----------
    limit : float
        Seconds.
    """

    def __init__(self, limit: float) -> None:
        self._limit = limit
        self._until: float | None = None

    def after(self, step: float | None) -> tuple[float, float | None]:
        """Return how long to wait for a cell from now on, and the step that ends it, None for its whole time.

        Parameters
        ----------
        step : float or None
            Seconds that the cell asks to be waited for until it says more; None: what is left of its time.
        """
        now = time.monotonic()
        if self._until is None:
            self._until = now + self._limit
        left = max(0.0, self._until - now)
        return (left, None) if step is None or step >= left else (step, step)


class _Companion:
    """A thread that runs the cells of another, which waits."""

    def __init__(self) -> None:
        self.cells: SimpleQueue[Cell] = SimpleQueue()
        # For each cell how long it is waited for from now on (None: what is left of its time), then what
        # comes of it.
        self.said: SimpleQueue[CellResult | float | None] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            cell = self.cells.get()
            try:
                self.said.put(run_cell(cell, self._wait))
            except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                self.said.put(failed(cell, error))

    def _wait(self, seconds: float | None = None) -> None:
        self.said.put(seconds)


def run_limited(cell: Cell, limit: float) -> CellResult:
    """Run a cell; give it up when it has not ended `limit` seconds after its own time began.

    A thread cannot be ended: that of a cell which was given up goes on until its process ends.

    Parameters
    ----------
    cell : Cell
    limit : float

    Returns
    -------
    CellResult
        Status "crashed" when it was given up.
    """
    companion = getattr(_own, "companion", None)
    if companion is None:
        companion = _own.companion = _Companion()
    companion.cells.put(cell)
    step: float | None = None
    patience = Deadline(limit)
    try:
        said = companion.said.get(timeout=START_SECONDS + limit)
        while not isinstance(said, CellResult):
            left, step = patience.after(said)
            said = companion.said.get(timeout=left)
    except Empty:
        del _own.companion
        return overdue(cell, limit, step)
    return said


def overdue(cell: Cell, limit: float, step: float | None = None) -> CellResult:
    """Return the outcome of a cell that was given up.

    Parameters
    ----------
    cell : Cell
    limit : float
        Seconds that it was waited for as a whole.
    step : float or None, default=None
        How long it had asked to be waited for at last, where that is what has gone by.
    """
    if step is None:
        return crashed(cell, f"had not ended after {limit:g} s")
    return crashed(
        cell,
        f"algorithm {cell.spec.algorithm!r}: a call had not returned after {step:g} s, with a time limit of "
        f"{cell.execution.time_limit:g} s",
    )
