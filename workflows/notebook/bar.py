"""Show progress in a notebook: an HTML bar that replaces itself, without a widget."""

from __future__ import annotations

import html
import importlib
import sys
import time
from datetime import timedelta
from types import TracebackType
from typing import Any

from rich.filesize import decimal

from ..progress import progress_display, time_left
from ..running.progress import RunProgress

# Seconds between two updates of the bar: often enough to look alive, rarely enough to cost nothing.
_PAUSE_SECONDS = 0.2
# Lines shown under the bar.
_MOST_NOTES = 5


class NotebookBar(RunProgress):
    """Show a bar in the output of a notebook cell."""

    def __init__(self) -> None:
        self.total = self.finished = 0
        self.left: float | None = None
        self.file = self.workers = ""
        self.notes: list[str] = []
        self._began, self._shown = time.monotonic(), 0.0
        self._handle: Any = None

    def start(self, total: int, already: int) -> None:
        """Show the full length and the cells already in the store."""
        self.total, self.finished, self.file = total, already, ""
        self._show()

    def advance(self, cells: int) -> None:
        """Move the bar."""
        self.finished += cells
        self._show()

    def expect(self, seconds: float | None) -> None:
        """Store the expected time for the rest, shown with the next update."""
        self.left = seconds

    def attend(self, workers: str) -> None:
        """Show the state of the workers."""
        self.workers = workers
        self._show()

    def read(self, name: str, done: int, total: int) -> None:
        """Show how much of a file has been read."""
        self.file = f"{name}: {decimal(done)}{f' of {decimal(total)}' if total else ''}"
        self._show()

    def note(self, text: str) -> None:
        """Show a line under the bar."""
        self.notes = [*self.notes, text][-_MOST_NOTES:]
        self._show(at_once=True)

    def html(self) -> str:
        """Return the HTML of the bar."""
        seconds = timedelta(seconds=round(time.monotonic() - self._began))
        words = f"{self.finished:,} of {self.total:,} cells, {seconds}" if self.total else "preparing"
        if (left := time_left(self.left)) and self.finished < self.total:
            words += f", about {left} left"
        if self.workers:
            words += f", {self.workers}"
        lines = [each for each in (self.file, *self.notes) if each]
        shown = "".join(f"<br>{html.escape(line)}" for line in lines)
        bar = f'<progress value="{self.finished}" max="{max(1, self.total)}"></progress>'
        return f"<div>{bar} {words}{shown}</div>"

    def _show(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now - self._shown < _PAUSE_SECONDS:
            return
        self._shown = now
        # Present in every notebook, but not a requirement of this package.
        ipython: Any = importlib.import_module("IPython.display")
        content = ipython.HTML(self.html())
        if self._handle is None:
            self._handle = ipython.display(content, display_id=True)
        else:
            self._handle.update(content)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A refused study has nothing to show.
        if self.total or self.notes:
            self._show(at_once=True)


def display_for(progress: bool) -> RunProgress:
    """Return a progress display: a bar in a notebook, one on a terminal, or nothing."""
    if not progress:
        return RunProgress()
    return NotebookBar() if in_notebook() else progress_display()


def in_notebook() -> bool:
    """Return whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return getattr(found, "kernel", None) is not None
