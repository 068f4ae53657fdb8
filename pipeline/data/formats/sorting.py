"""Sort rows by a column of numbers, dates or times."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.spill import release
from ..tables.stream import SpillingMatrix, arrays_of, picked_rows
from .columns import ColumnFile
from .labels import is_number

Keys = npt.NDArray[np.float64]
# Rows copied before memory is released, since reading one row may load 64 KB of the mapped file around it.
_STEP = 1 << 10


def sort_keys(file: ColumnFile, position: int) -> Callable[[Any, int], Keys]:
    """Return a function that converts values of a file's column to numbers by which rows are sorted.

    Its arguments are an array of values, and the number of rows before the array, for error messages. Numbers
    are used unchanged; dates and times (ISO 8601, UTC if they name no zone) become times since 1970.
    """
    name = file.names[position]
    kind: list[str] = []

    def keys(array: Any, done: int) -> Keys:
        import pyarrow as pa

        stored = array.type
        if pa.types.is_timestamp(stored) or pa.types.is_date(stored):
            array = array.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
        elif not (pa.types.is_integer(stored) or pa.types.is_floating(stored)):
            return text_keys(array, done)
        found = np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)
        refuse(np.isnan(found), array, done)
        return found

    def text_keys(array: Any, done: int) -> Keys:
        coded = array.dictionary_encode()
        values = [_seconds(str(value).strip()) for value in coded.dictionary.to_pylist()]
        kind[:] = kind or [each[0] for each in values[:1]]
        known = np.array([number if which in kind else np.nan for which, number in values] + [np.nan])
        found = known[np.asarray(coded.indices.fill_null(len(values)).to_numpy(), dtype=np.int64)]
        refuse(np.isnan(found), array, done)
        return found

    def refuse(wrong: npt.NDArray[np.bool_], array: Any, done: int) -> None:
        if not wrong.any():
            return
        row = int(np.flatnonzero(wrong)[0])
        value = array[row].as_py()
        at = f"{file.place(done + row + 1)}, column {name!r}"
        if value is None or not str(value).strip():
            raise InputError(f"{at}: no value to sort by (order_by)")
        other = " as in the first row" if kind and kind != ["neither"] else ""
        raise InputError(
            f"{at}: {str(value)!r} cannot be sorted by (order_by): neither a number nor a date such as "
            f"2024-01-31 or 2024-01-31T12:00{other}"
        )

    return keys


def by_keys(
    path: Path, keys: Keys, X: Any, codes: npt.NDArray[np.int32]
) -> tuple[Any, npt.NDArray[np.int32]]:
    """Return the rows X and their label codes sorted by keys; rows with equal keys keep their order."""
    if (keys[1:] >= keys[:-1]).all():
        return X, codes
    order = np.argsort(keys, kind="stable")
    moved = SpillingMatrix(cache_folder() / "streams")
    for start in range(0, len(order), _STEP):
        moved.append(picked_rows(X, order[start : start + _STEP]))
        for array in arrays_of(X).values():
            release(array)
    return moved.finish(X.shape), codes[order]


def _seconds(text: str) -> tuple[str, float]:
    """Return the type of a text ("number", "time" or "neither") and its sort key; a time is in seconds."""
    if is_number(text):
        return "number", float(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return "neither", np.nan
    return "time", (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
