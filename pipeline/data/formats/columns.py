"""Define files with columns: the options that apply to them, and how each column is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ...errors import InputError, did_you_mean
from ..io.reading import USUAL
from ..tables.options import Options
from ..tables.tasks import listed

# How a column is read: "number" as float64 or float32 with NaN for missing values, "text" as strings with
# nulls for missing values, "as is" unchanged, except that numbers of ARFF are text, which has all digits.
Kind = Literal["number", "text", "as is"]

# Names of columns that probably contain the label. If exactly one column has such a name, it is the target
# (label column) by default.
LABEL_NAMES = ("label", "target", "class", "y")

# Advice at the end of every error message about a missing value.
IF_MISSING = 'every feature must be a finite number, or set missing = "mean" or "indicator"'


@dataclass(frozen=True)
class Asked:
    """Contain a data set's options for files with columns; each field has the name of its option."""

    #: Label column; if empty, it is the only column called "label", "target", "class" or "y".
    target: str = ""
    #: Columns whose values are categories.
    categorical: tuple[str, ...] = ()
    #: Columns with text; the counts of its words become features.
    text: tuple[str, ...] = ()
    #: Columns that are not read.
    ignore: tuple[str, ...] = ()
    #: Column by whose values the rows are sorted; empty keeps the file order.
    order_by: str = ""
    #: How missing values are handled: "error" refuses them, "mean" fills in the mean, "indicator" also adds a
    #: feature that marks them.
    missing: str = "error"
    #: An option of files without columns too. It decides what replaces a missing number.
    standardize: bool | str = False
    #: A column with at most this many categories or words, such as states of the USA or days of a month, gets
    #: one feature for each; others, such as names and places, are hashed.
    one_hot: int = 64
    #: Hashed columns share 2^hash_bits features. With 2^16 a weight vector of 512 KB fits in a core's cache.
    hash_bits: int = 16
    hash_seed: int = 0
    #: Largest number of features, without hashed ones.
    max_features: int = USUAL.max_features

    @classmethod
    def of(cls, options: Options) -> Asked:
        """Return a data set's options for files with columns; `options` includes the defaults."""
        known: dict[str, Any] = {key: options[key] for key in cls.__dataclass_fields__ if key in options}
        return cls(**known)


class ColumnFile(ABC):
    """Define the interface of readers of files with columns; each file format has a subclass."""

    path: Path
    #: The names of all columns.
    names: tuple[str, ...]
    #: Each column's type as the file declares it: "number", "category", the file format's own name of another
    #: type, or "" if the file declares no types.
    types: tuple[str, ...]
    #: The positions of the columns whose numbers are stored as float32.
    singles: frozenset[int] = frozenset()
    #: The names of columns that contain the index of a data frame; they become features only if named.
    index: frozenset[str] = frozenset()
    #: A guess of the reader about the file, which a user may need to correct; empty without one.
    hint: str = ""

    @abstractmethod
    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        """Yield rows a few MB at a time: one array per column, or None for a column that is skipped.

        `kinds` says how each column is read; None skips it. With `missing` a number may be NaN, but never
        infinite. Raises InputError with file, row and column at the first invalid row.
        """

    @abstractmethod
    def place(self, row: int) -> str:
        """Return the file and location of a row, counted from 1, for an error message."""

    def refuse_wrong(self, position: int, values: Any, done: int, missing: bool) -> None:
        """Raise an error if one of a column's values is infinite, or NaN unless `missing` allows it.

        `position` is the column; `done` is the number of rows before `values`, to report the row.
        """
        wrong = np.isinf(values) if missing else ~np.isfinite(values)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            fault = f"no value; {IF_MISSING}"
            if np.isinf(values[row]):
                fault = f"{values[row]}; every feature must be a finite number"
            raise InputError(f"{self.place(done + row + 1)}, column {self.names[position]!r}: {fault}")

    def declared(self, position: int) -> tuple[str, ...] | None:
        """Return the categories that the file declares for a column, or None if it does not declare them."""
        return None


