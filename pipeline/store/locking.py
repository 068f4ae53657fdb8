"""Lock a store, so that one client at a time tidies it and decides which cells are computed.

A local folder is protected by a file lock, which ends with the process. Remote stores have no locks. There
the client writes a *lease*, a document that it renews. A newcomer watches an existing lease: if it is
renewed, its holder is alive and the newcomer is refused; if it is not renewed for a while, the holder is dead
and the newcomer takes the lease over. The newcomer measures this time by its own clock.

If two clients take over a dead holder's lease at the same moment, both write, wait and read, and the one
whose lease was overwritten gives up. A holder that was suspended for so long that it seemed dead finds
another client's lease and stops before it writes again (`StoreLock.check`). The result files ("parts") that
it wrote before do no harm: their names are unique, merged files are removed only after the result of the
merge exists, and readers count one row per cell.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ..errors import InputError
from .folder import Folder

# Seconds between two renewals of a lease, and missed renewals after which its holder counts as dead.
RENEWED_EVERY = 5.0
_MISSED = 4
# Seconds between writing a lease and reading it back: long compared with the time that a write takes.
SETTLING = 1.0
# Seconds to wait for a local lock. A process that only tests whether the store is locked takes the lock for
# less than a millisecond; one that has it for longer than this is a run.
_TRYING = 0.5

LOCK, HOLDER, LEASE = ".lock", ".lock-holder.json", "lease.json"


@dataclass(frozen=True)
class Holder:
    """The process that has a store's lock or lease."""

    host: str
    pid: int
    # When the process took the lock or lease: UTC, to the second.
    since: str
    # Identifies the system in which `pid` is valid, by its boot and process namespace; empty if unknown.
    machine: str = ""
    # Random text that tells this lock or lease from earlier ones of the same process.
    token: str = ""
    # Number of renewals of the lease.
    renewed: int = 0

    def __str__(self) -> str:
        """Describe the holder in a message by its process number, host and start time."""
        return f"process {self.pid} on {self.host} since {self.since}"

    @property
    def is_gone(self) -> bool:
        """Whether the process has certainly ended: it ran on this system, and no process has its number."""
        if not self.machine or self.machine != _machine():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        return False

    def document(self) -> bytes:
        """Return the holder as JSON."""
        return json.dumps(asdict(self)).encode()


def holder_here() -> Holder:
    """Return a `Holder` that describes this process, with the time and a new token."""
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return Holder(socket.gethostname(), os.getpid(), since, _machine(), secrets.token_hex(8))


def _machine() -> str:
    """Return text that identifies the system's boot and this process's pid namespace, or "" if unknown."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _read(folder: Folder, name: str) -> Holder | None:
    """Return the holder that a file of `folder` records, or None if the file is missing or unreadable."""
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
        return Holder(**json.loads(folder.read(name)))
    return None


def _living(folder: Folder, name: str) -> Holder | None:
    """Return the holder that a file of `folder` records, or None if that process is known to have ended."""
    found = _read(folder, name)
    return None if found is None or found.is_gone else found


class StoreLock:
    """This process's lock or lease of the store at `url`."""

    def __init__(self, url: str) -> None:
        self._url = url
        #: The process that has taken the store over; None while this process has it.
        self.successor: Holder | None = None

    def check(self) -> None:
        """Raise InputError if another client has taken the store over; the message names it."""
        if self.successor is not None:
            raise InputError(
                f"output {self._url}: this process did not renew its lease in time, and {self.successor} has "
                "taken the output over: this run stops; its stored results are kept"
            )


@contextlib.contextmanager
def locked(folder: Folder, note: Callable[[str], None]) -> Iterator[StoreLock]:
    """Lock a folder for the duration of the context; raise InputError if another process has the lock."""
    lock = StoreLock(folder.url)
    with _locked(folder) if folder.is_local else _leased(folder, lock, note):
        yield lock


def holder_of(folder: Folder) -> Holder | None:
    """Return the process with a store's lock or lease; None if no process has it or it has ended."""
    if not folder.is_local:
        return _living(folder, LEASE)
    import filelock

    if not Path(folder.path(LOCK)).exists():
        return None
    lock = filelock.FileLock(folder.path(LOCK), blocking=False)
    try:
        lock.acquire()
    except (filelock.Timeout, NotImplementedError, OSError):
        # Either another process has the lock, or this file system has no locks. In the second case the
        # process that the store records as holder may have ended.
        return _living(folder, HOLDER)
    lock.release()
    return None


def silence(folder: Folder) -> timedelta | None:
    """Return the time since a lease's file was last written, by the store's clock; None without a lease."""
    if folder.is_local:
        return None
    try:
        return max(timedelta(), datetime.now(UTC) - folder.modified(LEASE))
    except FileNotFoundError:
        return None


@contextlib.contextmanager
def _locked(folder: Folder) -> Iterator[None]:
    import filelock

    lock = filelock.FileLock(folder.path(LOCK), timeout=_TRYING)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise _refused(folder, _living(folder, HOLDER)) from None
    except NotImplementedError:
        raise InputError(f"output {folder.url}: its file system has no locks: choose another --out") from None
    except OSError as error:
        raise InputError(
            f"output {folder.url}: its file {LOCK} cannot be opened ({error.strerror or error}): if no run "
            "writes here, remove it, or choose another --out"
        ) from None
    try:
        folder.write(HOLDER, holder_here().document())
        yield
    finally:
        folder.remove(HOLDER)
        lock.release()


@contextlib.contextmanager
def _leased(folder: Folder, lock: StoreLock, note: Callable[[str], None]) -> Iterator[None]:
    _wait_for_the_dead(folder, note)
    mine = holder_here()
    folder.write(LEASE, mine.document())
    time.sleep(SETTLING)
    found = _read(folder, LEASE)
    if found is None or found.token != mine.token:
        raise _refused(folder, found)
    ended = threading.Event()
    # A daemon thread, so that the renewals stop with the process, however it ends.
    renewing = threading.Thread(target=_renew, args=(folder, mine, lock, ended), daemon=True)
    renewing.start()
    try:
        yield
    finally:
        ended.set()
        renewing.join()
        with contextlib.suppress(InputError):
            found = _read(folder, LEASE)
            if found is not None and found.token == mine.token:
                folder.remove(LEASE)


def _wait_for_the_dead(folder: Folder, note: Callable[[str], None]) -> None:
    """Wait until the holder of the lease counts as dead; raise InputError as soon as it renews the lease."""
    first = found = _living(folder, LEASE)
    seconds = _MISSED * RENEWED_EVERY
    until = time.monotonic() + seconds
    if found is not None:
        note(f"{folder.url}: {found} was writing to it: waiting up to {seconds:.0f} s for a sign of life")
    while found is not None and time.monotonic() < until:
        if found != first:
            raise _refused(folder, found)
        time.sleep(RENEWED_EVERY / 10)
        found = _living(folder, LEASE)


def _renew(folder: Folder, mine: Holder, lock: StoreLock, ended: threading.Event) -> None:
    renewed = 0
    while not ended.wait(RENEWED_EVERY):
        # Ignore errors: after a brief network failure the next renewal succeeds.
        with contextlib.suppress(Exception):
            found = _read(folder, LEASE)
            if found is not None and found.token != mine.token:
                lock.successor = found
                return
            renewed += 1
            folder.write(LEASE, replace(mine, renewed=renewed).document())


def _refused(folder: Folder, holder: Holder | None) -> InputError:
    who = "" if holder is None else f" ({holder})"
    return InputError(f"output {folder.url}: another run is writing to it{who}")
