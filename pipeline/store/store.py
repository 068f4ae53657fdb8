"""The Parquet store of a study: cells and curves, written in whole parts, readable by any Parquet reader.

``cells/part-*.parquet`` has one row a cell, ``curves/part-*.parquet`` (long) the learning curves of the part
with the same name. A part is written under a temporary name and renamed, curves first: a cell counts as done
when its row is there, and then its curve is there too.
"""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq

from ..counts import COUNTS
from ..errors import InputError
from .cell_result import CellResult

if TYPE_CHECKING:
    import pandas as pd

SCHEMA_VERSION = 3
_METADATA = {"singlepass_schema": str(SCHEMA_VERSION)}
_COUNTS = [pa.field(name, pa.int64()) for name in COUNTS]
CELLS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("dataset", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("parent", pa.string()),
        pa.field("task", pa.string(), nullable=False),
        pa.field("algorithm", pa.string(), nullable=False),
        pa.field("learner", pa.string(), nullable=False),
        pa.field("params", pa.string(), nullable=False),
        pa.field("grid", pa.string()),
        pa.field("noise", pa.string(), nullable=False),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("stage", pa.string(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("n_features", pa.int64()),
        pa.field("n_examples", pa.int64()),
        pa.field("noise_realised", pa.float64()),
        *_COUNTS,
        # After how many examples an online model selection went over to the next level of complexity.
        pa.field("switches", pa.list_(pa.int64())),
        pa.field("test_examples", pa.int64()),
        pa.field("test_mistakes", pa.int64()),
        pa.field("test_accuracy", pa.float64()),
        pa.field("validation_examples", pa.int64()),
        pa.field("validation_mistakes", pa.int64()),
        pa.field("fit_seconds", pa.float64()),
        pa.field("total_seconds", pa.float64()),
        pa.field("started", pa.timestamp("us", tz="UTC")),
        pa.field("worker", pa.string()),
        pa.field("traceback", pa.string()),
    ],
    metadata=_METADATA,
)
CURVES = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("t", pa.int64(), nullable=False),
        *_COUNTS,
        pa.field("test_accuracy", pa.float64()),
        pa.field("fit_seconds", pa.float64()),
    ],
    metadata=_METADATA,
)
# Columns of every version of the schema.
_REQUIRED = {"cells": ("key", "status"), "curves": ("key", "t")}
# Columns that say when, where and how fast: everything else is equal whenever a study is run again.
PROVENANCE = ("fit_seconds", "total_seconds", "started", "worker", "traceback")
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

    # -- writing -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the folders, move damaged parts aside, and drop what a killed run left half-written.

        Raises
        ------
        InputError
            The output cannot be written to.
        """
        try:
            for folder in ("cells", "curves"):
                self.fs.makedirs(f"{self.root}/{folder}", exist_ok=True)
            probe = f"{self.root}/cells/.write-{uuid.uuid4().hex}"
            self.fs.pipe_file(probe, b"")
            self.fs.rm_file(probe)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(
                f"output {self.url}: cannot be written to ({reason}): choose another --out"
            ) from None
        self._set_damaged_aside()
        cells = set(self._parts("cells"))
        for name in self._names("curves"):
            if name not in cells:
                self.fs.rm_file(f"{self.root}/curves/{name}")
        for name in self._names("cells"):
            if not name.endswith(".parquet"):
                self.fs.rm_file(f"{self.root}/cells/{name}")

    def write(self, outcomes: list[CellResult]) -> None:
        """Write one part.

        Parameters
        ----------
        outcomes : list of CellResult
            Finished cells, failed ones included.
        """
        if not outcomes:
            return
        columns: dict[str, list[Any]] = {name: [] for name in CURVES.names}
        for outcome in outcomes:
            length = len(outcome.curve.get("t", ()))
            for name in CURVES.names:
                columns[name] += (
                    [outcome.row["key"]] * length
                    if name == "key"
                    else outcome.curve.get(name, [None] * length)
                )
        cells = pa.Table.from_pylist([outcome.row for outcome in outcomes], schema=CELLS)
        self._write_part(cells, pa.table(columns, schema=CURVES))

    def compact(self) -> None:
        """Rewrite many small parts as one, sorted by key.

        Safe to be killed at any point: until the old parts are gone their rows are there twice, and readers
        keep one row a key.
        """
        parts = self._parts("cells")
        if len(parts) <= MAX_PARTS:
            return
        cells, curves = self._table("cells", CELLS), self._table("curves", CURVES)
        self._write_part(cells.sort_by("key"), curves.sort_by([("key", "ascending"), ("t", "ascending")]))
        for name in parts:
            # Cells first: curves without their cells are dropped when the store is opened next.
            self.fs.rm_file(f"{self.root}/cells/{name}")
            self.fs.rm_file(f"{self.root}/curves/{name}")

    def write_plan(self, keys: Iterable[str]) -> None:
        """Record which cells the study consists of now; rows of an earlier form of it do not count."""
        sink = pa.BufferOutputStream()
        pq.write_table(
            pa.table({"key": pa.array(keys, pa.string())}, metadata=_METADATA), sink, compression="zstd"
        )
        self._replace(f"{self.root}/plan.parquet", sink.getvalue().to_pybytes())

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small JSON document beside the parts."""
        self._replace(f"{self.root}/{name}", json.dumps(content, indent=1, ensure_ascii=False).encode())

    def _write_part(self, cells: pa.Table, curves: pa.Table) -> None:
        name = f"part-{uuid.uuid4().hex}.parquet"
        for folder, table in (("curves", curves), ("cells", cells)):
            sink = pa.BufferOutputStream()
            pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
            self._replace(f"{self.root}/{folder}/{name}", sink.getvalue().to_pybytes())

    def _replace(self, path: str, content: bytes) -> None:
        temporary = f"{path}.{uuid.uuid4().hex}.tmp"
        self.fs.pipe_file(temporary, content)
        self.fs.mv(temporary, path)

    # -- reading -----------------------------------------------------------------------------------

    def done(self) -> dict[str, str]:
        """Return the status of every cell in the store, by key."""
        table = self._table("cells", CELLS, columns=["key", "status"])
        return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))

    def cells(self) -> pd.DataFrame:
        """Return the cells table, one row a cell, sorted by key."""
        frame: pd.DataFrame = self._table("cells", CELLS).sort_by("key").to_pandas()
        return frame

    def curves(self) -> pd.DataFrame:
        """Return the curves table, sorted by key and t."""
        order = [("key", "ascending"), ("t", "ascending")]
        frame: pd.DataFrame = self._table("curves", CURVES).sort_by(order).to_pandas()
        return frame

    def planned_keys(self) -> list[str]:
        """Return the keys that `write_plan` recorded last."""
        try:
            with self.fs.open(f"{self.root}/plan.parquet", "rb") as file:
                keys: list[str] = pq.read_table(file)["key"].to_pylist()
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

    def _names(self, folder: str) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            found = self.fs.ls(f"{self.root}/{folder}", detail=False)
            return sorted(path.rsplit("/", 1)[-1] for path in found)
        return []

    def _parts(self, folder: str) -> list[str]:
        return [name for name in self._names(folder) if name.endswith(".parquet")]

    def _read(self, folder: str, name: str, columns: list[str] | None = None) -> pa.Table:
        with self.fs.open(f"{self.root}/{folder}/{name}", "rb") as file:
            return pq.read_table(file, columns=columns, page_checksum_verification=True)

    def _read_whole(self, folder: str, name: str, schema: pa.Schema) -> pa.Table:
        """Read a part; columns that its schema version did not have are null."""
        table = self._read(folder, name)
        for field in schema:
            if field.name not in table.column_names:
                table = table.append_column(field, pa.nulls(len(table), field.type))
        return table.select(schema.names)

    def _table(self, folder: str, schema: pa.Schema, columns: list[str] | None = None) -> pa.Table:
        """Read every readable part; of rows with one key (and t) keep one, a successful one if there is."""
        tables = []
        for name in self._parts("cells"):
            try:
                whole = columns is None
                tables.append(
                    self._read_whole(folder, name, schema) if whole else self._read(folder, name, columns)
                )
            except (OSError, pa.ArrowException) as error:
                raise InputError(
                    f"{self.url}/{folder}/{name}: damaged Parquet part ({str(error).splitlines()[0]}): "
                    "run the study again to set it aside and recompute its cells"
                ) from None
        wanted = schema if columns is None else pa.schema([schema.field(name) for name in columns])
        table = pa.concat_tables(tables) if tables else wanted.empty_table()
        return _without_repeats(table)

    def _set_damaged_aside(self) -> None:
        for name in self._parts("cells"):
            for folder, schema in (("cells", CELLS), ("curves", CURVES)):
                try:
                    found = set(self._read(folder, name).column_names)
                    intact = {*_REQUIRED[folder]} <= found <= {*schema.names}
                except (OSError, pa.ArrowException):
                    intact = False
                if not intact:
                    self._move_aside(name)
                    break

    def _move_aside(self, name: str) -> None:
        self.fs.makedirs(f"{self.root}/damaged", exist_ok=True)
        for folder in ("cells", "curves"):
            with contextlib.suppress(FileNotFoundError):
                self.fs.mv(f"{self.root}/{folder}/{name}", f"{self.root}/damaged/{folder}-{name}")
        self.set_aside.append(f"{self.url}/cells/{name}")


def _without_repeats(table: pa.Table) -> pa.Table:
    """Keep one row a key (and t); of a failed and a later successful try the success."""
    names = [name for name in ("key", "t") if name in table.column_names]
    frame = table.select([*names, *({"status"} & set(table.column_names))]).to_pandas()
    if not frame.duplicated(names).any():
        return table
    if "status" in frame:
        frame = frame.sort_values("status", key=lambda status: status != "ok", kind="stable")
    return table.take(pa.array(frame.drop_duplicates(names).index.sort_values()))


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
    import fcntl

    with open(f"{store.root}/.lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"output {store.url}: another run is writing to it") from None
        yield
