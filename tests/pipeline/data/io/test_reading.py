"""Test that a file's lines are the same however it is cut into blocks."""

from __future__ import annotations

import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from singlepass.pipeline.data.io.reading import SPARE_BYTES, Limits, TextStream, whole_lines
from singlepass.pipeline.errors import InputError


def blocks_of(text: bytes, size: int, max_line: int = 100) -> list[tuple[int, bytes]]:
    file = io.BytesIO(text)
    stream = TextStream(Path("f"), file, file, Limits(max_line=max_line))
    found = []
    for number, block in whole_lines(stream, size):
        assert block.base is not None
        start = block.ctypes.data - block.base.ctypes.data
        assert len(block.base) - start - len(block) >= SPARE_BYTES
        found.append((number, block.tobytes()))
    return found


@example([b"\xef\xbb\xbf", b"\n", b"\xef\xbb\xbf", b"a"], 4)
@given(st.lists(st.sampled_from([b"a", b"bb", b"\n", b"\r\n", b"\xef\xbb\xbf"])), st.integers(3, 9))
def test_blocks_of_whole_lines(pieces: list[bytes], size: int) -> None:
    text = b"".join(pieces)
    found = blocks_of(text, size)
    assert b"".join(block for _, block in found) == text.removeprefix(b"\xef\xbb\xbf")
    assert all(block.endswith(b"\n") for _, block in found[:-1])
    assert found == [] or found[0][0] == 1
    for (number, block), (following, _) in pairwise(found):
        assert following == number + block.count(b"\n")


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_line_as_long_as_allowed(size: int) -> None:
    lines = [b"a\n", b"b" * 99 + b"\n", b"c" * 100]
    assert b"".join(block for _, block in blocks_of(b"".join(lines), size)) == b"".join(lines)
    with pytest.raises(InputError, match="line 3: longer than max_line = 100 bytes"):
        blocks_of(b"".join(lines) + b"c", size)


@pytest.mark.parametrize("size", [1, 7, 64, 128, 1 << 20])
def test_a_line_longer_than_allowed_is_refused_wherever_it_starts(size: int) -> None:
    for before in range(20):
        with pytest.raises(InputError, match="longer than max_line = 100 bytes"):
            blocks_of(b"a" * before + b"\n" + b"b" * 101 + b"\n", size)
