"""Test the idx format."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.data.formats.arrays import read_idx
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
# Two images of 2 x 3.
GOOD = (
    b"\x00\x00\x08\x03" + b"\x00\x00\x00\x02" + b"\x00\x00\x00\x02" + b"\x00\x00\x00\x03" + bytes(range(12))
)


def test_reads_plain_and_compressed(write: Write) -> None:
    expected = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    for path in (write("f", GOOD), write("f.gz", gzip.compress(GOOD))):
        np.testing.assert_array_equal(read_idx(path), expected)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"", "not an idx file of unsigned bytes"),
        (b"\x00\x00\x0d\x01\x00\x00\x00\x00", "not an idx file of unsigned bytes"),
        (GOOD[:9], "not an idx file of unsigned bytes"),
        (GOOD[:-1], "11 bytes follow the header, which declares 12"),
        (GOOD + b"\x00", "13 bytes follow the header, which declares 12"),
    ],
)
def test_error_lines(write: Write, content: bytes, line: str) -> None:
    with pytest.raises(InputError, match=line):
        read_idx(write("f", content))
