"""Build, filter and join the two tables of a part, and convert them to frames and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from .checksums import add_checksum
from .schema import CELLS, CURVES, IDENTITY, PLACES, PLAN, Curve, as_now, schema_of, with_values

if TYPE_CHECKING:
    import pandas as pd

# Columns that decide which of several rows of a cell counts.
JUDGED_BY = ("key", "status", "started")
# Tables with fewer rows than this are read all columns at once, because empty columns take little memory.
FEW_ROWS = 1 << 14


def beaten_keys(parts: Sequence[pa.Table]) -> dict[int, pa.Array]:
    """Map the index of each part to the keys of its cells for which another part has a better row.

    A success is better than any other status; among equals the row that started last wins. A cell has several
    rows if it was tried again, or if the run was killed during a merge. Each part is a cells table with at
    least the columns `JUDGED_BY`, and at most one row per cell.
    """
    rows = joined([part.select(JUDGED_BY) for part in parts], schema_of("cells", JUDGED_BY))
    if pc.count_distinct(rows["key"]).as_py() == len(rows):
        return {}
    frame: Any = best_first(_judged(rows))
    frame["part"] = np.repeat(np.arange(len(parts)), [len(part) for part in parts])[frame.index]
    beaten = frame[frame.duplicated("key")]
    return {int(place): pa.array(keys, pa.string()) for place, keys in beaten.groupby("part")["key"]}


def _judged(rows: pa.Table) -> pd.DataFrame:
    frame: pd.DataFrame = as_now(rows.select(JUDGED_BY), schema_of("cells", JUDGED_BY)).to_pandas()
    return frame


def best_first(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the columns `JUDGED_BY` in another order: better rows of a cell come first."""
    rows = rows.assign(lost=rows["status"] != "ok")
    return rows.sort_values(["lost", "started"], ascending=[True, False], kind="stable").drop(columns="lost")


def without_repeats(parts: Iterable[pa.Table], within: str) -> Iterator[pa.Table]:
    """Yield each part with one row per cell, the better one, or if `within` is "curves" one per point.

    No run writes two rows of a cell to one part, but a user or another tool may append one.
    """
    for table in parts:
        # Keys are numbered in the order in which they appear, so rows written by a run rise.
        steps = np.diff(table["key"].combine_chunks().dictionary_encode().indices.to_numpy())
        rises = steps > 0
        if within == "curves":
            rises |= (steps == 0) & (np.diff(table["t"].to_numpy()) > 0)
        if not rises.all():
            identity = list(IDENTITY[within])
            rows = best_first(_judged(table)) if within == "cells" else table.select(identity).to_pandas()
            table = table.take(pa.array(np.sort(rows.drop_duplicates(identity).index)))
        yield table


def without(table: pa.Table, keys: pa.Array | None) -> pa.Table:
    """Return a table without the rows of the cells with these keys."""
    return table if keys is None else table.filter(pc.invert(pc.is_in(table["key"], keys)))


def only(table: pa.Table, keys: pa.Array) -> pa.Table:
    """Return only the rows of the cells with these keys."""
    return table.filter(pc.is_in(table["key"], keys))


def read_lean(file: pq.ParquetFile, columns: Sequence[str]) -> pa.Table:
    """Return columns of a part; columns that are missing or have no value get Arrow's null type.

    A null column takes almost no memory. Curves have many rows, and no value in most columns.
    """
    n, there = file.metadata.num_rows, set(file.schema_arrow.names)
    known = [name for name in columns if name in there]
    # Read columns of a long table one at a time, so that an empty one is freed before the next is read.
    reads = [known] if n < FEW_ROWS else [[name] for name in known]
    found: dict[str, pa.ChunkedArray] = {}
    for names in reads:
        read = file.read(names)
        found |= {name: read[name] for name in names if not n or read[name].null_count < n}
    return pa.table([found.get(name, pa.nulls(n)) for name in columns], names=list(columns))


def joined(tables: Sequence[pa.Table], schema: pa.Schema) -> pa.Table:
    """Concatenate tables with the columns of a schema; a column without a value in any table stays null."""
    if not tables:
        return schema.empty_table()
    # Without type promotion Arrow refuses to concatenate a column of null type with one of another type.
    return pa.concat_tables(tables, promote_options="default").replace_schema_metadata(schema.metadata)


def to_frame(table: pa.Table, schema: pa.Schema) -> pd.DataFrame:
    """Return a pandas frame of a table with all columns of a schema, including those of the null type."""
    frame: pd.DataFrame
    if len(table) < FEW_ROWS:
        frame = as_now(table, schema).to_pandas()
        return frame
    there = with_values(table)
    frame = table.select([name for name in schema.names if name in there]).to_pandas()
    null = as_now(pa.table({"": pa.nulls(1)}), schema).to_pandas()
    shared: dict[Any, pd.Series[Any]] = {}
    for at, (name, kind) in enumerate(null.dtypes.items()):
        if name not in frame:
            if kind not in shared:
                shared[kind] = null[name].iloc[np.zeros(len(frame), int)].set_axis(frame.index)
            # Empty columns of one type share a Series, to save memory; pandas copies it if one is changed.
            frame.insert(at, name, shared[kind])
    return frame


