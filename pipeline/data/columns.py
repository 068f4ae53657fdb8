"""Files with columns: which one is the label, which are the features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from ..errors import InputError
from .labels import encode_labels
from .stream import FloatArray, Table
from .tasks import listed

# Names that can only mean the label; one of them, once, is taken without asking.
LABEL_NAMES = ("label", "target", "class", "y")


@dataclass(frozen=True, eq=False)
class Columns:
    """A file with columns, read: feature names, X of shape (n, d), the labels as they stand."""

    path: Path
    features: tuple[str, ...]
    X: FloatArray
    labels: npt.NDArray[Any]


def find_target(path: Path, names: Sequence[str], target: str) -> int:
    """Return the position of the label column.

    Parameters
    ----------
    path : Path
        For the error line.
    names : sequence of str
        All columns.
    target : str
        What the user named; ``""`` looks for the one column called label, target, class or y.

    Raises
    ------
    InputError
        When it is not there, or not the only one; lists the columns.
    """
    wanted = [i for i, name in enumerate(names) if name == target] if target else []
    if not target:
        wanted = [i for i, name in enumerate(names) if name.strip().lower() in LABEL_NAMES]
    if len(wanted) == 1:
        if len(names) == 1:
            raise InputError(f"{path}: the label {names[0]!r} is the only column; features are needed too")
        return wanted[0]
    columns = f"columns: {listed(names)}"
    if len(names) == 1:
        columns += " (only one: is the delimiter right?)"
    if target:
        fault = "more than one column" if wanted else "no column"
        raise InputError(f"{path}: {fault} is called {target!r}; {columns}")
    raise InputError(f"{path}: which column is the label? set target = {names[-1]!r} or another; {columns}")


def combine(train: Columns, test: Columns | None) -> Table:
    """Return the table of a file and its test file.

    Raises
    ------
    InputError
        When their columns differ, or labels are wrong (see `encode_labels`).
    """
    if test is None:
        classes, y, _ = encode_labels(train.labels, train.path)
        return Table(train.X, y, classes)
    if test.features != train.features:
        raise InputError(
            f"{test.path}: its feature columns ({listed(test.features)}) are not those of {train.path.name} "
            f"({listed(train.features)})"
        )
    classes, y, y_test = encode_labels(train.labels, train.path, test.labels, test.path)
    X_test: Any = test.X.astype(train.X.dtype, copy=False)
    return Table(train.X, y, classes, X_test, y_test)
