"""Parse Vowpal Wabbit's text (``label 'tag |namespace name:value name …``); hash features as it does."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from .labels import is_number
from .sparse_text import Scan, Tokens

_BLANKS = re.compile(rb"[ \t\r]+")


def vowpal_scan(*, hash_bits: int) -> Scan:
    """Return the function that parses blocks of lines; names are hashed into 2^`hash_bits` features.

    `hash_bits` is Vowpal Wabbit's option -b.
    """
    from .tokens import vowpal_tokens  # here, so that commands that read no file do not load Numba

    def scan(path: Path, first: int, block: npt.NDArray[np.uint8]) -> Tokens:
        found = vowpal_tokens(block, hash_bits=hash_bits)
        return _read_lines(path, first, block.tobytes(), hash_bits) if found is None else found

    return scan


def _read_lines(path: Path, first: int, block: bytes, hash_bits: int) -> Tokens:
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
    found = Tokens(
        np.array(labels, dtype=np.float64),
        np.array(ends, dtype=np.int64),
        np.array(indices, dtype=np.int32),
        np.array(values, dtype=np.float64),
    )
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
    if not is_number(shown[0]) or not math.isfinite(float(shown[0])):
        raise InputError(f"{where}: the label {shown[0]!r} is not a number")
    if len(shown) > 2 or (len(shown) == 2 and not (is_number(shown[1]) and float(shown[1]) == 1.0)):
        raise InputError(
            f"{where}: {shown[1]!r} after the label: weights of examples and initial predictions cannot be "
            "used; leave them out"
        )
    return float(shown[0])


def _split(where: str, field: bytes) -> tuple[bytes, float]:
    """Return the name and the value of a field ``name:value``; the value is 1 if the field has none."""
    name, colon, text = field.partition(b":")
    if not colon:
        return name, 1.0
    shown = text.decode(errors="replace")
    if not is_number(shown):
        raise InputError(f"{where}: {field.decode(errors='replace')!r} is not of the form name:number")
    if not math.isfinite(float(shown)):
        raise InputError(f"{where}: {shown} is not finite; every feature must be a finite number")
    return name, float(shown)


def _hashed(name: bytes, seed: int) -> int:
    """Return Vowpal Wabbit's hash of a name; a name that is a number n has the hash (n + seed) mod 2^64."""
    from sklearn.utils import murmurhash3_32

    if name.isdigit():
        return (int(name) + seed) % (1 << 64)
    return int(murmurhash3_32(name, seed=seed % (1 << 32), positive=True))
