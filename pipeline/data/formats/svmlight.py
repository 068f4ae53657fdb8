"""svmlight / LIBSVM text: ``label index:value index:value …``, sparse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.spill import SpillingArray
from ..io.text import decode_line, first_line, open_watched
from ..tables.cache import cache_folder
from ..tables.stream import Table
from .labels import encode_labels, is_number

if TYPE_CHECKING:
    from .tokenizer import Tokens

# A block with its tokens takes about ten times its size, and larger blocks are no faster.
_BLOCK_BYTES = 1 << 18


def read_svmlight(
    path: Path,
    test: Path | None = None,
    *,
    n_features: int = 0,
    zero_based: bool = False,
    dense: bool = False,
    dtype: str = "",
) -> Table:
    """Read an svmlight file, and its test file with it so that both have the same features.

    Parameters
    ----------
    path, test : Path
        Plain text or .gz, .bz2, .xz.
    n_features : int, default=0
        Number of features; 0 takes the largest index of both files.
    zero_based : bool, default=False
        Whether indices start at 0; LIBSVM's own files start at 1.
    dense : bool, default=False
        Return a dense array instead of CSR.
    dtype : str, default=""
        "float32" or "float64" (the default).

    Returns
    -------
    Table
        CSR with int32 indices unless `dense`.

    Raises
    ------
    InputError
        Naming the file and the line.
    """
    paths = [path] if test is None else [path, test]
    for each in paths:
        first_line(each)
    parts = [_read(each, n_features, zero_based, dtype or "float64") for each in paths]
    width = n_features or max(part.width for part in parts)
    classes, y, y_test = encode_labels(parts[0].labels, path, parts[1].labels if test else None, test)
    matrices: list[Any] = [part.matrix(width) for part in parts]
    if dense:
        matrices = [np.ascontiguousarray(X.toarray()) for X in matrices]
    return Table(matrices[0], y, classes, matrices[1] if test else None, y_test)


def svmlight_blocks(path: Path, *, n_features: int = 0, zero_based: bool = False) -> Iterator[Tokens]:
    """Yield the lines of an svmlight file a few MB at a time, in file order, in bounded memory.

    Parameters
    ----------
    path, n_features, zero_based
        As in `read_svmlight`.

    Raises
    ------
    InputError
        Naming the file and the line, when the block with that line is reached.
    """
    # Numba is not needed to list or to plan.
    from .tokenizer import tokenize

    with open_watched(path) as (stream, report_position):
        number, rest = 1, b""
        while True:
            block = stream.read(_BLOCK_BYTES)
            if number == 1 and not rest:
                block = block.removeprefix(b"\xef\xbb\xbf")
            whole, newline, tail = (rest + block).rpartition(b"\n")
            # The last line may lack its end.
            whole, rest = (whole + newline, tail) if block else (rest, b"")
            if whole:
                tokens = tokenize(whole, zero_based=zero_based, n_features=n_features)
                if tokens is None:
                    _explain(path, number, whole, n_features, zero_based)
                    raise InputError(f"{path}, at or after line {number}: not svmlight text")
                yield tokens
                number += whole.count(b"\n")
            report_position()
            if not block:
                return


@dataclass(frozen=True, eq=False)
class _Parsed:
    """A file, read: labels as numbers, the parts of its CSR form, and one more than its largest index."""

    path: Path
    labels: npt.NDArray[np.float64]
    data: npt.NDArray[Any]
    indices: npt.NDArray[np.int32]
    indptr: npt.NDArray[np.int32]
    width: int

    def matrix(self, width: int) -> Any:
        from scipy.sparse import csr_array

        return csr_array((self.data, self.indices, self.indptr), shape=(len(self.labels), width))


def _read(path: Path, n_features: int, zero_based: bool, dtype: str) -> _Parsed:
    folder = cache_folder() / "streams"
    labels = SpillingArray(np.float64, folder)
    data: SpillingArray[Any] = SpillingArray(np.dtype(dtype).type, folder)
    indices, ends = SpillingArray(np.int32, folder), SpillingArray(np.int32, folder)
    ends.append(np.zeros(1))
    width = 0
    for tokens in svmlight_blocks(path, n_features=n_features, zero_based=zero_based):
        if data.size + len(tokens.values) >= 2**31:
            raise InputError(
                f"{path}: 2^31 non-zeros or more; the index of a stream is 32 bit, so split the file"
            )
        ends.append(tokens.row_ends + data.size)
        labels.append(tokens.labels)
        data.append(tokens.values)
        indices.append(tokens.indices)
        if len(tokens.indices):
            width = max(width, int(tokens.indices.max()) + 1)
    return _Parsed(path, labels.finish(), data.finish(), indices.finish(), ends.finish(), width)


def _explain(path: Path, first: int, block: bytes, n_features: int, zero_based: bool) -> None:
    """Raise the error of the first wrong line of a block; the fast parser does not say which it is."""
    lowest = 0 if zero_based else 1
    for number, raw in enumerate(block.split(b"\n"), start=first):
        text = decode_line(path, number, raw)
        fields = text.partition("#")[0].split()
        if not fields:
            continue
        where = f"{path}, line {number}"
        if not is_number(fields[0]) or not math.isfinite(float(fields[0])):
            raise InputError(
                f"{where}: the label {fields[0]!r} is not a number; "
                "in CSV and Parquet files a label may be text"
            )
        last = lowest - 1
        for field in fields[1:]:
            index, colon, value = field.partition(":")
            if index == "qid":
                continue
            if not colon or not index.isdecimal() or not is_number(value):
                raise InputError(f"{where}: {field!r} is not of the form index:number")
            if int(index) < lowest:
                raise InputError(
                    f"{where}: index 0, but indices start at 1; set zero_based = true if 0 is meant"
                )
            if int(index) <= last:
                raise InputError(f"{where}: index {index} follows {last}; indices must rise along a line")
            if n_features and int(index) >= n_features + lowest:
                raise InputError(f"{where}: index {index} is past n_features = {n_features}")
            if not math.isfinite(float(value)):
                raise InputError(
                    f"{where}: feature {index} is {value}; every feature must be a finite number"
                )
            last = int(index)
