"""svmlight text to numbers, a block of whole lines at a time: the one loop over bytes that must be fast."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ....learners.numeric.compiled import compiled
from .decimal_tables import EXACT_TENS, FIVES, LARGEST_EXPONENT, SMALLEST_EXPONENT, TWOS

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
    # Numbers that the fast rules do not cover: where they belong (labels: -1 - row), start and end.
    hard = np.empty((len(labels) + len(values), 3), dtype=np.int64)
    lowest = 0 if zero_based else 1
    last = min(n_features + lowest - 1, _LARGEST_INDEX) if n_features else _LARGEST_INDEX
    tables = (EXACT_TENS, FIVES, TWOS)
    n_rows, n_values, n_hard = _scan(text, lowest, last, tables, labels, row_ends, indices, values, hard)
    if n_rows < 0:
        return None
    labels, values = labels[:n_rows], values[:n_values]
    if n_hard:
        _read_hard(block, hard[:n_hard], labels, values)
        if not (np.isfinite(labels).all() and np.isfinite(values).all()):
            return None
    return Tokens(labels, row_ends[:n_rows], indices[:n_values], values)


def _read_hard(block: bytes, hard: npt.NDArray[np.int64], labels: Any, values: Any) -> None:
    """Read the few numbers that are left: subnormal ones, and those a hair from the middle of two floats."""
    for place, start, end in hard.tolist():
        number = float(block[start:end])
        if place >= 0:
            values[place] = number
        else:
            labels[-1 - place] = number


@compiled
def _product(a, b):  # type: ignore[no-untyped-def]
    """Return the upper and the lower half of the 128-bit product of two uint64."""
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    a_high, a_low, b_high, b_low = a >> half, a & mask, b >> half, b & mask
    middle = a_high * b_low + ((a_low * b_low) >> half)
    carry = a_low * b_high + (middle & mask)
    return a_high * b_high + (middle >> half) + (carry >> half), a * b


@compiled
def _nearest(w, q, fives, twos):  # type: ignore[no-untyped-def]
    """Return the float64 nearest to w 10^q, and whether it is certain (Lemire 2021, Algorithm 1).

    Zero is certain; numbers that are subnormal, infinite or past the table are not.
    """
    if w == 0:
        return 0.0, True
    if q < SMALLEST_EXPONENT or q > LARGEST_EXPONENT:
        return 0.0, False
    zeros = np.int64(0)
    for step in (32, 16, 8, 4, 2, 1):
        if w >> np.uint64(64 - step) == 0:
            w <<= np.uint64(step)
            zeros += step
    high, low = _product(w, fives[q - SMALLEST_EXPONENT, 0])
    # The lower half of the power matters only when every bit below the 55 that are kept is one.
    if high & np.uint64(0x1FF) == np.uint64(0x1FF):
        second, _ = _product(w, fives[q - SMALLEST_EXPONENT, 1])
        low += second
        if second > low:
            high += np.uint64(1)
    if low == np.uint64(0xFFFFFFFFFFFFFFFF) and not -27 <= q <= 55:
        return 0.0, False
    upper = high >> np.uint64(63)
    shift = upper + np.uint64(9)
    mantissa = high >> shift
    # (217706 q) / 2^16 is the binary exponent of 10^q.
    power = ((217706 * q) >> 16) + 1086 + np.int64(upper) - zeros
    if power <= 0:
        return 0.0, False
    # Exactly half-way: to even, not up.
    if low <= 1 and -4 <= q <= 23 and mantissa & np.uint64(3) == 1 and mantissa << shift == high:
        mantissa &= ~np.uint64(1)
    mantissa = (mantissa + (mantissa & np.uint64(1))) >> np.uint64(1)
    if mantissa >= np.uint64(1 << 53):
        mantissa = np.uint64(1 << 52)
        power += 1
    if power >= 2047:
        return 0.0, False
    return np.float64(np.int64(mantissa)) * twos[power], True


@compiled
def _number(text, at, tables):  # type: ignore[no-untyped-def]
    """Return (position after the number, its value, whether the value is final); position -1: no number."""
    tens, fives, twos = tables
    n = len(text)
    negative = False
    if at < n and (text[at] == 43 or text[at] == 45):  # + -
        negative = text[at] == 45
        at += 1
    mantissa = np.uint64(0)
    digits = 0
    significant = 0
    exponent = np.int64(0)
    final = True
    while at < n and 48 <= text[at] <= 57:
        digits += 1
        if significant > 0 or text[at] != 48:
            significant += 1
        if significant <= 19:  # nineteen digits always fit a uint64
            mantissa = mantissa * np.uint64(10) + (np.uint64(text[at]) - np.uint64(48))
        at += 1
    if at < n and text[at] == 46:  # .
        at += 1
        while at < n and 48 <= text[at] <= 57:
            digits += 1
            if significant > 0 or text[at] != 48:
                significant += 1
            if significant <= 19:
                mantissa = mantissa * np.uint64(10) + (np.uint64(text[at]) - np.uint64(48))
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
    if significant <= 19:
        # A mantissa below 2^53 times or over an exact power is rounded once, so correctly (Clinger 1990).
        if mantissa < np.uint64(1 << 53) and -22 <= exponent <= 22:
            value = np.float64(np.int64(mantissa))
            value = value * tens[exponent] if exponent >= 0 else value / tens[-exponent]
        else:
            value, final = _nearest(mantissa, exponent, fives, twos)
    else:
        # Digits were left out: when the next mantissa gives the same number, so does all between the two.
        exponent += significant - 19
        value, final = _nearest(mantissa, exponent, fives, twos)
        above, also = _nearest(mantissa + np.uint64(1), exponent, fives, twos)
        final = final and also and value == above
    return at, -value if negative else value, final


@compiled
def _scan(text, lowest, last, tables, labels, row_ends, indices, values, hard):  # type: ignore[no-untyped-def]
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
            at, value, final = _number(text, at, tables)
            if at < 0 or (at < n and text[at] != 32 and text[at] != 35 and not 9 <= text[at] <= 13):
                return -1, 0, 0
            labels[n_rows] = value
            if not final:
                hard[n_hard, 0] = -1 - n_rows
                hard[n_hard, 1] = start
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
                at, value, final = _number(text, at, tables)
                if at < 0 or (at < n and text[at] != 32 and text[at] != 35 and not 9 <= text[at] <= 13):
                    return -1, 0, 0
                if not final:
                    hard[n_hard, 0] = n_values
                    hard[n_hard, 1] = start
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