def to_parquet(table: pa.Table, *, compression: str = "zstd", **options: Any) -> bytes:
    """Return a table as the bytes of a Parquet file with checksums; `options` are those of pyarrow."""
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression=compression, write_page_checksum=True, **options)
    return add_checksum(sink.getvalue().to_pybytes())


def part_of(rows: list[dict[str, Any]], curves: list[Curve]) -> tuple[pa.Table, pa.Table]:
    """Return the cells table and the curves table of finished cells, given each cell's row and curve."""
    lengths = [len(curve.get("t", ())) for curve in curves]
    # Most columns are counts that few studies need: skip the columns that no row has.
    there = set[str]().union(*rows)
    cells = [
        pa.array([row.get(field.name) for row in rows], field.type)
        if field.name in there
        else pa.nulls(len(rows), field.type)
        for field in CELLS
    ]
    there = set[str]().union(*curves)
    points = [
        _column([curve.get(field.name) for curve in curves], lengths, field)
        if field.name in there
        else pa.nulls(sum(lengths), field.type)
        for field in CURVES
        if field.name != "key"
    ]
    keys = cells[CELLS.get_field_index("key")].take(np.repeat(np.arange(len(rows)), lengths))
    return pa.table(cells, schema=CELLS), pa.table([keys, *points], schema=CURVES)


def _column(stretches: list[Any], lengths: list[int], field: pa.Field) -> pa.Array:
    """Return a column of the curves table from each cell's values; a cell with None gets nulls."""
    kinds = {type(stretch) for stretch in stretches}
    if kinds == {np.ndarray}:
        if pa.types.is_list(field.type):
            return _lists(stretches)
        return pa.array(np.concatenate(stretches), field.type)
    arrays = []
    for stretch, length in zip(stretches, lengths, strict=True):
        if stretch is None:
            arrays.append(pa.nulls(length, field.type))
        else:
            matrix = isinstance(stretch, np.ndarray) and stretch.ndim == 2
            arrays.append(_lists([stretch]) if matrix else pa.array(stretch, field.type))
    return pa.chunked_array(arrays, field.type)


def _lists(stretches: list[NDArray[np.int64]]) -> pa.Array:
    """Return all rows of matrices, which may differ in width, as one Arrow column of lists."""
    widths = np.repeat([stretch.shape[1] for stretch in stretches], [len(stretch) for stretch in stretches])
    ends = np.concatenate([[0], np.cumsum(widths)]).astype(np.int32)
    return pa.ListArray.from_arrays(ends, np.concatenate([stretch.ravel() for stretch in stretches]))


def in_order(table: pa.Table, within: str) -> pa.Table:
    """Return a table ("cells" or "curves", by `within`) sorted by the columns of `IDENTITY`."""
    keys = table["key"].combine_chunks().dictionary_encode()
    # Sort by integer ranks of the keys, many times faster than by the keys themselves.
    rank = np.empty(len(keys.dictionary), np.int64)
    rank[pc.sort_indices(keys.dictionary).to_numpy()] = np.arange(len(rank))
    columns = [rank[keys.indices.to_numpy()]]
    columns += [table[name].to_numpy() for name in IDENTITY[within] if name != "key"]
    order = np.lexsort(columns[::-1])
    return table if (np.diff(order) == 1).all() else table.take(pa.array(order))


def as_planned(cells: pd.DataFrame, plan: pa.Table) -> pd.DataFrame:
    """Return the planned rows of the cells table, sorted by key, with the labels of the plan.

    `cells` is sorted by key, with one row per cell. `plan` has the schema `PLAN`. Cells that are not planned
    are left out; a cell that is planned under two labels becomes two rows. If the plan has no parents and
    sources (of an earlier version) or several (merged results of machines with other paths), each data set
    gets those of its cell that started last.
    """
    import pandas as pd

    names = plan.to_pandas().sort_values("key", kind="stable")
    places = pd.Index(cells["key"]).get_indexer(names["key"])
    there = places >= 0
    rows: pd.DataFrame = cells.iloc[places[there]].reset_index(drop=True)
    for name in PLAN.names[1:]:
        planned = names.loc[there, name].reset_index(drop=True)
        # Integers in all cells cannot become missing values of the plan.
        if not (planned.isna().any() and cells[name].dtype.kind == "i"):
            planned = planned.astype(cells[name].dtype)
        rows[name] = planned.fillna(rows[name]) if name in PLACES else planned
    by_start = rows.sort_values("started", kind="stable", na_position="first")
    latest = by_start.drop_duplicates("dataset", keep="last").set_index("dataset")
    for name in PLACES:
        rows[name] = rows["dataset"].map(latest[name])
    return rows
