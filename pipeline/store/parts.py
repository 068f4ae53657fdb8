"""The Parquet parts of a store: written whole, read whole, set aside when damaged.

A part is two files of one name, in ``cells/`` and ``curves/``, each written under a temporary name and
renamed, curves first: a cell counts as done when its row is there, and then its curve is there too.
"""

from __future__ import annotations

import contextlib
import uuid
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import InputError
from .cell_result import Curve
from .schema import CELLS, CURVES, IDENTITY, SCHEMA_VERSION, SCHEMAS, version_of


class Parts:
    """The parts in a folder of any fsspec file system.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
    root : str
        The folder, as the file system calls it.
    url : str
        The folder, as the user calls it.
    """

    def __init__(self, fs: Any, root: str, url: str) -> None:
        self.fs, self.root, self.url = fs, root, url

    def prepare(self) -> None:
        """Create the folders, and try to write into one.

        Raises
        ------
        OSError
        """
        for folder in SCHEMAS:
            self.fs.makedirs(f"{self.root}/{folder}", exist_ok=True)
        probe = f"{self.root}/cells/.write-{uuid.uuid4().hex}"
        self.fs.pipe_file(probe, b"")
        self.fs.rm_file(probe)

    def names(self) -> list[str]:
        """Return the names of the parts, sorted."""
        return [name for name in self._listed("cells") if name.endswith(".parquet")]

    def write(self, cells: pa.Table, curves: pa.Table) -> None:
        """Write one part."""
        name = f"part-{uuid.uuid4().hex}.parquet"
        for folder, table in (("curves", curves), ("cells", cells)):
            self.replace(f"{folder}/{name}", to_parquet(table))

    def remove(self, name: str) -> None:
        """Remove a part: cells first, for curves without their cells are dropped when a store is opened."""
        for folder in SCHEMAS:
            self.fs.rm_file(f"{self.root}/{folder}/{name}")

    def replace(self, path: str, content: bytes) -> None:
        """Write a file of the store whole, or not at all."""
        temporary = f"{self.root}/{path}.{uuid.uuid4().hex}.tmp"
        self.fs.pipe_file(temporary, content)
        self.fs.mv(temporary, f"{self.root}/{path}")

    def table(self, folder: str, columns: list[str] | None = None) -> pa.Table:
        """Read every part; of rows of one identity keep one, a successful one if there is.

        Parameters
        ----------
        folder : {"cells", "curves"}
        columns : list of str, default=None
            Those that are wanted; None: all, null where a part does not have them.

        Raises
        ------
        InputError
            A part is damaged, or of another version.
        """
        tables = []
        for name in self.names():
            try:
                table = self._read(folder, name, columns)
            except (OSError, pa.ArrowException) as error:
                raise InputError(
                    f"{self.url}/{folder}/{name}: damaged Parquet part ({str(error).splitlines()[0]}): "
                    "run the study again to set it aside and recompute its cells"
                ) from None
            self._refuse_other_version(table.schema)
            tables.append(table if columns is not None else _with_all_columns(table, SCHEMAS[folder]))
        schema = SCHEMAS[folder]
        if columns is not None:
            schema = pa.schema([schema.field(name) for name in columns])
        return _without_repeats(pa.concat_tables(tables) if tables else schema.empty_table())

    def set_damaged_aside(self) -> list[str]:
        """Move parts that cannot be read to ``damaged/``, and return their URLs.

        Raises
        ------
        InputError
            A part is of another version: it is not damaged.
        """
        aside = []
        for name in self.names():
            if not all(self._is_intact(folder, name) for folder in SCHEMAS):
                self.fs.makedirs(f"{self.root}/damaged", exist_ok=True)
                for folder in SCHEMAS:
                    with contextlib.suppress(FileNotFoundError):
                        self.fs.mv(f"{self.root}/{folder}/{name}", f"{self.root}/damaged/{folder}-{name}")
                aside.append(f"{self.url}/cells/{name}")
        return aside

    def drop_leftovers(self) -> None:
        """Remove what a killed run left half-written."""
        whole = set(self.names())
        for folder in SCHEMAS:
            for name in self._listed(folder):
                if name not in whole:
                    self.fs.rm_file(f"{self.root}/{folder}/{name}")

    def _listed(self, folder: str) -> list[str]:
        with contextlib.suppress(FileNotFoundError):
            found = self.fs.ls(f"{self.root}/{folder}", detail=False)
            return sorted(path.rsplit("/", 1)[-1] for path in found)
        return []

    def _read(self, folder: str, name: str, columns: list[str] | None = None) -> pa.Table:
        with self.fs.open(f"{self.root}/{folder}/{name}", "rb") as file:
            # Not `read_table`: it imports all of Arrow's data sets first.
            return pq.ParquetFile(file, page_checksum_verification=True).read(columns)

    def _is_intact(self, folder: str, name: str) -> bool:
        try:
            schema = self._read(folder, name).schema
        except (OSError, pa.ArrowException):
            return False
        self._refuse_other_version(schema)
        needed = {*IDENTITY[folder], *({"status"} if folder == "cells" else ())}
        return needed <= set(schema.names) <= set(SCHEMAS[folder].names)

    def _refuse_other_version(self, schema: pa.Schema) -> None:
        version = version_of(schema)
        if version != SCHEMA_VERSION:
            raise InputError(
                f"{self.url}: holds results of schema version {version or 'unknown'}, this singlepass reads "
                f"and writes version {SCHEMA_VERSION}: choose another --out, or move the folder away and run "
                "the study again"
            )


