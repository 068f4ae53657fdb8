"""svmlight text to numbers, a block of whole lines at a time: the one loop over bytes that must be fast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...learners._jit import kernel

# Powers of ten that float64 holds exactly. A mantissa below 2**53 times or over one of them is rounded once,
# so the result is the correctly rounded one (Clinger 1990, "How to read floating point numbers accurately").
_EXACT_POWERS = 10.0 ** np.arange(23)
_LARGEST_INDEX = 2**31 - 2


class Tokens(NamedTuple):
    """What a block of lines holds, as plain arrays: labels, the end of each row, indices from 0, values."""

    labels: npt.NDArray[np.float64]
    row_ends: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    values: npt.NDArray[np.float64]


def tokenize(block: bytes, *, zero_based: bool, n_features: int) -> Tokens | None:
    """Split a block of svmlight lines.

    Parameters
    ----------
    block : bytes
        Whole lines.
    zero_based : bool
        Whether indices start at 0.
    n_features : int
        Indices past it are wrong; 0 accepts any.

    Returns
    -------
    Tokens or None
        None when a line is not right; which one and why is for the caller to find out.

    Examples
    --------
    >>> tokens = tokenize(b"+1 1:0.5 3:2e-1 # comment\\n", zero_based=False, n_features=0)
    >>> tokens.labels.tolist(), tokens.indices.tolist(), tokens.values.tolist()
    ([1.0], [0, 2], [0.5, 0.2])
    """
    text = np.frombuffer(block, dtype=np.uint8)
    # A row takes two bytes at least ("1\\n"), a feature four (" 1:1").
    labels, row_ends = np.empty(len(text) // 2 + 1), np.empty(len(text) // 2 + 1, dtype=np.int64)
    indices, values = np.empty(len(text) // 4 + 1, dtype=np.int32), np.empty(len(text) // 4 + 1)
    # Numbers that the fast rule does not cover: where they belong (labels: -1 - row), start and end.
    hard = np.empty((len(labels) + len(values), 3), dtype=np.int64)
    lowest = 0 if zero_based else 1
    last = min(n_features + lowest - 1, _LARGEST_INDEX) if n_features else _LARGEST_INDEX
    n_rows, n_values, n_hard = _scan(
        text, lowest, last, _EXACT_POWERS, labels, row_ends, indices, values, hard
    )
    if n_rows < 0:
        return None
    labels, values = labels[:n_rows], values[:n_values]
    if n_hard:
        _read_hard(block, hard[:n_hard], labels, values)
        if not (np.isfinite(labels).all() and np.isfinite(values).all()):
            return None
    return Tokens(labels, row_ends[:n_rows], indices[:n_values], values)


def _read_hard(block: bytes, hard: npt.NDArray[np.int64], labels: Any, values: Any) -> None:
    """Read long numbers with Arrow's parser, which rounds correctly for any number of digits."""
    import pyarrow as pa

    lengths = hard[:, 2] - hard[:, 1]
    offsets = np.zeros(len(hard) + 1, dtype=np.int32)
    np.cumsum(lengths, out=offsets[1:])
    packed = np.empty(int(offsets[-1]), dtype=np.uint8)
    _pack(np.frombuffer(block, dtype=np.uint8), hard, offsets, packed)
    texts = pa.StringArray.from_buffers(len(hard), pa.py_buffer(offsets), pa.py_buffer(packed))
    numbers = texts.cast(pa.float64()).to_numpy()
    places = hard[:, 0]
    is_value = places >= 0
    values[places[is_value]] = numbers[is_value]
    labels[-1 - places[~is_value]] = numbers[~is_value]


@kernel
def _pack(text, hard, offsets, packed):  # type: ignore[no-untyped-def]
    for i in range(len(hard)):
        start = hard[i, 1]
        for k in range(hard[i, 2] - start):
            packed[offsets[i] + k] = text[start + k]


