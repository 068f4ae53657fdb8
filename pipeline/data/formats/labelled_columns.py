"""Files with columns: which one is the label, which are the features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ..io.spill import SpillingArray
from ..tables.cache import cache_folder
from ..tables.stream import FloatArray, Table
from ..tables.tasks import listed
from .labels import CodedLabels, encode_labels

if TYPE_CHECKING:
    import pyarrow as pa

# Names that can only mean the label; one of them, once, is taken without asking.
LABEL_NAMES = ("label", "target", "class", "y")


@dataclass(frozen=True, eq=False)
class LabelledColumns:
    """A file with columns, read: feature names, X of shape (n, d), the labels as they stand."""

    path: Path
    features: tuple[str, ...]
    X: FloatArray
    labels: CodedLabels


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Some rows of a file with columns: X of shape (n, d), float32 or float64, and n labels as they stand."""

    X: FloatArray
    labels: pa.Array


def gather(
    path: Path, features: tuple[str, ...], blocks: Iterable[ColumnBlock], dtype: str = ""
) -> LabelledColumns:
    """Put the blocks of a file together in bounded memory.

    Parameters
    ----------
    path : Path
        For error lines.
    features : tuple of str
        Names of the d features.
    blocks : iterable of ColumnBlock
        In file order.
    dtype : str, default=""
        "float32" or "float64"; that of the blocks when empty.
    """
    folder = cache_folder() / "streams"
    X: SpillingArray[Any] | None = None
    codes: SpillingArray[np.int32] = SpillingArray(np.int32, folder)
    found: dict[Any, int] = {}
    for block in blocks:
        if X is None:
            X = SpillingArray(np.dtype(dtype).type if dtype else block.X.dtype.type, folder)
        X.append(block.X)
        coded = block.labels.dictionary_encode()
        places = [found.setdefault(value, len(found)) for value in coded.dictionary.to_pylist()]
        codes.append(np.array(places, dtype=np.int32)[coded.indices.to_numpy()])
    n = codes.size
    whole: Any = np.empty((0, len(features))) if X is None else X.finish((n, len(features)))
    values = list(found)
    if values and not isinstance(values[0], (bool, int, float)):
        values = [str(value) for value in values]
    return LabelledColumns(path, features, whole, CodedLabels(np.array(values), codes.finish()))


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


def combine(train: LabelledColumns, test: LabelledColumns | None) -> Table:
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
