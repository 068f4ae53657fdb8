"""The store of a study: cells and curves as plain Parquet, readable by any reader, and small JSON beside.

``cells/part-*.parquet`` has one row per cell, ``curves/part-*.parquet`` (long) the learning curves of the
part with the same name (see `parts`). ``plan.parquet`` names the cells that the study consists of now (see
`PLAN`).

One client at a time holds a store (`exclusive`), tidies it and decides what is computed. Any number of
processes may read it, and write finished cells into it, while it is held and after.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..documents import open_document, seal_document
from ..errors import InputError
from .cell_result import CellResult
from .compaction import Compaction, compact
from .folder import Folder
from .hold import Hold, Holder, held, holder_of, silence
from .parts import Parts
from .schema import PLAN, SCHEMAS, schema_of
from .seals import check_parquet
from .tables import in_order, joined, part_of, to_frame, to_parquet

if TYPE_CHECKING:
    import pandas as pd

# A finished run with more parts than this is merged: a reader opens few files, a run writes many.
MAX_PARTS = 8
# By this file workers know the output; it names the run, which a client that comes back goes on with.
MARK = "shared.json"
# What a run's cluster leaves behind when the run is killed; it goes with the cluster.
LEFTOVERS = "cluster.json"
# What of a store is small JSON, but for who holds it.
DOCUMENTS = ("study.json", "plan.json", "provenance.json", MARK, LEFTOVERS)
# What progress is told by.
PROGRESS = ("key", "status", "n_examples", "fit_seconds", "total_seconds", "started", "worker")


class Store:
    """Results of one study in a folder or at any fsspec URL.

    Parameters
    ----------
    url : str
        A local folder or a URL such as ``s3://bucket/results/mine``.

    Attributes
    ----------
    set_aside : list of str
        Damaged parts and documents that were found and moved to ``damaged/``: what they held is made again.
    """

    def __init__(self, url: str) -> None:
        self.folder = Folder(url)
        self.fs, self.root, self.url = self.folder.fs, self.folder.root, url
        self.set_aside: list[str] = []
        #: Set by `exclusive`.
        self.hold: Hold | None = None
        self._parts = Parts(self.folder)

    # -- writing -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the folders; what somebody else is writing there is left alone.

        Raises
        ------
        InputError
            The output cannot be written to, or holds results of another version.
        """
        self._parts.prepare()
        self.check_version()

    def try_writing(self) -> None:
        """Write a file for a moment, creating nothing else.

        Raises
        ------
        InputError
            The output cannot be written to.
        """
        self._parts.try_writing()

    def check_version(self) -> None:
        """Refuse a store with results of another version.

        Raises
        ------
        InputError
        """
        self._parts.check_version()

    def tidy(self) -> None:
        """Move what is damaged aside, and drop what killed processes left half-written; for who holds the
        store.

        Raises
        ------
        InputError
            The store holds results of another version.
        """
        self.set_aside += self._parts.set_damaged_aside()
        for name in DOCUMENTS:
            if self._document(name) is None:
                self.folder.make("damaged")
                self.folder.move(name, f"damaged/{name}")
                self.set_aside.append(f"{self.url}/{name}")
        self._parts.drop_leftovers()

    def write(self, results: list[CellResult]) -> None:
        """Write one part; any number of processes may at once.

        Parameters
        ----------
        results : list of CellResult
            Finished cells, failed ones included; of those of one cell the last is kept.
        """
        self.check_hold()
        if results:
            results = list({each.row["key"]: each for each in results}.values())
            self._parts.write(*part_of([each.row for each in results], [each.curve for each in results]))

    def compact(self, *, above: int = MAX_PARTS) -> Compaction | None:
        """Merge many small parts into few, each sorted by key; for who holds the store.

        Safe to be killed at any point: until the old parts are gone their rows are there twice, and readers
        keep one row a key.

        Parameters
        ----------
        above : int
            So few parts are left as they are, and None is returned.
        """
        return compact(self._parts) if len(self._parts.names()) > above else None

    def write_plan(self, parts: Iterable[pa.Table]) -> None:
        """Record which cells the study consists of now, as tables of schema `PLAN`."""
        self.folder.write("plan.parquet", to_parquet(pa.concat_tables([PLAN.empty_table(), *parts])))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small JSON document beside the parts."""
        self.folder.write(name, seal_document(content))

    # -- reading -----------------------------------------------------------------------------------

    def done(self) -> dict[str, str]:
        """Return the status of every cell in the store, by key."""
        table = self._parts.table("cells", ["key", "status"])
        return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))

    def new_rows(self, seen: set[str], columns: Sequence[str] = PROGRESS) -> pd.DataFrame:
        """Return the rows of the parts that were written since the last time.

        Parameters
        ----------
        seen : set of str
            Names of the parts that were read before; empty at first. Those that are read now are added.
        columns : sequence of str
            Of the cells table.

        Returns
        -------
        DataFrame
            Rows of one cell may come more than once: when it was tried again, and when parts were merged.
        """

        def read() -> tuple[list[str], list[pa.Table]]:
            names = [name for name in self._parts.names() if name not in seen]
            return names, list(self._parts.read(names, "cells", columns))

        names, tables = self._parts.steadily(read)
        seen.update(names)
        schema = schema_of("cells", columns)
        return to_frame(joined(tables, schema), schema)

    def cells(self, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the cells table, one row a cell, sorted by key; with `keys` only those of these cells."""
        return self._sorted("cells", keys)

    def curves(self, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the curves table, sorted by key and t; with `keys` only those of these cells."""
        return self._sorted("curves", keys)

    def _sorted(self, within: str, keys: Sequence[str] | None) -> pd.DataFrame:
        return to_frame(in_order(self._parts.table(within, keys=keys), within), SCHEMAS[within])

    def plan(self) -> pa.Table:
        """Return the cells that `write_plan` recorded last.

        Raises
        ------
        InputError
            There is no plan, it is damaged, or an earlier version of singlepass wrote it.
        """
        try:
            content = pa.py_buffer(self.folder.read("plan.parquet"))
            check_parquet(content)
            file = pq.ParquetFile(content, page_checksum_verification=True)
            if file.schema_arrow.names == ["key"]:
                raise InputError(
                    f"{self.url}/plan.parquet: written by an earlier version: run the study again to write it"
                )
            if file.schema_arrow.remove_metadata() != PLAN.remove_metadata():
                raise pa.ArrowInvalid("other columns")
            return file.read()
        except (OSError, KeyError, UnicodeDecodeError, pa.ArrowException):
            raise InputError(
                f"{self.url}/plan.parquet: missing or damaged: run the study again to write it"
            ) from None

    def read_json(self, name: str) -> dict[str, Any]:
        """Return a small JSON document, empty where there is none.

        Raises
        ------
        InputError
            It is damaged.
        """
        content = self._document(name)
        if content is None:
            cure = "run the study again to set it aside and write it anew"
            raise InputError(f"{self.url}/{name}: damaged, or changed by hand: {cure}")
        return content

    def _document(self, name: str) -> dict[str, Any] | None:
        """Return a document, empty where there is none; None for one that is damaged."""
        try:
            return open_document(self.folder.read(name))
        except FileNotFoundError:
            return {}
        except ValueError:
            return None

    def exists(self) -> bool:
        """Return whether there is a store here."""
        if self.folder.is_local:
            return bool(self.fs.isdir(self.folder.path("cells")))
        # An object store has no folders: a study that was begun is recorded before its first cell is.
        return bool(self._parts.names() or self.read_json("study.json"))

    def check_hold(self) -> None:
        """Refuse to go on where this process has held the store and another one has taken it over.

        Raises
        ------
        InputError
            The line says who has it now.
        """
        if self.hold is not None:
            self.hold.check()

    def holder(self) -> Holder | None:
        """Return who holds the store, None for nobody."""
        return holder_of(self.folder)

    def silence(self) -> timedelta | None:
        """Return how long ago the holder renewed its lease; None where there is none."""
        return silence(self.folder)


@contextlib.contextmanager
def exclusive(store: Store, note: Callable[[str], None] = lambda line: None) -> Iterator[None]:
    """Hold a store, and tidy it: the lock goes with the process, even when it is killed.

    Parameters
    ----------
    store : Store
    note : callable
        Told in a line what is waited for, at a URL: whether the one who holds it is alive.

    Raises
    ------
    InputError
        Another run is writing to it, or it holds results of another version.
    """
    with held(store.folder, note) as store.hold:
        store.tidy()
        yield
