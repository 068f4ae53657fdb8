"""Read ARFF files (the format of Weka and OpenML), dense and sparse."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from decimal import Context, Decimal
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import arff

from ...errors import InputError
from ..io.reading import USUAL, Limits, TextStream, decode_line, in_threads, open_text, whole_lines
from ..tables.tasks import listed
from .columns import ColumnFile, Kind
from .labels import is_number

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes read at a time.
_BLOCK_BYTES = 1 << 20
# Marks of quotes, sparse rows, comments, escapes and NUL. Arrow's fast CSV reader reads the rows up to the
# first block with such a mark; the slower ARFF parser reads all lines from there on.
_UNUSUAL = tuple(bytes([each]) for each in b"\"'{}%\\\x00")
# Number of values that the ARFF parser reads before they are stored in arrays, since each is a Python object
# of some 60 bytes.
_BATCH_VALUES = 1 << 16
# A declared attribute: its name, its type and, perhaps, a comment.
_DECLARATION = re.compile(
    r"""(?i)^@attribute\s+('[^']*'|"[^"]*"|'.*'|".*"|[^{}%,\s]+)\s+"""
    r"""(\{(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^{}'"])*\}|\{.*\}|[a-z]+)(?:\s*%.*)?$"""
)
# Keeps all digits of the numbers in a file.
_ALL_DIGITS = Context(prec=1000)
# The ARFF parser adds a line number to its messages, but it is always -1.
_NO_LINE = re.compile(r",? (?:at|in) line -1")
# The position of each value of a sparse row, and quoted text, which may contain the same characters.
_POSITION = re.compile(r"[{,]\s*(\d+)\s")
_QUOTED = re.compile(r"""(["'])(?:\\.|(?!\1).)*\1""")
# Exceptions that the ARFF parser raises on malformed files.
_FAULTS = (arff.ArffException, ValueError, TypeError, IndexError, KeyError, AttributeError)
_HEADER = (
    "expected are @relation, then lines '@attribute NAME TYPE' (numeric, real, integer, string or {values}; "
    "no dates), then @data"
)


