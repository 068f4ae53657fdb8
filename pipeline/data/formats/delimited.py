"""Read CSV and TSV files: one example per line, one column of labels."""

from __future__ import annotations

import csv
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.reading import USUAL, Limits, first_line, in_threads, lines, open_text, whole_lines
from .columns import IF_MISSING, ColumnFile, Kind, remedy
from .labels import is_number

# Bytes read at a time; larger blocks are hardly faster and take more memory.
_BLOCK_BYTES = 1 << 20
# Delimiters suggested if a line does not contain the requested one, and their spelling in TOML.
_DELIMITERS = (";", "\t", "|", ",")
_IN_TOML = {"\t": "\\t"}
# A number with a decimal comma or with thousands separated, such as 1,5 or 1.000,5 or 1,000.5.
_COMMAS = re.compile(r"[+-]?\d+((\.\d{3})*,\d+|(,\d{3})+(\.\d*)?)([eE][+-]?\d+)?")
# Marks of a missing number. Only the first two also mark a missing category, since "NA" may be a category.
_MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "NULL", "null", "None")
_NULLS = [*_MISSING, *(f" {mark}" for mark in _MISSING)]
_OPEN_QUOTE = "a quote is not closed in the line; values must not contain line breaks"
# Arrow counts the rows of a block, not of the file.
_ROW_OF_BLOCK = re.compile(r"Row #\d+: ")


class DelimitedFile(ColumnFile):
    """Read a delimited text file (UTF-8), plain or compressed (.gz, .bz2, .xz).

    `header` says whether the first line contains names; if not, columns are named by their number, from 1. By
    default the first line is a header if none of its fields is a number.
    """

    def __init__(
        self, path: Path, *, delimiter: str = ",", header: bool | None = None, limits: Limits = USUAL
    ) -> None:
        start, text = first_line(path, limits)
        if "\r" in text:
            raise InputError(f"{path}, line {start}: lines end in CR alone; end them in LF or CRLF")
        names = [field.strip() for field in _fields(path, start, text, delimiter)]
        likely = next((each for each in _DELIMITERS if len(names) == 1 and each in text), None)
        if likely is not None:
            raise InputError(
                f"{path}, line {start}: found one column, {names[0]!r}: the delimiter is probably "
                f'{likely!r}; set delimiter = "{_IN_TOML.get(likely, likely)}"'
            )
        if header is None:
            number = next((name for name in names if is_number(name)), None)
            header = number is None
            # pandas numbers columns without names from 0.
            numbered = len(names) > 2 and names == [str(position) for position in range(len(names))]
            if number is not None and (numbered or not all(is_number(name) for name in names)):
                self.hint = (
                    f"line {start} is read as data because its field {number!r} is a number; if it has "
                    "names, set header = true, otherwise header = false"
                )
        if not header:
            names = [str(position) for position in range(1, len(names) + 1)]
        self.path, self.names, self.types = path, tuple(names), ("",) * len(names)
        self._delimiter, self._header, self._limits = delimiter, header, limits
        self._first_row = start + header

    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        # Give Arrow the positions of columns as their names, since names in the file may repeat.
        keys = [str(position) for position in range(len(self.names))]
        types = {
            key: pa.float64() if kind == "number" else pa.string()
            for key, kind in zip(keys, kinds, strict=True)
        }
        parse = arrow_csv.ParseOptions(delimiter=self._delimiter)
        # If missing values are not allowed, no text stands for one, so Arrow refuses an empty numeric field.
        convert = arrow_csv.ConvertOptions(
            column_types=types, null_values=_NULLS if missing else [], strings_can_be_null=False
        )
        # Feed Arrow one block at a time, because its own reader reads many blocks ahead. The block size is
        # large enough that Arrow never splits a block.
        whole = _BLOCK_BYTES + self._limits.max_line

        def parsed(
            numbered: tuple[int, npt.NDArray[np.uint8]],
        ) -> tuple[int, int, pa.Table | pa.ArrowException | None]:
            """Parse a block; return its first line's number, its row count, and rows or Arrow's error."""
            number, block = numbered
            skipped = max(0, self._first_row - number)
            n_rows = _count_rows(block, _start_of_line(block, skipped))
            if not n_rows:
                return number, 0, None
            read = arrow_csv.ReadOptions(
                column_names=keys, block_size=whole, use_threads=False, skip_rows=skipped
            )
            try:
                return number, n_rows, arrow_csv.read_csv(pa.BufferReader(block), read, parse, convert)
            except pa.ArrowException as error:
                return number, n_rows, error

        empty = True
        with open_text(self.path, self._limits) as (stream, report_position):
            for number, n_rows, found in in_threads(parsed, whole_lines(stream, _BLOCK_BYTES)):
                if found is None:
                    continue
                if isinstance(found, pa.ArrowException):
                    self._explain(kinds, missing)
                    reason = _ROW_OF_BLOCK.sub("", str(found).splitlines()[0])
                    raise InputError(
                        f"{self.path}, line {number} or below: cannot be read as delimited text ({reason})"
                    ) from None
                if found.num_rows != n_rows:
                    # The row counts differ, so a quoted value contains a line break. Refuse it, because the
                    # rows would depend on where blocks end.
                    self._refuse_open_quotes(number)
                for batch in found.to_batches():
                    empty = empty and batch.num_rows == 0
                    yield [
                        self._array(batch.column(position), kind, kinds, missing)
                        for position, kind in enumerate(kinds)
                    ]
                report_position()
        if empty:
            raise InputError(f"{self.path}: no rows below the header")

    def place(self, row: int) -> str:
        for found, number, _ in self._rows():
            if found == row:
                return f"{self.path}, line {number} (row {row})"
        return f"{self.path}, row {row}"

    def _rows(self) -> Iterator[tuple[int, int, str]]:
        """Yield (row, line number, text) of the rows, counted as Arrow does: a line of spaces is a row."""
        row = 0
        for number, text in lines(self.path, self._limits, blanks=True):
            for part in text.split("\r") if number >= self._first_row else ():
                if part:
                    row += 1
                    yield row, number, part

    def _array(self, column: Any, kind: Kind | None, kinds: Sequence[Kind | None], missing: bool) -> Any:
        import pyarrow.compute as pc

        if kind == "number":
            found = column.to_numpy(zero_copy_only=False)
            if np.isinf(found).any() if missing else not np.isfinite(found).all():
                self._explain(kinds, missing)
            return found
        if kind == "text":
            trimmed = pc.utf8_trim_whitespace(column)
            unknown = pc.or_(pc.equal(trimmed, _MISSING[0]), pc.equal(trimmed, _MISSING[1]))
            return pc.if_else(unknown, None, trimmed)
        if kind == "as is":
            return pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), "?"), None, column)
        return None

    def _refuse_open_quotes(self, first: int) -> None:
        """Raise an error for the first line with an unclosed quote, searching from line number `first`."""
        for number, text in lines(self.path, self._limits):
            if number >= first and text.count('"') % 2:
                raise InputError(f"{self.path}, line {number}: {_OPEN_QUOTE}")
        raise InputError(f"{self.path}: a row after line {first} spans several lines: write it in one line")

    def _explain(self, kinds: Sequence[Kind | None], missing: bool) -> None:
        """Find the first wrong line and raise an error that names it, since Arrow's own error does not."""
        names = self.names
        for row, number, text in self._rows():
            stored = _fields(self.path, number, text, self._delimiter)
            # Arrow ignores only these around a number.
            fields = [field.strip(" \t") for field in stored]
            where = f"{self.path}, line {number}"
            if len(fields) != len(names):
                raise InputError(f"{where}: found {len(fields)} columns, expected {len(names)} as in line 1")
            # A row with a mark of a missing value is probably data, but pandas gives the index no name.
            named = itertools.dropwhile(lambda field: not field, fields)
            header = row == 1 and all(each not in _MISSING or is_number(each) for each in named)
            hint = f"; {self.hint}" if self.hint and header else ""
            for position, field in enumerate(fields):
                if kinds[position] != "number" or (missing and stored[position] in _NULLS):
                    continue
                at = f"{where} (row {row}), column {names[position]!r}"
                if missing and field in _MISSING:
                    found = stored[position]
                    raise InputError(f"{at}: {found!r} is not read as missing; remove its spaces")
                if not field:
                    raise InputError(f"{at}: no value; {IF_MISSING}{hint}")
                if not _arrow_reads(field):
                    advice = _what_to_do(fields, kinds, names, missing)
                    raise InputError(f"{at}: {field[:60]!r} is not a number{advice}{hint}")
                if math.isnan(float(field)) and not missing:
                    raise InputError(f"{at}: {field}; {IF_MISSING}")
                if math.isinf(float(field)):
                    raise InputError(f"{at}: {field}; every feature must be a finite number")


