"""Parse svmlight / LIBSVM text (``label index:value index:value …``)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.reading import USUAL, Limits, decode_line
from .sparse_text import Scan, Tokens

Number = TypeVar("Number", int, float)

_COMMENT = re.compile(rb"#.*")


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
            return _read_lines(path, first, block.tobytes(), most, lowest, bound)
        return found

    return scan


def _read_lines(path: Path, first: int, block: bytes, most: int, lowest: int, bound: str) -> Tokens:
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
    return Tokens(
        np.array(labels, dtype=np.float64),
        np.array(ends, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(values, dtype=np.float64),
    )


def _number(kind: Callable[[bytes], Number], text: bytes) -> Number | None:
    """Convert a text to a number; return None if it is not one, or like 1_000, which Python would accept."""
    try:
        return None if b"_" in text else kind(text)
    except ValueError:
        return None
