"""CSV and TSV files: one line an example, one column the label."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .columns import Columns, find_target
from .labels import is_number
from .text import first_line, lines, open_bytes

# A line must fit in a block of the parser: 64 MiB is about three million numbers.
_BLOCK_BYTES = 1 << 26


def read_delimited(
    path: Path, *, delimiter: str = ",", target: str = "", header: bool | None = None
) -> Columns:
    """Read a delimited text file.

    Parameters
    ----------
    path : Path
        Plain text or .gz, .bz2, .xz; UTF-8.
    delimiter : str, default=","
        One character.
    target : str, default=""
        Name of the label column, or its number from 1 where there is no header.
    header : bool, optional
        Whether the first line holds names. By default it does when none of its fields is a number.

    Returns
    -------
    Columns
        float64 features in file order; labels as text.

    Raises
    ------
    InputError
        Naming line and column: ragged lines, text or nothing where a number belongs, NaN or infinity.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    start, text = first_line(path)
    names = _fields(path, start, text, delimiter)
    if header is None:
        header = not any(is_number(name) for name in names)
    if not header:
        names = [str(position) for position in range(1, len(names) + 1)]
    label = find_target(path, names, target)
    # Columns are told apart by position: names may repeat.
    keys = [str(position) for position in range(len(names))]
    types = {key: pa.float64() for key in keys} | {keys[label]: pa.string()}
    try:
        with open_bytes(path) as stream:
            table = arrow_csv.read_csv(
                stream,
                arrow_csv.ReadOptions(
                    column_names=keys, skip_rows=start if header else start - 1, block_size=_BLOCK_BYTES
                ),
                arrow_csv.ParseOptions(delimiter=delimiter),
                # Nothing stands for "missing": an empty field is an error, and found as one.
                arrow_csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
            )
    except pa.ArrowException as error:
        _explain(path, names, label, delimiter, header)
        raise InputError(f"{path}: cannot be read as delimited text ({str(error).splitlines()[0]})") from None
    if table.num_rows == 0:
        raise InputError(f"{path}: no rows below the header")
    features = [position for position in range(len(names)) if position != label]
    X = np.empty((table.num_rows, len(features)))
    for column, position in enumerate(features):
        X[:, column] = table.column(position).to_numpy()
    if not np.isfinite(X).all():
        _explain(path, names, label, delimiter, header)
    labels: np.ndarray[Any, Any] = np.array(table.column(label).to_pylist(), dtype=np.str_)
    return Columns(path, tuple(names[position] for position in features), X, labels)


def _fields(path: Path, number: int, text: str, delimiter: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: not delimited text ({error})") from None


def _explain(path: Path, names: list[str], label: int, delimiter: str, header: bool) -> None:
    """Raise the error of the first wrong line; the fast parser does not say which it is."""
    for row, (number, text) in enumerate(lines(path), start=0 if header else 1):
        fields = _fields(path, number, text, delimiter)
        where = f"{path}, line {number}"
        if len(fields) != len(names):
            raise InputError(f"{where}: found {len(fields)} columns, expected {len(names)} as in line 1")
        if row == 0:
            continue
        for position, field in enumerate(fields):
            if position == label:
                continue
            at = f"{where} (row {row}), column {names[position]!r}"
            if not field:
                raise InputError(f"{at}: no value; every feature must be a finite number")
            if not is_number(field):
                raise InputError(f"{at}: {field!r} is not a number")
            if not math.isfinite(float(field)):
                raise InputError(f"{at}: {field}; every feature must be a finite number")
