"""Cells that a worker writes to the store itself, where it sees the output of the run."""

from __future__ import annotations

import contextlib
import threading
import time

from ...errors import InputError
from ...store.cell_result import CellResult
from ...store.store import MARK, Store

# Between two parts: what a worker that dies can lose, of cells that are then run again. Where workers die
# young, parts come fast; a thousand that live write a hundred parts a second.
_FIRST_SECONDS, _WRITE_SECONDS = 1.0, 10.0
# Whether a worker can write is to be known by then: clients of object stores ask for an account or a network
# that is missing again and again, and the client of the run does not wait for so long.
_TRY_SECONDS = 20.0


class Writer:
    """Writes the cells of a run, a part every few seconds; the client reads in the store what has come.

    Parameters
    ----------
    output : str
        Folder or URL of the results.
    run : str
        Name of the run: once the output has another mark, or none, its cells are there or nobody's.
    """

    def __init__(self, output: str, run: str) -> None:
        self._store, self._run = Store(output), run
        self._pending: list[CellResult] = []
        # Cells go on while a file system is slow.
        self._lock, self._writing = threading.Lock(), threading.Lock()
        threading.Thread(target=self._write_now_and_then, daemon=True).start()

    def add(self, outcome: CellResult) -> None:
        """Have a cell written with the next part."""
        with self._lock:
            self._pending.append(outcome)

    def flush(self) -> None:
        """Write what is there."""
        with self._writing:
            with self._lock:
                pending, self._pending = self._pending, []
            try:
                if pending and self._store.read_json(MARK).get("run") == self._run:
                    self._store.write(pending)
            except BaseException:
                with self._lock:
                    self._pending = pending + self._pending
                raise

    def _write_now_and_then(self) -> None:
        pause = _FIRST_SECONDS
        while True:
            time.sleep(pause)
            pause = min(2 * pause, _WRITE_SECONDS)
            # A disk that is full, a network that is away: the next time, or the client's question, will do.
            with contextlib.suppress(Exception):
                self.flush()


def why_not(output: str, run: str) -> Exception | None:
    """Return why this worker cannot write the cells of a run; None: it can.

    Nothing is created but a file that is removed at once, and that only where the client has left its mark.

    Parameters
    ----------
    output : str
        Folder or URL of the results.
    run : str
        Name of the run.
    """
    found: list[Exception | None] = []

    def look() -> None:
        try:
            _try_writing(output, run)
        except Exception as error:  # file systems have errors of their own, and packages that are missing
            found.append(error)
        else:
            found.append(None)

    # A daemon: it ends with the worker, also when nobody has answered it by then.
    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(_TRY_SECONDS)
    return found[0] if found else InputError(f"{output}: no answer within {_TRY_SECONDS:g} s")


def _try_writing(output: str, run: str) -> None:
    """Write to the output, which must be the client's and not another folder of that name.

    Raises
    ------
    InputError
        It is not, or cannot be written to.
    """
    store = Store(output)
    if store.read_json(MARK).get("run") != run:
        raise InputError(f"{output} is not the client's: share it, or run without --workers-write")
    store.try_writing()
