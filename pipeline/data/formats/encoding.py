"""Turn columns into features: numbers, one-hot or hashed categories and words, missing-value indicators."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..tables.stream import int32_csr, is_sparse
from .columns import Asked, ColumnFile, Kind, Layout

_WORD = re.compile(r"\w+")
# A code such as 007 is another category than the number 7.
_LEADING_ZERO = re.compile(r"[+-]?0\d")

# Non-zero features of a block of rows, as three arrays: row indices, feature indices and values.
_Entries = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]


@dataclass(frozen=True)
class _Column:
    """Describe how one column of a file becomes features; `role` is "number", "category" or "text"."""

    name: str
    role: str
    #: Categories or words that get one feature each; None if the column is hashed or numeric.
    values: tuple[str, ...] | None = None
    #: Whether an additional feature (indicator) is 1 where the column's value is missing.
    marked: bool = False


@dataclass(frozen=True)
class Encoder:
    """Turn columns of rows into features, in the same way for every block of a file and of its test file.

    Features are in column order: a numeric column has one feature, a column of categories or words one per
    category or word. Then follow the indicators of missing values, and last the features of hashed columns.
    """

    columns: tuple[_Column, ...]
    #: Number of hashed features; 0 if no column is hashed.
    n_hashed: int
    #: Seed of the hash.
    seed: int

    @cached_property
    def plain(self) -> bool:
        """Whether every feature is a numeric column of the file, and nothing else is added."""
        return all(column.role == "number" and not column.marked for column in self.columns)

    @property
    def width(self) -> int:
        """The number of features."""
        return sum(_places(column) + column.marked for column in self.columns) + self.n_hashed

    def column_of(self, feature: int) -> str:
        """Return the name of a feature's column; "?" for missing-value indicators and hashed features."""
        for column in self.columns:
            feature -= _places(column)
            if feature < 0:
                return column.name
        return "?"

    def notes(self) -> tuple[str, ...]:
        """Return notes on how columns became features, one line each."""
        found = []
        for column in self.columns:
            if column.role == "number":
                continue
            what = "categories" if column.role == "category" else "words"
            if column.values is not None:
                found.append(f"column {column.name!r}: {len(column.values):,} {what}, a feature each")
            else:
                found.append(
                    f"column {column.name!r}: {what} hashed into {self.n_hashed:,} features, signed "
                    f"(MurmurHash3, seed {self.seed})"
                )
        return tuple(found)

    def cautions(self) -> Iterator[str]:
        """Yield a line for each column in which two categories are equal as numbers."""
        for column in self.columns:
            first: dict[Decimal, str] = {}
            for value in column.values or () if column.role == "category" else ():
                number = _number(value)
                other = value if number is None else first.setdefault(number, value)
                if other != value:
                    yield (
                        f"column {column.name!r}: {other!r} and {value!r} are equal as numbers, but two "
                        "categories; if they mean the same, write them in one form"
                    )
                    break

    def known(self, X: Any) -> dict[str, int]:
        """Return how many of some encoded rows have a feature of each column of categories, by its name."""
        found, place = {}, 0
        first = self.width - self.n_hashed
        # Count no hashed features: there may be 2^30 of them.
        counts = np.bincount(X.indices[X.indices < first], minlength=first) if is_sparse(X) else None
        for column in self.columns:
            stop = place + _places(column)
            if column.role == "category" and column.values is not None:
                own = np.count_nonzero(X[:, place:stop]) if counts is None else counts[place:stop].sum()
                found[column.name] = int(own)
            place = stop
        return found

    def encode(self, batch: Sequence[Any], dtype: Any) -> Any:
        """Return the features of some rows: dense, or CSR if some features are hashed.

        `batch` has one array per column, in the order of `columns`: numbers with NaN, or text with nulls.
        """
        n = len(batch[0])
        if self.n_hashed:
            rows, features, values = (
                np.concatenate(parts) for parts in zip(*self._entries(batch), strict=True)
            )
            from scipy.sparse import coo_array

            return int32_csr(coo_array((values.astype(dtype), (rows, features)), shape=(n, self.width)))
        X = (np.empty if self.plain else np.zeros)((n, self.width), dtype=dtype)
        place = 0
        for column, array in zip(self.columns, batch, strict=True):
            if column.role == "number":
                X[:, place] = array
            else:
                # The tokens of a row are counted, and none is hashed here, so no place occurs twice.
                rows, features, values = self._of_text(column, array, place)
                X[rows, features] = values
            place += _places(column)
        for mark, missing in enumerate(self._missing(batch)):
            X[:, place + mark] = missing
        return X

    def _entries(self, batch: Sequence[Any]) -> Iterator[_Entries]:
        place = 0
        for column, array in zip(self.columns, batch, strict=True):
            if column.role == "number":
                # Omit zeros from the sparse result. `flatnonzero` also finds NaN, so missing values remain.
                rows = np.flatnonzero(array)
                yield rows, np.full(len(rows), place), np.asarray(array[rows], dtype=np.float64)
            else:
                yield self._of_text(column, array, place)
            place += _places(column)
        for mark, missing in enumerate(self._missing(batch)):
            rows = np.flatnonzero(missing)
            yield rows, np.full(len(rows), place + mark), np.ones(len(rows))

    def _missing(self, batch: Sequence[Any]) -> list[npt.NDArray[np.bool_]]:
        both = zip(self.columns, batch, strict=True)
        return [missing_in(column.role, array) for column, array in both if column.marked]

    def _of_text(self, column: _Column, array: Any, place: int) -> _Entries:
        """Return the non-zero features of a column of categories or text; encode each distinct value once.

        `place` is the index of the column's first feature, unless the column is hashed.
        """
        coded = array.dictionary_encode()
        if column.values is None:
            look_up: Callable[[str], tuple[int, float] | None] = self._hashed(column.name)
        else:
            places = {value: place + i for i, value in enumerate(column.values)}

            def look_up(value: str) -> tuple[int, float] | None:
                # Ignore categories and words that do not occur in the training part, as they have no feature.
                return (places[value], 1.0) if value in places else None

        features: list[int] = []
        values: list[float] = []
        ends = [0]
        for value in coded.dictionary.to_pylist():
            for token, count in tokens(column.role, value).items():
                found = look_up(token)
                if found is not None:
                    features.append(found[0])
                    values.append(found[1] * count)
            ends.append(len(features))
        present = np.flatnonzero(~missing_in(column.role, array))
        codes = coded.indices.drop_null().to_numpy().astype(np.int64)
        starts, stops = np.array(ends[:-1], dtype=np.int64)[codes], np.array(ends[1:], dtype=np.int64)[codes]
        lengths = stops - starts
        rows = np.repeat(present, lengths)
        # Position of each non-zero feature among those of its row: 0, 1, … in every row.
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        taken = np.repeat(starts, lengths) + offsets
        return rows, np.array(features, dtype=np.int64)[taken], np.array(values)[taken]

    def _hashed(self, name: str) -> Callable[[str], tuple[int, float]]:
        from sklearn.utils import murmurhash3_32

        first = self.width - self.n_hashed

        def look_up(value: str) -> tuple[int, float]:
            found = int(murmurhash3_32(f"{name}={value}", seed=self.seed))
            return first + abs(found) % self.n_hashed, 1.0 if found >= 0 else -1.0

        return look_up


