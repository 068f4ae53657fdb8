"""The folder of a store: its files written whole or not at all, on a disk or in an object store.

A file is written under another name and renamed; on a local file system it is brought to the disk (`fsync`)
before that and its folder after it, so that a power cut leaves it whole or not there at all. An object store
does as much for every object that it is given, and would copy it to rename it.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime

import fsspec
import pyarrow as pa

from ..errors import InputError

# Where what is put under a name is there whole or not at all.
_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"})
# Objects of a remote store are asked for this many at once: an answer takes tens of milliseconds, and what is
# answered is in memory, up to some 15 MB each.
_AT_ONCE = 16


class Folder:
    """A folder of any fsspec file system.

    Parameters
    ----------
    url : str
        The folder, as the user calls it.

    Attributes
    ----------
    fs : fsspec.AbstractFileSystem
    root : str
        The folder, as the file system calls it.
    is_local : bool
        Whether files can be locked, and opened by path.
    puts_whole : bool
        Whether it is an object store.

    Raises
    ------
    InputError
        Nobody knows such URLs here.
    """

    def __init__(self, url: str) -> None:
        try:
            self.fs, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise InputError(f"output {url}: {error}") from None
        protocols = (self.fs.protocol,) if isinstance(self.fs.protocol, str) else self.fs.protocol
        self.url, self.is_local = url, "file" in protocols
        self.puts_whole = not _OBJECT_STORES.isdisjoint(protocols)

    def path(self, name: str) -> str:
        """Return a file of the folder, as the file system calls it."""
        return f"{self.root}/{name}"

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Say in one line that the folder cannot be read.

        Raises
        ------
        InputError
            A permission, a network or an account is missing; what is not there is a FileNotFoundError still.
        """
        try:
            yield
        except (InputError, FileNotFoundError, pa.ArrowException):
            raise
        except Exception as error:
            raise InputError(f"{self.url}: cannot be read ({self._reason(error)})") from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Say in one line that the folder cannot be written to.

        Raises
        ------
        InputError
        """
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            reason = self._reason(error)
            raise InputError(
                f"output {self.url}: cannot be written to ({reason}): choose another --out, "
                "or run again when it can be"
            ) from None

    def _reason(self, error: Exception) -> str:
        # Clients of object stores have errors of their own for a network or an account that is not there.
        if self.is_local and not isinstance(error, OSError):
            raise error
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return " ".join(str(reason).split())

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole, or not at all.

        Raises
        ------
        InputError
            It cannot be written.
        """
        path, temporary = self.path(name), f"{self.path(name)}.{uuid.uuid4().hex}.tmp"
        with self.writing():
            if self.puts_whole:
                self.fs.pipe_file(path, content)
            elif self.is_local:
                _write_through(temporary, content)
                os.replace(temporary, path)
                _sync_folder(os.path.dirname(path))
            else:
                self.fs.pipe_file(temporary, content)
                self.fs.mv(temporary, path)

    def read(self, name: str) -> bytes:
        """Return the content of a file.

        Raises
        ------
        FileNotFoundError
        """
        with self.reading():
            content: bytes = self.fs.cat_file(self.path(name))
        return content

    def sources(self, names: Sequence[str]) -> Iterator[str | pa.Buffer | FileNotFoundError]:
        """Yield for each file what Arrow reads it from, or that it is not there.

        It is the path where there is one; else the content, for which several are asked at once.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        if self.is_local:
            yield from map(self.path, names)
            return
        for start in range(0, len(names), _AT_ONCE):
            paths = [self.path(name) for name in names[start : start + _AT_ONCE]]
            with self.reading():
                contents = self.fs.cat(paths, on_error="return")
            for path in paths:
                found = contents.get(path, FileNotFoundError(path))
                if isinstance(found, FileNotFoundError):
                    yield found
                elif isinstance(found, Exception):
                    # No reason to take a part for damaged.
                    with self.reading():
                        raise found
                else:
                    yield pa.py_buffer(found)

    def listed(self, folder: str) -> list[str]:
        """Return the names in a folder within, sorted; none where it is not there."""
        with self.reading(), contextlib.suppress(FileNotFoundError):
            # Others write here too: what this process has seen before is not what is there.
            self.fs.invalidate_cache(self.path(folder))
            found = self.fs.ls(self.path(folder), detail=False)
            return sorted(path.rsplit("/", 1)[-1] for path in found if not path.endswith("/"))
        return []

    def make(self, folder: str) -> None:
        """Create a folder within; object stores have none, and a bucket is not ours to create."""
        if self.puts_whole:
            return
        with self.writing():
            self.fs.makedirs(self.path(folder), exist_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with self.writing(), contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self.path(name))

    def move(self, name: str, to: str) -> None:
        """Move a file within the folder, if it is there."""
        with self.writing(), contextlib.suppress(FileNotFoundError):
            self.fs.mv(self.path(name), self.path(to))

    def modified(self, name: str) -> datetime:
        """Return when a file was written, by the file system's clock.

        Raises
        ------
        FileNotFoundError
        """
        with self.reading():
            when: datetime = self.fs.modified(self.path(name))
        return when


def _write_through(path: str, content: bytes) -> None:
    """Write a file to the disk, or leave none."""
    try:
        with open(path, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def _sync_folder(path: str) -> None:
    """Bring a folder's list of names to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
