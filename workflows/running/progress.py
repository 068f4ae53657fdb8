"""Define what a run reports about its progress; displays show it."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class RunProgress:
    """Receive a run's progress. This class shows nothing; displays override its methods."""

    def start(self, total: int, already: int) -> None:
        """Receive the number of cells, and how many of them are already in the store."""

    def advance(self, cells: int) -> None:
        """Receive the number of newly finished cells."""

    def expect(self, seconds: float | None) -> None:
        """Receive the expected seconds for the rest of the run, or None if unknown."""

    def attend(self, workers: str) -> None:
        """Receive the state of a cluster's workers, such as "3 workers, 1 lost"."""

    def read(self, name: str, done: int, total: int) -> None:
        """Receive the number of bytes read of a file; a total of 0 means unknown."""

    def note(self, text: str) -> None:
        """Receive a line for the user."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None