def _count_rows(block: npt.NDArray[np.uint8], start: int) -> int:
    """Count the non-empty lines of a block from position `start` on; \\r and \\n end a line, as for Arrow."""
    text = block[start:]
    within = (text != 10) & (text != 13)
    return int(np.count_nonzero(within[1:] & ~within[:-1])) + bool(within[:1].any())


def _start_of_line(block: npt.NDArray[np.uint8], line: int) -> int:
    """Return where line `line` (from 0) starts in a block; the block's length if there is no such line."""
    if line == 0:
        return 0
    ends = np.flatnonzero(block == 10)
    return int(ends[line - 1]) + 1 if line <= len(ends) else len(block)


def _what_to_do(
    fields: Sequence[str], kinds: Sequence[Kind | None], names: Sequence[str], missing: bool
) -> str:
    """Return advice for an error about a non-numeric field; it names all columns of the row that have one."""
    wrong = [
        (names[position], field)
        for position, field in enumerate(fields)
        if kinds[position] == "number" and not _arrow_reads(field) and not (missing and field in _MISSING)
    ]
    if _COMMAS.fullmatch(wrong[0][1]):
        return (
            ": it has a decimal comma or separates thousands; write decimal points and no separators (pandas "
            'can read the file with decimal="," or thousands=",")'
        )
    if any(field in _MISSING for _, field in wrong):
        return (
            f'; if it marks a missing value, set missing = "mean" or "indicator"; otherwise '
            f"{remedy([wrong[0][0]])}"
        )
    return f"; for categories, {remedy([name for name, _ in wrong])}"


def _arrow_reads(field: str) -> bool:
    """Return whether Arrow reads a field as a number; Python also reads Unicode digits and form feeds."""
    return field.isascii() and field == field.strip() and is_number(field)


def _fields(path: Path, number: int, text: str, delimiter: str) -> list[str]:
    """Return the fields of a line, with the spaces around them."""
    try:
        # With an open quote the reader would continue in the second line.
        rows = csv.reader([text, ""], delimiter=delimiter)
        fields = next(rows)
    except csv.Error as error:
        raise InputError(f"{path}, line {number}: not delimited text ({error})") from None
    if rows.line_num > 1:
        raise InputError(f"{path}, line {number}: {_OPEN_QUOTE}")
    return fields
