"""Copy files from a URL (object stores, web servers, all that fsspec supports) to this machine once."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached

from ..errors import InputError, utf8_path
from .io.folders import cache_folder, remote_folder, scratch_folder
from .io.progress import report

_CHUNK = 1 << 20


def is_url(place: str) -> bool:
    """Return whether the place of a data set is a URL, not a path."""
    return "://" in place


def absolute(path: str | Path, base: str | Path) -> str:
    """Make a path or pattern absolute, relative to the folder `base`; return a URL unchanged."""
    if is_url(str(path)):
        return str(path)
    # Do not resolve symbolic links, to keep the name and the suffix that the user gave.
    # Unlike `Path.expanduser`, this keeps a "~" that is not followed by the name of a user.
    start, rest = (os.path.expanduser(each) for each in (base, path))
    return utf8_path(str(Path(start).absolute() / rest))


def look_again() -> None:
    """Ask servers again which files URLs have, and whether these have changed, when they are next used."""
    _names_at.cache_clear()
    _copies.cache_clear()


# The headers of an HTTP answer, besides the size, that change with the content of a file.
_VALIDATORS = ("ETag", "Content-MD5", "Digest", "Last-Modified")


def names_at(url: str, *, download: bool = True) -> tuple[str, ...]:
    """Return the paths of the files at a URL on its fsspec file system, that is, without the protocol.

    Without `download`, return those that the last call with `download` has noted in the cache.
    """
    if download:
        return _names_at(url)
    noted = _folder(url) / "names"
    if not noted.is_file():
        raise InputError(f"{url}: not copied to this machine yet")
    return tuple(noted.read_text().splitlines())


# Cached, so that all cells of a plan read the same files of a URL, even if others are added there.
@cached(LRUCache(maxsize=256), lambda url: (url, cache_folder()), condition=Condition())
def _names_at(url: str) -> tuple[str, ...]:
    with _input_errors(url):
        files, path = _file_system(url)
        if glob.has_magic(path):
            found = [name for name in files.glob(path) if _is_visible(name, path) and not files.isdir(name)]
        elif files.isdir(path):
            # Skip hidden files and folders below this one, as in a local folder.
            below = {name: PurePosixPath(name.removeprefix(path)).parts for name in files.find(path)}
            found = [
                name for name, parts in below.items() if not any(p.startswith((".", "_")) for p in parts)
            ]
        else:
            files.info(path)
            found = [path]
    if not found:
        raise InputError(f"{url}: no file matches this URL")
    names = tuple(sorted(found))
    folder = _folder(url)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "names").write_text("\n".join(names))
    return names


def _is_visible(name: str, pattern: str) -> bool:
    """Return whether each hidden part of a path is matched by a hidden part of the pattern, as locally."""
    hidden = [part for part in pattern.split("/") if part.startswith(".")]
    parts = [part for part in name.split("/") if part.startswith(".")]
    return all(any(fnmatchcase(part, each) for each in hidden) for part in parts)


def copies(url: str, names: Sequence[str], *, download: bool = True) -> tuple[Path, ...]:
    """Return this machine's copies of files at a URL; copy new files and those whose content has changed.

    `names` come from `names_at`. With `download` false, the copies that were used last are returned. Raises
    InputError if the URL cannot be read or the cache cannot be written.
    """
    if download:
        return _copies(url, tuple(names))
    return tuple(_last_copy(url, name) for name in names)


def _last_copy(url: str, name: str) -> Path:
    folder = _folder(f"{url} {name}")
    noted = folder / "used"
    used = noted.read_text() if noted.is_file() else ""
    # Older caches have no note; there the copy made last is taken.
    existing = sorted(folder.glob("*/*"), key=lambda path: (path.parent.name == used, path.stat().st_mtime))
    if not existing:
        raise InputError(f"{url}: not copied to this machine yet")
    return existing[-1]


@cached(LRUCache(maxsize=256), lambda url, names: (url, names, cache_folder()), condition=Condition())
def _copies(url: str, names: tuple[str, ...]) -> tuple[Path, ...]:
    found = []
    for name in names:
        with _input_errors(url):
            files, _ = _file_system(url)
            folder, state = _folder(f"{url} {name}"), _state(files, name)
            path = folder / state / PurePosixPath(name.partition("?")[0]).name
            if not path.is_file():
                _copy(files, name, path)
            (folder / "used").write_text(state)
        found.append(path)
    return tuple(found)


def _state(files: Any, name: str) -> str:
    """Return a hash of what the file system reports of a file's content: size and time, or a checksum."""
    reported = str(files.ukey(name))
    # The `ukey` of HTTP is a hash of the URL alone.
    if "http" in files.protocol:
        info = files.info(name)
        reported += str([info.get(key) for key in (*_VALIDATORS, "size")])
    return hashlib.sha256(reported.encode()).hexdigest()[:32]


def _copy(files: Any, name: str, path: Path) -> None:
    with scratch_folder(cache_folder() / "data") as scratch:
        size, done = int(files.size(name) or 0), 0
        with files.open(name, "rb") as source, (scratch / "copy").open("wb") as copy:
            while block := source.read(_CHUNK):
                copy.write(block)
                done += len(block)
                report(path.name, done, size)
        path.parent.mkdir(parents=True, exist_ok=True)
        (scratch / "copy").replace(path)


def _folder(what: str) -> Path:
    return remote_folder() / hashlib.sha256(what.encode()).hexdigest()[:32]


def _file_system(url: str) -> tuple[Any, str]:
    import fsspec

    files, path = fsspec.core.url_to_fs(url)
    # Forget fsspec's cached listings, since the files may have changed.
    files.invalidate_cache()
    return files, str(path)


@contextmanager
def _input_errors(url: str) -> Iterator[None]:
    """Turn any exception of an fsspec file system or of its package into an InputError of one line."""
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(f"{url}: no such file") from None
    except ImportError as error:
        raise InputError(f"{url}: a package is missing ({error}); install it with pip") from None
    except Exception as error:
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise InputError(f"{url}: cannot be read ({reason})") from None
