"""Read text whose lines have a label and sparse features; several threads parse blocks of lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.reading import USUAL, Limits, first_line, in_threads, open_text, whole_lines
from ..tables.stream import SpillingMatrix, Table
from .labels import CodedLabels, LabelCollector, encode_labels


class Tokens(NamedTuple):
    """Contain the parsed rows of a block of lines: labels, and sparse features as in CSR."""

    labels: npt.NDArray[np.float64]
    #: For each row, the position after its last entry in `indices` and `values`.
    ends: npt.NDArray[np.int64]
    #: Feature indices, counted from 0 and ascending in each row.
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


#: ``scan(path, number, block)`` returns the rows of a block from `whole_lines`, or raises InputError for the
#: first wrong line. `number` is the line number of the block's first line.
Scan: TypeAlias = Callable[[Path, int, npt.NDArray[np.uint8]], Tokens]

# Labels from here on are refused, since float64 gives neighboring integers the same value.
_LARGEST_LABEL = 2.0**53
# Bytes read at a time; larger blocks are hardly faster and take more memory.
_BLOCK_BYTES = 1 << 19


def read_sparse(
    paths: Sequence[Path],
    tests: Sequence[Path],
    scan: Scan,
    *,
    n_features: int = 0,
    dtype: str = "",
    limits: Limits = USUAL,
) -> Table:
    """Read the files `paths` into a training part, and `tests` into a test part with the same features.

    If `n_features` is 0, the largest index determines the number of features. The parts are CSR with int32
    indices. `dtype` is "float32" or "float64" (the default).
    """
    parts = []
    for some in filter(None, (paths, tests)):
        for each in some:
            first_line(each, limits)
        parts.append(_all_rows(some, scan, dtype or "float64", limits))
    width = n_features or max(width for *_, width in parts)
    if not width:
        raise InputError(f"{paths[0]}: no line has a feature; write index:number after the labels")
    test = (parts[1][0], tests[0]) if tests else (None, None)
    classes, y, y_test = encode_labels(parts[0][0], paths[0], *test)
    matrices = [rows.finish((len(labels), width)) for labels, rows, _ in parts]
    return Table(matrices[0], y, classes, matrices[1] if tests else None, y_test)


def sparse_tokens(path: Path, scan: Scan, limits: Limits = USUAL) -> Iterator[Tokens]:
    """Yield the rows of a file in blocks, in file order; blocks do not depend on the number of threads."""
    with open_text(path, limits) as (stream, report_position):
        blocks = whole_lines(stream, _BLOCK_BYTES)
        for tokens in in_threads(lambda numbered: scan(path, *numbered), blocks):
            yield tokens
            report_position()
        report_position()


def _all_rows(
    paths: Sequence[Path], scan: Scan, dtype: str, limits: Limits
) -> tuple[CodedLabels, SpillingMatrix, int]:
    """Read all rows of files in bounded memory; return labels, rows, and largest feature index plus 1."""
    folder = cache_folder() / "streams"
    labels, rows, largest = LabelCollector(folder), SpillingMatrix(folder), -1
    for path in paths:
        before = len(labels)
        for values in sparse_tokens(path, scan, limits):
            done = len(labels) - before
            if dtype == "float32":
                over = np.flatnonzero(np.abs(values.values) > np.finfo(np.float32).max)
                if len(over):
                    row = int(np.searchsorted(values.ends, over[0], side="right"))
                    raise InputError(
                        f"{path}, row {done + row + 1}, feature {values.indices[over[0]] + 1} (counted "
                        f'from 1): {values.values[over[0]]} does not fit float32; set dtype = "float64"'
                    )
            rows.append_csr(values.values.astype(dtype, copy=False), values.indices, values.ends)
            distinct, places = np.unique(values.labels, return_inverse=True)
            if np.abs(distinct).max(initial=0) >= _LARGEST_LABEL:
                row = int(np.flatnonzero(np.abs(values.labels) >= _LARGEST_LABEL)[0])
                raise InputError(
                    f"{path}, row {done + row + 1}: the label {values.labels[row]:g} is too "
                    "large: from 2^53 on it may be rounded; in CSV and Parquet files a label may be text"
                )
            labels.append(distinct.tolist(), places)
            largest = max(largest, int(values.indices.max(initial=-1)))
    names, codes = labels.finish()
    return CodedLabels(np.array(names), codes), rows, largest + 1
