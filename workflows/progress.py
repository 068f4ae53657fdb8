"""Show progress on standard error: bars with the time left, or plain lines without a terminal."""

from __future__ import annotations

import math
import sys
import time
from datetime import timedelta
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.filesize import decimal
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.style import Style
from rich.text import Text

from .running.progress import RunProgress

# Prefix of the line with the address of a cluster's dashboard.
DASHBOARD = "dashboard: "
# Seconds between two plain lines.
PLAIN_INTERVAL = 10.0


class _AmountColumn(ProgressColumn):
    """Show the amount done and the total: numbers of cells, or kB, MB or GB of a file."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.bytes = MofNCompleteColumn(), DownloadColumn()

    def render(self, task: Task) -> Text:
        return (self.bytes if task.fields["in_bytes"] else self.cells).render(task)


def time_left(seconds: float | None) -> str:
    """Format the time left; empty if it is unknown or less than half a second."""
    return str(timedelta(seconds=round(seconds))) if seconds is not None and seconds >= 0.5 else ""


class _LeftColumn(ProgressColumn):
    """Show the time left: for cells the expected time of the rest, for files by the rate so far."""

    def __init__(self) -> None:
        super().__init__()
        self.by_rate = TimeRemainingColumn()

    def render(self, task: Task) -> Text:
        if task.fields["in_bytes"]:
            return self.by_rate.render(task)
        until = task.fields["until"]
        # Counted down here, because no cell ends between two stages.
        left = None if until is None or task.finished else until - time.monotonic()
        return Text(time_left(left) or "-:--:--", style="progress.remaining")


class _LinkColumn(ProgressColumn):
    """Show a link to a cluster's dashboard once its address is known."""

    def __init__(self) -> None:
        super().__init__()
        self.address = ""

    def render(self, task: Task) -> Text:
        return Text("dashboard", Style(link=self.address)) if self.address else Text()


class _WorkersColumn(ProgressColumn):
    """Show the state of a cluster's workers."""

    def __init__(self) -> None:
        super().__init__()
        self.workers = ""

    def render(self, task: Task) -> Text:
        return Text(self.workers)


class Bar(RunProgress):
    """Show bars on a terminal: one for the file being read, then one for the cells."""

    def __init__(self, console: Console) -> None:
        self.link, self.workers = _LinkColumn(), _WorkersColumn()
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _AmountColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            _LeftColumn(),
            self.workers,
            self.link,
            console=console,
        )
        self.cells: TaskID | None = None
        self.file: tuple[str, TaskID] | None = None

    def start(self, total: int, already: int) -> None:
        """Show the full length of the cells' bar and the cells already in the store."""
        self._end_file()
        self.cells = self.bar.add_task("cells", total=total, completed=already, in_bytes=False, until=None)

    def advance(self, cells: int) -> None:
        """Move the cells' bar."""
        if self.cells is not None:
            self.bar.advance(self.cells, cells)

    def expect(self, seconds: float | None) -> None:
        """Show the expected time for the rest."""
        if self.cells is not None:
            self.bar.update(self.cells, until=None if seconds is None else time.monotonic() + seconds)

    def attend(self, workers: str) -> None:
        """Show the state of the workers next to the bars."""
        self.workers.workers = workers

    def read(self, name: str, done: int, total: int) -> None:
        """Move the bar of a file; a new name starts a new bar."""
        if self.file is None or self.file[0] != name:
            self._end_file()
            self.file = name, self.bar.add_task(name, total=total or None, in_bytes=True, until=None)
        self.bar.update(self.file[1], completed=done, total=total or None)

    def _end_file(self) -> None:
        if self.file is not None:
            self.bar.remove_task(self.file[1])
            self.file = None

    def note(self, text: str) -> None:
        """Print a line above the bar; a dashboard's address also becomes a link next to the bar."""
        if text.startswith(DASHBOARD):
            self.link.address = text.removeprefix(DASHBOARD)
        self.bar.console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class LineProgress(RunProgress):
    """Print a line from time to time, for logs."""

    def __init__(self) -> None:
        self.total = self.finished = self.reused = 0
        self.file = self.workers = ""
        self.left: float | None = None
        self.began = self.last = self.file_began = time.monotonic()

    def start(self, total: int, already: int) -> None:
        """Store the number of cells."""
        self.total, self.finished, self.reused = total, already, already
        self.began = time.monotonic()

    def advance(self, cells: int) -> None:
        """Print the progress of the run, every `PLAIN_INTERVAL` seconds."""
        self.finished += cells
        now = time.monotonic()
        if now - self.last >= PLAIN_INTERVAL:
            self.last = now
            left = time_left(self.left) if self.finished < self.total else ""
            parts = [f"{self.finished}/{self.total} cells", left and f"about {left} left", self.workers]
            self.note(", ".join(part for part in parts if part))

    def expect(self, seconds: float | None) -> None:
        """Store the expected time for the rest."""
        self.left = seconds

    def attend(self, workers: str) -> None:
        """Say who is at work with the next line, and at once when workers are lost or silent."""
        changed = workers.partition(",")[2] != self.workers.partition(",")[2]
        self.workers = workers
        if changed:
            self.last = -math.inf
        if self.total:
            self.advance(0)

    def read(self, name: str, done: int, total: int) -> None:
        """Print the progress of a file, every `PLAIN_INTERVAL` seconds."""
        now = time.monotonic()
        if name != self.file:
            self.file, self.file_began = name, now
        if now - self.last >= PLAIN_INTERVAL:
            self.last = now
            line = f"{name}: {decimal(done)}"
            if total and done:
                left = (now - self.file_began) * (total - done) / done
                line += f" of {decimal(total)}, about {left:.0f} s left"
            self.note(line)

    def note(self, text: str) -> None:
        """Print a line."""
        print(text, file=sys.stderr, flush=True)


def progress_display() -> Bar | LineProgress:
    """Return bars if standard error is a terminal, otherwise lines."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else LineProgress()
