"""The columns of the store, their version, and how parts of other versions are read; the result of one cell.

A part, a Parquet file of results, is read if it has this version and all columns that may not be null, and
the columns that this singlepass knows have the right type. Missing columns are read as null. Unknown columns,
of a later singlepass with the same version, are ignored. So a new nullable column needs no new version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, get_args

import pyarrow as pa
from numpy.typing import NDArray

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

# Increased when a column changes its meaning or type.
SCHEMA_VERSION: Final = 3
METADATA = {"singlepass_schema": str(SCHEMA_VERSION)}

# How a cell ended. failed: it raised an error. stopped: its learner reached the time limit of the study.
# crashed: the process that ran it crashed three times, or the cell did not end before its timeout.
Status: TypeAlias = Literal["ok", "failed", "stopped", "crashed"]
STATUSES: Final[tuple[Status, ...]] = get_args(Status)


def _fields(kind: pa.DataType, *names: str, nullable: bool = True) -> list[pa.Field]:
    return [pa.field(name, kind, nullable) for name in names]


_COUNTED = _fields(pa.int64(), *COUNTS)
# Columns from which metrics are computed; null if no metric of the study needs them. Counts by class are
# lists in the order of the classes: one column per class would need as many columns as the largest task has
# classes, and one row per class would multiply the number of rows.
_KEPT = [
    *_fields(pa.list_(pa.int64()), *BY_CLASS),
    *_fields(pa.int64(), *REFERENCES),
    *_fields(pa.float64(), *LOSSES, *AREAS),
]
_KEPT_TYPES = {field.name: field.type for field in _KEPT} | dict.fromkeys(PRECISIONS, pa.float64())


def _faded(kind: pa.DataType) -> pa.DataType:
    """Return the column type of a count in which older examples weigh less, so that it is not an integer."""
    return pa.list_(pa.float64()) if pa.types.is_list(kind) else pa.float64()


CELLS = pa.schema(
    [
        *_fields(pa.string(), "key", "dataset", nullable=False),
        # `parent`: the study's label for the data set from which the task is made. `source`: that data set's
        # name or path.
        *_fields(pa.string(), "parent", "source", nullable=False),
        *_fields(pa.string(), "task", "algorithm", "learner", "params", nullable=False),
        pa.field("grid", pa.string()),
        pa.field("noise", pa.string(), nullable=False),
        # The rate of uniform noise, null for other noise; parts of earlier versions lack it.
        pa.field("noise_rate", pa.float64()),
        pa.field("seed", pa.int64(), nullable=False),
        *_fields(pa.string(), "stage", "protocol", nullable=False),
        # `drawn`: whether a generator draws new rows for each seed. `own_test`: with protocol "holdout",
        # whether the data set has an official test part. Both are null in parts of earlier versions.
        *_fields(pa.bool_(), "drawn", "own_test"),
        # The rows from which means, deviations and fill values of features are computed. "all": the whole
        # training part of the data set. "learnt": the training rows of the cell. "so far": the row itself and
        # the rows before it in the stream. "gaps by all" and "gaps by learnt": fill values alone; earlier
        # versions wrote "all" and "learnt". Null if features are unchanged.
        pa.field("scaling", pa.string()),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        *_fields(pa.int64(), "n_features", "n_examples"),
        # Number of examples at the start of the stream that are learned but left out of the results, because
        # parameters of algorithms were tuned on them.
        pa.field("counted_from", pa.int64()),
        # The name of the order in which the rows are learned; null if the seed determines the order.
        pa.field("order", pa.string()),
        # 1 if all seeds would give the same results, so that one runs; otherwise null. Earlier versions wrote
        # null in studies of one seed.
        pa.field("repetitions", pa.int64()),
        # Numbers of counted examples after which the concept of the stream changes.
        pa.field("changes", pa.list_(pa.int64())),
        # Share of the training examples that noise changed, in total and for each class in the order of
        # codes.
        pa.field("noise_realised", pa.float64()),
        pa.field("noise_by_class", pa.list_(pa.float64())),
        *_COUNTED,
        # Most columns of counts by class are null unless a metric needs them, but `occurred_clean` and
        # `test_occurred` (how often each class occurs) are stored for every cell.
        *_KEPT,
        *_fields(pa.float64(), *PRECISIONS, *REGRETS),
        # Numbers of predicted examples after which an algorithm that adapts online switched its model: to the
        # next level of complexity, to other parameters of a grid that took the lead, or to a restart by a
        # drift detector.
        pa.field("switches", pa.list_(pa.int64())),
        *_fields(pa.int64(), "test_examples", "test_mistakes"),
        pa.field("test_accuracy", pa.float64()),
        pa.field("test_ties", pa.int64()),
        *_fields(pa.list_(pa.int64()), *TEST_BY_CLASS),
        *_fields(pa.float64(), *TEST_SCORES),
        *_fields(pa.int64(), "validation_examples", "validation_mistakes"),
        *_fields(pa.float64(), "fit_seconds", "total_seconds"),
        # Null if the cell was run alone. If it was run in one task with other cells of its grid: the number
        # of different parameter settings in the task, where cells that differ only in `epochs` count as one.
        # `total_seconds` is then the task's time divided by its number of cells, and `fit_seconds` the
        # learning time divided by the number of models that learned in one pass.
        pa.field("points", pa.int64()),
        pa.field("started", pa.timestamp("us", tz="UTC")),
        *_fields(pa.string(), "worker", "traceback"),
        # How often the cell was started, if a worker that ran it was lost or if every start crashed;
        # otherwise null.
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
        *_fields(pa.float64(), *LATEST_ERRORS),
        *(pa.field(name, _KEPT_TYPES[count]) for name, count in BY_WINDOW.items()),
        *(pa.field(name, _faded(_KEPT_TYPES[count])) for name, count in BY_FADING.items()),
        pa.field("fit_seconds", pa.float64()),
    ],
    metadata=METADATA,
)
SCHEMAS = {"cells": CELLS, "curves": CURVES}
# Columns of a plan that plans of earlier versions lack; they are then read as null.
PLACES = ("parent", "source")
# The cells of the current study, with the study's labels and sources of data. (A stored cell has those of the
# study that computed it.) Algorithms with equal parameters share their cells, so a key can occur more than
# once.
PLAN = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        *(CELLS.field(name) for name in ("algorithm", "grid", "repetitions")),
        *_fields(pa.string(), *PLACES),
    ],
    metadata=METADATA,
)
EARLIER_PLAN = pa.schema([field for field in PLAN if field.name not in PLACES], metadata=METADATA)
# Columns that identify a row.
IDENTITY = {"cells": ("key",), "curves": ("key", "t")}
# Columns that record when, where and how fast a cell ran. All others are equal whenever a study is run again.
PROVENANCE = ("fit_seconds", "total_seconds", "points", "started", "worker", "traceback", "attempts")


def version_of(schema: pa.Schema) -> int | None:
    """Return the version that a part was written with, or None if it does not record one."""
    text = (schema.metadata or {}).get(b"singlepass_schema", b"").decode()
    # Python refuses to convert thousands of digits.
    return int(text) if text.isdecimal() and len(text) < 10 else None


# The advice in an error about an output folder whose results have another schema version.
OTHER_OUTPUT: Final = "choose another --out, or move the folder away and run the study again"


def refuse_other_versions(schema: pa.Schema, url: str, remedy: str = OTHER_OUTPUT) -> None:
    """Raise InputError, with the store's URL and a remedy, if a part has another version."""
    version = version_of(schema)
    if version != SCHEMA_VERSION:
        raise InputError(
            f"{url}: contains results of schema version {version or 'unknown'}, this singlepass reads "
            f"and writes version {SCHEMA_VERSION}: {remedy}"
        )


