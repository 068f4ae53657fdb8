"""Ending a process in which compiled code of a plug-in keeps the interpreter, so that nothing else runs."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import threading
from collections.abc import Iterator

# Between two signs of life, at most; a frozen process is ended that much later than it could be.
_BEAT_SECONDS = 5.0
# What a busy machine may hold up a sign of life for, beyond what a cell may take.
_SLACK_SECONDS = 15.0


@contextlib.contextmanager
def ended_when_frozen(cell_limit: float) -> Iterator[None]:
    """End this process when no Python runs in it for longer than a cell may take.

    A thread of the interpreter that gives signs of life cannot: whoever notices must not need the
    interpreter. Whoever runs the cell next, in a process apart, finds out which one it was.

    Parameters
    ----------
    cell_limit : float
        Seconds.
    """
    over = threading.Event()

    def beat() -> None:
        with open(os.devnull, "w") as nowhere:
            while not over.is_set():
                faulthandler.dump_traceback_later(cell_limit + _SLACK_SECONDS, exit=True, file=nowhere)
                over.wait(_BEAT_SECONDS)
            faulthandler.cancel_dump_traceback_later()

    beating = threading.Thread(target=beat, daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()
