"""CSV and TSV files: one line an example, one column the label."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...errors import InputError
from ..io.text import first_line, lines, open_watched
from .labelled_columns import ColumnBlock, LabelledColumns, find_target, gather
from .labels import is_number

# Arrow reads blocks ahead: at 8 MiB each it holds 400 MB, at 1 MiB a quarter of that.
_BLOCK_BYTES = 1 << 20
# A line must fit in a block. All lines have as many fields as the first: "0," beside a number of 25 digits.
_LONGEST_TO_FIRST = 32


@dataclass(frozen=True)
class _Layout:
    """Where the rows of a file start, what its columns are called, and which one is the label."""

    skip_rows: int
    names: tuple[str, ...]
    label: int
    header: bool
    block_bytes: int

    @property
    def features(self) -> tuple[str, ...]:
        return tuple(name for position, name in enumerate(self.names) if position != self.label)


def read_delimited(
    path: Path, *, delimiter: str = ",", target: str = "", header: bool | None = None, dtype: str = ""
) -> LabelledColumns:
    """Read a delimited text file, in bounded memory.

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
    dtype : str, default=""
        "float32" or "float64" (the default).

    Returns
    -------
    LabelledColumns
        Features in file order; labels as text.

    Raises
    ------
    InputError
        Naming line and column: ragged lines, text or nothing where a number belongs, NaN or infinity.
    """
    layout = _layout(path, delimiter, target, header)
    columns = gather(path, layout.features, _blocks(path, layout, delimiter), dtype)
    if len(columns.labels) == 0:
        raise InputError(f"{path}: no rows below the header")
    return columns


def delimited_blocks(
    path: Path, *, delimiter: str = ",", target: str = "", header: bool | None = None
) -> Iterator[ColumnBlock]:
    """Yield the rows of a delimited text file a few MB at a time, in file order.

    Parameters and errors as of `read_delimited`; an error comes when its block is reached.
    """
    yield from _blocks(path, _layout(path, delimiter, target, header), delimiter)


def _layout(path: Path, delimiter: str, target: str, header: bool | None) -> _Layout:
    start, text = first_line(path)
    names = _fields(path, start, text, delimiter)
    if header is None:
        header = not any(is_number(name) for name in names)
    if not header:
        names = [str(position) for position in range(1, len(names) + 1)]
    label = find_target(path, names, target)
    block_bytes = max(_BLOCK_BYTES, _LONGEST_TO_FIRST * len(text))
    return _Layout(start if header else start - 1, tuple(names), label, header, block_bytes)


def _blocks(path: Path, layout: _Layout, delimiter: str) -> Iterator[ColumnBlock]:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    # Columns are told apart by position: names may repeat.
    keys = [str(position) for position in range(len(layout.names))]
    types = {key: pa.float64() for key in keys} | {keys[layout.label]: pa.string()}
    features = [position for position in range(len(keys)) if position != layout.label]
    try:
        with (
            open_watched(path) as (stream, report_position),
            arrow_csv.open_csv(
                stream,
                arrow_csv.ReadOptions(
                    column_names=keys,
                    skip_rows=layout.skip_rows,
                    block_size=layout.block_bytes,
                    use_threads=False,
                ),
                arrow_csv.ParseOptions(delimiter=delimiter),
                # Nothing stands for "missing": an empty field is an error, and found as one.
                arrow_csv.ConvertOptions(column_types=types, null_values=[], strings_can_be_null=False),
            ) as reader,
        ):
            for batch in reader:
                X = np.empty((batch.num_rows, len(features)))
                for column, position in enumerate(features):
                    X[:, column] = batch.column(position).to_numpy()
                if not np.isfinite(X).all():
                    _explain(path, layout, delimiter)
                yield ColumnBlock(X, batch.column(layout.label))
                report_position()
    except pa.ArrowException as error:
        _explain(path, layout, delimiter)
        raise InputError(f"{path}: cannot be read as delimited text ({str(error).splitlines()[0]})") from None


def _fields(path: Path, number: int, text: str, delimiter: str) -> list[str]:
    try:
        return [field.strip() for field in next(csv.reader([text], delimiter=delimiter))]
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: not delimited text ({error})") from None


def _explain(path: Path, layout: _Layout, delimiter: str) -> None:
    """Raise the error of the first wrong line; the fast parser does not say which it is."""
    names, label = layout.names, layout.label
    for row, (number, text) in enumerate(lines(path), start=0 if layout.header else 1):
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
