"""Opening text files, plain or compressed, with errors that name the file."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ...errors import InputError
from .progress import report

COMPRESSED = (".gz", ".bz2", ".xz")


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading bytes, uncompressed on the way when it ends in .gz, .bz2 or .xz.

    Raises
    ------
    InputError
        When the file is missing, unreadable, damaged or cut short; also while it is being read.
    """
    with open_watched(path) as (stream, _):
        yield stream


@contextmanager
def open_watched(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
    """Open a file as `open_bytes` does, with a function that reports how far it has been read.

    What is reported are bytes as stored, so that the total is known of a compressed file too.
    """
    openers: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    try:
        with path.open("rb") as stored:
            size = path.stat().st_size
            opener = openers.get(path.suffix.lower())
            stream = stored if opener is None else cast("IO[bytes]", opener(stored, "rb"))
            with stream:
                yield stream, lambda: report(path.name, stored.tell(), size)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file") from None
    except PermissionError:
        raise InputError(f"{path}: may not be read") from None
    except EOFError:
        raise InputError(f"{path}: the compressed data end too early; the file is cut short") from None
    except (gzip.BadGzipFile, lzma.LZMAError, zlib.error, OSError) as error:
        raise InputError(f"{path}: damaged or not a {path.suffix} file ({error})") from None


def decode_line(path: Path, number: int, raw: bytes) -> str:
    """Decode one line as UTF-8 (a byte-order mark is dropped).

    Raises
    ------
    InputError
        When it is not UTF-8: names the line and the byte.
    """
    try:
        return raw.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
    except UnicodeDecodeError as error:
        byte = raw[error.start]
        raise InputError(
            f"{path}, line {number}: not UTF-8 text (byte 0x{byte:02x} at position {error.start + 1}); "
            "save the file as UTF-8"
        ) from None


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of every line that is not blank, numbered from 1."""
    with open_bytes(path) as stream:
        for number, raw in enumerate(stream, start=1):
            text = decode_line(path, number, raw)
            if text.strip():
                yield number, text


def first_line(path: Path) -> tuple[int, str]:
    """Return the first line that is not blank, with its number.

    Raises
    ------
    InputError
        When there is none.
    """
    for found in lines(path):
        return found
    raise InputError(f"{path}: the file is empty")
