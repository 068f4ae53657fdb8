"""The Parquet parts of a store: written whole, read whole, set aside when damaged.

A part is two files of one name, in ``cells/`` and ``curves/``, each written whole, curves first: a cell
counts as done when its row is there, and then its curve is there too. Names are random and never used twice:
many processes may write parts at once, and nobody changes a part that has its name. Only the one who holds
the store (see `hold`) removes parts, and only such whose rows are in another one by then.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from .folder import Folder
from .schema import SCHEMAS, fits, refuse_other_versions, schema_of
from .seals import check_parquet
from .tables import JUDGED_BY, beaten_keys, joined, only, read_lean, to_parquet, without

# What is half written and older than this was left by a process that was killed. Nothing reads it, it takes
# disk only; younger, a worker may be writing it, whoever it was that started the worker.
LEFT_AFTER = timedelta(hours=1)
# A reader begins again when parts are merged under it, which the end of a run does once: this often at most.
_TRIES = 20
# Longer each time: on a busy machine what merges may take as long as what reads, and go on as often.
_PAUSE_SECONDS = 0.02

_T = TypeVar("_T")


class _MergedMeanwhile(Exception):
    """A part that was listed is not there."""


class Parts:
    """The parts in a folder.

    Parameters
    ----------
    folder : Folder
    """

    def __init__(self, folder: Folder) -> None:
        self.folder, self.url = folder, folder.url

    def prepare(self) -> None:
        """Create the folders, and try to write into one.

        Raises
        ------
        InputError
            It cannot be written to.
        """
        for within in SCHEMAS:
            self.folder.make(within)
        self.try_writing()

    def try_writing(self) -> None:
        """Write a file for a moment, where the folders are.

        Raises
        ------
        InputError
            They cannot be written to.
        """
        with self._probe():
            pass

    def names(self) -> list[str]:
        """Return the names of the parts, sorted."""
        return [name for name in self.folder.listed("cells") if name.endswith(".parquet")]

    def write(self, cells: pa.Table, curves: pa.Table) -> None:
        """Write one part."""
        name = f"part-{uuid.uuid4().hex}.parquet"
        for within, table in (("curves", curves), ("cells", cells)):
            self.folder.write(f"{within}/{name}", to_parquet(table))

    def remove(self, name: str) -> None:
        """Remove a part: cells first, for curves without cells are nobody's."""
        for within in SCHEMAS:
            self.folder.remove(f"{within}/{name}")

    # -- reading -----------------------------------------------------------------------------------

    def table(
        self, within: str, columns: Sequence[str] | None = None, keys: Sequence[str] | None = None
    ) -> pa.Table:
        """Read every part; of several rows of a cell one counts, and the curve that is beside it.

        Columns without a value are of Arrow's null type.

        Parameters
        ----------
        within : {"cells", "curves"}
        columns : sequence of str, default=None
            Those that are wanted; None: all, null where a part does not have them.
        keys : sequence of str, default=None
            Of the cells that are wanted; None: all.

        Raises
        ------
        InputError
            A part is damaged, or of another version.
        """
        wanted = list(SCHEMAS[within].names if columns is None else columns)
        planned = pa.array(keys or (), pa.string())
        judged = JUDGED_BY if within == "cells" else ("key",)

        def read() -> pa.Table:
            names = self.names()
            tables = list(self.read(names, within, list(dict.fromkeys([*wanted, *judged]))))
            cells = tables if within == "cells" else list(self.read(names, "cells", JUDGED_BY))
            beaten = beaten_keys(cells)
            kept = [without(table, beaten.get(at)) for at, table in enumerate(tables)]
            if keys is not None:
                kept = [only(table, planned) for table in kept]
            return joined([table.select(wanted) for table in kept], schema_of(within, wanted))

        return self.steadily(read)

    def read(self, names: Sequence[str], within: str, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield parts one after the other; within `steadily`, for one may be gone.

        Parameters
        ----------
        names : sequence of str
        within : {"cells", "curves"}
        columns : sequence of str
            Of Arrow's null type where a part does not have them, or no value in them.

        Raises
        ------
        InputError
            A part is damaged, or of another version.
        """
        for name, source in zip(names, self._sources(names, within), strict=True):
            try:
                with self._opened(source, within) as file:
                    table = read_lean(file, columns)
            except FileNotFoundError:
                raise _MergedMeanwhile(f"{within}/{name}") from None
            except (OSError, pa.ArrowException) as error:
                raise self._damaged(f"{within}/{name}", str(error).splitlines()[0]) from None
            yield table

    def lengths(self, names: Sequence[str], within: str) -> list[int | None]:
        """Return how many rows parts have; None where a part has columns that this singlepass does not
        know."""
        counted = []
        for source in self._sources(names, within):
            with self._opened(source, within) as file:
                known = set(file.schema_arrow.names) <= set(SCHEMAS[within].names)
                counted.append(file.metadata.num_rows if known else None)
        return counted

    def steadily(self, read: Callable[[], _T]) -> _T:
        """Return what a function returns that lists and reads parts: called again when some were merged
        meanwhile.

        Raises
        ------
        InputError
            A cell has no curve.
        """
        for tries in range(_TRIES):
            time.sleep(tries * _PAUSE_SECONDS)
            try:
                return read()
            except _MergedMeanwhile as gone:
                if (path := str(gone)).partition("/")[2] in self.names():
                    raise self._damaged(path, "it is not there") from None
        raise InputError(f"{self.url}: is being merged all the time: try again later")

    # -- tidying, by the one who holds the store ---------------------------------------------------

    def check_version(self) -> None:
        """Refuse parts of another version, by the first one that can be read.

        Raises
        ------
        InputError
        """
        for source in self._sources(self.names()[:1], "cells"):
            with contextlib.suppress(OSError, pa.ArrowException), self._opened(source, "cells"):
                pass

    def set_damaged_aside(self) -> list[str]:
        """Move parts that cannot be read to ``damaged/``, and return their URLs.

        Raises
        ------
        InputError
            A part is of another version: it is not damaged, and all stay where they are.
        """
        names = self.names()
        # An object store has a checksum of every object, and hands out no other content.
        curves = self.folder.listed("curves") if self.folder.puts_whole else self._intact(names, "curves")
        intact = set(curves).intersection(self._intact(names, "cells"))
        damaged = [name for name in names if name not in intact]
        for name in damaged:
            self.folder.make("damaged")
            for within in SCHEMAS:
                self.folder.move(f"{within}/{name}", f"damaged/{within}-{name}")
        return [f"{self.url}/cells/{name}" for name in damaged]

    def drop_leftovers(self) -> None:
        """Remove what killed processes left half-written `LEFT_AFTER` ago, by the file system's clock."""
        whole = set(self.names())
        left = [f"{within}/{name}" for within in SCHEMAS for name in self.folder.listed(within)]
        left = [path for path in left if path.partition("/")[2] not in whole]
        if not left:
            return
        with self._probe() as probe:
            oldest = self.folder.modified(probe) - LEFT_AFTER
        for path in left:
            with contextlib.suppress(FileNotFoundError):
                if self.folder.modified(path) < oldest:
                    self.folder.remove(path)

    @contextlib.contextmanager
    def _probe(self) -> Iterator[str]:
        """Write an empty file for a moment."""
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
        """Open a part of a version that is readable."""
        if isinstance(source, FileNotFoundError):
            raise source
        try:
            check_parquet(source)
            # Not `read_table`: it imports all of Arrow's data sets first.
            with pq.ParquetFile(source, page_checksum_verification=True) as file:
                refuse_other_versions(file.schema_arrow, self.url)
                if not fits(file.schema_arrow, within):
                    raise pa.ArrowInvalid("columns are missing, or of another type")
                yield file
        except UnicodeDecodeError:
            raise pa.ArrowInvalid("a name in it is no text") from None
        except OSError as error:
            # A number comes from the system, not from what is in the file: a permission, a disk, a network.
            if error.errno is None or isinstance(error, FileNotFoundError):
                raise
            raise InputError(f"{self.url}: cannot be read ({error.strerror or error})") from None

    def _intact(self, names: Sequence[str], within: str) -> Iterator[str]:
        """Yield those of the parts whose pages have the checksums they were written with."""
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
