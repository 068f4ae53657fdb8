"""Parse blocks of svmlight and Vowpal Wabbit text in compiled code."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from ....learners.numeric.compiled import INLINE, compiled, register_jitable
from ..io.reading import SPARE_BYTES
from .decimals import HARD, WRONG, byte, digits_from, find_separators, read_number, read_short
from .sparse_text import Tokens

# Constants as uint64, since Numba computes in uint64 only if both operands have that type.
_0, _1, _2, _3, _4, _5, _13, _15, _16, _17, _18, _19 = (
    np.uint64(n) for n in (0, 1, 2, 3, 4, 5, 13, 15, 16, 17, 18, 19)
)
_TAB, _NEWLINE, _RETURN, _SPACE, _COLON = (np.uint64(ord(each)) for each in "\t\n\r :")
_BAR, _LAST_ASCII = np.uint64(ord("|")), np.uint64(127)
_WORD = np.uint64(0xFFFFFFFF)
_COMMENT = np.uint64(ord("#"))
_QID = tuple(np.uint64(ord(each)) for each in "qid")


class _Scratch(threading.local):
    """Reuse each thread's output arrays, since allocating them for each block takes as long as parsing."""

    def __init__(self) -> None:
        self._arrays: tuple[npt.NDArray[Any], ...] = ()

    def arrays(self, n_bytes: int) -> tuple[npt.NDArray[Any], ...]:
        """Return a block's arrays: labels, row ends, indices, values, `HARD` numbers and separators."""
        # Each row ("1\n") and feature (" a") has two bytes or more, so arrays of half the bytes suffice.
        # Parts of them that are never written take no memory.
        n = n_bytes // 2 + 1
        if not self._arrays or len(self._arrays[0]) < n:
            self._arrays = (
                np.empty(n),
                np.empty(n, np.int64),
                np.empty(n, np.int32),
                np.empty(n),
                np.empty((2 * n, 3), np.int64),
                np.empty(2 * n, np.uint32),
            )
        return self._arrays


_scratch = _Scratch()


def svmlight_tokens(block: npt.NDArray[np.uint8], *, lowest: int, most: int) -> Tokens | None:
    """Parse a block of `whole_lines`, svmlight text; return None if Python must, to find a wrong line.

    Feature indices in the text start at `lowest`, 0 or 1, and there are at most `most` features.
    """
    text = _ended(block)
    return _finished(text, _parse_svmlight(text, lowest, most + lowest - 1, *_scratch.arrays(len(text))))


def vowpal_tokens(block: npt.NDArray[np.uint8], *, hash_bits: int) -> Tokens | None:
    """Parse a block of `whole_lines`, Vowpal Wabbit text; return None if Python must parse it.

    Features are hashed into 2^`hash_bits` indices; values of features with equal indices are added.
    """
    text, mask = _ended(block), np.uint64((1 << hash_bits) - 1)
    tokens = _finished(text, _parse_vowpal(text, mask, *_scratch.arrays(len(text))[:-1]))
    if tokens is None:
        return None
    n_entries = merge_duplicates(tokens.ends, tokens.indices, tokens.values)
    return tokens._replace(indices=tokens.indices[:n_entries], values=tokens.values[:n_entries])


