"""Progress on the terminal: a bar with the time left, or plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

# Seconds between two plain lines.
PLAIN_INTERVAL = 10.0


class Bar:
    """A bar on a terminal."""

    def __init__(self, console: Console) -> None:
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self.task = self.bar.add_task("cells", total=None)

    def start(self, total: int, already: int) -> None:
        """Show the bar's full length and what was in the store."""
        self.bar.update(self.task, total=total, completed=already)

    def advance(self, cells: int) -> None:
        """Move the bar."""
        self.bar.advance(self.task, cells)

    def note(self, text: str) -> None:
        """Print a line above the bar."""
        self.bar.console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class Lines:
    """One line now and then, for logs."""

    def __init__(self) -> None:
        self.total = self.finished = self.reused = 0
        self.began = self.last = time.monotonic()

    def start(self, total: int, already: int) -> None:
        """Remember how much there is to do."""
        self.total, self.finished, self.reused = total, already, already

    def advance(self, cells: int) -> None:
        """Say how far the run is, every `PLAIN_INTERVAL` seconds."""
        self.finished += cells
        now = time.monotonic()
        if now - self.last >= PLAIN_INTERVAL:
            self.last = now
            rate = (self.finished - self.reused) / (now - self.began)
            left = (self.total - self.finished) / rate if rate > 0 else float("inf")
            self.note(f"{self.finished}/{self.total} cells, about {left:.0f} s left")

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)

    def __enter__(self) -> Lines:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def progress_display() -> Bar | Lines:
    """Return a bar when standard error is a terminal, lines otherwise."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else Lines()
