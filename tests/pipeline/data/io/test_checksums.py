"""Test that the sha256 of a file follows its changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from singlepass.pipeline.data.io import reading
from singlepass.pipeline.data.io.folders import cache_folder
from singlepass.pipeline.data.io.reading import file_sha256
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]


def test_hashed_again_when_changed(write: Write) -> None:
    for content in (b"1", b"12", b"123"):
        path = write("f", content)
        assert file_sha256(path) == file_sha256(path) == hashlib.sha256(content).hexdigest()


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        file_sha256(tmp_path / "gone")
    with pytest.raises(InputError, match="is a folder, not a file"):
        file_sha256(tmp_path)


def test_the_checksum_of_a_large_file_is_kept_on_disk(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_REMEMBERED_FROM_BYTES", 1)
    monkeypatch.setattr(reading, "_SETTLED_SECONDS", -1.0)
    path = write("f", b"1")
    expected = file_sha256(path)
    reading._hash.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        # Nothing is hashed again.
        patch.setattr(hashlib, "file_digest", None)
        assert file_sha256(path) == expected
    assert file_sha256(write("f", b"2")) != expected


def test_a_file_that_may_still_change_is_hashed_again(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_REMEMBERED_FROM_BYTES", 1)
    monkeypatch.setattr(reading, "_SETTLED_SECONDS", 3600.0)
    file_sha256(write("f", b"1"))
    assert not (cache_folder() / "checksums").exists()
