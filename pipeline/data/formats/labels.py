"""Label columns to class names and codes, the same for every file format."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..tables.stream import Codes
from ..tables.tasks import listed

# Ratings in halves or tenths are classes; more fractions than this are measurements.
_MOST_FRACTIONS = 100


@dataclass(frozen=True, eq=False)
class CodedLabels:
    """The labels of a long file: distinct values as they stand, and for every row a position in them."""

    values: npt.NDArray[Any]
    codes: npt.NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)


def encode_labels(
    train: npt.NDArray[Any] | CodedLabels,
    train_path: Path,
    test: npt.NDArray[Any] | CodedLabels | None = None,
    test_path: Path | None = None,
) -> tuple[tuple[str, ...], Codes, Codes | None]:
    """Turn the labels of a file (and its test file) into class names and codes.

    Parameters
    ----------
    train, test : ndarray of shape (n,) or CodedLabels
        Numbers, booleans or strings. ``1``, ``1.0`` and ``"+1"`` are one class, called ``"1"``.
    train_path, test_path : Path
        For the error line.

    Returns
    -------
    classes : tuple of str
        In numerical order when all are numbers (so that +1 is code 1 beside -1), else alphabetical.
    y, y_test : ndarray of shape (n,), int32, or None
        Codes.

    Raises
    ------
    InputError
        On a missing label, a single class, fractions that are no classes, or a test label that the training
        part does not have.

    Examples
    --------
    >>> encode_labels(np.array(["+1", "-1"]), Path("toy.csv"))[0]
    ('-1', '1')
    """
    if len(train) == 0:
        raise InputError(f"{train_path}: the file has no rows")
    names, codes = _named(train, train_path)
    _refuse_targets(names, len(train), train_path)
    if len(names) < 2:
        raise InputError(
            f"{train_path}: all {len(train):,} labels are {names[0]!r}; two classes or more are needed"
        )
    classes = tuple(sorted(names, key=_class_order(names)))
    y = _lookup(names, classes)[codes]
    if test is None or test_path is None:
        return classes, y, None
    test_names, test_codes = _named(test, test_path)
    unknown = sorted(set(test_names) - set(classes))
    if unknown:
        raise InputError(
            f"{test_path}: label {unknown[0]!r} is not a class of {train_path.name}: {listed(classes)}"
        )
    return classes, y, _lookup(test_names, classes)[test_codes]


def is_number(text: str) -> bool:
    """Return whether a field is written as a number; NaN and infinity count, Python's 1_000 does not."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _named(labels: npt.NDArray[Any] | CodedLabels, path: Path) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Names of the distinct labels, each once, and the index into them for every row."""
    inverse: npt.NDArray[Any]
    if isinstance(labels, CodedLabels):
        values, inverse = labels.values, labels.codes
    else:
        values, inverse = np.unique(labels, return_inverse=True)
    texts = [class_name(value) for value in values]
    if "" in texts:
        row = int(np.flatnonzero(inverse == texts.index(""))[0]) + 1
        raise InputError(f"{path}, row {row}: the label is missing")
    names = list(dict.fromkeys(texts))
    position = {name: code for code, name in enumerate(names)}
    merged = np.array([position[text] for text in texts], dtype=np.int64)
    return names, merged[inverse.reshape(-1)]


def _refuse_targets(names: list[str], n_rows: int, path: Path) -> None:
    """Refuse fractions of which nearly every row has its own: a regression target, not a class."""
    if len(names) <= max(2, min(_MOST_FRACTIONS, n_rows // 2)):
        return
    fraction = next((name for name in names if is_number(name) and not float(name).is_integer()), None)
    if fraction is not None:
        raise InputError(
            f"{path}: {len(names):,} different labels in {n_rows:,} rows, such as {fraction}: these are "
            "numbers to predict, not classes; cut them into classes first, such as 0 and 1"
        )


def class_name(value: Any) -> str:
    """Return the name of a label's class; ``""`` when it is missing.

    Examples
    --------
    >>> [class_name(label) for label in (1.0, "+1", True, "spam", float("nan"))]
    ['1', '1', 'true', 'spam', '']
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    text = str(value).strip()
    if not is_number(text):
        return text
    number = float(text)
    if math.isnan(number):
        return ""
    # Past 2**53 neighbouring integers share a float64: such identifiers stay as written.
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else text


def _class_order(names: list[str]) -> Any:
    if all(is_number(name) for name in names):
        return lambda name: (float(name), name)
    return None


def _lookup(names: list[str], classes: tuple[str, ...]) -> Codes:
    code = {name: position for position, name in enumerate(classes)}
    return np.array([code[name] for name in names], dtype=np.int32)
