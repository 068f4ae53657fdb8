"""What a file is: the sha256 of its content, computed again as soon as the file may have changed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...errors import InputError
from .single_flight import Memo

_hashes: Memo[str] = Memo(size=1024)


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file's bytes, remembered until size, times or inode differ.

    Raises
    ------
    InputError
        When it is missing, a folder, or may not be read.
    """
    try:
        status = path.stat()
        key = (str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return _hashes.get(key, lambda: _hash(path))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a file") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
