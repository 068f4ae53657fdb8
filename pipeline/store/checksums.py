"""Add checksums to Parquet files and verify them.

Parquet pages have checksums (`write_page_checksum`), but page headers and the footer have none. A changed bit
there can make a column null or a table empty. Therefore a checksum of the whole file is placed before the
footer, where readers ignore it. Files without one are accepted: an earlier version wrote them.
"""

from __future__ import annotations

import zlib

import pyarrow as pa

# A file ends with: the text `_MARK`, `_SUM` bytes with the CRC-32 of all other bytes of the file, Parquet's
# footer, and `_END` bytes with the footer's length and Parquet's own closing mark.
_MARK, _SUM, _END = b"SINGLEPASS-CRC32", 4, 8


def add_checksum(content: bytes) -> bytes:
    """Return a Parquet file with a checksum added."""
    start = _start_of_footer(content[-_END:], len(content))
    footer = content[start:]
    checksum = zlib.crc32(footer, zlib.crc32(content[:start]))
    return content[:start] + _MARK + checksum.to_bytes(_SUM, "little") + footer


def check_parquet(source: str | pa.Buffer) -> None:
    """Raise pyarrow.ArrowInvalid if a Parquet file, given as path or content, differs from its checksum."""
    if isinstance(source, str):
        with pa.memory_map(source) as file:
            check_parquet(file.read_buffer())
        return
    content = memoryview(source)
    start = _start_of_footer(bytes(content[-_END:]), len(content))
    end = start - _SUM
    begin = end - len(_MARK)
    if begin < 0 or content[begin:end] != _MARK:
        return
    checksum = zlib.crc32(content[start:], zlib.crc32(content[:begin]))
    if checksum != int.from_bytes(content[end:start], "little"):
        raise pa.ArrowInvalid("its content differs from its checksum")


def _start_of_footer(end: bytes, size: int) -> int:
    return size - _END - int.from_bytes(end[:4], "little")
