"""Report the progress of long conversions to a callback, if the caller set one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, int, int], None]

_watcher: ContextVar[Progress | None] = ContextVar("_watcher", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Call ``progress(file name, bytes so far, total bytes)`` for downloads and conversions in this context.

    The total is 0 if it is unknown. Nothing is reported if `progress` is None.
    """
    token = _watcher.set(progress)
    try:
        yield
    finally:
        _watcher.reset(token)


def report(name: str, done: int, total: int) -> None:
    """Tell the callback set by `watched`, if any, how many bytes of a file have been read."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher(name, done, total)
