"""Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ...errors import InputError
from ..io.progress import report
from .labelled_columns import ColumnBlock, LabelledColumns, find_target, gather

if TYPE_CHECKING:
    import pyarrow as pa

# One batch of rows as float64.
_BATCH_BYTES = 1 << 22
_READ_BYTES = 1 << 18


def read_arrow(
    path: Path, kind: Literal["parquet", "arrow"], *, target: str = "", dtype: str = ""
) -> LabelledColumns:
    """Read a Parquet, Arrow IPC or Feather file, in bounded memory.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"parquet", "arrow"}
        "arrow" is the IPC file or stream format, or Feather.
    target : str, default=""
        Name of the label column.
    dtype : str, default=""
        "float32" or "float64"; by default float32 when every feature column is, else float64.

    Returns
    -------
    LabelledColumns
        Features in file order.

    Raises
    ------
    InputError
        Naming column and row: columns that are not numbers, missing values, NaN or infinity.
    """
    with _opened(path, kind) as (schema, batches, stored):
        names = list(schema.names)
        label = find_target(path, names, target)
        features = tuple(name for position, name in enumerate(names) if position != label)
        columns = gather(path, features, _blocks(path, schema, label, batches, stored), dtype)
    if len(columns.labels) == 0:
        raise InputError(f"{path}: the file has no rows")
    return columns


def arrow_blocks(path: Path, kind: Literal["parquet", "arrow"], *, target: str = "") -> Iterator[ColumnBlock]:
    """Yield the rows of a Parquet or Arrow file a few MB at a time, in file order.

    Parameters and errors as of `read_arrow`; an error comes when its block is reached.
    """
    with _opened(path, kind) as (schema, batches, stored):
        label = find_target(path, list(schema.names), target)
        yield from _blocks(path, schema, label, batches, stored)


# Rows read so far -> about how many bytes of the file they are.
_Stored: TypeAlias = Callable[[int], int]


def _blocks(
    path: Path, schema: pa.Schema, label: int, batches: Iterator[pa.RecordBatch], stored: _Stored
) -> Iterator[ColumnBlock]:
    size = path.stat().st_size
    features = [position for position in range(len(schema.names)) if position != label]
    dtype = _common_dtype(schema, features, path)
    done = 0
    for batch in batches:
        X = np.empty((batch.num_rows, len(features)), dtype=dtype)
        for column, position in enumerate(features):
            X[:, column] = _numbers(batch.column(position), schema.names[position], path, done)
        labels = batch.column(label)
        missing = np.asarray(labels.is_null().to_numpy(zero_copy_only=False), dtype=bool)
        if missing.any():
            row = done + int(np.flatnonzero(missing)[0]) + 1
            raise InputError(f"{path}, row {row}: the label is missing")
        if batch.num_rows:
            yield ColumnBlock(X, labels)
        done += batch.num_rows
        report(path.name, stored(done), size)
    report(path.name, size, size)


@contextmanager
def _opened(
    path: Path, kind: Literal["parquet", "arrow"]
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch], _Stored]]:
    """Open a file: schema, rows in batches, bytes read; errors of Arrow's become one line, also later on."""
    import pyarrow as pa
    from pyarrow import feather, ipc, parquet

    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")
    try:
        if kind == "parquet":
            # A buffered reader takes a row group's columns piece by piece, not all of them at once.
            with parquet.ParquetFile(path, buffer_size=_READ_BYTES, pre_buffer=False) as file:
                rows = max(1, _BATCH_BYTES // (8 * max(1, len(file.schema_arrow.names))))
                # Row groups are compressed as wholes: the share of the rows is the nearest to a position.
                size, n = path.stat().st_size, max(1, file.metadata.num_rows)
                yield file.schema_arrow, file.iter_batches(batch_size=rows), lambda done: size * done // n
            return
        with path.open("rb") as source:
            magic = source.read(6)
            source.seek(0)
            # "ARROW1" opens an IPC file (Feather version 2 is one), "FEA1" Feather version 1; a stream has
            # none.
            if magic == b"ARROW1":
                with ipc.open_file(source) as whole:
                    batches = (whole.get_batch(i) for i in range(whole.num_record_batches))
                    yield whole.schema, batches, lambda _: source.tell()
            elif magic.startswith(b"FEA1"):
                table = feather.read_table(path, memory_map=False)
                yield table.schema, iter(table.to_batches()), lambda _: source.tell()
            else:
                with ipc.open_stream(source) as reader:
                    yield reader.schema, iter(reader), lambda _: source.tell()
    except (pa.ArrowException, OSError) as error:
        shown = "Parquet" if kind == "parquet" else "Arrow"
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path}: damaged or not {'a ' if kind == 'parquet' else 'an '}{shown} file ({reason})"
        ) from None


def _common_dtype(schema: pa.Schema, features: list[int], path: Path) -> Any:
    from pyarrow import types

    kinds = [schema.field(position) for position in features]
    for field in kinds:
        if not (
            types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
        ):
            raise InputError(f"{path}, column {field.name!r}: holds {field.type}; a feature must be a number")
    return np.float32 if all(types.is_float32(field.type) for field in kinds) else np.float64


def _numbers(column: pa.Array, name: str, path: Path, done: int) -> Any:
    if column.null_count:
        missing = np.asarray(column.is_null().to_numpy(zero_copy_only=False), dtype=bool)
        row = done + int(np.flatnonzero(missing)[0]) + 1
        raise InputError(
            f"{path}, row {row}, column {name!r}: no value; every feature must be a finite number"
        )
    values = column.to_numpy(zero_copy_only=False)
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{path}, row {done + row + 1}, column {name!r}: {values[row]}; "
            "every feature must be a finite number"
        )
    return values
