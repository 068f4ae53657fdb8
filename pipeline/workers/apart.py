"""A cell in a process of its own: one that takes its process along takes nothing else.

``python -m singlepass.pipeline.workers.apart N`` is that process: it reads a cell from its standard input and
writes the outcome to the file descriptor N.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterable

import psutil

from .. import data
from ..run.task import crashed, run_cell
from ..store.cell_result import CellResult
from ..study.cell import Cell

# A process may be ended from outside, for want of memory or by whoever administers a machine: once or twice
# says nothing of the cell.
TRIES = 3
# Between two looks at time and memory of the process: it starts in a second, and fills a gigabyte in 0.1 s.
_LOOK_SECONDS = 0.05
# What it takes at most to begin: a second, but minutes where many import from one slow disk.
_START_SECONDS = 300.0
# What a process takes at most to be gone when it has ended.
_LEAVE_SECONDS = 5.0
_LENGTH = struct.Struct("<Q")


def run_apart(
    cell: Cell,
    *,
    limit: float | None = None,
    memory: float | None = None,
    pins: Iterable[data.Pin] = (),
) -> CellResult:
    """Run a cell in a process of its own, again if that ends without an outcome.

    Parameters
    ----------
    cell : Cell
    limit : float, default=None
        Seconds after which it is given up, at once; None: never.
    memory : float, default=None
        Bytes that the process may take; None: no bound.
    pins : iterable of Pin, default=()
        The tables that data sets are.

    Returns
    -------
    CellResult
        Status "crashed" when the process ended without an outcome `TRIES` times, or took too long.
    """
    reasons: list[str] = []
    while len(reasons) < TRIES:
        outcome, reason = _try(pickle.dumps((cell, tuple(pins))), limit, memory)
        if outcome is not None:
            return outcome
        reasons.append(reason)
        if reason.startswith("had not ended"):
            return crashed(cell, reason)
    outcome = crashed(
        cell, f"took its process along {len(reasons)} times: {', '.join(dict.fromkeys(reasons))}"
    )
    outcome.row["attempts"] = len(reasons)
    return outcome


def _try(message: bytes, limit: float | None, memory: float | None) -> tuple[CellResult | None, str]:
    """Return an outcome, or None and why there is none."""
    reader, writer = os.pipe()
    command = [sys.executable, "-P", "-m", __name__, str(writer)]
    quiet = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=quiet,
            stderr=quiet,
            pass_fds=[writer],
            start_new_session=True,
        )
    finally:
        os.close(writer)
    received: list[bytes] = []
    begun = threading.Event()
    with os.fdopen(reader, "rb", buffering=0) as pipe, process:

        def read() -> None:
            if pipe.read(1):
                begun.set()
                received.append(pipe.read())

        # In a thread: a pipe that nobody reads holds up who writes to it.
        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        # In a thread likewise: many tables are named in a long message.
        threading.Thread(target=_give, args=(process, message), daemon=True).start()
        reason = _watch(process, reading, begun, limit, memory)
        # Its standard input is left open until now: its end tells the process that we have gone.
        with contextlib.suppress(ProcessLookupError):
            # With the processes that it has started: they would hold the pipe open.
            os.killpg(process.pid, signal.SIGKILL)
        reading.join(_LEAVE_SECONDS)
    if received and received[0]:
        with contextlib.suppress(EOFError, pickle.UnpicklingError):
            outcome: CellResult = pickle.loads(received[0])
            return outcome, ""
    return None, reason or _ending(process.returncode)


def _give(process: subprocess.Popen[bytes], message: bytes) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, ValueError):
        process.stdin.write(_LENGTH.pack(len(message)) + message)
        process.stdin.flush()


def _watch(
    process: subprocess.Popen[bytes],
    reading: threading.Thread,
    begun: threading.Event,
    limit: float | None,
    memory: float | None,
) -> str:
    """Wait until the process has written its outcome or ended; return why it was not waited for longer."""
    started = began = time.monotonic()
    while reading.is_alive() and process.poll() is None:
        reading.join(_LOOK_SECONDS)
        now = time.monotonic()
        if not begun.is_set():
            began = now
            if now - started > _START_SECONDS:
                return f"did not start within {_START_SECONDS:g} s"
        if limit is not None and now - began > limit:
            return f"had not ended after {limit:g} s"
        if memory is not None:
            with contextlib.suppress(psutil.Error):
                if psutil.Process(process.pid).memory_info().rss > memory:
                    return f"took more than {memory / 1e6:.0f} MB of memory"
    # Short bounds: what it has left behind (processes of its own) may hold the pipe open.
    reading.join(_LEAVE_SECONDS)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_LEAVE_SECONDS)
    return ""


def _ending(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-status).name}"
    return f"exit status {status}"


def _main(writer: int) -> None:
    """Run the cell that comes on standard input."""
    length = _LENGTH.unpack(sys.stdin.buffer.read(_LENGTH.size))[0]
    message = sys.stdin.buffer.read(length)

    def leave_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    cell, pins = pickle.loads(message)
    data.pin(pins)
    with os.fdopen(writer, "wb") as pipe:
        begun = threading.Event()

        def begins(seconds: float | None = None) -> None:
            if not begun.is_set():
                begun.set()
                pipe.write(b"+")
                pipe.flush()

        outcome = run_cell(cell, begins)
        # One that failed before.
        begins()
        pipe.write(pickle.dumps(outcome))
    # Threads that a learner has left behind are not waited for.
    os._exit(0)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
