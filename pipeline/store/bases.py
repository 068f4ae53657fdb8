"""Read cells from bases: finished results elsewhere, in which a store looks up the keys that it lacks.

A base is a folder or URL that `singlepass run` wrote, or ``reference``: the cells that come with the package
and those that `singlepass reference fetch` downloaded. Nothing is written to a base, and nothing is copied
from it.
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

# The document of a store that lists its bases, and how many of the study's cells each of them has.
BASES = "bases.json"
_OTHER_VERSION = "leave it out, or run its study again with this version"


class Base:
    """Finished results that are only read; raises InputError if they are absent or cannot be read.

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
                f"base {url}: no results here: give a folder or URL that `singlepass run` wrote, or reference"
            )
        for part in self._parts:
            holder = holder_of(part.folder) if url != REFERENCE else None
            if holder is not None:
                raise InputError(f"base {url}: {holder} is writing to it: use it when that run has ended")
        # Read now, so that a base that cannot be read is refused before anything runs.
        self.keys = frozenset(key for keys in self._keys for key in keys)

    @cached_property
    def _keys(self) -> list[frozenset[str]]:
        """Return the keys of the successful cells in each folder."""
        found = []
        for part in self._parts:
            with _naming():
                table = part.table("cells", ["key", "status"])
            rows = zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True)
            found.append(frozenset(key for key, status in rows if status == "ok"))
        return found

    @cached_property
    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of the data, by `data_id`, of the studies whose results are in the base."""
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
        """Return the rows of cells in the table `within` ("cells" or "curves")."""
        found, wanted = [], set(keys)
        for part, own in zip(self._parts, self._keys, strict=True):
            if taken := wanted & own:
                with _naming():
                    found.append(part.table(within, keys=sorted(taken)))
                wanted -= taken
        return joined(found, SCHEMAS[within])


@contextlib.contextmanager
def _naming() -> Iterator[None]:
    """Put "base" in front of the message of an InputError."""
    try:
        yield
    except InputError as error:
        raise InputError(f"base {error}") from None
