"""Read ARFF files (the format of Weka and OpenML), dense and sparse."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import arff
import numpy as np

from ...errors import InputError
from ..io.reading import USUAL, Limits, decode_line, open_text
from ..tables.tasks import listed
from .columns import ColumnFile, Kind
from .labels import is_number

# Values in a batch; each is a Python object of some 60 bytes until it is stored in an array.
_BATCH_VALUES = 1 << 16
_DECLARATION = re.compile(r"(?i)^@attribute\s+(.*\S)\s+(\{.*\}|[a-z]+)$")
# Exceptions that the reader raises on malformed files.
_FAULTS = (arff.ArffException, ValueError, TypeError, IndexError, KeyError, AttributeError)
_HEADER = (
    "expected are @relation, then lines '@attribute NAME TYPE' (numeric, real, integer, string or {values}; "
    "no dates), then @data"
)


class ArffFile(ColumnFile):
    """Read an ARFF file in bounded memory.

    A nominal attribute is a category with its declared values, also if it is the label. ``?`` is a missing
    value. The file is UTF-8, plain or .gz, .bz2, .xz.
    """

    def __init__(self, path: Path, *, limits: Limits = USUAL) -> None:
        self.path, self._limits = path, limits
        with _opened(path, limits) as (attributes, _, _, _):
            self.names = tuple(name for name, _ in attributes)
            self._types = tuple(declared for _, declared in attributes)
        self.types = tuple(_type(declared) for declared in self._types)

    def declared(self, position: int) -> tuple[str, ...] | None:
        declared = self._types[position]
        return None if isinstance(declared, str) else tuple(declared)

    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        done = 0
        rows = max(1, _BATCH_VALUES // len(self.names))
        with _opened(self.path, self._limits) as (_, data, line, report_position):
            while batch := self._next(data, rows, line, done):
                columns = list(zip(*batch, strict=True))
                yield [
                    self._array(position, columns[position], kind, done, missing)
                    for position, kind in enumerate(kinds)
                ]
                done += len(batch)
                report_position()
        if not done:
            raise InputError(f"{self.path}: no rows below @data")

    def place(self, row: int) -> str:
        with _opened(self.path, self._limits) as (_, data, line, _):
            for _ in islice(data, row):
                pass
            return f"{self.path}, line {line[0]} (row {row})"

    def _next(self, data: Iterator[list[Any]], rows: int, line: list[Any], done: int) -> list[list[Any]]:
        batch: list[list[Any]] = []
        try:
            for values in islice(data, rows):
                batch.append(values)
        except _FAULTS as error:
            at = f"{self.path}, line {line[0]} (row {done + len(batch) + 1})"
            raise InputError(self._fault(at, line[1], _said(error))) from None
        return batch

    def _fault(self, at: str, text: str, error: str) -> str:
        """Return the error message for a wrong line, with the column, which the ARFF parser does not name."""
        if not text.startswith("{"):
            quote = "'" if "'" in text else '"'
            reader = csv.reader([text], quotechar=quote, escapechar="\\", skipinitialspace=True)
            try:
                fields = [field.strip() for field in next(reader, [])]
            except csv.Error:
                return f"{at}: not a row of an ARFF file (a line break inside the row, or an open quote)"
            if len(fields) != len(self.names):
                return f"{at}: found {len(fields)} values, expected {len(self.names)} as declared"
            for name, declared, field in zip(self.names, self._types, fields, strict=True):
                if field == "?":
                    continue
                if isinstance(declared, str):
                    if declared != "STRING" and not is_number(field):
                        return f"{at}, column {name!r}: {field!r} is not a number"
                elif field not in declared:
                    values = listed(declared)
                    return f"{at}, column {name!r}: {field!r} is not one of the declared values: {values}"
        return f"{at}: not a row of an ARFF file ({error.rstrip('.')})"

    def _array(
        self, position: int, values: tuple[Any, ...], kind: Kind | None, done: int, missing: bool
    ) -> Any:
        import pyarrow as pa

        if kind is None:
            return None
        if kind == "number":
            found = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
            self.refuse_wrong(position, found, done, missing)
            return found
        if kind == "as is" and self.types[position] == "number":
            return pa.array(values, type=pa.float64())
        return pa.array([None if value is None else _text(value) for value in values], type=pa.string())


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:
        # The reader uses text of the file as a format string, so that str(error) itself may fail.
        return "a value that is not one of those declared"


def _text(value: Any) -> str:
    # Format a number that is read as a category the way it was probably written.
    return f"{value:g}" if isinstance(value, float) else str(value).strip()


def _type(declared: Any) -> str:
    if not isinstance(declared, str):
        return "category"
    return "string" if declared == "STRING" else "number"


def _plain(declaration: re.Match[str]) -> str:
    """Rewrite ``@attribute NAME TYPE`` for the ARFF parser: single spaces, and NUMERIC for INTEGER."""
    name, declared = declaration.groups()
    return f"@ATTRIBUTE {name} {'NUMERIC' if declared.upper() == 'INTEGER' else declared}"


@contextmanager
def _opened(
    path: Path, limits: Limits
) -> Iterator[tuple[list[tuple[str, Any]], Iterator[list[Any]], list[Any], Any]]:
    """Open a file; yield attributes, rows, the current line as [number, text], and a progress function."""
    line: list[Any] = [0, ""]
    with open_text(path, limits) as (stream, report_position):

        def numbered() -> Iterator[str]:
            declared = 0
            for number, raw in enumerate(stream, start=1):
                line[:] = number, decode_line(path, number, raw).strip()
                # Skip comments: the reader concatenates them in quadratic time.
                if not line[1] or line[1].startswith("%"):
                    continue
                declared += line[1][:10].lower() == "@attribute"
                if declared > limits.max_features:
                    raise InputError(
                        f"{path}, line {number}: more attributes than max_features = "
                        f"{limits.max_features:,}; if that is right, raise this option of the data set"
                    )
                yield _DECLARATION.sub(_plain, line[1]) if line[1].startswith("@") else line[1]

        try:
            found = arff.load(numbered(), return_type=arff.DENSE_GEN)
        except arff.BadAttributeName:
            declared = _DECLARATION.match(line[1])
            name = declared[1] if declared else line[1]
            raise InputError(
                f"{path}, line {line[0]}: more than one attribute is called {name!r}; rename one"
            ) from None
        except _FAULTS as error:
            if not line[0]:
                raise InputError(f"{path}: the file is empty") from None
            shown = f"{line[1][:60]!r}: {_HEADER}" if line[1].startswith("@") else _HEADER
            raise InputError(f"{path}, line {line[0]}: not the header of an ARFF file: {shown}") from error
        for name, domain in found["attributes"]:
            if not isinstance(domain, str) and (not domain or None in domain or "" in domain):
                raise InputError(f"{path}: the attribute {name!r} declares no values, or an empty one")
        yield found["attributes"], iter(found["data"]), line, report_position
