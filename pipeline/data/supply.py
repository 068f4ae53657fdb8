"""Send parsed tables of data sets to machines that cannot make them from files."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .composition import ComposedSource
from .io.folders import cache_folder, cache_space
from .own_sources import ConvertedSource
from .pins import Pin, pin_of
from .resolve import find_source
from .sources import Source
from .tables.cache import adopt, kept_bytes, kept_folder, recipe_key
from .tables.features import computed, raw_options, scaled_online
from .tables.options import Options
from .tables.tasks import TaskRef

# Bytes of a table in one message: large compared with a message's overhead, small compared with a scheduler's
# memory.
CHUNK_BYTES = 1 << 24


@dataclass(frozen=True)
class Lack:
    """Describe a parsed table that a machine does not have and cannot make from its own files."""

    pin: Pin
    #: Why the machine's own files cannot be used: they are missing or have another content.
    reason: str


@dataclass(frozen=True)
class Chunk:
    """Contain consecutive bytes of one file of a cached table."""

    #: Name of the file in the table's folder.
    file: str
    #: Where in the file this piece begins, in bytes.
    offset: int
    content: bytes


def pins_of(tasks: Iterable[TaskRef]) -> tuple[Pin, ...]:
    """Return the pins that identify the tables of tasks, without those of bundled and generated sets."""
    pins: dict[Hashable, Pin] = {}
    for task in tasks:
        source = find_source(task.source)
        for converted, options in _converted(source, source.options_of(task)):
            recipe = converted.recipe(options)
            pin = pin_of(converted.name, options, recipe, kept_bytes(recipe))
            pins[pin.source, pin.options] = pin
    return tuple(dict.fromkeys(pins.values()))


def _converted(source: Source, options: Options) -> Iterator[tuple[ConvertedSource, Options]]:
    """Yield the data sets read from files whose tables a source reads, with the options of each table."""
    if isinstance(source, ComposedSource):
        for part in source.parts:
            # A composition reads unchanged features; its fingerprint contains that of the part's own table.
            for each in (part.options, part.unchanged):
                yield from _converted(part.source, each)
    elif isinstance(source, ConvertedSource):
        yield source, options
        if scaled_online(options) or (computed(options) and not source.has_test(options)):
            # The table with unchanged features as well, because each run of an algorithm computes means and
            # deviations itself: from its training rows or, online, from the rows so far.
            yield source, raw_options(options)


def lacking(pins: Iterable[Pin]) -> list[Lack]:
    """Return the tables that are not in this machine's cache and cannot be made from this machine's files.

    Raise InputError if this machine's cache cannot take the tables that are not in it.
    """
    found = []
    absent = [each for each in pins if kept_folder(each.content) is None]
    # The size of a table that the client has not cached is 0. Many runs never read such a table.
    size = sum(each.size for each in absent)
    if size and (free := cache_space()) < size:
        raise InputError(
            f"cache {cache_folder()}: {free / 1e6:,.1f} MB free, but tables of {size / 1e6:,.1f} MB are "
            "needed; make space, or set SINGLEPASS_CACHE to a folder on another disk"
        )
    for each in absent:
        source = find_source(each.source)
        if not isinstance(source, ConvertedSource):
            raise TypeError(f"data set {each.source!r} is not read from files, so no table of it can be sent")
        options = dict(each.options)
        try:
            if source.recipe_of(source.files(options, download=False), options) != each.content:
                found.append(Lack(each, f"{source.name}: the content differs from the study's data"))
        except (InputError, OSError) as error:
            found.append(Lack(each, str(error)))
    return found


def chunks(pinned: Pin) -> Iterator[Chunk]:
    """Yield the files of a table in this machine's cache, piece by piece."""
    source, options = find_source(pinned.source), dict(pinned.options)
    if isinstance(source, ConvertedSource) and kept_folder(pinned.content) is None:
        # The cache lacks this table: a data set may have one with changed and one with unchanged features.
        # Computing its fingerprint parses the files and caches it.
        source.content(options)
    folder = kept_folder(pinned.content)
    if folder is None:
        raise InputError(f"data set {pinned.source!r}: its parsed table is no longer in the cache; run again")
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            for offset in range(0, max(1, path.stat().st_size), CHUNK_BYTES):
                yield Chunk(path.name, offset, file.read(CHUNK_BYTES))


def receive(name: str, chunk: Chunk) -> None:
    """Write a chunk of a table to a temporary folder in this machine's cache; `name` is from `parcel`."""
    folder = _incoming(name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / Path(chunk.file).name).open("r+b" if chunk.offset else "wb") as file:
        file.seek(chunk.offset)
        file.write(chunk.content)


def complete(name: str, pinned: Pin) -> None:
    """Move a received table into this machine's cache; raise InputError if it is damaged."""
    try:
        adopt(pinned.content, _incoming(name))
    finally:
        shutil.rmtree(_incoming(name), ignore_errors=True)


def parcel(pinned: Pin, sender: str) -> str:
    """Return a name for the transfer of a table, different for each table and sender."""
    return f"{recipe_key(pinned.content)[:32]}{sender}"


def _incoming(name: str) -> Path:
    return cache_folder() / "streams" / f".incoming-{name}"
