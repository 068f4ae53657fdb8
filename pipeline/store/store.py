"""The store of a study: cells and curves as plain Parquet, readable by any reader, and small JSON beside.

``cells/part-*.parquet`` has one row a cell, ``curves/part-*.parquet`` (long) the learning curves of the part
with the same name (see `parts`); ``plan.parquet`` the keys of the cells that the study consists of now.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from .cell_result import CellResult
from .parts import Parts, part_of, to_parquet
from .schema import METADATA

if TYPE_CHECKING:
    import pandas as pd

# A finished run with more parts than this is rewritten as one: a reader opens few files, a run writes many.
MAX_PARTS = 8


class Store:
    """Results of one study in a folder or at any fsspec URL.

    Parameters
    ----------
    url : str
        A local folder or a URL such as ``s3://bucket/results/mine``.

    Attributes
    ----------
    set_aside : list of str
        Damaged parts that were found and moved to ``damaged/``; their cells are computed again.
    """

    def __init__(self, url: str) -> None:
        try:
            self.fs, self.root = fsspec.core.url_to_fs(url)
        except (ImportError, ValueError) as error:
            raise InputError(f"output {url}: {error}") from None
        self.url = url
        self.set_aside: list[str] = []
        self._parts = Parts(self.fs, self.root, url)

    # -- writing -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the folders, move damaged parts aside, and drop what a killed run left half-written.

        Raises
        ------
        InputError
            The output cannot be written to, or holds results of another version.
        """
        try:
            self._parts.prepare()
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"output {self.url}: cannot be written to ({reason}): choose another --out"
            ) from None
        self.set_aside += self._parts.set_damaged_aside()
        self._parts.drop_leftovers()

    def write(self, results: list[CellResult]) -> None:
        """Write one part.

        Parameters
        ----------
        results : list of CellResult
            Finished cells, failed ones included.
        """
        if results:
            self._parts.write(*part_of([each.row for each in results], [each.curve for each in results]))

    def compact(self) -> None:
        """Rewrite many small parts as one, sorted by key.

        Safe to be killed at any point: until the old parts are gone their rows are there twice, and readers
        keep one row a key.
        """
        names = self._parts.names()
        if len(names) <= MAX_PARTS:
            return
        self._parts.write(self._cells(), self._curves())
        for name in names:
            self._parts.remove(name)

    def write_plan(self, keys: Iterable[str]) -> None:
        """Record which cells the study consists of now; rows of an earlier form of it do not count."""
        table = pa.table({"key": pa.array(keys, pa.string())}, metadata=METADATA)
        self._parts.replace("plan.parquet", to_parquet(table))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small JSON document beside the parts."""
        self._parts.replace(name, json.dumps(content, indent=1, ensure_ascii=False).encode())

    # -- reading -----------------------------------------------------------------------------------

    def done(self) -> dict[str, str]:
        """Return the status of every cell in the store, by key."""
        table = self._parts.table("cells", ["key", "status"])
        return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))

    def cells(self) -> pd.DataFrame:
        """Return the cells table, one row a cell, sorted by key."""
        frame: pd.DataFrame = self._cells().to_pandas()
        return frame

    def curves(self) -> pd.DataFrame:
        """Return the curves table, sorted by key and t."""
        frame: pd.DataFrame = self._curves().to_pandas()
        return frame

    def planned_keys(self) -> list[str]:
        """Return the keys that `write_plan` recorded last."""
        try:
            with self.fs.open(f"{self.root}/plan.parquet", "rb") as file:
                keys: list[str] = pq.ParquetFile(file).read()["key"].to_pylist()
        except (OSError, pa.ArrowException):
            raise InputError(
                f"{self.url}/plan.parquet: missing or damaged: run the study again to write it"
            ) from None
        return keys

    def read_json(self, name: str) -> dict[str, Any]:
        """Return a small JSON document, empty where there is none."""
        try:
            content: dict[str, Any] = json.loads(self.fs.cat_file(f"{self.root}/{name}"))
        except FileNotFoundError:
            return {}
        except ValueError as error:
            raise InputError(f"{self.url}/{name}: not JSON: {error}") from None
        if not isinstance(content, dict):
            raise InputError(f"{self.url}/{name}: not a JSON object")
        return content

    def exists(self) -> bool:
        """Return whether there is a store here."""
        return bool(self.fs.isdir(f"{self.root}/cells"))

    def _cells(self) -> pa.Table:
        return self._parts.table("cells").sort_by("key")

    def _curves(self) -> pa.Table:
        return self._parts.table("curves").sort_by([("key", "ascending"), ("t", "ascending")])


@contextlib.contextmanager
def exclusive(store: Store) -> Iterator[None]:
    """Hold the store for one writer; the lock goes with the process, even when it is killed.

    Raises
    ------
    InputError
        Another run is writing to the same local folder.
    """
    protocols = (store.fs.protocol,) if isinstance(store.fs.protocol, str) else store.fs.protocol
    if "file" not in protocols:
        yield
        return
    import filelock

    lock = filelock.FileLock(f"{store.root}/.lock", blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise InputError(f"output {store.url}: another run is writing to it") from None
    except NotImplementedError:
        raise InputError(f"output {store.url}: its file system has no locks: choose another --out") from None
    try:
        yield
    finally:
        lock.release()
