"""Parsed once, memory-mapped from then on, never stale, rebuilt when damaged."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from singlepass.pipeline.data import Stream, expand, file_sources, open_stream
from singlepass.pipeline.data.tables import cache
from singlepass.pipeline.data.tables.cache import (
    converted_classes,
    converted_fingerprint,
    converted_table,
)
from singlepass.pipeline.data.tables.stream import Table, content_fingerprint
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
RECIPE = {"test": "recipe"}


def rows(n: int, shift: int = 0) -> str:
    """A CSV of n rows: large enough (8 bytes a number) to be mapped from 8,192 rows on."""
    return "a,label\n" + "".join(f"{i + shift},{'xy'[i % 2]}\n" for i in range(n))


def table(sparse: bool = False) -> Table:
    X = np.random.RandomState(0).standard_normal((5000, 3)).astype(np.float32)
    y = (np.arange(5000) % 2).astype(np.int32)
    made = csr_array(X) if sparse else X
    return Table(made, y, ("n", "é"), made[:10], y[:10])


def never() -> Table:
    raise AssertionError("parsed again")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Every path that is parsed from now on."""
    seen: list[Path] = []
    real = file_sources.read_file

    def read(path: Path, options: object) -> Table:
        seen.append(path)
        return real(path, options)  # type: ignore[arg-type]

    monkeypatch.setattr(file_sources, "read_file", read)
    return seen


@pytest.mark.parametrize("sparse", [False, True])
def test_what_is_written_is_read_back(sparse: bool) -> None:
    original = table(sparse)
    expected = content_fingerprint(original)
    for kept in (converted_table(RECIPE, lambda: original), converted_table(RECIPE, never)):
        assert content_fingerprint(kept) == expected
        assert kept.classes == ("n", "é")
        assert type(kept.y) is np.ndarray
        for array in (kept.X, kept.X_test) if not sparse else (kept.X.data, kept.X.indices, kept.X.indptr):  # type: ignore[union-attr]
            assert type(array) is np.ndarray
            assert not array.flags.writeable
    assert converted_fingerprint(RECIPE, never) == expected
    assert converted_classes(RECIPE, never) == ("n", "é")


def test_large_parts_are_memory_mapped() -> None:
    kept = converted_table({"n": 1}, lambda: Table(np.zeros((9000, 2)), np.zeros(9000, np.int32), ("n", "p")))
    base = kept.X
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base  # type: ignore[assignment]
    assert isinstance(base, np.memmap)


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
    # Same length, same modification time: only the content tells.
    write("f.csv", rows(50, shift=200))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = open_stream(ref)
    assert path.stat().st_size == times.st_size
    assert np.asarray(after.X)[0, 0] == np.asarray(before.X)[0, 0] + 100
    assert after.fingerprint != before.fingerprint


def test_a_changed_test_file_too(write: Write) -> None:
    path, test = write("f.csv", rows(4)), write("t.csv", rows(4))
    ref = expand(path=path, options={"test": str(test)})[0]
    before = open_stream(ref)
    write("t.csv", rows(6))
    assert len(open_stream(ref).y_test) == 6  # type: ignore[arg-type]
    assert open_stream(ref).fingerprint != before.fingerprint


def test_a_file_that_changes_under_the_parser_is_noticed(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("f.csv", rows(4))
    real = file_sources.read_file

    def read_slowly(path: Path, options: object) -> Table:
        found = real(path, options)  # type: ignore[arg-type]
        write("f.csv", rows(6))
        return found

    monkeypatch.setattr(file_sources, "read_file", read_slowly)
    with pytest.raises(InputError, match="changed while it was being read; run again"):
        expand(path=path)


def folder_of_only_entry() -> Path:
    (folder,) = [
        each for each in (cache.cache_folder() / "streams").iterdir() if not each.name.startswith(".")
    ]
    return folder


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "X_dense.npy").write_bytes((folder / "X_dense.npy").read_bytes()[:-8]),
        lambda folder: (folder / "X_dense.npy").write_bytes(
            (folder / "X_dense.npy").read_bytes()[:-1] + b"\x55"
        ),
        lambda folder: (folder / "y.npy").unlink(),
        lambda folder: (folder / "y.npy").write_bytes(b"\x00" * (folder / "y.npy").stat().st_size),
        lambda folder: (folder / "manifest.json").write_text("{"),
        lambda folder: (folder / "manifest.json").write_text("[]"),
        lambda folder: (folder / "manifest.json").unlink(),
    ],
    ids=["cut short", "a byte", "a part gone", "zeros", "manifest cut", "manifest odd", "manifest gone"],
)
def test_damage_is_rebuilt(damage: Callable[[Path], object]) -> None:
    expected = converted_table(RECIPE, table)
    damage(folder_of_only_entry())
    made: list[int] = []

    def parse() -> Table:
        made.append(1)
        return table()

    assert content_fingerprint(converted_table(RECIPE, parse)) == content_fingerprint(expected)
    assert made == [1]
    assert content_fingerprint(converted_table(RECIPE, never)) == content_fingerprint(expected)


def test_a_pickle_in_the_cache_is_not_opened(tmp_path: Path) -> None:
    converted_table(RECIPE, table)
    folder = folder_of_only_entry()
    size = (folder / "y.npy").stat().st_size
    np.save(folder / "y.npy", np.array([{"evil": 1}], dtype=object), allow_pickle=True)
    content = (folder / "y.npy").read_bytes()
    (folder / "y.npy").write_bytes(content.ljust(size, b"\x00"))
    assert content_fingerprint(converted_table(RECIPE, table)) == content_fingerprint(table())


def test_the_slower_of_two_writers_gives_way() -> None:
    def parse() -> Table:
        # Another process finishes the same table in the meantime.
        converted_table(RECIPE, table)
        return table()

    assert content_fingerprint(converted_table(RECIPE, parse)) == content_fingerprint(table())
    assert not list((cache.cache_folder() / "streams").glob(".unfinished-*"))


def test_a_failed_parse_leaves_nothing() -> None:
    def parse() -> Table:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        converted_table(RECIPE, parse)
    assert not (cache.cache_folder() / "streams").exists()


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        InputError, match=r"the cache cannot be written .*; set SINGLEPASS_CACHE to a folder that can"
    ):
        converted_table(RECIPE, table)


def test_threads_parse_once(write: Write, parsed: list[Path]) -> None:
    ref = expand(path=write("f.csv", rows(50)), options={"header": True})[0]
    parsed.clear()
    # What `expand` left behind is dropped: both threads find nothing.
    for part in folder_of_only_entry().iterdir():
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
