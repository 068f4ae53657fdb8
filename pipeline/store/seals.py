"""Checksums of the footers of Parquet files.

Pages of Parquet have checksums of their own (`write_page_checksum`); the footer, which says where they lie, has
none, and one changed bit there can make a column null. Ours stands before it, where readers pass over it. What
has none was written before there were any, and is taken as it is.
"""

from __future__ import annotations

import os
import zlib
from typing import Any

import pyarrow as pa

# Before the footer: this, and its CRC-32 in four bytes. After it: its length in four bytes, and the end.
_MARK, _SUM, _END = b"SINGLEPASS-CRC32", 4, 8


def seal_parquet(content: bytes) -> bytes:
    """Return a Parquet file with a checksum of its footer."""
    start = len(content) - _END - int.from_bytes(content[-_END:-4], "little")
    footer = content[start:]
    return content[:start] + _MARK + zlib.crc32(footer).to_bytes(_SUM, "little") + footer


def check_parquet(source: str | pa.Buffer) -> None:
    """Compare the footer of a Parquet file with its checksum, where it has one.

    Parameters
    ----------
    source : str or pyarrow.Buffer
        A path, or the content.

    Raises
    ------
    pyarrow.ArrowInvalid
        It is damaged.
    OSError
        It cannot be read.
    """
    if isinstance(source, str):
        with open(source, "rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            held = _last(lambda n: os.pread(file.fileno(), n, size - n), size)
    else:
        held = _last(lambda n: source[source.size - n :].to_pybytes(), source.size)
    if held.startswith(_MARK):
        footer = held[len(_MARK) + _SUM :]
        if int.from_bytes(held[len(_MARK) :][:_SUM], "little") != zlib.crc32(footer):
            raise pa.ArrowInvalid("its footer is not what was written")


def _last(read: Any, size: int) -> bytes:
    """Return the footer with what stands before it; less, where there is no room for that."""
    length = int.from_bytes(read(min(_END, size))[:4], "little")
    held: bytes = read(min(len(_MARK) + _SUM + length + _END, size))
    return held
