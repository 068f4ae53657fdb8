"""The Parquet parts of a store: write, read, merge, and set aside damaged ones.

A part is two files of one name, in ``cells/`` and ``curves/``, each written whole, curves first: a cell
counts as done when its row exists, and then its curve exists too. Names are random and never reused, so
many processes may write parts at once, and no process changes a written part. Only the process that has the
lock (see `locking`) removes parts, and only after their rows are in another part.

A merge first writes the merged part, and then removes the parts that it replaces. If the process is killed
in between, some cells exist twice; readers count one row per cell.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..errors import InputError
from .checksums import check_parquet
from .folder import Folder
from .schema import IDENTITY, OTHER_OUTPUT, SCHEMAS, as_now, fits, refuse_other_versions, schema_of
from .tables import (
    JUDGED_BY,
    beaten_keys,
    in_order,
    joined,
    only,
    read_lean,
    to_parquet,
    without,
    without_repeats,
)

# A reader starts again if parts are merged while it reads, at most this often. A run merges once, at its end.
_TRIES = 20
# Seconds to wait before the second try. The wait grows with each try, because on a busy machine a merge may
# take as long as the read.
_PAUSE_SECONDS = 0.02

_T = TypeVar("_T")


class _MergedMeanwhile(Exception):
    """Raised if a file was listed but then not found, usually because another process merged it."""


class Parts:
    """The parts in a folder; `other_version` is the advice in errors about parts of another schema."""

    def __init__(self, folder: Folder, other_version: str = OTHER_OUTPUT) -> None:
        self.folder, self.url, self._other_version = folder, folder.url, other_version

    def names(self) -> list[str]:
        """Return the sorted names of the parts, without hidden files, which macOS adds to copied folders."""
        return [
            name
            for name in self.folder.listed("cells")
            if name.endswith(".parquet") and not name.startswith(".")
        ]

    def write(self, cells: pa.Table, curves: pa.Table) -> None:
        """Write one part: first its curves, so that a reader who finds its cells also finds their curves."""
        name = f"part-{uuid.uuid4().hex}.parquet"
        self.folder.write(f"curves/{name}", to_parquet(curves))
        try:
            self.folder.write(f"cells/{name}", to_parquet(cells))
        except Exception:
            # The caller may write the same results again as another part.
            with contextlib.suppress(InputError):
                self.remove(name)
            raise

    def remove(self, name: str) -> None:
        """Remove a part; cells go first, because readers ignore curves without cells."""
        for within in SCHEMAS:
            self.folder.remove(f"{within}/{name}")

    # -- reading -----------------------------------------------------------------------------------

    def table(
        self, within: str, columns: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> pa.Table:
        """Return the rows of all parts in one table: one per cell, or if `within` is "curves" one per point.

        `within` is "cells" or "curves". `columns` None stands for all columns, `keys` None for all cells. If
        there are several rows of a cell, the best one (`beaten_keys`) and its curve are taken. Columns
        without a value are of Arrow's null type.
        """
        wanted = list(SCHEMAS[within].names if columns is None else columns)
        planned = pa.array(keys or (), pa.string())
        judged = JUDGED_BY if within == "cells" else IDENTITY["curves"]

        def read() -> pa.Table:
            names = self.names()
            found = self.read(names, within, list(dict.fromkeys([*wanted, *judged])))
            tables = list(without_repeats(found, within))
            cells = tables if within == "cells" else self.judged(names)
            beaten = beaten_keys(cells)
            kept = [without(table, beaten.get(at)) for at, table in enumerate(tables)]
            if keys is not None:
                kept = [only(table, planned) for table in kept]
            return joined([table.select(wanted) for table in kept], schema_of(within, wanted))

        return self.steadily(read)

    def read(self, names: Sequence[str], within: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield a table with columns of each part; call within `steadily`, as a merge may remove parts."""
        for name, source in zip(names, self._sources(names, within), strict=True):
            try:
                with self._opened(source, within) as file:
                    table = read_lean(file, columns)
            except FileNotFoundError:
                raise _MergedMeanwhile(f"{within}/{name}") from None
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(f"{within}/{name}", str(error).splitlines()[0]) from None
            yield table

    def judged(self, names: Sequence[str]) -> list[pa.Table]:
        """Return the columns `JUDGED_BY` of each part, with one row per cell."""
        return list(without_repeats(self.read(names, "cells", JUDGED_BY), "cells"))

    def lengths(self, names: Sequence[str], within: str) -> list[int | None]:
        """Return the number of rows of each part, or None if the part has unknown columns."""
        counted = []
        for source in self._sources(names, within):
            with self._opened(source, within) as file:
                known = set(file.schema_arrow.names) <= set(SCHEMAS[within].names)
                counted.append(file.metadata.num_rows if known else None)
        return counted

    def steadily(self, read: Callable[[], _T]) -> _T:
        """Call a function that lists and reads parts; call it again if listed parts were merged meanwhile."""
        for tries in range(_TRIES):
            time.sleep(tries * _PAUSE_SECONDS)
            try:
                return read()
            except _MergedMeanwhile as gone:
                if (path := str(gone)).partition("/")[2] in self.names():
                    raise self._damaged(path, "it is missing") from None
        raise InputError(f"{self.url}: another process keeps merging its files: try again later")

    # -- tidying, by the process that has the lock -------------------------------------------------

    def check_version(self) -> None:
        """Raise InputError if the first part has another schema version; ignore it if it is unreadable."""
        for source in self._sources(self.names()[:1], "cells"):
            with contextlib.suppress(OSError, pa.ArrowException), self._opened(source, "cells"):
                pass

    def set_damaged_aside(self) -> list[str]:
        """Move unreadable parts to ``damaged/``, and return their URLs.

        Raises InputError, and moves nothing, if a part is of another version: such a part is not damaged.
        """
        names = self.names()
        # In an object store the curves are not read to check them: it verifies every object by a checksum of
        # its own, and never returns changed content.
        curves = self.folder.listed("curves") if self.folder.puts_whole else self._intact(names, "curves")
        intact = set(curves).intersection(self._intact(names, "cells"))
        damaged = [name for name in names if name not in intact]
        for name in damaged:
            self.folder.make("damaged")
            for within in SCHEMAS:
                self.folder.move(f"{within}/{name}", f"damaged/{within}-{name}")
        return [f"{self.url}/cells/{name}" for name in damaged]

    def drop_leftovers(self, age: timedelta) -> None:
        """Remove files of incomplete parts that have at least this age by the file system's clock."""
        whole = set(self.names())
        left = [f"{within}/{name}" for within in SCHEMAS for name in self.folder.listed(within)]
        left = [path for path in left if path.partition("/")[2] not in whole]
        if not left:
            return
        with self.probe() as probe:
            oldest = self.folder.modified(probe) - age
        for path in left:
            with contextlib.suppress(FileNotFoundError):
                if self.folder.modified(path) <= oldest:
                    self.folder.remove(path)

    @contextlib.contextmanager
    def probe(self) -> Iterator[str]:
        """Write an empty file to an existing folder, yield its name, and remove it."""
        probe = f"cells/.write-{uuid.uuid4().hex}"
        self.folder.write(probe, b"")
        try:
            yield probe
        finally:
            self.folder.remove(probe)

    def _sources(self, names: Sequence[str], within: str) -> Iterator[Any]:
        return self.folder.sources([f"{within}/{name}" for name in names])

    @contextlib.contextmanager
    def _opened(self, source: Any, within: str) -> Iterator[pq.ParquetFile]:
        """Open a part.

        Raise InputError if it has another version or cannot be read, pyarrow.ArrowInvalid if it is damaged,
        and FileNotFoundError if it has been removed.
        """
        if isinstance(source, FileNotFoundError):
            raise source
        try:
            check_parquet(source)
            # Not pyarrow's `read_table`, which would first import all of Arrow's dataset module.
            with pq.ParquetFile(source, page_checksum_verification=True) as file:
                refuse_other_versions(file.schema_arrow, self.url, self._other_version)
                if not fits(file.schema_arrow, within):
                    raise pa.ArrowInvalid("columns are missing, or of another type")
                yield file
        except UnicodeDecodeError:
            raise pa.ArrowInvalid("a name in it is not UTF-8 text") from None
        except OSError as error:
            # An OSError with an errno comes from the system (a permission, a disk, a network); one without
            # comes from the file's content.
            if error.errno is None or isinstance(error, FileNotFoundError):
                raise
            raise InputError(f"{self.url}: cannot be read ({error.strerror or error})") from None

    def _intact(self, names: Sequence[str], within: str) -> Iterator[str]:
        """Yield the names of the parts whose pages match their checksums."""
        for name, source in zip(names, self._sources(names, within), strict=True):
            with contextlib.suppress(OSError, pa.ArrowException), self._opened(source, within) as file:
                for group in range(file.num_row_groups):
                    file.read_row_group(group)
                yield name

    def _damaged(self, path: str, reason: str) -> InputError:
        cure = "run the study again to set it aside and recompute its cells"
        if self.folder.puts_whole:
            cure = f"remove it and {cure}"
        return InputError(f"{self.url}/{path}: damaged Parquet part ({reason}): {cure}")


