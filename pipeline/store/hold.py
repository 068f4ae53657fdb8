"""Holding a store: one client at a time tidies it and says which cells are computed.

In a local folder it is a lock, which goes with the process. Remote stores have no locks: there it is a
*lease*, a document that its holder renews. Whoever finds one watches it: renewed, it is alive, and the
newcomer is refused; not renewed for a while, its holder is dead, and it is taken over. Only the newcomer's
own clock counts.

Two that take over a dead holder's lease in the same moment both write, wait, and read: the one that was
written over gives up. A holder that stood still for so long that it was taken for dead finds another one's
lease when it goes on, and stops before it writes again (`Hold.check`). Nothing is lost by what it has
written: parts have names of their own, a merged part is there before its members go, and readers count one
row a cell.
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

# Seconds between two renewals of a lease, and how many of them a holder misses before it is dead.
RENEWED_EVERY = 5.0
_MISSED = 4
# Seconds between writing a lease and reading whose it is: long beside a put.
SETTLING = 1.0
# Seconds to try for a local lock: who asks whether it is held has it for less than a millisecond.
_TRYING = 0.5

LOCK, HOLDER, LEASE = ".lock", ".lock-holder.json", "lease.json"


@dataclass(frozen=True)
class Holder:
    """Who holds a store.

    Attributes
    ----------
    host : str
    pid : int
    since : str
        In UTC, to the second.
    machine : str
        What tells processes of one system from those of another; empty where nothing does.
    token : str
        Random; of this holding alone.
    renewed : int
        How often the lease was renewed.
    """

    host: str
    pid: int
    since: str
    machine: str = ""
    token: str = ""
    renewed: int = 0

    def __str__(self) -> str:
        """Return it as part of a line."""
        return f"process {self.pid} on {self.host} since {self.since}"

    @property
    def is_gone(self) -> bool:
        """Whether it is known to have ended: it was a process of this very system, and there is none."""
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
        """Return it as JSON."""
        return json.dumps(asdict(self)).encode()


def holder_here() -> Holder:
    """Return this process as a holder from now on."""
    since = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return Holder(socket.gethostname(), os.getpid(), since, _machine(), secrets.token_hex(8))


def _machine() -> str:
    """Return what processes that see each other's numbers have in common: a boot and a space of numbers."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"
    return ""


def _read(folder: Folder, name: str) -> Holder | None:
    """Return who a document names, None where there is none to be read."""
    with contextlib.suppress(FileNotFoundError, ValueError, TypeError):
        return Holder(**json.loads(folder.read(name)))
    return None


class Hold:
    """A store that is held, until another client is seen to have it.

    Parameters
    ----------
    url : str
        The store's.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        #: Who has the store now, if this process has lost it.
        self.successor: Holder | None = None

    def check(self) -> None:
        """Refuse to go on where another client has taken the store over.

        Raises
        ------
        InputError
            The line says who has it now.
        """
        if self.successor is not None:
            raise InputError(
                f"output {self._url}: this process stood still for too long, and {self.successor} holds it "
                "now: this run stops; what it had written stays"
            )


@contextlib.contextmanager
def held(folder: Folder, note: Callable[[str], None]) -> Iterator[Hold]:
    """Hold a store.

    Parameters
    ----------
    folder : Folder
    note : callable
        Told in a line who is waited for.

    Raises
    ------
    InputError
        Somebody else holds it: the line says who.
    """
    hold = Hold(folder.url)
    with _locked(folder) if folder.is_local else _leased(folder, hold, note):
        yield hold


def holder_of(folder: Folder) -> Holder | None:
    """Return who holds a store, as far as that can be told at once; None for nobody."""
    if not folder.is_local:
        found = _read(folder, LEASE)
        return None if found is None or found.is_gone else found
    import filelock

    if not Path(folder.path(LOCK)).exists():
        return None
    lock = filelock.FileLock(folder.path(LOCK), blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        return _named(folder)
    except (NotImplementedError, OSError):
        # It cannot be asked: not by this user, or on this file system. A document that stayed behind may
        # mislead.
        return _named(folder)
    lock.release()
    return None


def silence(folder: Folder) -> timedelta | None:
    """Return how long ago a lease was renewed, by two clocks: this one and the store's; None without one."""
    if folder.is_local:
        return None
    try:
        return max(timedelta(), datetime.now(UTC) - folder.modified(LEASE))
    except FileNotFoundError:
        return None


def _named(folder: Folder) -> Holder | None:
    """Return who says that they hold a local store, unless they are known to have ended."""
    found = _read(folder, HOLDER)
    return None if found is None or found.is_gone else found


@contextlib.contextmanager
def _locked(folder: Folder) -> Iterator[None]:
    import filelock

    lock = filelock.FileLock(folder.path(LOCK), timeout=_TRYING)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise _refused(folder, _named(folder)) from None
    except NotImplementedError:
        raise InputError(f"output {folder.url}: its file system has no locks: choose another --out") from None
    try:
        folder.write(HOLDER, holder_here().document())
        yield
    finally:
        folder.remove(HOLDER)
        lock.release()


@contextlib.contextmanager
def _leased(folder: Folder, hold: Hold, note: Callable[[str], None]) -> Iterator[None]:
    _wait_for_the_dead(folder, note)
    mine = holder_here()
    folder.write(LEASE, mine.document())
    time.sleep(SETTLING)
    found = _read(folder, LEASE)
    if found is None or found.token != mine.token:
        raise _refused(folder, found)
    ended = threading.Event()
    # A daemon: a process that ends in any way stops renewing.
    renewing = threading.Thread(target=_renew, args=(folder, mine, hold, ended), daemon=True)
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
    """Return when nobody holds the lease any more; refuse as soon as somebody is seen to.

    Raises
    ------
    InputError
    """
    first = found = _read(folder, LEASE)
    seconds = _MISSED * RENEWED_EVERY
    until = time.monotonic() + seconds
    if found is not None and not found.is_gone:
        note(f"{folder.url}: {found} was writing to it: waiting up to {seconds:.0f} s for a sign of life")
    while found is not None and not found.is_gone and time.monotonic() < until:
        if found != first:
            raise _refused(folder, found)
        time.sleep(RENEWED_EVERY / 10)
        found = _read(folder, LEASE)


def _renew(folder: Folder, mine: Holder, hold: Hold, ended: threading.Event) -> None:
    renewed = 0
    while not ended.wait(RENEWED_EVERY):
        # A network that is away for a moment: the next time will do.
        with contextlib.suppress(Exception):
            found = _read(folder, LEASE)
            if found is not None and found.token != mine.token:
                hold.successor = found
                return
            renewed += 1
            folder.write(LEASE, replace(mine, renewed=renewed).document())


def _refused(folder: Folder, holder: Holder | None) -> InputError:
    who = "" if holder is None else f" ({holder})"
    return InputError(f"output {folder.url}: another run is writing to it{who}")