@kernel
def _number(text, at, powers):  # type: ignore[no-untyped-def]
    """Return (position after the number, its value, whether the value is final); position -1: no number."""
    n = len(text)
    negative = False
    if at < n and (text[at] == 43 or text[at] == 45):  # + -
        negative = text[at] == 45
        at += 1
    mantissa = np.int64(0)
    digits = 0
    significant = 0
    exponent = np.int64(0)
    final = True
    while at < n and 48 <= text[at] <= 57:
        digits += 1
        if significant > 0 or text[at] != 48:
            significant += 1
        if significant <= 18:  # eighteen digits always fit an int64
            mantissa = mantissa * 10 + (np.int64(text[at]) - 48)
        at += 1
    if at < n and text[at] == 46:  # .
        at += 1
        while at < n and 48 <= text[at] <= 57:
            digits += 1
            if significant > 0 or text[at] != 48:
                significant += 1
            if significant <= 18:
                mantissa = mantissa * 10 + (np.int64(text[at]) - 48)
            exponent -= 1
            at += 1
    if digits == 0:
        return -1, 0.0, True
    if at < n and (text[at] == 101 or text[at] == 69):  # e E
        at += 1
        down = False
        if at < n and (text[at] == 43 or text[at] == 45):
            down = text[at] == 45
            at += 1
        power = np.int64(0)
        digits = 0
        while at < n and 48 <= text[at] <= 57:
            # Past 9,999 a float64 is 0 or infinite whatever follows.
            if power < 10000:
                power = power * 10 + (np.int64(text[at]) - 48)
            digits += 1
            at += 1
        if digits == 0:
            return -1, 0.0, True
        exponent += -power if down else power
    value = 0.0
    if significant > 18 or mantissa >= 9007199254740992:  # 2**53
        final = False
    elif mantissa == 0:
        value = 0.0
    elif 0 <= exponent <= 22:
        value = np.float64(mantissa) * powers[exponent]
    elif -22 <= exponent < 0:
        value = np.float64(mantissa) / powers[-exponent]
    else:
        final = False
    return at, -value if negative else value, final


@kernel
def _scan(text, lowest, last, powers, labels, row_ends, indices, values, hard):  # type: ignore[no-untyped-def]
    """Fill the arrays; return (rows, values, hard numbers), or -1 rows when something is not right."""
    n = len(text)
    at = 0
    n_rows = 0
    n_values = 0
    n_hard = 0
    while at < n:
        # 32 and 9..13 but 10: the spaces of Python's split; 10 ends the line, 35 (#) starts a comment.
        while at < n and (text[at] == 32 or (9 <= text[at] <= 13 and text[at] != 10)):
            at += 1
        if at < n and text[at] != 10 and text[at] != 35:
            start = at
            at, value, final = _number(text, at, powers)
            if at < 0 or (at < n and text[at] != 32 and text[at] != 35 and not 9 <= text[at] <= 13):
                return -1, 0, 0
            labels[n_rows] = value
            if not final:
                # Arrow takes no leading plus.
                hard[n_hard, 0] = -1 - n_rows
                hard[n_hard, 1] = start + 1 if text[start] == 43 else start
                hard[n_hard, 2] = at
                n_hard += 1
            previous = lowest - 1
            while True:
                while at < n and (text[at] == 32 or (9 <= text[at] <= 13 and text[at] != 10)):
                    at += 1
                if at >= n or text[at] == 10 or text[at] == 35:
                    break
                # "qid:" and what follows it is not a feature.
                if (
                    at + 3 < n
                    and text[at] == 113
                    and text[at + 1] == 105
                    and text[at + 2] == 100
                    and text[at + 3] == 58
                ):
                    while at < n and text[at] != 32 and text[at] != 35 and not 9 <= text[at] <= 13:
                        at += 1
                    continue
                index = np.int64(0)
                start = at
                while at < n and 48 <= text[at] <= 57 and index <= last:
                    index = index * 10 + (np.int64(text[at]) - 48)
                    at += 1
                if at == start or at >= n or text[at] != 58 or index <= previous or index > last:
                    return -1, 0, 0
                previous = index
                at += 1
                start = at
                at, value, final = _number(text, at, powers)
                if at < 0 or (at < n and text[at] != 32 and text[at] != 35 and not 9 <= text[at] <= 13):
                    return -1, 0, 0
                if not final:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = start + 1 if text[start] == 43 else start
                    hard[n_hard, 2] = at
                    n_hard += 1
                indices[n_values] = index - lowest
                values[n_values] = value
                n_values += 1
            row_ends[n_rows] = n_values
            n_rows += 1
        while at < n and text[at] != 10:
            at += 1
        at += 1
    return n_rows, n_values, n_hard
