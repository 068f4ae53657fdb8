"""Progress on the terminal: bars with the time left, or plain lines where there is no terminal."""

from __future__ import annotations

import sys
import time
from datetime import timedelta
from types import TracebackType

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

# What a line begins with that tells where a cluster shows what it does.
DASHBOARD = "dashboard: "
# Seconds between two plain lines.
PLAIN_INTERVAL = 10.0


class _AmountColumn(ProgressColumn):
    """How much of how much: cells by number, files in kB, MB or GB."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.bytes = MofNCompleteColumn(), DownloadColumn()

    def render(self, task: Task) -> Text:
        return (self.bytes if task.fields["in_bytes"] else self.cells).render(task)


def time_left(seconds: float | None) -> str:
    """Write a time left; empty as long as it is unknown, and once what was expected has passed."""
    return str(timedelta(seconds=round(seconds))) if seconds is not None and seconds >= 0.5 else ""


class _LeftColumn(ProgressColumn):
    """The time left: of cells what those that are finished have them expected to take, of files by rate."""

    def __init__(self) -> None:
        super().__init__()
        self.by_rate = TimeRemainingColumn()

    def render(self, task: Task) -> Text:
        if task.fields["in_bytes"]:
            return self.by_rate.render(task)
        until = task.fields["until"]
        # Counted down: between two stages no cell ends.
        left = None if until is None or task.finished else until - time.monotonic()
        return Text(time_left(left) or "-:--:--", style="progress.remaining")


class _LinkColumn(ProgressColumn):
    """Where a cluster shows what it does, once it is known."""

    def __init__(self) -> None:
        super().__init__()
        self.address = ""

    def render(self, task: Task) -> Text:
        return Text("dashboard", Style(link=self.address)) if self.address else Text()


class Bar:
    """Bars on a terminal: one for the file that is being read, then one for the cells."""

    def __init__(self, console: Console) -> None:
        self.link = _LinkColumn()
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _AmountColumn(),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            _LeftColumn(),
            self.link,
            console=console,
        )
        self.cells: TaskID | None = None
        self.file: tuple[str, TaskID] | None = None

    def start(self, total: int, already: int) -> None:
        """Show the full length of the cells' bar and what was in the store."""
        self._end_file()
        self.cells = self.bar.add_task("cells", total=total, completed=already, in_bytes=False, until=None)

    def advance(self, cells: int) -> None:
        """Move the cells' bar."""
        if self.cells is not None:
            self.bar.advance(self.cells, cells)

    def expect(self, seconds: float | None) -> None:
        """Show how long the rest is expected to take."""
        if self.cells is not None:
            self.bar.update(self.cells, until=None if seconds is None else time.monotonic() + seconds)

    def read(self, name: str, done: int, total: int) -> None:
        """Move the bar of a file; another name is another file."""
        if self.file is None or self.file[0] != name:
            self._end_file()
            self.file = name, self.bar.add_task(name, total=total or None, in_bytes=True, until=None)
        self.bar.update(self.file[1], completed=done, total=total or None)

    def _end_file(self) -> None:
        if self.file is not None:
            self.bar.remove_task(self.file[1])
            self.file = None

    def note(self, text: str) -> None:
        """Print a line above the bar; the address of a dashboard stays in sight, as a link beside it."""
        if text.startswith(DASHBOARD):
            self.link.address = text.removeprefix(DASHBOARD)
        self.bar.console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Bar:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()


class LineProgress:
    """One line now and then, for logs."""

    def __init__(self) -> None:
        self.total = self.finished = self.reused = 0
        self.file = ""
        self.left: float | None = None
        self.began = self.last = self.file_began = time.monotonic()

    def start(self, total: int, already: int) -> None:
        """Remember how much there is to do."""
        self.total, self.finished, self.reused = total, already, already
        self.began = time.monotonic()

    def advance(self, cells: int) -> None:
        """Say how far the run is, every `PLAIN_INTERVAL` seconds."""
        self.finished += cells
        now = time.monotonic()
        if now - self.last >= PLAIN_INTERVAL:
            self.last = now
            left = time_left(self.left) if self.finished < self.total else ""
            self.note(f"{self.finished}/{self.total} cells{f', about {left} left' if left else ''}")

    def expect(self, seconds: float | None) -> None:
        """Remember how long the rest is expected to take."""
        self.left = seconds

    def read(self, name: str, done: int, total: int) -> None:
        """Say how far a file is, every `PLAIN_INTERVAL` seconds."""
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

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


def progress_display() -> Bar | LineProgress:
    """Return bars when standard error is a terminal, lines otherwise."""
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else LineProgress()
