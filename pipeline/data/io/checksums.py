"""Compute the sha256 of files, and recompute it when a file may have changed."""

from __future__ import annotations

import hashlib
from pathlib import Path
from threading import Condition

from cachetools import LRUCache, cached

from ...errors import InputError


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, cached until its size, times or inode change.

    Raises InputError if the file is missing, a folder, or not readable.
    """
    try:
        status = path.stat()
        state = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return _hash(path, state)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


@cached(LRUCache(maxsize=1024), condition=Condition())
def _hash(path: Path, state: tuple[int, ...]) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