@dataclass(frozen=True)
class Layout:
    """Say which columns of a file, by position, are the label, the sort key and the features."""

    label: int
    order: int | None
    features: tuple[int, ...]
    #: The role of each feature column: "number", "category" or "text".
    roles: tuple[str, ...]

    def kinds(self, n: int) -> list[Kind | None]:
        """Return how to read each of the file's n columns (`Kind`); None for columns that are not read."""
        found: list[Kind | None] = [None] * n
        for position, role in zip(self.features, self.roles, strict=True):
            found[position] = "number" if role == "number" else "text"
        found[self.label] = "as is"
        if self.order is not None:
            found[self.order] = "as is"
        return found


def lay_out(file: ColumnFile, asked: Asked, expected: str = "") -> Layout:
    """Decide which columns are label, sort key and features; raise InputError if the options do not fit.

    `expected` is the name of the first file's label column, for files read after it.
    """
    names = file.names
    label = find_target(file, asked.target, expected)
    first = {name: position for position, name in reversed(list(enumerate(names)))}
    for position, name in enumerate(names):
        if first[name] != position:
            raise InputError(
                f"{file.path}: more than one column is called {name!r} ({first[name] + 1} and "
                f"{position + 1}); rename one; columns: {listed(names)}"
            )
    named: dict[str, str] = {names[label]: "target"}
    order = (asked.order_by,) if asked.order_by else ()
    for key, columns in (
        ("order_by", order),
        ("ignore", asked.ignore),
        ("categorical", asked.categorical),
        ("text", asked.text),
    ):
        for name in columns:
            if name not in first:
                hint = f"; {file.hint}" if file.hint else ""
                raise InputError(
                    f"{file.path}: {key} has an unknown column {name!r}; {did_you_mean(name, names)}{hint}"
                )
            if name in named:
                raise InputError(f"{file.path}, column {name!r}: is both {named[name]} and {key}")
            named[name] = key
    features, roles = [], []
    for position, name in enumerate(names):
        key, kind = named.get(name, ""), file.types[position]
        if key in ("target", "order_by", "ignore") or (not key and name in file.index):
            continue
        if not (name or key):
            raise InputError(
                f"{file.path}: column {position + 1} has no name, like the row numbers that pandas writes; "
                'set ignore = [""] to skip it, or name it in the file to use it as a feature'
            )
        if key == "text":
            role = "text"
        elif key == "categorical" or kind == "category":
            role = "category"
        elif kind in ("number", ""):
            role = "number"
        else:
            raise InputError(
                f"{file.path}, column {name!r}: contains {kind}; a feature must be a number: {remedy([name])}"
            )
        features.append(position)
        roles.append(role)
    if not features:
        raise InputError(f"{file.path}: no column remains for features; columns: {listed(names)}")
    return Layout(label, first[asked.order_by] if asked.order_by else None, tuple(features), tuple(roles))


def remedy(names: Sequence[str]) -> str:
    """Return advice, for an error message, on the options to set for columns that are not numeric."""
    shown = ", ".join(f'"{name}"' for name in names)
    return f"set categorical = [{shown}], or name {'them' if len(names) > 1 else 'it'} in text or ignore"


def find_target(file: ColumnFile, target: str, expected: str) -> int:
    """Return the position of the label column: that named `target` or, if empty, that with a usual name.

    The usual names are `LABEL_NAMES`. Raises InputError unless exactly one column has such a name; if none
    has, the message names the column `expected`, unless empty.
    """
    path, names = file.path, file.names
    if not names:
        raise InputError(f"{path}: the file has no columns")
    wanted = [i for i, name in enumerate(names) if name == target] if target else []
    if not target:
        wanted = [i for i, name in enumerate(names) if name.strip().lower() in LABEL_NAMES]
        target = "" if wanted else expected
    if len(wanted) == 1:
        if len(names) == 1:
            raise InputError(f"{path}: the label {names[0]!r} is the only column; add columns of features")
        return wanted[0]
    columns = f"columns: {listed(names)}"
    # Only CSV files declare no types.
    if file.types == ("",):
        columns += " (only one: is the delimiter right?)"
    if file.hint:
        columns += f"; {file.hint}"
    if target:
        fault = "more than one column" if wanted else "no column"
        raise InputError(f"{path}: {fault} is called {target!r}; {columns}")
    given = [name for name in names if name] or [""]
    likely = expected if expected in given else given[-1]
    raise InputError(f"{path}: which column is the label? set target = {likely!r} or another; {columns}")