def fits(schema: pa.Schema, folder: str) -> bool:
    """Return whether a part of this version has all required columns and the right column types."""
    return all(
        schema.field(field.name).type == field.type if field.name in schema.names else field.nullable
        for field in SCHEMAS[folder]
    )


def schema_of(within: str, columns: Sequence[str]) -> pa.Schema:
    """Return the schema of some columns of the table `within` ("cells" or "curves")."""
    schema = SCHEMAS[within]
    return pa.schema([schema.field(name) for name in columns], metadata=schema.metadata)


def with_values(table: pa.Table) -> set[str]:
    """Return the names of a table's columns that have values, that is, are not of Arrow's null type."""
    return {field.name for field in table.schema if not pa.types.is_null(field.type)}


def as_now(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with exactly the columns of a schema; columns without values become nulls."""
    there = with_values(table)
    lacking = {field.type for field in schema if field.name not in there}
    # Missing columns of one type share one array of nulls, because arrays are never written to.
    nulls = {kind: pa.nulls(len(table), kind) for kind in lacking}
    columns = [table[field.name] if field.name in there else nulls[field.type] for field in schema]
    return pa.table(columns, schema=schema)


# The points of a cell's learning curve: by column of the curves table, one value per point.
Curve: TypeAlias = Mapping[str, Sequence[Any] | NDArray[Any]]


# Columns of a cell's row that the progress display and the estimate of remaining time need.
_TOLD = ("key", "dataset", "algorithm", "params", "status", "n_examples", "fit_seconds", "total_seconds")


@dataclass
class CellResult:
    """The outcome of one cell."""

    # The cell's row of the cells table, by column; missing columns are null.
    row: dict[str, Any]
    # The cell's rows of the curves table, by column but without the column "key"; empty if it failed.
    curve: Curve = field(default_factory=dict)
    # Whether the worker that ran the cell stores it itself; the row then has only the columns that the
    # progress display needs, and the curve is empty.
    stored: bool = False
    # Whether the cell was run again, because its first outcome was lost after it was reported but not yet
    # stored.
    again: bool = False

    def receipt(self) -> CellResult:
        """Return a short copy for the progress display, if the worker stores the whole result itself."""
        row = {name: self.row[name] for name in _TOLD if name in self.row}
        return CellResult(row, stored=True)
