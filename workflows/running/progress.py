"""Define the interface through which a run reports its progress; `workflows/progress.py` has the displays."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Self

from rich.filesize import decimal


class RunProgress:
    """Receive a run's progress and keep its latest state; the displays derive from this class."""

    total = finished = 0
    # Texts for the display: how much of a file has been read, and the state of a cluster's workers.
    file = workers = ""
    # Time at which the run is expected to end, on the clock of `time.monotonic`; None if unknown.
    _end: float | None = None

    def start(self, total: int, already: int) -> None:
        """Receive the number of cells, and how many of them are already in the store."""
        self.total, self.finished, self.file = total, already, ""

    def advance(self, cells: int) -> None:
        """Receive the number of newly finished cells."""
        self.finished += cells
        self.show()

    def expect(self, seconds: float | None) -> None:
        """Receive the expected seconds for the rest of the run, or None if unknown."""
        self._end = None if seconds is None else time.monotonic() + seconds

    def attend(self, workers: str) -> None:
        """Receive the state of a cluster's workers, such as "3 workers, 1 lost"."""
        self.workers = workers
        self.show()

    def read(self, name: str, done: int, total: int) -> None:
        """Receive how many bytes of a file have been read, and its size (0 if unknown)."""
        self.file = f"{name}: {decimal(done)}{f' of {decimal(total)}' if total else ''}"
        self.show()

    def note(self, text: str) -> None:
        """Receive a message of one line for the user; displays print it."""

    def show(self) -> None:
        """Update the display, if the last update was long enough ago."""

    def left(self) -> str:
        """Format the time left; empty if unknown, less than half a second, or if all cells are finished."""
        seconds = 0.0 if self._end is None or self.finished >= self.total else self._end - time.monotonic()
        return str(timedelta(seconds=round(seconds))) if seconds >= 0.5 else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        return None
