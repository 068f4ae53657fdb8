"""The columns of the store, the version they are of, and how parts of other versions are read.

A part is read when its version is one of `READABLE`, it has all columns that may not be null, and columns
that are known have their type. Columns that it lacks are null; columns that are not known, of a later
singlepass of the same version, are left out. So a further column that may be null needs no new version.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, TypeAlias, get_args

import pyarrow as pa

from ..counts import COUNTS, LATEST_ERRORS
from ..errors import InputError
from ..scoring import (
    AREAS,
    BY_CLASS,
    BY_FADING,
    BY_WINDOW,
    LOSSES,
    PRECISIONS,
    REFERENCES,
    REGRETS,
    TEST_BY_CLASS,
    TEST_SCORES,
)

# Raised when a column changes its meaning or type.
SCHEMA_VERSION: Final = 3
# Versions whose columns mean what this one's do.
READABLE: Final = frozenset({SCHEMA_VERSION})
METADATA = {"singlepass_schema": str(SCHEMA_VERSION)}

# How a cell ended. failed: it raised an error; stopped: at its time limit; crashed: it took the process that
# ran it along, three times, or did not end.
Status: TypeAlias = Literal["ok", "failed", "stopped", "crashed"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)

_COUNTED = [pa.field(name, pa.int64()) for name in COUNTS]
# For metrics, null where a study asks for none that needs them. Counts by class are lists with a number for
# each, in the order of the classes: a column a class would need as many as the largest task has, and rows of
# their own would be K times those of the curves.
_KEPT = [
    *(pa.field(name, pa.list_(pa.int64())) for name in BY_CLASS),
    *(pa.field(name, pa.int64()) for name in REFERENCES),
    *(pa.field(name, pa.float64()) for name in (*LOSSES, *AREAS)),
]
_KEPT_TYPES = {field.name: field.type for field in _KEPT} | dict.fromkeys(PRECISIONS, pa.float64())


def _faded(kind: pa.DataType) -> pa.DataType:
    """Return the type of a count of which each example counts less as time goes by."""
    return pa.list_(pa.float64()) if pa.types.is_list(kind) else pa.float64()


CELLS = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("dataset", pa.string(), nullable=False),
        # What the study calls the data set that the task was cut from, and where that comes from.
        pa.field("parent", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("algorithm", pa.string(), nullable=False),
        pa.field("learner", pa.string(), nullable=False),
        pa.field("params", pa.string(), nullable=False),
        pa.field("grid", pa.string()),
        pa.field("noise", pa.string(), nullable=False),
        # The rate of uniform noise, null for any other; parts written before it was added lack it.
        pa.field("noise_rate", pa.float64()),
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("stage", pa.string(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        # Whether rows are drawn for each seed; with holdout, whether the data set has its own test part. Null
        # if written by an earlier version.
        pa.field("drawn", pa.bool_()),
        pa.field("own_test", pa.bool_()),
        # Which rows decide how features are standardised and gaps are filled: "all" of the training part,
        # those "learnt", or those of the stream "so far"; null where features are as they stand.
        pa.field("scaling", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("n_features", pa.int64()),
        pa.field("n_examples", pa.int64()),
        # How many examples were learnt before those: grids were judged on them.
        pa.field("counted_from", pa.int64()),
        # The order of the rows, where it is not a seeded one.
        pa.field("order", pa.string()),
        # How many repetitions there are, where seeds would move nothing.
        pa.field("repetitions", pa.int64()),
        # After how many of the examples counted the stream changes.
        pa.field("changes", pa.list_(pa.int64())),
        # Share of the training examples that noise touched, and the same for each class of the task, in the
        # order of their codes.
        pa.field("noise_realised", pa.float64()),
        pa.field("noise_by_class", pa.list_(pa.float64())),
        *_COUNTED,
        # What occurred, along the stream and in the test part, is there for every cell.
        *_KEPT,
        *(pa.field(name, pa.float64()) for name in (*PRECISIONS, *REGRETS)),
        # After how many examples an online model selection went over to the next level of complexity.
        pa.field("switches", pa.list_(pa.int64())),
        pa.field("test_examples", pa.int64()),
        pa.field("test_mistakes", pa.int64()),
        pa.field("test_accuracy", pa.float64()),
        pa.field("test_ties", pa.int64()),
        *(pa.field(name, pa.list_(pa.int64())) for name in TEST_BY_CLASS),
        *(pa.field(name, pa.float64()) for name in TEST_SCORES),
        pa.field("validation_examples", pa.int64()),
        pa.field("validation_mistakes", pa.int64()),
        pa.field("fit_seconds", pa.float64()),
        pa.field("total_seconds", pa.float64()),
        pa.field("started", pa.timestamp("us", tz="UTC")),
        pa.field("worker", pa.string()),
        pa.field("traceback", pa.string()),
        # How often it was begun, where processes that ran it died.
        pa.field("attempts", pa.int64()),
    ],
    metadata=METADATA,
)
CURVES = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("t", pa.int64(), nullable=False),
        *_COUNTED,
        *_KEPT,
        pa.field("test_accuracy", pa.float64()),
        *(pa.field(name, pa.float64()) for name in LATEST_ERRORS),
        *(pa.field(name, _KEPT_TYPES[count]) for name, count in BY_WINDOW.items()),
        *(pa.field(name, _faded(_KEPT_TYPES[count])) for name, count in BY_FADING.items()),
        pa.field("fit_seconds", pa.float64()),
    ],
    metadata=METADATA,
)
SCHEMAS = {"cells": CELLS, "curves": CURVES}
# What the study calls its cells now. A stored cell has the names of the study that computed it; algorithms
# with equal parameters share their cells, so a key can occur more than once.
PLAN = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        *(CELLS.field(name) for name in ("algorithm", "grid", "repetitions")),
    ],
    metadata=METADATA,
)
# What one row is told from another by.
IDENTITY = {"cells": ("key",), "curves": ("key", "t")}
# Columns that say when, where and how fast: everything else is equal whenever a study is run again.
PROVENANCE = ("fit_seconds", "total_seconds", "started", "worker", "traceback", "attempts")


def version_of(schema: pa.Schema) -> int | None:
    """Return the version that a part was written with, None where it does not say.

    Examples
    --------
    >>> version_of(CELLS) == SCHEMA_VERSION, version_of(pa.schema([]))
    (True, None)
    """
    text = (schema.metadata or {}).get(b"singlepass_schema", b"").decode()
    return int(text) if text.isdigit() else None


def refuse_other_versions(schema: pa.Schema, url: str) -> None:
    """Refuse a part of a version that is not readable.

    Parameters
    ----------
    schema : pyarrow.Schema
        Of the part.
    url : str
        The store, as the user calls it.

    Raises
    ------
    InputError
    """
    version = version_of(schema)
    if version not in READABLE:
        raise InputError(
            f"{url}: holds results of schema version {version or 'unknown'}, this singlepass reads "
            f"and writes version {SCHEMA_VERSION}: choose another --out, or move the folder away and run "
            "the study again"
        )


def fits(schema: pa.Schema, folder: str) -> bool:
    """Return whether a part of a readable version has the columns it must have, and their types."""
    return all(
        schema.field(field.name).type == field.type if field.name in schema.names else field.nullable
        for field in SCHEMAS[folder]
    )


def schema_of(within: str, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of some columns of a table."""
    schema = SCHEMAS[within]
    return pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)


def with_values(table: pa.Table) -> set[str]:
    """Return the columns of a table that are not of Arrow's null type."""
    return {field.name for field in table.schema if not pa.types.is_null(field.type)}


def as_now(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with exactly the columns of a schema, null where the table has nothing."""
    there = with_values(table)
    lacking = {field.type for field in schema if field.name not in there}
    # One array for all columns of a type: they are read, not written to.
    nulls = {kind: pa.nulls(len(table), kind) for kind in lacking}
    columns = [table[field.name] if field.name in there else nulls[field.type] for field in schema]
    return pa.table(columns, schema=schema)
