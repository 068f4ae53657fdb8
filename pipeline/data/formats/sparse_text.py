"""Read text whose lines have a label and sparse features; several threads parse blocks of lines.

The formats are svmlight / LIBSVM (``label index:value index:value …``) and Vowpal Wabbit's text
(``label 'tag |namespace name:value name …``), whose features are hashed as it does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.reading import USUAL, Limits, decode_line, in_threads, open_text, whole_lines
from ..tables.stream import SpillingMatrix, Table
from .labels import CodedLabels, LabelCollector, encode_labels

Number = TypeVar("Number", int, float)


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
_COMMENT = re.compile(rb"#.*")
_BLANKS = re.compile(rb"[ \t\r]+")


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
            with open_text(each, limits) as (stream, _):
                if not any(map(bytes.strip, stream)):
                    raise InputError(f"{each}: the file is empty")
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


def svmlight_scan(*, n_features: int = 0, zero_based: bool = False, limits: Limits = USUAL) -> Scan:
    """Return the function that parses blocks of lines of svmlight text.

    If `n_features` is 0, up to ``limits.max_features`` features are accepted. `zero_based` says that indices
    start at 0; in LIBSVM's files they start at 1.
    """
    from .tokens import svmlight_tokens  # here, so that commands that read no file do not load Numba

    lowest, most = 0 if zero_based else 1, n_features or limits.max_features
    bound = f"n_features = {n_features}" if n_features else f"max_features = {most:,}"

    def scan(path: Path, first: int, block: npt.NDArray[np.uint8]) -> Tokens:
        found = svmlight_tokens(block, lowest=lowest, most=most)
        if found is None:
            return _svmlight_lines(path, first, block.tobytes(), most, lowest, bound)
        return found

    return scan


def _svmlight_lines(path: Path, first: int, block: bytes, most: int, lowest: int, bound: str) -> Tokens:
    """Parse lines in Python if the compiled code could not; raise an error for the first wrong line."""
    labels: list[float] = []
    values: list[float] = []
    indices: list[int] = []
    ends: list[int] = []
    for number, raw in enumerate(_COMMENT.sub(b"", block).split(b"\n"), start=first):
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
    return _tokens(labels, ends, indices, values)


def _number(kind: Callable[[bytes], Number], text: bytes) -> Number | None:
    """Convert a text to a number; return None if it is not one, or like 1_000, which Python would accept."""
    try:
        return None if b"_" in text else kind(text)
    except ValueError:
        return None


def vowpal_scan(*, hash_bits: int) -> Scan:
    """Return the function that parses blocks of lines; names are hashed into 2^`hash_bits` features.

    `hash_bits` is Vowpal Wabbit's option -b.
    """
    from .tokens import vowpal_tokens  # here, so that commands that read no file do not load Numba

    def scan(path: Path, first: int, block: npt.NDArray[np.uint8]) -> Tokens:
        found = vowpal_tokens(block, hash_bits=hash_bits)
        return _vowpal_lines(path, first, block.tobytes(), hash_bits) if found is None else found

    return scan


def _vowpal_lines(path: Path, first: int, block: bytes, hash_bits: int) -> Tokens:
    """Parse lines in Python if the compiled code could not; raise an error for the first wrong line."""
    from .tokens import merge_duplicates

    labels: list[float] = []
    values: list[float] = []
    indices: list[int] = []
    ends: list[int] = []
    for number, raw in enumerate(block.split(b"\n"), start=first):
        if not raw.strip(b" \t\r"):
            continue
        where = f"{path}, line {number}"
        head, *namespaces = raw.split(b"|")
        if not namespaces:
            raise InputError(f"{where}: no |; write LABEL | FEATURE FEATURE:VALUE …")
        labels.append(_label(where, head))
        for namespace in namespaces:
            name, *features = _BLANKS.split(namespace.rstrip(b" \t\r"))
            name, weight = _split(where, name)
            seed = _hashed(name, 0) if name else 0
            unnamed = 0
            for feature in features:
                if feature.startswith(b":"):
                    # A value without a feature name: Vowpal Wabbit numbers such features within a namespace.
                    index, unnamed = seed + unnamed, unnamed + 1
                    value = _split(where, feature)[1]
                else:
                    feature, value = _split(where, feature)
                    index = _hashed(feature, seed)
                indices.append(index & ((1 << hash_bits) - 1))
                values.append(weight * value)
        ends.append(len(values))
    found = _tokens(labels, ends, indices, values)
    n = merge_duplicates(found.ends, found.indices, found.values)
    return found._replace(indices=found.indices[:n], values=found.values[:n])


def _label(where: str, head: bytes) -> float:
    """Return the label of a line, from the text `head` before the first |; a tag is ignored."""
    fields = head.split()
    # Remove a tag, which begins with a quote or directly precedes |.
    if fields and (fields[-1].startswith(b"'") or not head[-1:].isspace()):
        fields.pop()
    shown = [field.decode(errors="replace") for field in fields]
    if not fields:
        raise InputError(f"{where}: no label; write one and a blank before |")
    label = _number(float, fields[0])
    if label is None or not math.isfinite(label):
        raise InputError(f"{where}: the label {shown[0]!r} is not a number")
    if len(fields) > 2 or (len(fields) == 2 and _number(float, fields[1]) != 1.0):
        raise InputError(
            f"{where}: {shown[1]!r} after the label: weights of examples and initial predictions cannot be "
            "used; leave them out"
        )
    return label


def _split(where: str, field: bytes) -> tuple[bytes, float]:
    """Return the name and the value of a field ``name:value``; the value is 1 if the field has none."""
    name, colon, text = field.partition(b":")
    if not colon:
        return name, 1.0
    value = _number(float, text)
    if value is None:
        raise InputError(f"{where}: {field.decode(errors='replace')!r} is not of the form name:number")
    if not math.isfinite(value):
        raise InputError(f"{where}: {text.decode()} is not finite; every feature must be a finite number")
    return name, value


def _hashed(name: bytes, seed: int) -> int:
    """Return Vowpal Wabbit's hash of a name; a name that is a number n has the hash (n + seed) mod 2^64."""
    from sklearn.utils import murmurhash3_32

    if name.isdigit():
        return (int(name) + seed) % (1 << 64)
    return int(murmurhash3_32(name, seed=seed % (1 << 32), positive=True))


def _tokens(labels: list[float], ends: list[int], indices: list[int], values: list[float]) -> Tokens:
    """Return parsed rows as arrays."""
    return Tokens(
        np.array(labels, dtype=np.float64),
        np.array(ends, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(values, dtype=np.float64),
    )
