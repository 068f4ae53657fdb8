"""Test that tables are memory-mapped from the first use on, and rebuilt if damaged."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from singlepass.pipeline.data.io import reading
from singlepass.pipeline.data.io.folders import cache_folder
from singlepass.pipeline.data.tables import cache
from singlepass.pipeline.data.tables.cache import converted_table, kept_manifest
from singlepass.pipeline.data.tables.stream import Table, content_fingerprint
from singlepass.pipeline.errors import InputError

RECIPE = {"test": "recipe"}


def table(sparse: bool = False) -> Table:
    X = np.random.RandomState(0).standard_normal((5000, 3)).astype(np.float32)
    y = (np.arange(5000) % 2).astype(np.int32)
    made = csr_array(X) if sparse else X
    return Table(made, y, ("n", "é"), made[:10], y[:10])


def never() -> Table:
    raise AssertionError("parsed again")


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
    manifest = kept_manifest(RECIPE)
    assert manifest is not None
    assert (manifest["fingerprint"], manifest["classes"]) == (expected, ["n", "é"])


def test_large_parts_are_memory_mapped() -> None:
    kept = converted_table({"n": 1}, lambda: Table(np.zeros((9000, 2)), np.zeros(9000, np.int32), ("n", "p")))
    base = kept.X
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base  # type: ignore[assignment]
    assert isinstance(base, np.memmap)


def folder_of_only_entry() -> Path:
    (folder,) = [each for each in (cache_folder() / "streams").iterdir() if not each.name.startswith(".")]
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


@pytest.mark.parametrize("error", [OSError(errno.EMFILE, "Too many open files"), MemoryError()])
def test_a_table_that_cannot_be_read_now_is_not_removed(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    converted_table(RECIPE, table)

    def fails(*args: object, **options: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(np, "load", fails)
        with pytest.raises(AssertionError, match="parsed again"):
            converted_table(RECIPE, never)
    converted_table(RECIPE, never)


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
    assert not list((cache_folder() / "streams").glob(".unfinished-*"))


def test_a_failed_parse_leaves_nothing() -> None:
    def parse() -> Table:
        raise InputError("no")

    with pytest.raises(InputError, match="no"):
        converted_table(RECIPE, parse)
    assert not (cache_folder() / "streams").exists()


def test_a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "file"))
    with pytest.raises(
        InputError, match=r"the cache cannot be written .*; set SINGLEPASS_CACHE to a writable folder"
    ):
        converted_table(RECIPE, table)


def test_a_large_table_is_checked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "_REMEMBERED_FROM_BYTES", 1)
    monkeypatch.setattr(reading, "_SETTLED_SECONDS", -1.0)
    expected = content_fingerprint(converted_table(RECIPE, table))
    converted_table(RECIPE, never)
    with pytest.MonkeyPatch.context() as patch:
        # The content is not read again.
        patch.setattr(cache, "content_fingerprint", None)
        assert content_fingerprint(converted_table(RECIPE, never)) == expected
    part = folder_of_only_entry() / "X_dense.npy"
    part.write_bytes(part.read_bytes()[:-1] + b"\x55")
    assert content_fingerprint(converted_table(RECIPE, table)) == expected