def _ended(block: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return a block with a line end after its last line, which the last line of a file may lack.

    The `SPARE_BYTES` bytes after the array are readable, since `find_separators` reads them.
    """
    if block[-1] == _NEWLINE:
        return block
    return np.append(block, np.full(1 + SPARE_BYTES, _NEWLINE, np.uint8))[:-SPARE_BYTES]


def _finished(text: npt.NDArray[np.uint8], parsed: tuple[Any, ...]) -> Tokens | None:
    """Add the numbers that only Python can parse; return the block's rows, or None if Python must parse all.

    `parsed` is what `_copied` returns.
    """
    is_right, hard, *rows = parsed
    if not is_right:
        return None
    tokens = Tokens(*rows)
    for place, start, end in hard.tolist():
        number = float(text[start:end].tobytes())
        if not math.isfinite(number):
            return None
        if place >= 0:
            tokens.labels[place] = number
        else:
            tokens.values[-1 - place] = number
    return tokens


@register_jitable
def _copied(n_rows, n_entries, n_hard, labels, ends, indices, values, hard):
    """Return whether all lines are right, and copies of the parts of a thread's arrays that a block filled.

    The arrays are copied here and not by NumPy, which needs the GIL for each of them: threads would wait for
    it longer than copying takes.
    """
    rows, entries = max(n_rows, 0), max(n_entries, 0)
    return (
        n_rows >= 0,
        hard[:n_hard].copy(),
        labels[:rows].copy(),
        ends[:rows].copy(),
        indices[:entries].copy(),
        values[:entries].copy(),
    )


@register_jitable(**INLINE)
def _is_space(each):
    """Return whether a byte is white space other than a line end."""
    return each == _SPACE or (_TAB <= each <= _RETURN and each != _NEWLINE)


@compiled
def _parse_svmlight(text, lowest, last, labels, ends, indices, values, hard, positions):
    """Parse svmlight text, using the arrays of this thread; return what `_copied` returns."""
    counts = _scan_svmlight(text, lowest, last, labels, ends, indices, values, hard, positions)
    return _copied(*counts, labels, ends, indices, values, hard)


@compiled
def _parse_vowpal(text, mask, labels, ends, indices, values, hard):
    """Parse Vowpal Wabbit text, using the arrays of this thread; return what `_copied` returns."""
    counts = _scan_vowpal(text, mask, labels, ends, indices, values, hard)
    return _copied(*counts, labels, ends, indices, values, hard)


@register_jitable
def _scan_svmlight(text, lowest, last, labels, ends, indices, values, hard, positions):
    """Parse svmlight text into the arrays; return the numbers of rows, features and `hard` numbers.

    The number of rows is -1 if a line is wrong. A row of `hard` is a number that Python must parse: i for
    label i, or -1 - i for value i; its start and its end. `text` ends with a line end. All separators are
    found first and written to `positions`, so that the processor can parse several tokens in parallel.
    """
    find_separators(text, positions)
    n = np.uint64(text.shape[0])
    at = _0
    place = n_rows = n_entries = n_hard = 0
    while at < n:
        stop = np.uint64(positions[place])
        place += 1
        while stop == at and _is_space(byte(text, at)):
            at += _1
            stop = np.uint64(positions[place])
            place += 1
        if byte(text, at) != _NEWLINE and byte(text, at) != _COMMENT:
            end, value, outcome = read_number(text, at)
            if outcome == WRONG or end != stop:
                return -1, 0, 0
            labels[n_rows] = value
            if outcome == HARD:
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = n_rows, at, stop
                n_hard += 1
            previous = lowest - 1
            while byte(text, stop) != _NEWLINE and byte(text, stop) != _COMMENT:
                if not _is_space(byte(text, stop)):
                    return -1, 0, 0
                at = stop + _1
                stop = np.uint64(positions[place])
                place += 1
                if stop == at:
                    continue
                if byte(text, stop) != _COLON:
                    return -1, 0, 0
                end, number = digits_from(text, at, _0)
                if end == stop:
                    index = np.int64(number)
                    # Refuse an index of more than 18 digits, since it could overflow int64.
                    if stop - at > _18 or index <= previous or index > last:
                        return -1, 0, 0
                    previous = index
                    at = stop + _1
                    stop = np.uint64(positions[place])
                    place += 1
                    value, outcome = read_short(text, at, stop)
                    if outcome == WRONG:
                        end, value, outcome = read_number(text, at)
                        if outcome == WRONG or end != stop:
                            return -1, 0, 0
                        if outcome == HARD:
                            hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = -1 - n_entries, at, stop
                            n_hard += 1
                    indices[n_entries] = index - lowest
                    values[n_entries] = value
                    n_entries += 1
                elif stop == at + _3 and (byte(text, at), byte(text, at + _1), byte(text, at + _2)) == _QID:
                    # Skip "qid:" and its value, which is a query number and not a feature.
                    while byte(text, stop) == _COLON:
                        at = stop + _1
                        stop = np.uint64(positions[place])
                        place += 1
                        while at < stop:
                            if byte(text, at) > _LAST_ASCII:
                                return -1, 0, 0
                            at += _1
                else:
                    return -1, 0, 0
            ends[n_rows] = n_entries
            n_rows += 1
        while byte(text, stop) != _NEWLINE:
            stop = np.uint64(positions[place])
            place += 1
        at = stop + _1
    return n_rows, n_entries, n_hard


@register_jitable(**INLINE)
def _mixed(word):
    """Scramble four bytes of a text, a step of MurmurHash3."""
    word = (word * np.uint64(0xCC9E2D51)) & _WORD
    word = ((word << _15) | (word >> _17)) & _WORD
    return (word * np.uint64(0x1B873593)) & _WORD


@register_jitable
def _murmur(text, start, stop, seed):
    """Return the MurmurHash3 (x86, 32 bits) of a part of a text."""
    found = np.uint64(seed) & _WORD
    at = start
    while at + _4 <= stop:
        word = np.uint64(0)
        for k in range(4):
            word |= byte(text, at + np.uint64(k)) << np.uint64(8 * k)
        found ^= _mixed(word)
        found = ((found << _13) | (found >> _19)) & _WORD
        found = (found * _5 + np.uint64(0xE6546B64)) & _WORD
        at += _4
    if at < stop:
        word = np.uint64(0)
        for k in range(np.int64(stop - at)):
            word |= byte(text, at + np.uint64(k)) << np.uint64(8 * k)
        found ^= _mixed(word)
    found ^= stop - start
    found ^= found >> _16
    found = (found * np.uint64(0x85EBCA6B)) & _WORD
    found ^= found >> _13
    found = (found * np.uint64(0xC2B2AE35)) & _WORD
    return found ^ (found >> _16)


@register_jitable(**INLINE)
def _hashed(text, start, stop, seed):
    """Return Vowpal Wabbit's hash of a name; a name that is a number n has the hash (n + seed) mod 2^64."""
    end, number = digits_from(text, start, _0)
    return number + seed if end == stop and stop > start else _murmur(text, start, stop, seed)


@register_jitable(**INLINE)
def _is_blank(each):
    return each in (_SPACE, _TAB, _RETURN)


@register_jitable(**INLINE)
def _end_of_name(text, at):
    """Return the position of the next blank, colon, bar or line end."""
    each = byte(text, at)
    while not (_is_blank(each) or each in (_COLON, _BAR, _NEWLINE)):
        at += _1
        each = byte(text, at)
    return at


@register_jitable
def _scan_vowpal(text, mask, labels, ends, indices, values, hard):
    """Parse Vowpal Wabbit text into the arrays and return numbers like `_scan_svmlight`.

    The indices of a row are in the order of the text, not sorted. A line is
    ``LABEL [1] ['TAG]|NAMESPACE[:WEIGHT] NAME[:VALUE] … |…``.
    """
    n = np.uint64(text.shape[0])
    at = _0
    n_rows = n_entries = n_hard = 0
    while at < n:
        while _is_blank(byte(text, at)):
            at += _1
        if byte(text, at) != _NEWLINE:
            start = at
            at, value, outcome = read_number(text, at)
            if outcome == WRONG or not _is_blank(byte(text, at)):
                return -1, 0, 0
            labels[n_rows] = value
            if outcome == HARD:
                hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = n_rows, start, at
                n_hard += 1
            while _is_blank(byte(text, at)):
                at += _1
            # A weight or a tag before the bar is rare, so leave the block to Python by returning -1.
            if byte(text, at) != _BAR:
                return -1, 0, 0
            while byte(text, at) == _BAR:
                at += _1
                start = at
                at = _end_of_name(text, at)
                seed = _hashed(text, start, at, _0) if at > start else _0
                # Leave a namespace that has a weight, or is followed by another bar, to Python.
                if byte(text, at) == _COLON or byte(text, at) == _BAR:
                    return -1, 0, 0
                while True:
                    while _is_blank(byte(text, at)):
                        at += _1
                    if byte(text, at) == _NEWLINE or byte(text, at) == _BAR:
                        break
                    start = at
                    at = _end_of_name(text, at)
                    # Leave a value without a name, and a bar within a name, to Python.
                    if at == start or byte(text, at) == _BAR:
                        return -1, 0, 0
                    indices[n_entries] = np.int64(_hashed(text, start, at, seed) & mask)
                    value = 1.0
                    if byte(text, at) == _COLON:
                        start = at + _1
                        at, value, outcome = read_number(text, start)
                        if outcome == WRONG or not (_is_blank(byte(text, at)) or byte(text, at) == _NEWLINE):
                            return -1, 0, 0
                        if outcome == HARD:
                            hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = -1 - n_entries, start, at
                            n_hard += 1
                    values[n_entries] = value
                    n_entries += 1
            ends[n_rows] = n_entries
            n_rows += 1
        at += _1
    return n_rows, n_entries, n_hard


@compiled
def merge_duplicates(ends, indices, values):
    """Sort the features of each row by index, add values of equal indices, and remove zeros, in place.

    Values of equal indices are added in the order of the text. Returns the number of features that remain.
    """
    n_entries = start = 0
    for row in range(ends.shape[0]):
        order = np.argsort(indices[start : ends[row]], kind="mergesort")
        names, numbers = indices[start : ends[row]][order], values[start : ends[row]][order]
        start = ends[row]
        k = 0
        while k < names.shape[0]:
            name, total = names[k], numbers[k]
            k += 1
            while k < names.shape[0] and names[k] == name:
                total += numbers[k]
                k += 1
            if total != 0.0:
                indices[n_entries], values[n_entries] = name, total
                n_entries += 1
        ends[row] = n_entries
    return n_entries
