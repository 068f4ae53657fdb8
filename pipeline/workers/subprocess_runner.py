"""Run a cell in a subprocess, so that a crash does not take the worker down.

``python -m singlepass.pipeline.workers.subprocess_runner N`` is the subprocess: it reads a cell from its
standard input and writes the outcome to the file descriptor N.
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
from ..store.schema import CellResult
from ..study.cell import Cell

# A cell counts as crashed only after this many crashes of its subprocess: one or two may have another cause,
# such as an administrator or the kernel (out of memory) killing it.
TRIES = 3
# Seconds between two checks of the subprocess's time and memory. It can fill a gigabyte in 0.1 s.
_LOOK_SECONDS = 0.05
# Timeout of the start of the subprocess, which takes a second, or minutes if many processes import packages
# from one slow disk.
_START_SECONDS = 300.0
# Once the subprocess has ended, wait at most this long for the rest of the result, and for the exit status.
_LEAVE_SECONDS = 5.0
_LENGTH = struct.Struct("<Q")


def run_in_subprocess(
    cell: Cell, *, limit: float | None = None, memory: float | None = None, pins: Iterable[data.Pin] = ()
) -> CellResult:
    """Run a cell in a subprocess, and try again if the subprocess ends without a result.

    `limit` is the cell's timeout in seconds, `memory` the bytes that the subprocess may take; None means no
    limit. `pins` identify the tables from which it must read the data sets. The returned result has status
    "crashed" if the subprocess reaches the timeout, or ends without a result `TRIES` times.
    """
    reasons: list[str] = []
    while len(reasons) < TRIES:
        outcome, reason = _try(pickle.dumps((cell, tuple(pins), sys.path)), limit, memory)
        if outcome is not None:
            return outcome
        reasons.append(reason)
        if reason.startswith("had not ended"):
            return crashed(cell, reason)
    outcome = crashed(cell, f"crashed its process {len(reasons)} times: {', '.join(dict.fromkeys(reasons))}")
    outcome.row["attempts"] = len(reasons)
    return outcome


def _try(message: bytes, limit: float | None, memory: float | None) -> tuple[CellResult | None, str]:
    """Run a cell once in a subprocess; return its result and "", or None and the reason for the failure."""
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

        # Read in a thread, because the subprocess blocks on a full pipe until this process reads from it.
        reading = threading.Thread(target=read, daemon=True)
        reading.start()
        # Write in a thread: a message that names many tables may fill the pipe and would block this process.
        threading.Thread(target=_give, args=(process, message), daemon=True).start()
        reason = _watch(process, reading, begun, limit, memory)
        # Stop the subprocess, if it has not ended. Its standard input was kept open until now, because it
        # exits when that is closed.
        # macOS answers with PermissionError if all processes of the group have ended.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Kill the whole process group: children of the subprocess would keep the pipe open.
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
    """Wait until the subprocess has sent its result or ended; return why it must be stopped early, or ""."""
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
    # Wait for a limited time only: children of the subprocess that are still alive may keep the pipe open.
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
    """Be the subprocess: read a cell from standard input, run it, and write its result to `writer`.

    A first byte is written when data and code are ready: the cell's timeout counts from then on.
    """
    length = _LENGTH.unpack(sys.stdin.buffer.read(_LENGTH.size))[0]
    message = sys.stdin.buffer.read(length)

    def leave_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    threading.Thread(target=leave_with_parent, daemon=True).start()
    # Modules of the user are imported from the same folders as in the other process.
    cell, pins, sys.path[:] = pickle.loads(message)
    with data.pinned_to(pins), os.fdopen(writer, "wb") as pipe:
        begun = threading.Event()

        def begins(seconds: float | None = None) -> None:
            if not begun.is_set():
                begun.set()
                pipe.write(b"+")
                pipe.flush()

        outcome = run_cell(cell, begins)
        # Write the first byte also if the cell has failed before it called `begins`.
        begins()
        pipe.write(pickle.dumps(outcome))
    # Exit without waiting for threads that a learner has left running.
    os._exit(0)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
