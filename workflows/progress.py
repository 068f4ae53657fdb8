"""Show a run's progress: bars on a terminal, plain lines in a log, or an HTML bar in a notebook."""

from __future__ import annotations

import html
import importlib
import math
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Self

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
# Seconds between two plain lines, and between two updates of a notebook's bar.
PLAIN_INTERVAL, NOTEBOOK_INTERVAL = 10.0, 0.2
# Largest number of messages shown below a notebook's progress bar.
NOTES_SHOWN = 5


class _FunctionColumn(ProgressColumn):
    """A column of rich's progress display that shows the text of a given function for each bar."""

    def __init__(self, text_of: Callable[[Task], Text]) -> None:
        super().__init__()
        self._text_of = text_of

    def render(self, task: Task) -> Text:
        return self._text_of(task)


class Bar(RunProgress):
    """Show bars on a terminal: one for the file being read, then one for the cells."""

    def __init__(self, console: Console) -> None:
        cells, size, by_rate = MofNCompleteColumn(), DownloadColumn(), TimeRemainingColumn()
        self.bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            _FunctionColumn(lambda task: (cells if task.fields else size).render(task)),
            TextColumn("elapsed"),
            TimeElapsedColumn(),
            TextColumn("left"),
            _FunctionColumn(lambda task: self._left() if task.fields else by_rate.render(task)),
            _FunctionColumn(lambda _: Text(self.workers)),
            _FunctionColumn(
                lambda _: Text("dashboard", Style(link=self._address)) if self._address else Text()
            ),
            console=console,
        )
        self._cells: TaskID | None = None
        self._file: tuple[str, TaskID] | None = None
        self._address = ""

    def _left(self) -> Text:
        return Text(self.left() or "-:--:--", style="progress.remaining")

    def start(self, total: int, already: int) -> None:
        super().start(total, already)
        self._end_file()
        # The field marks this bar from its first frame on.
        self._cells = self.bar.add_task("cells", total=total, completed=already, of_cells=True)

    def show(self) -> None:
        if self._cells is not None:
            self.bar.update(self._cells, completed=self.finished)

    def read(self, name: str, done: int, total: int) -> None:
        # The name of another file starts a new bar.
        if self._file is None or self._file[0] != name:
            self._end_file()
            self._file = name, self.bar.add_task(name, total=total or None)
        self.bar.update(self._file[1], completed=done, total=total or None)

    def _end_file(self) -> None:
        if self._file is not None:
            self.bar.remove_task(self._file[1])
            self._file = None

    def note(self, text: str) -> None:
        # A dashboard's address also becomes a link next to the bar.
        if text.startswith(DASHBOARD):
            self._address = text.removeprefix(DASHBOARD)
        self.bar.console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.bar.stop()


class LineProgress(RunProgress):
    """Print a line every `PLAIN_INTERVAL` seconds, for logs."""

    def __init__(self) -> None:
        self._last = self._file_began = time.monotonic()
        self._name = ""

    def _due(self) -> bool:
        """Return whether a line may be printed now, and note the time if so."""
        now = time.monotonic()
        if due := now - self._last >= PLAIN_INTERVAL:
            self._last = now
        return due

    def show(self) -> None:
        if self._due():
            left = self.left()
            parts = [f"{self.finished}/{self.total} cells", left and f"about {left} left", self.workers]
            self.note(", ".join(part for part in parts if part))

    def attend(self, workers: str) -> None:
        # Print a line at once if workers are lost or silent, but other changes only with the next line.
        if workers.partition(",")[2] != self.workers.partition(",")[2]:
            self._last = -math.inf
        self.workers = workers
        if self.total:
            self.show()

    def read(self, name: str, done: int, total: int) -> None:
        if name != self._name:
            self._name, self._file_began = name, time.monotonic()
        if self._due():
            line = f"{name}: {decimal(done)}"
            if total and done:
                left = (time.monotonic() - self._file_began) * (total - done) / done
                line += f" of {decimal(total)}, about {left:.0f} s left"
            self.note(line)

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


class NotebookBar(RunProgress):
    """Show a bar in the output of a notebook cell: HTML that replaces itself, without a widget."""

    def __init__(self) -> None:
        self._notes: list[str] = []
        self._began, self._shown = time.monotonic(), 0.0
        self._handle: Any = None

    def start(self, total: int, already: int) -> None:
        super().start(total, already)
        self.show()

    def note(self, text: str) -> None:
        self._notes = [*self._notes, text][-NOTES_SHOWN:]
        self._draw()

    def show(self) -> None:
        if time.monotonic() - self._shown >= NOTEBOOK_INTERVAL:
            self._draw()

    def html(self) -> str:
        """Return the HTML of the bar."""
        elapsed = timedelta(seconds=round(time.monotonic() - self._began))
        words = f"{self.finished:,} of {self.total:,} cells, {elapsed}" if self.total else "preparing"
        if left := self.left():
            words += f", about {left} left"
        if self.workers:
            words += f", {self.workers}"
        lines = "".join(f"<br>{html.escape(line)}" for line in (self.file, *self._notes) if line)
        bar = f'<progress value="{self.finished}" max="{max(1, self.total)}"></progress>'
        return f"<div>{bar} {words}{lines}</div>"

    def _draw(self) -> None:
        self._shown = time.monotonic()
        # Every notebook has IPython, but this package does not require it.
        ipython: Any = importlib.import_module("IPython.display")
        content = ipython.HTML(self.html())
        if self._handle is None:
            self._handle = ipython.display(content, display_id=True)
        else:
            self._handle.update(content)

    def __exit__(self, *error: object) -> None:
        # Draw nothing if the study was refused before it had any cells or messages to show.
        if self.total or self._notes:
            self._draw()


def progress_display() -> RunProgress:
    """Return the display for this process: in a notebook, on a terminal, or for a log."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    if getattr(found, "kernel", None) is not None:
        return NotebookBar()
    console = Console(stderr=True)
    return Bar(console) if console.is_terminal else LineProgress()