def to_parquet(table: pa.Table) -> bytes:
    """Return a table as the bytes of a Parquet file with checksums."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def part_of(rows: list[dict[str, Any]], curves: list[Curve]) -> tuple[pa.Table, pa.Table]:
    """Return finished cells as the two tables of a part.

    Parameters
    ----------
    rows : list of dict
        A row of the cells table each; columns that are missing are null.
    curves : list of Curve
        Their rows of the curves table, by column without the key; empty for a cell without a curve.
    """
    lengths = [len(curve.get("t", ())) for curve in curves]
    keys = np.repeat(np.array([row["key"] for row in rows], object), lengths)
    columns = [
        keys if field.name == "key" else _column([curve.get(field.name) for curve in curves], lengths, field)
        for field in CURVES
    ]
    return pa.Table.from_pylist(rows, schema=CELLS), pa.table(columns, schema=CURVES)


def _column(stretches: list[Any], lengths: list[int], field: pa.Field) -> pa.Array:
    """Return a column of the curves table of what each cell has for it; None: nothing, it is null there."""
    if all(stretch is None for stretch in stretches):
        return pa.nulls(sum(lengths), field.type)
    if all(isinstance(stretch, np.ndarray) for stretch in stretches):
        return pa.array(np.concatenate(stretches), field.type)
    arrays = [
        pa.nulls(length, field.type) if stretch is None else pa.array(stretch, field.type)
        for stretch, length in zip(stretches, lengths, strict=True)
    ]
    return pa.chunked_array(arrays, field.type)


def _with_all_columns(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Add the columns that a part does not have, null, and put all in order."""
    for field in schema:
        if field.name not in table.column_names:
            table = table.append_column(field, pa.nulls(len(table), field.type))
    return table.select(schema.names)


def _without_repeats(table: pa.Table) -> pa.Table:
    """Keep one row a key (and t); of a failed and a later successful try the success."""
    names = [name for name in IDENTITY["curves"] if name in table.column_names]
    frame = table.select([*names, *({"status"} & set(table.column_names))]).to_pandas()
    if not frame.duplicated(names).any():
        return table
    if "status" in frame:
        frame = frame.sort_values("status", key=lambda status: status != "ok", kind="stable")
    return table.take(pa.array(frame.drop_duplicates(names).index.sort_values()))
