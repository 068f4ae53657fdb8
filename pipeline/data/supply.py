"""Bringing tables to a machine that lacks them."""

from __future__ import annotations

import shutil
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from .file_sources import ConvertedSource
from .pins import Pin, pin_of
from .resolve import find_source
from .tables.cache import adopt, cache_folder, kept_folder, recipe_key
from .tables.features import computed, raw_options, scaled_online
from .tables.tasks import TaskRef

# Bytes of a table in one message: large beside a message's cost, small beside the memory of a scheduler.
CHUNK_BYTES = 1 << 24


@dataclass(frozen=True)
class Lack:
    """A table that a machine has not.

    Attributes
    ----------
    pin : Pin
    reason : str
        Why its own files do not do: missing, or with another content.
    """

    pin: Pin
    reason: str


@dataclass(frozen=True)
class Chunk:
    """Some bytes of a table's file.

    Attributes
    ----------
    file : str
        Name in the table's folder.
    offset : int
    content : bytes
    """

    file: str
    offset: int
    content: bytes


def pins_of(tasks: Iterable[TaskRef]) -> tuple[Pin, ...]:
    """Return the tables that tasks are derived from; bundled and generated ones are everywhere."""
    pins: dict[Hashable, Pin] = {}
    for task in tasks:
        source = find_source(task.source)
        if isinstance(source, ConvertedSource):
            options = source.options_of(task)
            tables = [options]
            if scaled_online(options) or (computed(options) and not source.has_test(options)):
                # A cell that cuts a test part itself computes of what is left, or of the rows so far.
                tables.append(raw_options(options))
            for each in tables:
                pin = pin_of(source.name, each, source.recipe(each))
                pins[pin.source, pin.options] = pin
    return tuple(dict.fromkeys(pins.values()))


def lacking(pins: Iterable[Pin]) -> list[Lack]:
    """Return which tables are neither in the cache of this machine nor to be made of its own files.

    Nothing is downloaded for it, and nothing parsed.
    """
    found = []
    for each in pins:
        if kept_folder(each.content) is not None:
            continue
        source = find_source(each.source)
        if not isinstance(source, ConvertedSource):
            raise TypeError(f"{each.source} is not read from files")
        options = dict(each.options)
        try:
            same = source.recipe_of(source.files(options, download=False), options) == each.content
        except InputError as error:
            found.append(Lack(each, str(error)))
        else:
            if not same:
                found.append(Lack(each, f"{source.name}: not the content that the study was planned with"))
    return found


def chunks(pinned: Pin) -> Iterator[Chunk]:
    """Yield the files of a table that is in the cache of this machine, piece by piece."""
    source, options = find_source(pinned.source), dict(pinned.options)
    if isinstance(source, ConvertedSource) and kept_folder(pinned.content) is None:
        # Of two tables of a data set a study may have needed one.
        source.content(options)
    folder = kept_folder(pinned.content)
    if folder is None:
        raise InputError(f"data set {pinned.source!r}: its parsed table has gone from the cache; run again")
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            offset = 0
            while (content := file.read(CHUNK_BYTES)) or not offset:
                yield Chunk(path.name, offset, content)
                offset += len(content)
                if not content:
                    break


def receive(name: str, chunk: Chunk) -> None:
    """Write a piece of a table to a folder of this machine's cache that is called by a name.

    Parameters
    ----------
    name : str
        Letters and digits.
    chunk : Chunk
    """
    folder = _incoming(name)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / Path(chunk.file).name).open("r+b" if chunk.offset else "wb") as file:
        file.seek(chunk.offset)
        file.write(chunk.content)


def complete(name: str, pinned: Pin) -> None:
    """Have the cache of this machine take what was received under a name as a table.

    Raises
    ------
    InputError
        It is damaged, or the cache cannot be written.
    """
    try:
        adopt(pinned.content, _incoming(name))
    finally:
        shutil.rmtree(_incoming(name), ignore_errors=True)


def parcel(pinned: Pin, sender: str) -> str:
    """Return a name for the files of a table on their way."""
    return f"{recipe_key(pinned.content)[:32]}{sender}"


def _incoming(name: str) -> Path:
    return cache_folder() / "streams" / f".incoming-{name}"
