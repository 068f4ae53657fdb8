"""Turn label columns into class names and codes, in the same way for every file format."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.spill import SpillingArray, steps
from ..tables.stream import Codes
from ..tables.tasks import listed

# Labels with fractions, such as ratings in tenths, are classes if at most this many are distinct. Otherwise
# they are refused as measurements.
_MOST_FRACTIONS = 100


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """Contain the labels of a data set: the distinct values as given, and each row's index into them."""

    values: npt.NDArray[Any]
    codes: npt.NDArray[np.integer[Any]]

    def __len__(self) -> int:
        return len(self.codes)


class LabelCollector:
    """Collect the labels of a long file block by block, in an unnamed file of `folder` if they are many."""

    def __init__(self, folder: Path) -> None:
        self._found: dict[Any, int] = {}
        self._codes: SpillingArray[np.int32] = SpillingArray(np.int32, folder)

    def __len__(self) -> int:
        return self._codes.size

    def append(self, values: Iterable[Any], codes: npt.NDArray[Any]) -> None:
        """Add a block's labels: its distinct labels as Python objects, and each row's index into them."""
        places = [self._found.setdefault(value, len(self._found)) for value in values]
        self._codes.append(np.array(places, dtype=np.int32)[codes])

    def finish(self) -> tuple[list[Any], npt.NDArray[np.int32]]:
        """Return the distinct labels in order of first occurrence, and each row's index into them."""
        return list(self._found), self._codes.finish()


def case_notes(classes: Sequence[str]) -> Iterator[str]:
    """Yield a line for each pair of classes whose names differ only in case."""
    first: dict[str, str] = {}
    for name in classes:
        other = first.setdefault(name.casefold(), name)
        if other != name:
            yield f"the labels {other!r} and {name!r} differ in case only: they are two classes"


def encode_labels(
    train: CodedLabels, train_path: Path, test: CodedLabels | None = None, test_path: Path | None = None
) -> tuple[tuple[str, ...], Codes, Codes | None]:
    """Turn the labels of a file and its test file into class names and int32 codes.

    Labels are numbers, booleans or strings; ``1``, ``1.0`` and ``"+1"`` are one class, called ``"1"``.
    Classes are in numerical order if all are numbers (so that +1 gets code 1 against -1), otherwise
    alphabetical. The paths are for error messages. Raises InputError on a missing label, a single class,
    fractions that are not classes, or a test label that does not occur in the training part.
    """
    if len(train) == 0:
        raise InputError(f"{train_path}: the file has no rows")
    texts = _named(train, train_path)
    names = list(dict.fromkeys(texts))
    _refuse_targets(names, len(train), train_path)
    if len(names) < 2:
        raise InputError(
            f"{train_path}: all {len(train):,} labels are {names[0]!r}; two classes or more are needed"
        )
    numeric = all(is_number(name) for name in names)
    classes = tuple(sorted(names, key=(lambda name: (float(name), name)) if numeric else None))
    y = _class_codes(classes, texts, train.codes)
    if test is None or test_path is None:
        return classes, y, None
    test_texts = _named(test, test_path)
    unknown = sorted(set(test_texts) - set(classes))
    if unknown:
        raise InputError(
            f"{test_path}: label {unknown[0]!r} is not a class of {train_path.name}: {listed(classes)}"
        )
    return classes, y, _class_codes(classes, test_texts, test.codes)


def is_number(text: str) -> bool:
    """Return whether a text is a number; NaN and infinity are, Python's notation 1_000 is not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _named(labels: CodedLabels, path: Path) -> list[str]:
    """Return the class name of each distinct label; some may be equal."""
    texts = [class_name(value) for value in labels.values]
    if "" in texts:
        row = int(np.flatnonzero(labels.codes == texts.index(""))[0]) + 1
        raise InputError(f"{path}, row {row}: the label is missing")
    for text in texts:
        # Only labels given in memory can have surrogates.
        if re.search(r"[\ud800-\udfff]", text):
            raise InputError(f"{path}: the label {text!r} has a lone surrogate, which is not text: remove it")
    return texts


def _refuse_targets(names: list[str], n_rows: int, path: Path) -> None:
    """Raise an error for labels with many distinct fractions: regression targets, not classes."""
    if len(names) <= max(2, min(_MOST_FRACTIONS, n_rows // 2)):
        return
    fraction = next((name for name in names if is_number(name) and not float(name).is_integer()), None)
    if fraction is not None:
        raise InputError(
            f"{path}: {len(names):,} different labels in {n_rows:,} rows, such as {fraction}: these are "
            "numbers to predict, not classes; convert them to classes first, such as 0 and 1"
        )


def class_name(value: Any) -> str:
    """Return the name of a label's class, or ``""`` if the label is missing."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    text = str(value).strip()
    if not is_number(text):
        return text
    number = float(text)
    if math.isnan(number):
        return ""
    # The name of +1 and 1.0 is "1". From 2**53 on, keep the text of integers, since neighbors share a float64
    # and would get the same name.
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else text


def _class_codes(classes: Sequence[str], texts: Sequence[str], codes: npt.NDArray[Any]) -> Codes:
    """Return the class code of each row, given its index into the class names `texts` of distinct labels.

    The result is memory-mapped if the indices `codes` are.
    """
    position = {name: code for code, name in enumerate(classes)}
    table = np.array([position[text] for text in texts], dtype=np.int32)
    if not isinstance(codes, np.memmap):
        found: Codes = table[codes]
        return found
    spilling = SpillingArray(np.int32, cache_folder() / "streams")
    for step in steps(codes):
        spilling.append(table[np.frombuffer(step, codes.dtype)])
    return spilling.finish()
