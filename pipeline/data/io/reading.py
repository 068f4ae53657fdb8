"""Read files: their lines within limits, plain or compressed, and their checksums; errors name the file."""

from __future__ import annotations

import bz2
import csv
import gzip
import hashlib
import io
import json
import lzma
import re
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Condition
from typing import IO, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache, cached

from ...errors import InputError
from .folders import cache_folder, remote_folder
from .progress import report

Item = TypeVar("Item")
Made = TypeVar("Made")


class _Streams(io.RawIOBase):
    """Uncompress the streams of a file; unlike Python's own readers, refuse a damaged one after the first."""

    def __init__(self, stored: IO[bytes], new: Callable[[], Any]) -> None:
        self._stored, self._new, self._stream = stored, new, new()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        found = b""
        while not found:
            block = b""
            if self._stream.eof:
                # Zeros may pad a stream.
                block = self._stream.unused_data.lstrip(b"\0")
                while not block and (read := self._stored.read(io.DEFAULT_BUFFER_SIZE)):
                    block = read.lstrip(b"\0")
                if not block:
                    return 0
                self._stream = self._new()
            elif self._stream.needs_input and not (block := self._stored.read(io.DEFAULT_BUFFER_SIZE)):
                raise EOFError("the compressed data end too early")
            found = self._stream.decompress(block, len(buffer))
        buffer[: len(found)] = found
        return len(found)


# Functions that return a reader of the uncompressed bytes of an open file, by the file's suffix.
COMPRESSED: dict[str, Callable[[IO[bytes]], Any]] = {
    ".gz": gzip.open,
    ".bz2": lambda stored: io.BufferedReader(_Streams(stored, bz2.BZ2Decompressor)),
    ".xz": lambda stored: io.BufferedReader(_Streams(stored, lzma.LZMADecompressor)),
}
# Largest number of threads that parse a file; more would wait for the thread that reads it and collects rows.
_MOST_THREADS = 8
_LINE_END = ord("\n")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Bytes after a block that its compiled parsers may read, since they compare as many bytes at once.
SPARE_BYTES = 64
# A file that expands to fewer bytes than this is accepted at any compression ratio.
_HARMLESS_BYTES = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Limits of line length, compression ratio and features; a file beyond one is refused as damaged.

    A data set can change each limit by an option of the same name.
    """

    #: Largest number of bytes in a line. 16 MB are about a million numbers of 16 digits.
    max_line: int = 1 << 24
    #: Largest ratio of uncompressed to compressed bytes. Text compresses 3 to 20 times, rows of zeros with a
    #: few ones some 100 times; gzip can reach 1,032, the other formats far more.
    max_expansion: int = 250
    #: Largest number of features, unless the option `n_features` gives their number. The widest sets in
    #: common use have some 30 million features; each takes a learner 8 bytes or more.
    max_features: int = 1 << 25

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """Return the limits that a data set's options set; `options` includes the defaults."""
        return cls(**{name: options[name] for name in cls.__dataclass_fields__ if name in options})


USUAL = Limits()


class TextStream:
    """Read a file's uncompressed bytes within limits.

    `stored` is the file as stored, `stream` its uncompressed content; if the file is not compressed, both are
    the same object. `path` is for error messages.
    """

    def __init__(self, path: Path, stored: IO[bytes], stream: IO[bytes], limits: Limits) -> None:
        self.path, self.limits = path, limits
        self._stored, self._stream, self._done = stored, stream, 0

    def read(self, n: int) -> bytes:
        """Return up to n bytes; empty at the end of the file."""
        read = self._stream.read(n)
        self._count(len(read))
        return read

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer, less of it at the end of the file; return the number of bytes."""
        n = cast("io.BufferedIOBase", self._stream).readinto(buffer)
        self._count(n)
        return n

    def __iter__(self) -> Iterator[bytes]:
        most = self.limits.max_line
        number = 0
        while raw := self._stream.readline(most + 1):
            self._count(len(raw))
            number += 1
            if len(raw) > most:
                raise self.too_long(number)
            yield raw

    def too_long(self, number: int) -> InputError:
        """Return the error for a line longer than `max_line`."""
        return InputError(
            f"{self.path}, line {number}: longer than max_line = {self.limits.max_line:,} bytes; if that is "
            "right, raise this option of the data set"
        )

    def _count(self, n_bytes: int) -> None:
        self._done += n_bytes
        if self._done > _HARMLESS_BYTES and self._stream is not self._stored:
            most = self.limits.max_expansion
            if self._done > most * self._stored.tell():
                raise InputError(
                    f"{self.path}: expands more than max_expansion = {most:,} times ({self._stored.tell():,} "
                    f"bytes to {self._done:,}); if that is right, raise this option of the data set"
                )


@contextmanager
def open_text(path: Path, limits: Limits = USUAL) -> Iterator[tuple[TextStream, Callable[[], None]]]:
    """Open a file for reading; uncompress it if its name ends in .gz, .bz2 or .xz.

    Yields a `TextStream` and a function that reports progress, in stored bytes, since their total is known
    for compressed files too. Raises InputError, also while the caller reads, if the file is missing,
    unreadable, damaged, cut short or past a limit.
    """
    try:
        with path.open("rb") as stored:
            size = path.stat().st_size
            opener = COMPRESSED.get(path.suffix.lower())
            # If a web server sends a .gz file as an encoding of its content, the copy is not compressed.
            if opener is gzip.open and remote_folder() in path.parents and stored.peek(2)[:2] != b"\x1f\x8b":
                opener = None
            stream = stored if opener is None else cast("IO[bytes]", opener(stored))
            with stream:
                yield TextStream(path, stored, stream, limits), lambda: report(path.name, stored.tell(), size)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file") from None
    except PermissionError:
        raise InputError(f"{path}: permission denied; make the file readable") from None
    except EOFError:
        raise InputError(f"{path}: the compressed data end too early; the file is cut short") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError) as error:
        raise InputError(f"{path}: damaged or not a {path.suffix} file ({error})") from None


def decode_line(path: Path, number: int, raw: bytes) -> str:
    """Decode one line as UTF-8 without a byte order mark; raise InputError if it is not UTF-8."""
    # The csv module, which the ARFF parser also uses, refuses longer fields. Its limit is one for the whole
    # process: raise it only for a long line, and do not lower it, since another thread may be reading one.
    if len(raw) > csv.field_size_limit():
        csv.field_size_limit(2**31 - 1)
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(
            f"{path}, line {number}: not UTF-8 text (byte 0x{byte:02x} at position {error.start + 1}); "
            "save the file as UTF-8"
        ) from None


def lines(path: Path, limits: Limits = USUAL, *, blanks: bool = False) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of every non-blank line, numbered from 1; `blanks` adds lines of spaces."""
    with open_text(path, limits) as (stream, _):
        for number, raw in enumerate(stream, start=1):
            text = decode_line(path, number, raw)
            if text if blanks else text.strip():
                yield number, text


