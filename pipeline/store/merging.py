"""Unite the cells of several stores, and compare the results that two of them have of the same cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..errors import InputError
from ..scoring import REGRETS
from .bases import Base
from .schema import IDENTITY, PLAN, PROVENANCE, SCHEMAS, as_now
from .store import Store


def _results(schema: pa.Schema, is_kind: Callable[[pa.DataType], bool]) -> list[str]:
    """Return the columns of results with numbers of a kind, or with lists of them."""
    # The number of repetitions may differ: it depends on the study that planned the cell. So may the
    # regret: a solver finds it to a millionth of the losses whose difference it is.
    left_out = {*PROVENANCE, "repetitions", *REGRETS}
    return [
        field.name
        for field in schema
        if field.name not in left_out
        and is_kind(field.type.value_type if pa.types.is_list(field.type) else field.type)
    ]


# Integers, which must be equal on all machines, and floats, whose last digits may differ.
COUNTED = {name: _results(schema, pa.types.is_integer) for name, schema in SCHEMAS.items()}
MEASURED = {name: _results(schema, pa.types.is_floating) for name, schema in SCHEMAS.items()}


# Two different results of one cell: the cell's key, the column, and the values in the two stores.
Conflict: TypeAlias = tuple[str, str, Any, Any]


def conflicts(first: pa.Table, second: pa.Table, within: str = "cells") -> Iterator[Conflict]:
    """Yield each integer result in which two tables differ for the same cell or the same point of a curve.

    `within` is "cells" or "curves". Rows that only one table has and failed cells are not compared. A value
    that is null in one table is not compared either: an earlier version, without the column, wrote that row.
    """
    tables = [as_now(table, SCHEMAS[within]) for table in (first, second)]
    if within == "cells":
        tables = [table.filter(pc.equal(table["status"], "ok")) for table in tables]
    rows = [pd.MultiIndex.from_frame(table.select(IDENTITY[within]).to_pandas()) for table in tables]
    common = rows[0].intersection(rows[1])
    tables = [table.take(pa.array(own.get_indexer(common))) for table, own in zip(tables, rows, strict=True)]
    for name in COUNTED[within]:
        columns = [table[name].combine_chunks() for table in tables]
        if columns[0].equals(columns[1]):
            continue
        for key, *values in zip(tables[0]["key"], *columns, strict=True):
            mine, other = (value.as_py() for value in values)
            if mine != other and None not in (mine, other):
                yield key.as_py(), name, mine, other


def refuse_conflicts(store: Store, keys: Collection[str]) -> None:
    """Raise InputError if the store's own result of a cell differs from that of one of its bases."""
    for base in store.bases if keys else ():
        shared = [key for key in keys if key in base.keys]
        _refuse_other_counts(shared, (store.url, store.own), (base.name, base.table), tables=["cells"])


def refuse_other_counts(urls: Iterable[str], compared: Iterable[pd.DataFrame]) -> None:
    """Raise InputError if the stores at two of these URLs have different counts of a compared cell.

    `compared` has tables of cells. Curves are not checked, because they can have very many points.
    """
    keys = {key for cells in compared for key in cells["key"]}
    for first, other in itertools.combinations(map(Base, dict.fromkeys(urls)), 2):
        shared = sorted(first.keys & other.keys & keys)
        stores = (first.name, first.table), (other.name, other.table)
        _refuse_other_counts(shared, *stores, tables=["cells"])


def _refuse_other_counts(
    keys: Sequence[str], *stores: tuple[str, Callable[..., pa.Table]], tables: Iterable[str] = SCHEMAS
) -> None:
    """Raise InputError if two stores differ in a cell; each has a name and a function that reads a table."""
    (first, read), (second, read_second) = stores
    for within in tables if keys else ():
        for key, column, mine, theirs in conflicts(read(within, keys), read_second(within, keys), within):
            [row] = read("cells", [key]).to_pylist()
            raise InputError(
                f"cell {key} ({row['algorithm']} on {row['dataset']}, noise {row['noise']}, seed "
                f"{row['seed']}): {column} is {mine} in {first}, {theirs} in {second}: one of them was "
                "changed, or computed by other code"
            )


def merge_cells(stores: Sequence[Store], out: Store) -> int:
    """Write each cell of some stores once to `out`, without the cells of their bases; return the number.

    Raises InputError, before anything is written, if two stores have different counts of a cell.
    """
    keys = [store.own_keys() for store in stores]
    for place, store in enumerate(stores):
        for earlier, other in enumerate(stores[:place]):
            shared = sorted(keys[place].keys() & keys[earlier].keys())
            _refuse_other_counts(shared, (other.url, other.own), (store.url, store.own))
    taken: dict[str, str] = {}
    for store, own in zip(stores, keys, strict=True):
        new = [key for key, status in own.items() if taken.get(key) not in ("ok", status)]
        if new:
            out.write_tables(store.own("cells", new), store.own("curves", new))
        taken |= {key: own[key] for key in new}
    out.compact(above=1)
    return len(taken)


def merge_plans(stores: Sequence[Store]) -> pa.Table:
    """Return the planned cells of all stores, each once; raise InputError if a plan is missing."""
    joined = pa.concat_tables([store.plan() for store in stores]).to_pandas()
    # A cell is the same on machines that have its data at different paths.
    unique = joined.drop_duplicates(["key", "algorithm", "grid", "repetitions"])
    return pa.Table.from_pandas(unique, PLAN, preserve_index=False)
