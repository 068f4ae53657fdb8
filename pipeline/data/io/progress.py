"""Report the progress of long conversions to a callback, if the caller set one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[str, int, int], None]

_watcher: ContextVar[Progress | None] = ContextVar("_watcher", default=None)


@contextmanager
def watched(progress: Progress | None) -> Iterator[None]:
    """Report downloads and conversions inside this context by calls ``progress(file name, bytes, total)``.

    These are the bytes so far and in all; the total is 0 if unknown.
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
