"""Access the folder of a store, on a disk or in an object store; files are written whole or not at all.

A file is written under a temporary name and renamed. On a local file system the file is flushed to the disk
(`fsync`) before the renaming, and its folder after it: a power cut leaves the whole file or none. An object
store writes every object whole, and would copy it to rename it, so there it is written directly.
"""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import fsspec
import pyarrow as pa

from ..errors import InputError, utf8_path

# Protocols of object stores, which write each object whole or not at all.
_OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "oss", "memory"})
# Number of objects read at once from a remote store. One at a time would be slow, because each answer takes
# tens of milliseconds. More would need much memory, because each object has up to about 15 MB.
_AT_ONCE = 16


def local_folder(path: str | Path) -> Path:
    """Return the path of a local folder; ``~`` at its start is the user's home folder, if it is known.

    Raise `InputError` if `path` is a URL.
    """
    if "://" in str(path):
        raise InputError(f"{path}: is a URL, but only a local path works here: name one on this machine")
    return Path(os.path.expanduser(path))


class Folder:
    """A folder of any fsspec file system; raises InputError for an unknown kind of URL.

    `url` is the folder as the user gave it, `root` its path in the file system `fs`. If it `is_local`, files
    can be locked, and opened by path. `puts_whole` is true for object stores, which never leave half a file.
    """

    def __init__(self, url: str) -> None:
        try:
            if "://" in url:
                self.fs, self.root = fsspec.core.url_to_fs(url)
            else:
                # Not `url_to_fs`, which takes "::" in a path for two URLs.
                self.fs, self.root = fsspec.filesystem("file"), utf8_path(str(local_folder(url).absolute()))
        except (ImportError, ValueError) as error:
            raise InputError(f"output {url}: {error}") from None
        protocols = (self.fs.protocol,) if isinstance(self.fs.protocol, str) else self.fs.protocol
        self.url, self.is_local = url, "file" in protocols
        self.puts_whole = not _OBJECT_STORES.isdisjoint(protocols)

    def path(self, name: str) -> str:
        """Return the full path, in the file system, of a file in the folder."""
        return f"{self.root}/{name}"

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Turn errors of reading, except FileNotFoundError and Arrow's errors, into a one-line InputError."""
        try:
            yield
        except (InputError, FileNotFoundError, pa.ArrowException):
            raise
        except Exception as error:
            raise InputError(f"{self.url}: cannot be read ({self._reason(error)})") from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Turn errors raised while writing into a one-line InputError."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            reason = self._reason(error)
            raise InputError(
                f"output {self.url}: cannot be written to ({reason}): make it writable and run the command "
                "again, or choose another folder"
            ) from None

    def _reason(self, error: Exception) -> str:
        # On a local disk an error that is not an OSError is a bug in the code, so it is raised unchanged.
        # Clients of object stores raise errors of various types for a missing network or account: report any
        # type.
        if self.is_local and not isinstance(error, OSError):
            raise error
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return " ".join(str(reason).split())

    def write(self, name: str, content: bytes) -> None:
        """Write a file whole or not at all; raise InputError if that fails."""
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
        """Return the content of a file; raise FileNotFoundError if it does not exist."""
        with self.reading():
            content: bytes = self.fs.cat_file(self.path(name))
        return content

    def sources(self, names: Sequence[str]) -> Iterator[str | pa.Buffer | FileNotFoundError]:
        """Yield each file's path if the folder is local; if remote, its content or a FileNotFoundError.

        Remote files are read several at a time. Raises InputError if a remote file cannot be read.
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
                    # Raise an InputError, because a failed read does not mean that the file is damaged.
                    with self.reading():
                        raise found
                else:
                    yield pa.py_buffer(found)

    def listed(self, folder: str) -> list[str]:
        """Return the sorted names in a subfolder; empty if it does not exist."""
        with self.reading(), contextlib.suppress(FileNotFoundError):
            # Discard a cached listing: other processes write to the folder too, so it may be outdated.
            self.fs.invalidate_cache(self.path(folder))
            found = self.fs.ls(self.path(folder), detail=False)
            return sorted(path.rsplit("/", 1)[-1] for path in found if not path.endswith("/"))
        return []

    def make(self, folder: str) -> None:
        """Create a subfolder; do nothing in object stores, which have none (users create their buckets)."""
        if self.puts_whole:
            return
        with self.writing():
            self.fs.makedirs(self.path(folder), exist_ok=True)

    def remove(self, name: str) -> None:
        """Remove a file if it exists."""
        with self.writing(), contextlib.suppress(FileNotFoundError):
            self.fs.rm_file(self.path(name))

    def move(self, name: str, to: str) -> None:
        """Move a file within the folder if it exists."""
        with self.writing(), contextlib.suppress(FileNotFoundError):
            self.fs.mv(self.path(name), self.path(to))

    def modified(self, name: str) -> datetime:
        """Return when a file was written, by the file system's clock, or raise FileNotFoundError."""
        with self.reading():
            when: datetime = self.fs.modified(self.path(name))
        return when


def _write_through(path: str, content: bytes) -> None:
    """Write a file to the disk with fsync; remove it after an error."""
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
    """Flush a folder's list of file names to the disk with fsync, if the system supports it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
