"""Read results from bases: other finished outputs, in which a store looks up the cells that it lacks.

A base is a folder or URL that `singlepass run` wrote, or the word ``reference``, which stands for the results
that come with the package and those that `singlepass reference fetch` downloaded. Nothing is written to a
base, and nothing is copied from it into the store.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from functools import cached_property

import pyarrow as pa

from ..documents import open_document
from ..errors import InputError
from .folder import Folder
from .locking import holder_of
from .parts import Parts
from .reference import REFERENCE, read_index
from .schema import SCHEMAS
from .tables import joined

# Name of the JSON document in a store that lists its bases, and how many of the study's cells come from each.
BASES = "bases.json"
_OTHER_VERSION = "leave it out, or run its study again with this version"


class Base:
    """Finished results of another run, which are only read; raises InputError if absent or unreadable.

    `url` is as the user gave it; messages and reports use `name`. Only successful cells of a base count.
    """

    def __init__(self, url: str) -> None:
        self.url, self.name = url, url
        folders = [url]
        if url == REFERENCE:
            index = read_index()
            self.name, folders = index.name, [str(index.fetch(entry.study)) for entry in index.present()]
        self._parts = [Parts(Folder(each), other_version=_OTHER_VERSION) for each in folders]
        if not any(part.names() for part in self._parts):
            raise InputError(
                f"base {url}: no results here: give a folder or URL where `singlepass run` computed cells, "
                "or reference"
            )
        for part in self._parts:
            holder = holder_of(part.folder) if url != REFERENCE else None
            if holder is not None:
                raise InputError(f"base {url}: {holder} is writing to it: use it when that run has ended")
        # The keys of the successful cells, in each folder and in all. They are read now, so that a base that
        # cannot be read is reported before any cell runs.
        self._keys: list[frozenset[str]] = []
        for part in self._parts:
            with _naming():
                table = part.table("cells", ["key", "status"])
            rows = zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
            self._keys.append(frozenset(key for key, status in rows if status == "ok"))
        self.keys = frozenset[str]().union(*self._keys)

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of each data set in the base, as its studies recorded it, by `data_id`."""
        found: dict[str, str] = {}
        for part in self._parts:
            try:
                found |= open_document(part.folder.read("plan.json")).get("data", {})
            except FileNotFoundError:
                continue
            except ValueError:
                raise InputError(
                    f"base {self.url}: plan.json is damaged: run its study again to write it"
                ) from None
        return found

    def table(self, within: str, keys: Collection[str]) -> pa.Table:
        """Return the base's rows of the cells with these keys; `within` is the table, "cells" or "curves"."""
        found, wanted = [], set(keys)
        for part, own in zip(self._parts, self._keys, strict=True):
            if taken := wanted & own:
                with _naming():
                    found.append(part.table(within, keys=sorted(taken)))
                wanted -= taken
        return joined(found, SCHEMAS[within])


@contextlib.contextmanager
def _naming() -> Iterator[None]:
    """Put "base" in front of the message of an InputError that is raised in the context."""
    try:
        yield
    except InputError as error:
        raise InputError(f"base {error}") from None
