"""Read Parquet and Arrow files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import InputError
from ..io.progress import report
from .columns import ColumnFile, Kind

if TYPE_CHECKING:
    import pyarrow as pa

# Size in bytes of the batches in which rows are read, if all values are float64.
_BATCH_BYTES = 1 << 22
_READ_BYTES = 1 << 18


class ArrowFile(ColumnFile):
    """Read a Parquet file, or one of kind "arrow" (IPC file, IPC stream or Feather), in bounded memory."""

    def __init__(self, path: Path, kind: Literal["parquet", "arrow"]) -> None:
        self.path, self._kind = path, kind
        with _opened(path, kind) as (schema, _, _):
            self.names = tuple(schema.names)
            self.types = tuple(_type(field.type) for field in schema)
            # "float" is Arrow's name of float32; a column of type "null" has no numbers.
            self.singles = frozenset(
                i for i, field in enumerate(schema) if str(field.type) in ("float", "null")
            )
            self.index = _index_columns(schema)

    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        size, done = self.path.stat().st_size, 0
        with _opened(self.path, self._kind) as (_, found, stored):
            for batch in found:
                # Check the batch, since offsets of texts in a damaged file may point outside its data.
                batch.validate(full=True)
                if batch.num_rows:
                    yield [
                        self._array(position, batch.column(position), kind, done, missing)
                        for position, kind in enumerate(kinds)
                    ]
                done += batch.num_rows
                report(self.path.name, stored(done), size)
            report(self.path.name, size, size)

    def place(self, row: int) -> str:
        return f"{self.path}, row {row}"

    def _array(self, position: int, column: pa.Array, kind: Kind | None, done: int, missing: bool) -> Any:
        import pyarrow as pa

        if kind == "number":
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype != np.float32:
                # Convert to float64 with NaN; Arrow returns decimals, and booleans with nulls, as objects.
                values = values.astype(np.float64)
            self.refuse_wrong(position, values, done, missing)
            return values
        if kind == "text":
            try:
                return _text(_decoded(column))
            except pa.ArrowException:
                raise InputError(
                    f"{self.path}, column {self.names[position]!r}: contains {column.type}, which cannot be "
                    "categories; name the column in ignore"
                ) from None
        return self._plain(position, column) if kind else None

    def _plain(self, position: int, column: pa.Array) -> pa.Array:
        """Return labels or values to sort by, without the unused values that a dictionary may list."""
        import pyarrow as pa

        at = f"{self.path}, column {self.names[position]!r}"
        try:
            column = _decoded(column)
            if _is_bytes(column.type):
                column = column.cast(pa.string())
            # Labels are encoded later; try it without rows, to refuse a type that Arrow cannot encode.
            column.slice(0, 0).dictionary_encode()
        except pa.ArrowInvalid:
            raise InputError(f"{at}: contains bytes that are not UTF-8 text; store text or numbers") from None
        except pa.ArrowException:
            raise InputError(
                f"{at}: contains {column.type}, which can neither be a label nor be sorted by; store text"
            ) from None
        return column


@contextmanager
def _opened(
    path: Path, kind: Literal["parquet", "arrow"]
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch], Callable[[int], int]]]:
    """Open a file; yield its schema, its batches of rows, and a function: bytes read after n rows.

    Arrow's errors, also those during iteration, become one-line InputErrors.
    """
    import pyarrow as pa
    from pyarrow import feather, ipc, parquet

    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty")
    try:
        if kind == "parquet":
            # Use a buffer to save memory: it reads each column of a row group piece by piece, not at once.
            with parquet.ParquetFile(path, buffer_size=_READ_BYTES, pre_buffer=False) as file:
                rows = max(1, _BATCH_BYTES // (8 * max(1, len(file.schema_arrow.names))))
                # For progress reports, the position in the file is estimated by the share of rows that were
                # read, because a row group is compressed as a whole.
                size, n = path.stat().st_size, max(1, file.metadata.num_rows)
                yield file.schema_arrow, file.iter_batches(batch_size=rows), lambda done: size * done // n
            return
        with path.open("rb") as source:
            magic = source.read(6)
            source.seek(0)
            # Detect the kind of Arrow file: an IPC file (or Feather version 2) begins with "ARROW1", Feather
            # version 1 with "FEA1"; an IPC stream has no magic bytes.
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
    except (pa.ArrowException, MemoryError, OSError, UnicodeDecodeError) as error:
        shown = "a Parquet" if kind == "parquet" else "an Arrow"
        # Wrong sizes in a damaged file may raise a MemoryError without a message.
        reason = (str(error).splitlines() or ["out of memory"])[0]
        raise InputError(f"{path}: damaged or not {shown} file ({reason})") from None


def _index_columns(schema: pa.Schema) -> frozenset[str]:
    """Return the names of the columns in which pandas has stored the index of a data frame."""
    try:
        named = (schema.pandas_metadata or {})["index_columns"]
        # An index of consecutive numbers is described by a dictionary and has no column.
        return frozenset(name for name in named if isinstance(name, str)) & frozenset(schema.names)
    except (ValueError, KeyError, TypeError):
        # Other programs may write other metadata under this name.
        return frozenset()


def _decoded(column: pa.Array) -> pa.Array:
    """Return a dictionary column as its values; Arrow cannot decode a dictionary of string views."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    if column.type.value_type == pa.string_view():
        values = column.dictionary.cast(pa.large_string())
        column = pa.DictionaryArray.from_arrays(column.indices, values)
    return column.dictionary_decode()


def _text(column: pa.Array) -> pa.Array:
    """Return categories or text; NaN is missing, and a whole float is the same category as the integer."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = column.cast(pa.string())
    if pa.types.is_floating(column.type):
        # Arrow writes 1e10 as "1e+10".
        values = column.cast(pa.float64())
        is_whole = pc.and_(pc.equal(pc.floor(values), values), pc.less(pc.abs(values), 2.0**63))
        whole = pc.if_else(is_whole, values, None).cast(pa.int64()).cast(pa.string())
        texts = pc.if_else(pc.is_nan(column), None, pc.coalesce(whole, texts))
    return pc.utf8_trim_whitespace(texts)


def _is_bytes(stored: pa.DataType) -> bool:
    from pyarrow import types

    kinds = types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    return any(of_kind(stored) for of_kind in kinds)


def _type(stored: pa.DataType) -> str:
    from pyarrow import types

    # Without a value in this file, a column has the type "null"; other files may have numbers.
    numeric = types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null
    if any(of_kind(stored) for of_kind in numeric):
        return "number"
    # Only a dictionary type says that a column has categories; text may also be names or free text.
    return "category" if types.is_dictionary(stored) else str(stored)
