"""Test that the sha256 of a file follows its changes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

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