# Maximum number of rows of a merged part. Merging takes a few hundred MB of memory for this many rows, and
# in addition the memory for key, status and time of all cells of the store.
MOST_ROWS = {"cells": 1 << 17, "curves": 1 << 20}


@dataclass(frozen=True)
class Compaction:
    """The outcome of a merge of parts, in numbers of parts, cells and dropped rows."""

    # Numbers of parts before and after the merge.
    before: int
    after: int
    # Number of cells in the store.
    cells: int
    # Number of rows of the cells table that were dropped because another part has a better row of that cell.
    repeats: int


def compact(parts: Parts) -> Compaction:
    """Merge a store's parts into few.

    The caller must have the store's lock. Other processes may read and write parts meanwhile.
    """
    names = parts.names()
    judged = parts.judged(names)
    beaten = {names[place]: keys for place, keys in beaten_keys(judged).items()}
    repeats = sum(map(len, beaten.values()))
    lengths = zip(parts.lengths(names, "cells"), parts.lengths(names, "curves"), strict=True)
    # Parts with unknown columns, which a later version of singlepass wrote, stay unchanged, because merging
    # would lose these columns.
    mergeable = {
        name: (cells, points)
        for name, (cells, points) in zip(names, lengths, strict=True)
        if cells is not None and points is not None
    }
    after = len(names) - len(mergeable)
    sorted_ = {name for name, rows in zip(names, judged, strict=True) if _ascending(rows["key"])}
    for members in _groups(mergeable):
        if len(members) == 1 and members[0] not in beaten and members[0] in sorted_:
            after += 1
            continue
        cells, curves = (_merged(parts, members, within, beaten) for within in ("cells", "curves"))
        if len(cells):
            parts.write(cells, curves)
            after += 1
        for name in members:
            parts.remove(name)
    return Compaction(len(names), after, sum(map(len, judged)) - repeats, repeats)


def _ascending(keys: pa.ChunkedArray) -> bool:
    ascending: bool = pc.all(pc.less(keys[:-1], keys[1:])).as_py() is not False
    return len(keys) < 2 or ascending


def _groups(lengths: Mapping[str, tuple[int, int]]) -> list[list[str]]:
    """Return lists of parts to merge, smallest parts first, each list within `MOST_ROWS`."""
    groups: list[list[str]] = []
    cells = points = 0
    for name in sorted(lengths, key=lambda name: lengths[name][::-1]):
        more_cells, more_points = lengths[name]
        cells, points = cells + more_cells, points + more_points
        if not groups or cells > MOST_ROWS["cells"] or points > MOST_ROWS["curves"]:
            groups.append([])
            cells, points = more_cells, more_points
        groups[-1].append(name)
    return groups


def _merged(parts: Parts, names: list[str], within: str, beaten: dict[str, pa.Array]) -> pa.Table:
    tables = without_repeats(parts.read(names, within, SCHEMAS[within].names), within)
    kept = [without(table, beaten.get(name)) for name, table in zip(names, tables, strict=True)]
    return as_now(in_order(joined(kept, SCHEMAS[within]), within), SCHEMAS[within])
