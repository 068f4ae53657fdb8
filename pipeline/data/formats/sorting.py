"""Sort rows by a column of numbers, dates or times."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.spill import release
from ..tables.stream import SpillingMatrix, arrays_of, picked_rows
from .columns import ColumnFile
from .labels import is_number

# NumPy sorts complex numbers by their real part, and equal ones by their imaginary part. The key of a number
# has its float64 and what this rounds off, so that integers of 64 bits sort exactly. The key of a time has
# the seconds since 1970 and the nanoseconds within the second.
Keys = npt.NDArray[np.complex128]
# Rows copied before memory is released, since reading one row may load 64 KB of the mapped file around it.
_STEP = 1 << 10
_START = datetime(1970, 1, 1, tzinfo=UTC)
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
# Digits of a fraction of a second after the sixth, which `datetime` drops.
_NANOSECONDS = re.compile(r"[.,]\d{6}(\d{1,3})")
_KINDS = {"number": "numbers", "time": "dates or times"}


class Sorter:
    """Convert values of the column `order_by` to keys by which rows are sorted.

    The rows of all files are sorted together, so all must have numbers, or all must have dates and times (ISO
    8601, UTC if they name no zone).
    """

    def __init__(self) -> None:
        self._kind = ""

    def keys(self, file: ColumnFile, position: int, array: Any, done: int) -> Keys:
        """Return the keys of values of a column; `done` is the number of the file's rows before them."""
        import pyarrow as pa

        found: Keys
        self._refuse(file, position, array, done, array.is_null().to_numpy(zero_copy_only=False))
        if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
            kind, found = "time", _of_times(array)
        elif pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
            kind, found = "number", _of_numbers(array.to_numpy(zero_copy_only=False))
        else:
            coded = array.dictionary_encode()
            values = [_of_text(str(value)) for value in coded.dictionary.to_pylist()]
            kind = self._kind or values[0][0]
            known = np.array([key if each == kind else np.nan for each, key in values], dtype=np.complex128)
            found = known[coded.indices.to_numpy()]
        self._kind = self._kind or kind
        self._refuse(file, position, array, done, np.isnan(found) | (kind != self._kind))
        return found

    def _refuse(
        self, file: ColumnFile, position: int, array: Any, done: int, wrong: npt.NDArray[np.bool_]
    ) -> None:
        """Raise an error for the first value that `wrong` marks, if any."""
        if not wrong.any():
            return
        row = int(np.flatnonzero(wrong)[0])
        value = array[row].as_py()
        at = f"{file.place(done + row + 1)}, column {file.names[position]!r}"
        if value is None or not str(value).strip():
            raise InputError(f"{at}: no value to sort by (order_by)")
        fault = "neither a number nor a date such as 2024-01-31 or 2024-01-31T12:00"
        if _of_text(str(value))[0] in set(_KINDS) - {self._kind}:
            fault = f"earlier rows have {_KINDS[self._kind]}; write all values the same way"
        raise InputError(f"{at}: {str(value)!r} cannot be sorted by (order_by): {fault}")


def by_keys(keys: Keys, X: Any, codes: npt.NDArray[np.int32]) -> tuple[Any, npt.NDArray[np.int32]]:
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


def _of_numbers(values: npt.NDArray[Any]) -> Keys:
    near = values.astype(np.float64)
    if values.dtype.kind == "f":
        return near.astype(np.complex128)
    whole = values if values.dtype == np.uint64 else values.astype(np.int64)
    # The float64 nearest to a large integer may be one more than the largest integer.
    most = np.nextafter(float(np.iinfo(whole.dtype).max), 0)
    rest = (whole - np.minimum(near, most).astype(whole.dtype)).view(np.int64)
    return np.asarray(near + 1j * rest)


def _of_times(array: Any) -> Keys:
    import pyarrow as pa

    if pa.types.is_date(array.type):
        array = array.cast(pa.timestamp("s" if pa.types.is_date32(array.type) else "ms"))
    per_second = _PER_SECOND[array.type.unit]
    seconds, rest = np.divmod(array.cast(pa.int64()).to_numpy(), per_second)
    return np.asarray(seconds + 1j * (rest * (10**9 // per_second)))


def _of_text(text: str) -> tuple[str, complex]:
    """Return the kind of a text ("number", "time" or "neither") and its key."""
    text = text.strip()
    if is_number(text):
        near = float(text)
        try:
            return "number", complex(near, float(Decimal(text) - Decimal(near)))
        except ArithmeticError:
            # Infinity, NaN, or an exponent that is too small for Decimal.
            return "number", complex(near)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return "neither", complex(np.nan)
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - _START
    below = _NANOSECONDS.search(text)
    rest = since.microseconds * 1000 + (int(below[1].ljust(3, "0")) if below else 0)
    return "time", complex(since.days * 86400 + since.seconds, rest)
