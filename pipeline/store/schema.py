"""The columns of the store, and the version they are of."""

from __future__ import annotations

import pyarrow as pa

from ..counts import COUNTS

# Raised when a column changes its meaning or type; further columns that may be null need no new version.
SCHEMA_VERSION = 3
METADATA = {"singlepass_schema": str(SCHEMA_VERSION)}

_COUNTED = [pa.field(name, pa.int64()) for name in COUNTS]
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
        pa.field("seed", pa.int64(), nullable=False),
        pa.field("stage", pa.string(), nullable=False),
        pa.field("protocol", pa.string(), nullable=False),
        pa.field("status", pa.string(), nullable=False),
        pa.field("error", pa.string()),
        pa.field("n_features", pa.int64()),
        pa.field("n_examples", pa.int64()),
        pa.field("noise_realised", pa.float64()),
        *_COUNTED,
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
    metadata=METADATA,
)
CURVES = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("t", pa.int64(), nullable=False),
        *_COUNTED,
        pa.field("test_accuracy", pa.float64()),
        pa.field("fit_seconds", pa.float64()),
    ],
    metadata=METADATA,
)
SCHEMAS = {"cells": CELLS, "curves": CURVES}
# What one row is told from another by.
IDENTITY = {"cells": ("key",), "curves": ("key", "t")}
# Columns that say when, where and how fast: everything else is equal whenever a study is run again.
PROVENANCE = ("fit_seconds", "total_seconds", "started", "worker", "traceback")


def version_of(schema: pa.Schema) -> int | None:
    """Return the version that a part was written with, None where it does not say.

    Examples
    --------
    >>> version_of(CELLS) == SCHEMA_VERSION, version_of(pa.schema([]))
    (True, None)
    """
    text = (schema.metadata or {}).get(b"singlepass_schema", b"").decode()
    return int(text) if text.isdigit() else None
