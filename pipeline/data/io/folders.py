"""Find and make folders of the cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...errors import InputError


def cache_folder() -> Path:
    """Return the folder for downloads and parsed data: ``SINGLEPASS_CACHE``, or the user's cache folder."""
    named = os.environ.get("SINGLEPASS_CACHE")
    if named:
        return Path(os.path.expanduser(named)).absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("singlepass", appauthor=False))


def remote_folder() -> Path:
    """Return the folder of the cache with copies of files at URLs."""
    return cache_folder() / "data" / "remote"


def cache_space() -> int:
    """Return the free bytes on the disk of the cache; raise InputError if a test write there fails."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"0")
        return shutil.disk_usage(folder).free
    except OSError as error:
        raise InputError(
            f"cache {folder}: cannot be written ({error.strerror}); set SINGLEPASS_CACHE to a writable folder"
        ) from None


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Turn an OSError of the block into an InputError: `folder` of the cache cannot be written."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{folder}: the cache cannot be written ({error.strerror}); "
            "set SINGLEPASS_CACHE to a writable folder"
        ) from None


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make an empty folder inside `parent` for the block; raise InputError if `parent` cannot be written."""
    with writing(parent):
        parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=parent))
    try:
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