def whole_lines(stream: TextStream, size: int) -> Iterator[tuple[int, npt.NDArray[np.uint8]]]:
    """Yield (number of the first line, block) for blocks of whole lines, about `size` bytes each.

    A byte order mark is dropped. The last block may lack its line end. The `SPARE_BYTES` bytes after a block
    in memory are readable.
    """
    # Only the first line of a block, which may have begun in earlier blocks, can be too long: see below.
    size = min(size, stream.limits.max_line)
    number, begun, mark = 1, bytearray(), _BYTE_ORDER_MARK
    while True:
        held = len(begun)
        # A row with many features may be much longer than a block: read as much again as there is of it, so
        # that its beginning is copied a few times only.
        room = max(size, min(held, stream.limits.max_line - held + 1))
        buffer = bytearray(held + room + SPARE_BYTES)
        buffer[:held] = begun
        read = stream.readinto(memoryview(buffer)[held : held + room])
        text = np.frombuffer(buffer, np.uint8)[: held + read]
        if not read:
            break
        start = len(mark) if mark and buffer.startswith(mark) else 0
        mark = b""
        end = buffer.rfind(b"\n", start, held + read) + 1
        if end:
            # The first line may have begun in earlier blocks.
            if held and buffer.find(b"\n", held) > stream.limits.max_line:
                raise stream.too_long(number)
            yield number, text[start:end]
            # Count line ends with NumPy, which is five times as fast as bytes.count.
            number += int(np.count_nonzero(text[:end] == _LINE_END))
        begun = buffer[end or start : held + read]
        if len(begun) > stream.limits.max_line:
            raise stream.too_long(number)
    if held:
        yield number, text


def in_threads(work: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
    """Yield the result of `work` for each item, in order; several threads work while the caller consumes.

    At most twice as many items as threads are submitted ahead. If `work` fails for an item, the error is
    raised in place of the item's result.
    """
    import joblib  # here, because it loads slowly, and most commands read no file

    n_threads = min(_MOST_THREADS, joblib.cpu_count())
    items = iter(items)
    if n_threads == 1:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        due = deque(pool.submit(work, item) for item in islice(items, 2 * n_threads))
        try:
            while due:
                made = due.popleft().result()
                due.extend(pool.submit(work, item) for item in islice(items, 1))
                yield made
        finally:
            for each in due:
                each.cancel()


def first_line(path: Path, limits: Limits = USUAL) -> tuple[int, str]:
    """Return the number and text of the first non-blank line; raise InputError if there is none."""
    for found in lines(path, limits):
        return found
    raise InputError(f"{path}: the file is empty")


# Checksums of files with at least this many bytes are also cached on disk.
_REMEMBERED_FROM_BYTES = 1 << 24
# The checksum of a file that changed within this time is not cached on disk, because the file may change
# again with the same time stamp.
_SETTLED_SECONDS = 2.0


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, cached until its size, times or inode change."""
    try:
        return _hash(path, file_state(path))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def file_state(path: Path) -> tuple[int, ...]:
    """Return numbers that change whenever a file is written: inode, size and times."""
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def is_settled(path: Path) -> bool:
    """Return whether a file last changed so long ago that another change will change its time stamp."""
    return time.time() - path.stat().st_ctime > _SETTLED_SECONDS


@cached(LRUCache(maxsize=1024), condition=Condition())
def _hash(path: Path, state: tuple[int, ...]) -> str:
    """Return the checksum of a file; that of a large file is also cached on disk."""
    keep = state[1] >= _REMEMBERED_FROM_BYTES and is_settled(path)
    name = hashlib.sha256(json.dumps([str(path.absolute()), state]).encode()).hexdigest()
    kept = cache_folder() / "checksums" / name
    if keep:
        with suppress(OSError):
            found = kept.read_text()
            if re.fullmatch("[0-9a-f]{64}", found):
                return found
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if keep and file_state(path) == state:
        with suppress(OSError):
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(digest)
    return digest
