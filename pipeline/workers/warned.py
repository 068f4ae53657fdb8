"""Show each distinct warning of learners and libraries once, in one line."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

# Maximum number of warnings shown. Without it, a warning with a changing number would be shown for every row.
MOST_SAID = 20


@contextlib.contextmanager
def each_once(note: Callable[[str], None]) -> Iterator[None]:
    """In the ``with`` block, pass each distinct warning of any thread to `note` once, at most `MOST_SAID`.

    Python itself would repeat warnings: it forgets which it has shown whenever a library changes the warning
    filters, and scikit-learn does that at every call.
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
            # After the block, act like the original function: a library that replaced `showwarning` inside
            # the block may restore this function later.
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
