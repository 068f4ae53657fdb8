"""Progress in a notebook: a bar of HTML that replaces itself, shown without a widget."""

from __future__ import annotations

import html
import importlib
import sys
import time
from contextlib import AbstractContextManager
from datetime import timedelta
from types import TracebackType
from typing import Any, Protocol

from rich.filesize import decimal

from ..progress import progress_display, time_left

# Between two looks of the bar: often enough to be seen to move, seldom enough to cost nothing.
_PAUSE_SECONDS = 0.2
# Lines kept under the bar.
_MOST_NOTES = 5


class Display(Protocol):
    """What shows a run's progress; see `workflows.running.run.RunProgress`."""

    def start(self, total: int, already: int) -> None:
        """Say how many cells there are, and how many of them were in the store."""

    def advance(self, cells: int) -> None:
        """Say that this many more are finished."""

    def expect(self, seconds: float | None) -> None:
        """Say how long the rest is expected to take."""

    def read(self, name: str, done: int, total: int) -> None:
        """Say how far a file is."""

    def note(self, text: str) -> None:
        """Say something in one line."""


class Quiet:
    """Shows nothing."""

    def start(self, total: int, already: int) -> None:
        """Show nothing."""

    def advance(self, cells: int) -> None:
        """Show nothing."""

    def expect(self, seconds: float | None) -> None:
        """Show nothing."""

    def read(self, name: str, done: int, total: int) -> None:
        """Show nothing."""

    def note(self, text: str) -> None:
        """Show nothing."""

    def __enter__(self) -> Quiet:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None


class NotebookBar:
    """A bar in the output of a cell."""

    def __init__(self) -> None:
        self.total = self.finished = 0
        self.left: float | None = None
        self.file = ""
        self.notes: list[str] = []
        self._began, self._shown = time.monotonic(), 0.0
        self._handle: Any = None

    def start(self, total: int, already: int) -> None:
        """Show the full length and what was in the store."""
        self.total, self.finished, self.file = total, already, ""
        self._show()

    def advance(self, cells: int) -> None:
        """Move the bar."""
        self.finished += cells
        self._show()

    def expect(self, seconds: float | None) -> None:
        """Show how long the rest is expected to take."""
        self.left = seconds

    def read(self, name: str, done: int, total: int) -> None:
        """Show how far a file is."""
        self.file = f"{name}: {decimal(done)}{f' of {decimal(total)}' if total else ''}"
        self._show()

    def note(self, text: str) -> None:
        """Show a line under the bar."""
        self.notes = [*self.notes, text][-_MOST_NOTES:]
        self._show(at_once=True)

    def html(self) -> str:
        """Return what is shown."""
        seconds = timedelta(seconds=round(time.monotonic() - self._began))
        words = f"{self.finished:,} of {self.total:,} cells, {seconds}" if self.total else "preparing"
        if (left := time_left(self.left)) and self.finished < self.total:
            words += f", about {left} left"
        lines = [each for each in (self.file, *self.notes) if each]
        shown = "".join(f"<br>{html.escape(line)}" for line in lines)
        bar = f'<progress value="{self.finished}" max="{max(1, self.total)}"></progress>'
        return f"<div>{bar} {words}{shown}</div>"

    def _show(self, *, at_once: bool = False) -> None:
        now = time.monotonic()
        if not at_once and now - self._shown < _PAUSE_SECONDS:
            return
        self._shown = now
        # There in every notebook, and no requirement of this package.
        ipython: Any = importlib.import_module("IPython.display")
        content = ipython.HTML(self.html())
        if self._handle is None:
            self._handle = ipython.display(content, display_id=True)
        else:
            self._handle.update(content)

    def __enter__(self) -> NotebookBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # Of a study that was refused there is nothing to show.
        if self.total or self.notes:
            self._show(at_once=True)


def display_for(progress: bool) -> AbstractContextManager[Display]:
    """Return what shows progress: in a notebook a bar in its output, on a terminal one there, or nothing."""
    if not progress:
        return Quiet()
    return NotebookBar() if in_notebook() else progress_display()


def in_notebook() -> bool:
    """Tell whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    found = shell.get_ipython() if shell is not None else None
    return getattr(found, "kernel", None) is not None
