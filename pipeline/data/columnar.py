"""Parquet and Arrow files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..errors import InputError
from .columns import Columns, find_target

if TYPE_CHECKING:
    import pyarrow as pa


def read_columnar(path: Path, kind: Literal["parquet", "arrow"], *, target: str = "") -> Columns:
    """Read a Parquet, Arrow IPC or Feather file.

    Parameters
    ----------
    path : Path
        The file.
    kind : {"parquet", "arrow"}
        "arrow" is the IPC file or stream format, or Feather.
    target : str, default=""
        Name of the label column.

    Returns
    -------
    Columns
        Features in file order: float32 when every feature column is, else float64.

    Raises
    ------
    InputError
        Naming column and row: columns that are not numbers, missing values, NaN or infinity.
    """
    table = _read(path, kind)
    if table.num_rows == 0:
        raise InputError(f"{path}: the file has no rows")
    names = list(table.column_names)
    label = find_target(path, names, target)
    features = [position for position in range(len(names)) if position != label]
    X = np.empty((table.num_rows, len(features)), dtype=_common_dtype(table, features, path))
    for column, position in enumerate(features):
        X[:, column] = _numbers(table.column(position), names[position], path)
    return Columns(
        path, tuple(names[position] for position in features), X, _labels(table.column(label), path)
    )


def _read(path: Path, kind: Literal["parquet", "arrow"]) -> pa.Table:
    import pyarrow as pa
    from pyarrow import feather, ipc, parquet

    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")
    try:
        if kind == "parquet":
            with parquet.ParquetFile(path) as file:
                return file.read()
        with path.open("rb") as start:
            magic = start.read(6)
        # "ARROW1" opens an IPC file (Feather version 2 is one), "FEA1" Feather version 1; a stream has none.
        if magic == b"ARROW1" or magic.startswith(b"FEA1"):
            return feather.read_table(path, memory_map=False)
        with path.open("rb") as source, ipc.open_stream(source) as reader:
            return reader.read_all()
    except (pa.ArrowException, OSError) as error:
        shown = "Parquet" if kind == "parquet" else "Arrow"
        reason = str(error).splitlines()[0]
        raise InputError(
            f"{path}: damaged or not {'a ' if kind == 'parquet' else 'an '}{shown} file ({reason})"
        ) from None


def _common_dtype(table: pa.Table, features: list[int], path: Path) -> Any:
    from pyarrow import types

    kinds = [table.schema.field(position) for position in features]
    for field in kinds:
        if not (
            types.is_integer(field.type) or types.is_floating(field.type) or types.is_boolean(field.type)
        ):
            raise InputError(f"{path}, column {field.name!r}: holds {field.type}; a feature must be a number")
    return np.float32 if all(types.is_float32(field.type) for field in kinds) else np.float64


def _numbers(column: pa.ChunkedArray, name: str, path: Path) -> Any:
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    if missing.any():
        row = int(np.flatnonzero(missing)[0]) + 1
        raise InputError(
            f"{path}, row {row}, column {name!r}: no value; every feature must be a finite number"
        )
    values = column.to_numpy()
    wrong = ~np.isfinite(values)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{path}, row {row + 1}, column {name!r}: {values[row]}; every feature must be a finite number"
        )
    return values


def _labels(column: pa.ChunkedArray, path: Path) -> Any:
    missing = np.asarray(column.is_null().to_numpy(), dtype=bool)
    if missing.any():
        raise InputError(f"{path}, row {int(np.flatnonzero(missing)[0]) + 1}: the label is missing")
    values = column.to_pylist()
    return (
        np.array(values) if isinstance(values[0], (bool, int, float)) else np.array([str(v) for v in values])
    )
