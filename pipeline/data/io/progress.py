"""Who is told how far a long conversion is: nobody, unless somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, int, int], None]

_watcher: ContextVar[Progress | None] = ContextVar("_watcher", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Tell `progress` about the conversions of this context.

    Parameters
    ----------
    progress : callable or None
        Called as ``progress(file name, bytes so far, bytes in all)``, 0 in all when unknown.
    """
    token = _watcher.set(progress)
    try:
        yield
    finally:
        _watcher.reset(token)


def report(name: str, done: int, total: int) -> None:
    """Say how far a file has been read."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(name, done, total)
