"""Warnings of learners and libraries: each distinct one is said once, in one line."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

# A warning with a number in its words would be another one at each row.
MOST_SAID = 20


@contextlib.contextmanager
def each_once(note: Callable[[str], None]) -> Iterator[None]:
    """Say warnings in lines, for as long as this lasts; in all threads of this process.

    Python's own registry of what has been said is emptied whenever a library changes its filters, which
    scikit-learn does at every call.

    Parameters
    ----------
    note : callable
        Told each distinct warning once, up to `MOST_SAID` of them.

    Yields
    ------
    None
    """
    before, lock = warnings.showwarning, threading.Lock()
    said: set[tuple[str, str]] = set()
    ended = False

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if ended:
            # A library that was in between has put this back.
            before(message, category, filename, lineno, file, line)
            return
        words = " ".join(str(message).split())
        with lock:
            if (category.__name__, words) in said or len(said) > MOST_SAID:
                return
            said.add((category.__name__, words))
            full = len(said) > MOST_SAID
        place = "/".join(Path(filename).parts[-2:])
        note("further warnings are not shown" if full else f"warning: {category.__name__}: {words} ({place})")

    warnings.showwarning = show
    try:
        yield
    finally:
        ended = True
        if warnings.showwarning is show:
            warnings.showwarning = before
