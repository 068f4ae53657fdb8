"""Files with columns, whatever their format: what is asked of one, and what each column is read as."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ...errors import InputError, did_you_mean
from ..tables.options import Options
from ..tables.tasks import listed

# What a column is read as: float64 or float32, NaN where there is no value; text with nulls; as it stands.
Kind = Literal["number", "text", "as is"]

# Names that can only mean the label; one of them, once, is taken without asking.
LABEL_NAMES = ("label", "target", "class", "y")

# What every line about a missing value ends with.
IF_MISSING = 'every feature must be a finite number, or set missing = "mean" or "indicator"'

# One feature for each value up to here: states of the USA, days of a month; past it are names and places.
ONE_HOT = 64
# 2^16 features: a weight vector of 512 KB stays in a core's cache.
HASH_BITS = 16


@dataclass(frozen=True)
class Asked:
    """What a user asks of a file with columns; the options of the same names.

    Attributes
    ----------
    target : str
        Column of the labels; empty: the one that is called so.
    categorical, text, ignore : tuple of str
        Columns whose values are categories; whose words are counted; that are not read.
    order_by : str
        Column whose values the rows are sorted by; empty: rows stay as they stand.
    missing : {"error", "mean", "indicator"}
        What becomes of features without a value.
    one_hot, hash_bits, hash_seed : int
        Up to so many values of a column are a feature each; those of other columns share 2^hash_bits.
    """

    target: str = ""
    categorical: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    order_by: str = ""
    missing: str = "error"
    one_hot: int = ONE_HOT
    hash_bits: int = HASH_BITS
    hash_seed: int = 0

    @classmethod
    def of(cls, options: Options) -> Asked:
        """Return what resolved options ask for."""
        known: dict[str, Any] = {key: options[key] for key in cls.__dataclass_fields__ if key in options}
        return cls(**known)


class ColumnFile(ABC):
    """A file with columns.

    Attributes
    ----------
    path : Path
    names : tuple of str
        Of all columns.
    holds : tuple of str
        What the file says of each: "number", "category", "" where it says nothing, or its own word.
    """

    path: Path
    names: tuple[str, ...]
    holds: tuple[str, ...]

    @abstractmethod
    def batches(self, kinds: Sequence[Kind | None], *, missing: bool) -> Iterator[list[Any]]:
        """Yield the rows a few MB at a time: of every column an array of its kind, None where that is None.

        Raises
        ------
        InputError
            On the first row that is not as it must be; naming file, row and column. A number may be missing
            (NaN) where that is allowed, never infinite.
        """

    @abstractmethod
    def place(self, row: int) -> str:
        """Return the file and where in it a row stands, counted from 1."""

    def declared(self, position: int) -> tuple[str, ...] | None:
        """Return the values that the file says a column may have."""
        return None


@dataclass(frozen=True)
class Layout:
    """The columns of one file, by position: label, order, and those that features are made of.

    Attributes
    ----------
    label : int
    order : int or None
    features : tuple of int
    roles : tuple of {"number", "category", "text"}
        Of the features.
    """

    label: int
    order: int | None
    features: tuple[int, ...]
    roles: tuple[str, ...]

    def kinds(self, n: int) -> list[Kind | None]:
        """Return what each of the n columns is to be read as."""
        found: list[Kind | None] = [None] * n
        for position, role in zip(self.features, self.roles, strict=True):
            found[position] = "number" if role == "number" else "text"
        found[self.label] = "as is"
        if self.order is not None:
            found[self.order] = "as is"
        return found


def lay_out(file: ColumnFile, asked: Asked) -> Layout:
    """Decide what each column of a file is.

    Raises
    ------
    InputError
        When a column that is named is not there, two have one name, none can be the label, or one holds
        what is no number and is not named as something else.
    """
    names = file.names
    label = find_target(file.path, names, asked.target)
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
                raise InputError(f"{file.path}: {key} names no column: {name!r}; {did_you_mean(name, names)}")
            if name in named:
                raise InputError(f"{file.path}, column {name!r}: is both {named[name]} and {key}")
            named[name] = key
    features, roles = [], []
    for position, name in enumerate(names):
        key, holds = named.get(name, ""), file.holds[position]
        if key in ("target", "order_by", "ignore"):
            continue
        if key == "text":
            role = "text"
        elif key == "categorical" or holds == "category":
            role = "category"
        elif holds in ("number", ""):
            role = "number"
        else:
            raise InputError(
                f"{file.path}, column {name!r}: holds {holds}; a feature must be a number: {remedy([name])}"
            )
        features.append(position)
        roles.append(role)
    if not features:
        raise InputError(f"{file.path}: no column is left for features; columns: {listed(names)}")
    return Layout(label, first[asked.order_by] if asked.order_by else None, tuple(features), tuple(roles))


def remedy(names: Sequence[str]) -> str:
    """Return what to write of columns that hold no numbers."""
    shown = ", ".join(f'"{name}"' for name in names)
    return f"set categorical = [{shown}], or name {'them' if len(names) > 1 else 'it'} in text or ignore"


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
    if not names:
        raise InputError(f"{path}: the file has no columns")
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
