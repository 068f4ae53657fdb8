"""Read svmlight / LIBSVM text (``label index:value index:value …``) as sparse rows."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.reading import USUAL, Limits, decode_line, first_line, open_text, whole_lines
from ..io.spill import SpillingArray
from ..tables.cache import cache_folder
from ..tables.stream import SpillingMatrix, Table, first_where, int32_csr
from .labels import encode_labels

Number = TypeVar("Number", int, float)
Floats = npt.NDArray[np.float64]

# Bytes read at a time; larger blocks are hardly faster and take more memory.
_BLOCK_BYTES = 1 << 17
_COMMENT = re.compile(rb"#.*")
# scikit-learn's reader accepts these errors: the underscore of 1_0, "qid" as the start of another name, a
# sign before an index. Four patterns that start with a literal are several times as fast as one combined
# pattern.
_DOUBTFUL = [re.compile(pattern) for pattern in (rb"_", rb"qid(?!:)", rb"\+\d*:", rb"-\d*:")]


def read_svmlight(
    path: Path,
    test: Path | None = None,
    *,
    n_features: int = 0,
    zero_based: bool = False,
    dense: bool = False,
    dtype: str = "",
    limits: Limits = USUAL,
) -> Table:
    """Read an svmlight file together with its test file, so that both have the same features.

    An `n_features` of 0 takes as many features as both files need, at most ``limits.max_features``.
    `zero_based` says that indices start at 0; LIBSVM's own files start at 1. `dense` returns an array instead
    of CSR with int32 indices. `dtype` is "float32" or "float64" (the default).
    """
    paths = [path] if test is None else [path, test]
    for each in paths:
        first_line(each, limits)
    parts = [_all_rows(each, n_features, zero_based, dtype or "float64", limits) for each in paths]
    width = n_features or max(width for *_, width in parts)
    classes, y, y_test = encode_labels(parts[0][0], path, parts[1][0] if test else None, test)
    matrices: list[Any] = [rows.finish((len(labels), width)) for labels, rows, _ in parts]
    if dense:
        matrices = [np.ascontiguousarray(X.toarray()) for X in matrices]
    return Table(matrices[0], y, classes, matrices[1] if test else None, y_test)


def svmlight_blocks(
    path: Path, *, n_features: int = 0, zero_based: bool = False, limits: Limits = USUAL
) -> Iterator[tuple[Any, Floats]]:
    """Yield (X, labels) for blocks of lines of an svmlight file, in file order and bounded memory.

    X is CSR, float64 with int32 indices; its width is the largest index so far unless `n_features` is given.
    """
    with open_text(path, limits) as (stream, report_position):
        width, most = 0, n_features or limits.max_features
        bound = f"n_features = {n_features}" if n_features else f"max_features = {most:,}"
        for number, whole in whole_lines(stream, _BLOCK_BYTES):
            X, labels = _read_block(path, number, whole, most, zero_based, bound)
            width = n_features or max(width, int(X.indices.max(initial=-1)) + 1)
            X.resize((len(labels), width))
            yield X, labels
            report_position()
        report_position()


def _all_rows(
    path: Path, n_features: int, zero_based: bool, dtype: str, limits: Limits
) -> tuple[Floats, SpillingMatrix, int]:
    """Read all rows of a file in bounded memory; return labels, rows, and the largest index as the width."""
    folder = cache_folder() / "streams"
    labels, rows, width = SpillingArray(np.float64, folder), SpillingMatrix(folder, path), 0
    for X, y in svmlight_blocks(path, n_features=n_features, zero_based=zero_based, limits=limits):
        if dtype == "float32":
            over = np.abs(X.data) > np.finfo(np.float32).max
            if over.any():
                row, column, value = first_where(X, over)
                raise InputError(
                    f"{path}, row {labels.size + row + 1}, feature {column + 1}: {value} does not fit "
                    'float32; set dtype = "float64"'
                )
        rows.append(X.astype(dtype, copy=False))
        labels.append(y)
        width = X.shape[1]
    return labels.finish(), rows, width


def _read_block(
    path: Path, first: int, block: bytes, most: int, zero_based: bool, bound: str
) -> tuple[Any, Floats]:
    """Read complete lines, starting with line number `first`, as CSR and labels."""
    # scikit-learn is imported only here, because listing and planning do not need it.
    from sklearn.datasets import load_svmlight_file

    block = _COMMENT.sub(b"", block)
    if not any(pattern.search(block) for pattern in _DOUBTFUL):
        with suppress(ValueError, OverflowError):
            X, labels = load_svmlight_file(BytesIO(block), n_features=most, zero_based=zero_based)
            if np.isfinite(X.data).all() and np.isfinite(labels).all():
                return int32_csr(X), labels
    return _read_lines(path, first, block, most, zero_based, bound)


def _read_lines(
    path: Path, first: int, block: bytes, most: int, zero_based: bool, bound: str
) -> tuple[Any, Floats]:
    """Read lines that the fast reader refused or may misread; raise an error for the first wrong line."""
    from scipy.sparse import csr_array

    lowest = 0 if zero_based else 1
    labels: list[float] = []
    values: list[float] = []
    indices: list[int] = []
    ends = [0]
    for number, raw in enumerate(block.split(b"\n"), start=first):
        decode_line(path, number, raw)
        fields = raw.split()
        if not fields:
            continue
        where = f"{path}, line {number}"
        label = _number(float, fields[0])
        if label is None or not math.isfinite(label):
            raise InputError(
                f"{where}: the label {fields[0].decode()!r} is not a number; "
                "in CSV and Parquet files a label may be text"
            )
        last = lowest - 1
        for field in fields[1:]:
            if field.startswith(b"qid:"):
                continue
            name, _, text = field.partition(b":")
            index, value = _number(int, name), _number(float, text)
            if index is None or value is None or not name.isdigit():
                raise InputError(f"{where}: {field.decode()!r} is not of the form index:number")
            if index < lowest:
                raise InputError(
                    f"{where}: index 0, but indices start at 1; set zero_based = true if they start at 0"
                )
            if index <= last:
                raise InputError(f"{where}: index {index} follows {last}; indices must rise along a line")
            if index >= most + lowest:
                raise InputError(
                    f"{where}: index {index} exceeds {bound}; if the index is right, raise this option of "
                    "the data set"
                )
            if not math.isfinite(value):
                raise InputError(
                    f"{where}: feature {index} is {text.decode()}; every feature must be a finite number"
                )
            values.append(value)
            indices.append(index - lowest)
            last = index
        labels.append(label)
        ends.append(len(values))
    X = csr_array((values, indices, ends), shape=(len(labels), most))
    return int32_csr(X), np.array(labels, dtype=np.float64)


def _number(kind: Callable[[bytes], Number], text: bytes) -> Number | None:
    """Return the number that a text spells, or None, also for 1_000, which Python would accept."""
    try:
        return None if b"_" in text else kind(text)
    except ValueError:
        return None