class ArffFile(ColumnFile):
    """Read an ARFF file in bounded memory.

    A nominal attribute becomes a column of categories with the declared values, also if it is the label. The
    mark ``?`` is a missing value. The file is UTF-8, plain or compressed (.gz, .bz2, .xz).
    """

    def __init__(self, path: Path, *, limits: Limits = USUAL) -> None:
        self.path, self._limits = path, limits
        with open_text(path, limits) as (stream, _):
            attributes, _, _ = _decoded(path, limits, enumerate(stream, start=1))
            self.names = tuple(name for name, _ in attributes)
            self._types = tuple(declared for _, declared in attributes)
        self.types = tuple(_type(declared) for declared in self._types)
        self._strings = [i for i, declared in enumerate(self._types) if declared == "STRING"]

    def declared(self, position: int) -> tuple[str, ...] | None:
        declared = self._types[position]
        return None if isinstance(declared, str) else tuple(declared)

    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        done = 0
        # Positions of numbers to read as text, since float64 would round large ones and long fractions.
        exact = {i for i, kind in enumerate(kinds) if kind in ("text", "as is") and self.types[i] == "number"}
        with open_text(self.path, self._limits) as (stream, report_position):
            head = list(_head(stream))
            blocks = (
                (len(head) + first, block.tobytes()) for first, block in whole_lines(stream, _BLOCK_BYTES)
            )
            found = in_threads(lambda numbered: (*numbered, self._plain_rows(numbered[1], exact)), blocks)
            for first, block, columns in found:
                if columns is None:
                    # Arrow cannot read this block: the ARFF parser reads the header and all remaining rows.
                    rest = chain([(first, block)], ((number, each) for number, each, _ in found))
                    for batch in self._rows(head, rest, done, exact):
                        read = list(map(_of_parser, zip(*batch, strict=True), kinds))
                        yield [self._array(i, read[i], kind, done, missing) for i, kind in enumerate(kinds)]
                        done += len(batch)
                        report_position()
                elif len(columns[0]):
                    yield [self._array(i, columns[i], kind, done, missing) for i, kind in enumerate(kinds)]
                    done += len(columns[0])
                report_position()
        if not done:
            raise InputError(f"{self.path}: no rows below @data")

    def _plain_rows(self, block: bytes, exact: Set[int]) -> list[pa.Array] | None:
        """Read a block with Arrow's CSV reader; return its columns, or None if only the ARFF parser can."""
        import pyarrow as pa
        from pyarrow import compute, csv

        if any(mark in block for mark in _UNUSUAL) or block.count(b"\r") != block.count(b"\r\n"):
            return None
        # Arrow would read -nan(ind) as NaN.
        if b"(" in block and b"nan(" in block.lower():
            return None
        names = [str(position) for position in range(len(self.names))]
        types = {
            name: pa.float64() if of == "number" and i not in exact else pa.string()
            for i, (name, of) in enumerate(zip(names, self.types, strict=True))
        }
        read = csv.ReadOptions(column_names=names, block_size=len(block) + 1, use_threads=False)
        # Arrow refuses empty fields only in columns of numbers, so the loop below checks the other columns.
        convert = csv.ConvertOptions(column_types=types, null_values=["?"], strings_can_be_null=True)
        parse = csv.ParseOptions(quote_char=False)
        try:
            found = csv.read_csv(pa.BufferReader(block), read, parse, convert)
            columns = [column.combine_chunks() for column in found.columns]
            for position, column in enumerate(columns):
                if types[names[position]] == pa.float64():
                    continue
                column = compute.utf8_trim_whitespace(column)
                # Arrow has found "?" only if no blanks are around it.
                columns[position] = column = compute.if_else(compute.equal(column, "?"), None, column)
                declared = self.declared(position)
                for value in column.unique().drop_null().to_pylist():
                    if len(value.split()) != 1 or (declared is not None and value not in declared):
                        return None
                    if position in exact and not is_number(value):
                        return None
        except (pa.ArrowException, UnicodeDecodeError):
            return None
        return columns

    def _rows(
        self,
        head: Sequence[tuple[int, bytes]],
        blocks: Iterable[tuple[int, bytes]],
        done: int,
        exact: Set[int],
    ) -> Iterator[list[list[Any]]]:
        """Yield batches of the rows in blocks of lines, read by the ARFF parser; `done` rows precede them."""
        below = ((first + i, raw) for first, block in blocks for i, raw in enumerate(block.split(b"\n")))
        _, data, line = _decoded(self.path, self._limits, chain(head, below), exact)
        rows = max(1, _BATCH_VALUES // len(self.names))
        while batch := self._next(data, rows, line, done, exact):
            yield batch
            done += len(batch)

    def place(self, row: int) -> str:
        with open_text(self.path, self._limits) as (stream, _):
            _, data, line = _decoded(self.path, self._limits, enumerate(stream, start=1))
            for _ in islice(data, row):
                pass
            return f"{self.path}, line {line[0]} (row {row})"

    def _next(
        self, data: Iterator[list[Any]], rows: int, line: list[Any], done: int, exact: Set[int]
    ) -> list[list[Any]]:
        batch: list[list[Any]] = []
        try:
            for values in islice(data, rows):
                if line[1].startswith("{"):
                    self._drop_omitted(values, line[1])
                for position in exact:
                    if values[position] is not None:
                        float(values[position])  # raises ValueError if it is not a number
                batch.append(values)
        except _FAULTS as error:
            at = f"{self.path}, line {line[0]} (row {done + len(batch) + 1})"
            raise InputError(self._fault(at, line[1], _said(error))) from None
        return batch

    def _drop_omitted(self, values: list[Any], text: str) -> None:
        """Set the strings that a sparse row omits to None, since the ARFF parser returns "0" for them.

        Raises ValueError if the row has two values of an attribute, since the parser returns the last one.
        """
        quoted = "'" in text or '"' in text
        stated = _POSITION.findall(_QUOTED.sub("''", text) if quoted else text)
        if len(set(stated)) < len(stated):
            raise ValueError("an attribute has two values")
        for position in self._strings:
            if values[position] == "0" and position not in map(int, stated):
                values[position] = None

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
                if field in ("?", ""):
                    continue
                if isinstance(declared, str):
                    if declared != "STRING" and not is_number(field):
                        return f"{at}, column {name!r}: {field[:60]!r} is not a number"
                elif field not in declared:
                    values = listed(declared)
                    return (
                        f"{at}, column {name!r}: {field[:60]!r} is not one of the declared values: {values}"
                    )
        return f"{at}: not a row of an ARFF file ({error.rstrip('.')})"

    def _array(self, position: int, column: pa.Array, kind: Kind | None, done: int, missing: bool) -> Any:
        if kind == "number":
            found = column.to_numpy(zero_copy_only=False)
            self.refuse_wrong(position, found, done, missing)
            return found
        if kind and self.types[position] == "number":
            return _of_numbers(column)
        return column if kind else None


def _of_parser(values: Sequence[Any], kind: Kind | None) -> pa.Array | None:
    """Return values of the ARFF parser as an Arrow array of numbers or text; None if they are not needed."""
    import pyarrow as pa

    if kind is None:
        return None
    if kind == "number":
        return pa.array(values, pa.float64())
    return pa.array([None if each is None else str(each).strip() for each in values], pa.string())


def _said(error: Exception) -> str:
    try:
        return _NO_LINE.sub("", str(error))
    except Exception:
        # str(error) itself may fail, because the ARFF parser uses text of the file as a format string.
        return "a value that is not one of those declared"


def _of_numbers(texts: pa.Array) -> pa.Array:
    """Return numbers as text that is the same for equal numbers; NaN is null."""
    import pyarrow as pa

    coded = texts.dictionary_encode()
    shortest = [_shortest(text) for text in coded.dictionary.to_pylist()]
    return pa.array(shortest, pa.string()).take(coded.indices)


def _shortest(text: str) -> str | None:
    """Return a text that is the same for equal numbers, such as "1" for "1.0", or None for NaN.

    Fractions of up to 17 digits are equal if their float64 values are; integers and longer fractions keep all
    their digits.
    """
    number = float(text)
    if number != number:
        return None
    # A number that is too large for float64 is whole.
    whole = number.is_integer() or math.isinf(number)
    usual = str(int(number)) if number.is_integer() else repr(number)
    try:
        exact = Decimal(text).normalize(_ALL_DIGITS)
    except ArithmeticError:
        # Decimal allows fewer exponents than float.
        return text
    if exact == Decimal(usual) or not (whole or len(exact.as_tuple().digits) > 17):
        return usual
    return format(exact, "f")


def _type(declared: Any) -> str:
    if not isinstance(declared, str):
        return "category"
    return "string" if declared == "STRING" else "number"


def _plain(declaration: re.Match[str], exact: bool) -> str:
    """Rewrite ``@attribute NAME TYPE`` for the ARFF parser: single spaces, and NUMERIC for INTEGER.

    With `exact` the parser shall return numbers as text.
    """
    name, declared = declaration.groups()
    if exact:
        return f"@ATTRIBUTE {name} STRING"
    return f"@ATTRIBUTE {name} {'NUMERIC' if declared.upper() == 'INTEGER' else declared}"


def _head(stream: TextStream) -> Iterator[tuple[int, bytes]]:
    """Yield the numbered lines of a file up to the line with @data."""
    for number, raw in enumerate(stream, start=1):
        yield number, raw
        if raw.strip()[:5].lower() == b"@data":
            return


def _decoded(
    path: Path, limits: Limits, lines: Iterable[tuple[int, bytes]], exact: Set[int] = frozenset()
) -> tuple[list[tuple[str, Any]], Iterator[list[Any]], list[Any]]:
    """Parse the numbered lines of an ARFF file; return attributes, an iterator of rows, and the current line.

    The current line is a list [number, text], which changes while rows are read. `exact` are the positions of
    numbers to return as text.
    """
    line: list[Any] = [0, ""]

    def refusal() -> InputError:
        return InputError(
            f"{path}, line {line[0]}: not the header of an ARFF file: {line[1][:60]!r}: {_HEADER}"
        )

    def numbered() -> Iterator[str]:
        # Names of relations are not used, and the ARFF parser refuses many of them.
        yield "@RELATION r"
        declared, head = 0, True
        for number, raw in lines:
            line[:] = number, decode_line(path, number, raw).strip()
            # Skip comments: the ARFF parser concatenates them in quadratic time.
            if not line[1] or line[1].startswith("%"):
                continue
            if not head:
                yield line[1]
                continue
            key = line[1][:10].lower()
            if key.startswith("@relation"):
                continue
            declared += key == "@attribute"
            if declared > limits.max_features:
                raise InputError(
                    f"{path}, line {number}: more attributes than max_features = "
                    f"{limits.max_features:,}; if that is right, raise this option of the data set"
                )
            head = not key.startswith("@data")
            rewritten, fits = _DECLARATION.subn(partial(_plain, exact=declared - 1 in exact), line[1])
            # The ARFF parser skips other lines, such as misspelled ones, and rows.
            if head and not fits:
                raise refusal()
            yield rewritten

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
        raise refusal() from error
    for name, domain in found["attributes"]:
        if not isinstance(domain, str) and (not domain or None in domain or "" in domain):
            raise InputError(f"{path}: the attribute {name!r} declares no values, or an empty one")
    return found["attributes"], iter(found["data"]), line