def survey(files: Sequence[tuple[ColumnFile, Layout]], asked: Asked) -> Encoder:
    """Decide how the columns of the training files become features; read their rows only if necessary."""
    file, layout = files[0]
    names = [file.names[position] for position in layout.features]
    columns = range(len(names))
    # Distinct categories or words of each column. Collecting ends when there are more than `one_hot`, because
    # the column is then hashed.
    found: list[set[str]] = [set() for _ in columns]
    missing = [False for _ in columns]
    marks = asked.missing == "indicator"
    settled = {i for i in columns if layout.roles[i] == "number" and not marks}
    for i in columns:
        values = _declared(files, i) if layout.roles[i] == "category" else None
        if values is not None:
            found[i] = set(values)
            settled |= set() if marks else {i}
    for each, place in files if len(settled) < len(names) else ():
        kinds = place.kinds(len(each.names))
        wanted: list[Kind | None] = [None] * len(kinds)
        for i in columns:
            if i not in settled:
                wanted[place.features[i]] = kinds[place.features[i]]
        for batch in each.batches(wanted, missing=asked.missing != "error"):
            for i in columns:
                array = batch[place.features[i]]
                if array is None:
                    continue
                if marks and not missing[i]:
                    missing[i] = bool(missing_in(layout.roles[i], array).any())
                if layout.roles[i] != "number" and len(found[i]) <= asked.one_hot:
                    _collect(layout.roles[i], array, found[i], asked.one_hot)
    made = []
    for i in columns:
        few = layout.roles[i] != "number" and len(found[i]) <= asked.one_hot
        made.append(_Column(names[i], layout.roles[i], tuple(sorted(found[i])) if few else None, missing[i]))
    hashed = any(column.role != "number" and column.values is None for column in made)
    return Encoder(tuple(made), 1 << asked.hash_bits if hashed else 0, asked.hash_seed)


def tokens(role: str, value: str) -> Counter[str]:
    """Count the tokens of a column's value: the category itself, or the lower-case words of a text."""
    return Counter(_WORD.findall(value.lower()) if role == "text" else [value])


def missing_in(role: str, array: Any) -> npt.NDArray[np.bool_]:
    """Return a mask of the rows in which a column has no value."""
    if role == "number":
        found: npt.NDArray[np.bool_] = np.isnan(array)
        return found
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=bool)


def _number(value: str) -> Decimal | None:
    """Return the exact number that a category spells, or None; a float would merge long numbers."""
    try:
        number = Decimal(value)
    except InvalidOperation:
        return None
    return number if number.is_finite() and "_" not in value and not _LEADING_ZERO.match(value) else None


def _places(column: _Column) -> int:
    if column.role == "number":
        return 1
    return len(column.values) if column.values is not None else 0


def _collect(role: str, array: Any, kept: set[str], most: int) -> None:
    for value in array.drop_null().unique().to_pylist():
        kept.update(tokens(role, value))
        if len(kept) > most:
            return


def _declared(files: Sequence[tuple[ColumnFile, Layout]], i: int) -> tuple[str, ...] | None:
    found = [file.declared(layout.features[i]) for file, layout in files]
    known = [values for values in found if values is not None]
    return tuple(value for values in known for value in values) if len(known) == len(found) else None
