"""Files that are damaged by chance: valid ones, changed in a few places by a seeded generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

# What readers stumble over: ends of numbers, of lines and of encodings.
NUMBERS = (
    *(
        b"0",
        b"-1",
        b"-0",
        b"01",
        b"1_0",
        b"0x1F",
        b"1e400",
        b"-1e-400",
        b"nan",
        b"inf",
        b"+",
        b"-",
        b".",
        b"e",
    ),
    *(b"2147483647", b"2147483648", b"-2147483649", b"4294967296", b"9" * 40, b"1." + b"0" * 400 + b"1"),
)
SIGNS = (b"\r\n", *(bytes([each]) for each in b"\n\r\t ,;:=#%\"'\\{}?\x00\x1a\xff"))
LETTERS = (b"\xc3\xa9", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xc2\x85", b"\xf0\x9f\x8c\x8d")
WORDS = (b"qid:1", b"NA", b"null", b"true", b"@data", b"@attribute x numeric", b"label", b"=1+1", b"[" * 50)
TOKENS = (*NUMBERS, *SIGNS, *LETTERS, *WORDS)


def mutated(valid: Sequence[bytes], rng: random.Random, tokens: Sequence[bytes] = TOKENS) -> bytes:
    """Return one of the valid files with one to four changes, seldom none."""
    content = bytearray(rng.choice(valid))
    for _ in range(rng.choice((0, 1, 1, 1, 2, 2, 3, 4))):
        rng.choice(_CHANGES)(content, rng, tokens)
    return bytes(content)


def _place(content: bytearray, rng: random.Random) -> int:
    return rng.randrange(len(content) + 1)


def _flip(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    if content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)


def _byte(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    if content:
        content[rng.randrange(len(content))] = rng.randrange(256)


def _insert(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    at = _place(content, rng)
    content[at:at] = rng.choice(tokens)


def _replace(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    at = _place(content, rng)
    content[at : at + rng.randrange(1, 8)] = rng.choice(tokens)


def _cut(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    at = _place(content, rng)
    del content[at : at + rng.randrange(1, 20)]


def _end(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    del content[_place(content, rng) :]


def _again(content: bytearray, rng: random.Random, tokens: Sequence[bytes]) -> None:
    first, last = sorted((_place(content, rng), _place(content, rng)))
    at = _place(content, rng)
    content[at:at] = content[first : min(last, first + 60)]


_CHANGES: tuple[Callable[[bytearray, random.Random, Sequence[bytes]], None], ...] = (
    _flip,
    _byte,
    _insert,
    _insert,
    _replace,
    _cut,
    _end,
    _again,
)
