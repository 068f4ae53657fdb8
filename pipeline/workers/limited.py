"""A cell in a thread that is not waited for longer than a limit."""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue

from ..run.task import crashed, failed, run_cell
from ..store.cell_result import CellResult
from ..study.cell import Cell

# What may pass before a cell's own time: tables are parsed and code compiled, on a busy machine.
START_SECONDS = 600.0

_own = threading.local()


class _Companion:
    """A thread that runs the cells of another, which waits."""

    def __init__(self) -> None:
        self.cells: SimpleQueue[Cell] = SimpleQueue()
        # For each cell None when its own time begins, and what comes of it.
        self.said: SimpleQueue[CellResult | None] = SimpleQueue()
        threading.Thread(target=self._work, daemon=True).start()

    def _work(self) -> None:
        while True:
            cell = self.cells.get()
            try:
                self.said.put(run_cell(cell, lambda: self.said.put(None)))
            except BaseException as error:  # a plug-in that exits ends its cell, not the thread
                self.said.put(failed(cell, error))


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
    try:
        said: CellResult | None = companion.said.get(timeout=START_SECONDS + limit)
        while said is None:
            said = companion.said.get(timeout=limit)
    except Empty:
        del _own.companion
        return overdue(cell, limit)
    return said


def overdue(cell: Cell, limit: float) -> CellResult:
    """Return the outcome of a cell that was given up."""
    return crashed(cell, f"had not ended after {limit:g} s")
