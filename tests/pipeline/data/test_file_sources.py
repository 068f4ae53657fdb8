"""Test that a file is parsed once, by one thread, and again after it has changed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data import Stream, expand, open_stream, own_sources
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]


def rows(n: int, shift: int = 0) -> str:
    """Return a CSV of n rows; from 8,192 rows on (8 bytes a number) the parsed table is memory-mapped."""
    return "a,label\n" + "".join(f"{i + shift},{'xy'[i % 2]}\n" for i in range(n))


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Collect every path that is parsed from now on."""
    seen: list[Path] = []
    real = own_sources.read_files

    def read(paths: tuple[Path, ...], tests: tuple[Path, ...], options: object) -> Table:
        seen.extend(paths)
        return real(paths, tests, options)  # type: ignore[arg-type]

    monkeypatch.setattr(own_sources, "read_files", read)
    return seen


def test_a_second_process_does_not_parse(
    write: Write, parsed: list[Path], new_process: Callable[[], None]
) -> None:
    path = write("f.csv", rows(50))
    first = open_stream(expand(path=path)[0])
    new_process()
    second = open_stream(expand(path=path)[0])
    assert second is not first
    assert second.fingerprint == first.fingerprint
    assert parsed == [path]


def test_a_moved_file_is_the_same_data(write: Write, parsed: list[Path]) -> None:
    open_stream(expand(path=write("f.csv", rows(50)))[0])
    open_stream(expand(path=write("g.csv", rows(50)))[0])
    assert [path.name for path in parsed] == ["f.csv"]


def test_a_changed_file_is_never_served_stale(write: Write) -> None:
    path = write("f.csv", rows(50, shift=100))
    times = path.stat()
    ref = expand(path=path)[0]
    before = open_stream(ref)
    # Length and modification time are the same; only the content differs.
    write("f.csv", rows(50, shift=200))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = open_stream(ref)
    assert path.stat().st_size == times.st_size
    assert np.asarray(after.X)[0, 0] == np.asarray(before.X)[0, 0] + 100
    assert after.fingerprint != before.fingerprint


def test_a_changed_test_file_too(write: Write) -> None:
    path, test = write("f.csv", rows(4)), write("t.csv", rows(5))
    ref = expand(path=path, options={"test": str(test)})[0]
    before = open_stream(ref)
    write("t.csv", rows(6))
    assert len(open_stream(ref).y_test) == 6  # type: ignore[arg-type]
    assert open_stream(ref).fingerprint != before.fingerprint


def test_a_file_that_changes_under_the_parser_is_noticed(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("f.csv", rows(4))
    real = own_sources.read_files

    def read_slowly(paths: tuple[Path, ...], tests: tuple[Path, ...], options: object) -> Table:
        found = real(paths, tests, options)  # type: ignore[arg-type]
        write("f.csv", rows(6))
        return found

    monkeypatch.setattr(own_sources, "read_files", read_slowly)
    with pytest.raises(InputError, match="changed while it was being read; run again"):
        expand(path=path)


def test_threads_parse_once(write: Write, parsed: list[Path], cache: Path) -> None:
    ref = expand(path=write("f.csv", rows(50)), options={"header": True})[0]
    parsed.clear()
    # Remove what `expand` cached, so that both threads find nothing.
    (folder,) = (cache / "streams").iterdir()
    for part in folder.iterdir():
        part.unlink()
    barrier = threading.Barrier(2)
    streams: list[Stream] = []

    def open_it() -> None:
        barrier.wait(10)
        streams.append(open_stream(ref))

    threads = [threading.Thread(target=open_it) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(parsed) == 1
    assert streams[0] is streams[1]


def test_a_failure_is_not_kept(write: Write) -> None:
    ref = expand(path=write("f.csv", rows(4)))[0]
    write("f.csv", "a,label\n1,x\n")
    with pytest.raises(InputError, match="all 1 labels are 'x'"):
        open_stream(ref)
    write("f.csv", rows(6))
    assert len(open_stream(ref).y) == 6
