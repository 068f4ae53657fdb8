"""Checksums of Parquet files.

Pages have checksums of their own (`write_page_checksum`), but neither their headers nor the footer, which
says where they lie: one changed bit there can make a column null, or a table empty. Ours stands before the
footer, where readers pass over it. What has none was written before there were any, and is taken as it is.
"""

from __future__ import annotations

import zlib

import pyarrow as pa

# Before the footer: this, and the CRC-32 of all else in four bytes. After it: its length in four bytes, and
# Parquet's end.
_MARK, _SUM, _END = b"SINGLEPASS-CRC32", 4, 8


def seal_parquet(content: bytes) -> bytes:
    """Return a Parquet file with a checksum."""
    start = _start_of_footer(content[-_END:], len(content))
    footer = content[start:]
    checksum = zlib.crc32(footer, zlib.crc32(content[:start]))
    return content[:start] + _MARK + checksum.to_bytes(_SUM, "little") + footer


def check_parquet(source: str | pa.Buffer) -> None:
    """Compare a Parquet file with its checksum, where it has one.

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
        with pa.memory_map(source) as file:
            _check(memoryview(file.read_buffer()))
    else:
        _check(memoryview(source))


def _check(content: memoryview) -> None:
    start = _start_of_footer(bytes(content[-_END:]), len(content))
    end = start - _SUM
    begin = end - len(_MARK)
    if begin < 0 or content[begin:end] != _MARK:
        return
    checksum = zlib.crc32(content[start:], zlib.crc32(content[:begin]))
    if checksum != int.from_bytes(content[end:start], "little"):
        raise pa.ArrowInvalid("it is not what was written")


def _start_of_footer(end: bytes, size: int) -> int:
    return size - _END - int.from_bytes(end[:4], "little")
