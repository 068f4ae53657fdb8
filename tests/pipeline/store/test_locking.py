"""Test the store's lock: one client at a time, a refusal names the holder, dead processes hold nothing."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import filelock
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store import locking
from singlepass.pipeline.store.locking import HOLDER, LEASE, LOCK, Holder, holder_here, holder_of, silence
from singlepass.pipeline.store.store import Store, exclusive

HOLD = """
import sys, time
from singlepass.pipeline.store.store import Store, exclusive
store = Store(sys.argv[1])
store.prepare()
with exclusive(store):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(str(tmp_path / "study"))
    opened.prepare()
    return opened


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store on a file system without locks, where a holder is dead after a second."""
    monkeypatch.setattr(locking, "RENEWED_EVERY", 0.25)
    monkeypatch.setattr(locking, "SETTLING", 0.2)
    opened = Store(f"memory://{uuid4().hex}/study")
    opened.prepare()
    yield opened
    if opened.fs.exists(opened.root):
        opened.fs.rm(opened.root, recursive=True)


def elsewhere(pid: int = 1234) -> Holder:
    """Return a holder on another machine, whose processes cannot be seen."""
    return replace(holder_here(), host="far", pid=pid, machine="another boot", token=uuid4().hex)


def test_the_second_is_told_who_the_first_is_and_follows_when_it_is_killed(store: Store) -> None:
    process = subprocess.Popen([sys.executable, "-c", HOLD, store.url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    line = f"another run is writing to it (process {process.pid} on {socket.gethostname()} since "
    with pytest.raises(InputError) as refused, exclusive(store):
        pass
    assert line in str(refused.value)
    holder = holder_of(store.folder)
    assert holder is not None
    assert holder.pid == process.pid
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    # The killed holder's file is still there.
    assert Path(store.root, HOLDER).exists()
    assert holder_of(store.folder) is None
    with exclusive(store):
        assert holder_of(store.folder) is not None
    assert holder_of(store.folder) is None
    assert not Path(store.root, HOLDER).exists()


@pytest.mark.parametrize("said", [b"", b"{", b'{"host": "x"}', b"[]"])
def test_nobody_is_named_who_does_not_hold_it(store: Store, said: bytes) -> None:
    """After taking the lock and before naming itself, a client leaves the file of a killed predecessor."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = holder_here()
    # Without a name of the machine (macOS) it is unknown whether the predecessor has ended.
    for content in (said, *([replace(here, pid=gone.pid).document()] if here.machine else [])):
        Path(store.root, HOLDER).write_bytes(content)
        with filelock.FileLock(f"{store.root}/{LOCK}"):
            with pytest.raises(InputError, match=r"writing to it$"), exclusive(store):
                pass
            assert holder_of(store.folder) is None


@pytest.mark.parametrize("kind", ["folder", "link"])
def test_a_lock_that_cannot_be_opened_is_one_line(store: Store, tmp_path: Path, kind: str) -> None:
    lock = Path(store.root, LOCK)
    if kind == "folder":
        lock.mkdir()
    else:
        lock.symlink_to(tmp_path)
    with pytest.raises(InputError, match=r"its file \.lock cannot be opened .*: if no run"), exclusive(store):
        pass


def test_asking_who_holds_it_refuses_nobody(store: Store) -> None:
    asking, ended = Store(store.url), threading.Event()

    def ask() -> None:
        while not ended.wait(0.005):
            holder_of(asking.folder)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        for _ in range(20):
            with exclusive(store):
                pass
    finally:
        ended.set()
        thread.join()


def test_a_lease_that_is_renewed_is_respected(remote: Store) -> None:
    with exclusive(remote):
        holder = holder_of(remote.folder)
        assert holder is not None
        began = time.monotonic()
        line = f"another run is writing to it .process {holder.pid} on"
        with pytest.raises(InputError, match=line), exclusive(Store(remote.url)):
            pass
        assert time.monotonic() - began < 10
        silent = silence(remote.folder)
        assert silent is not None
        assert silent.total_seconds() < 10
    assert holder_of(remote.folder) is None
    assert not remote.fs.exists(f"{remote.root}/{LEASE}")


def test_a_lease_that_is_not_renewed_is_taken_over_after_a_while(remote: Store) -> None:
    remote.folder.write(LEASE, elsewhere().document())
    assert holder_of(remote.folder) is not None
    notes: list[str] = []
    began = time.monotonic()
    with exclusive(remote, notes.append):
        assert time.monotonic() - began > 0.9
        (note,) = notes
        assert "process 1234 on far since" in note
        assert note.endswith("waiting up to 1 s for a sign of life")
        assert json.loads(remote.folder.read(LEASE))["host"] == socket.gethostname()


def test_the_lease_of_a_process_that_has_ended_here_is_taken_over_at_once(
    remote: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locking, "RENEWED_EVERY", 600.0)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    remote.folder.write(LEASE, replace(holder_here(), pid=ended.pid).document())
    if not holder_here().machine:
        pytest.skip("this system does not say which processes see each other")
    with exclusive(remote):
        pass


def test_of_many_that_take_over_at_once_one_does(remote: Store) -> None:
    remote.folder.write(LEASE, elsewhere().document())
    outcomes: list[str] = []
    together = threading.Barrier(5)

    def take() -> None:
        own = Store(remote.url)
        together.wait()
        with ExitStack() as stack:
            try:
                stack.enter_context(exclusive(own))
            except InputError as error:
                outcomes.append(str(error))
            else:
                outcomes.append("held")
            # Every client waits until all have tried.
            together.wait()

    threads = [threading.Thread(target=take) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome == "held" for outcome in outcomes) == [False] * 4 + [True]
    assert all("another run is writing to it" in outcome for outcome in outcomes if outcome != "held")


def test_a_lease_that_was_lost_is_left_to_the_one_who_has_it(remote: Store) -> None:
    other = elsewhere()
    with exclusive(remote):
        remote.folder.write(LEASE, other.document())
        time.sleep(0.6)
        assert holder_of(remote.folder) == other
    assert holder_of(remote.folder) == other


def test_who_has_lost_the_lease_writes_no_more_and_names_the_holder(remote: Store) -> None:
    with exclusive(remote):
        remote.write([])
        remote.folder.write(LEASE, elsewhere(pid=77).document())
        time.sleep(0.6)
        with pytest.raises(
            InputError, match=r"and process 77 on far since .* has taken the output over: this run stops"
        ):
            remote.write([])
