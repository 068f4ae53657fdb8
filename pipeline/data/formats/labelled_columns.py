"""Read files with columns in bounded memory into features and labels, sorted if asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.spill import SpillingArray
from ..tables.options import ONLINE
from ..tables.stream import Matrix, SpillingMatrix, Table, cast
from ..tables.tasks import listed
from .columns import IF_MISSING, Asked, ColumnFile, Layout, lay_out, remedy
from .encoding import Encoder, missing_in, survey
from .labels import CodedLabels, LabelCollector, case_notes, encode_labels
from .sorting import Keys, Sorter, by_keys

if TYPE_CHECKING:
    import pyarrow as pa

# Labels, in lower case, that are no class.
_MISSING_LABELS = ("", "nan", "+nan", "-nan")
# What fills gaps, in notes: by default, and if features are standardized online.
TRAINING_MEAN = "the mean of the training part"
MEAN_SO_FAR = "0, the mean so far"


@dataclass(frozen=True, eq=False)
class LabelledColumns:
    """Contain all rows of files with columns: names of the feature columns, X of shape (n, d), and labels."""

    path: Path
    features: tuple[str, ...]
    X: Matrix
    labels: CodedLabels
    encoder: Encoder
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class ColumnBlock:
    """Contain a block of rows of a file with columns, converted to features."""

    #: Array or CSR array of shape (n, d).
    X: Any
    #: The rows' labels, as stored in the file.
    labels: pa.Array
    #: Sort keys of the rows; None without a column to sort by.
    keys: Keys | None
    #: Number of missing values in each column that has any, by the column's name.
    missing: dict[str, int]


def read_columns(
    files: Sequence[ColumnFile], asked: Asked, *, dtype: str = "", training: LabelledColumns | None = None
) -> LabelledColumns:
    """Read files that have the same columns, one after the other, into one matrix and its labels.

    `dtype` is "float32" or "float64"; empty means that of `stored_dtype`.
    For files of a test part, `training` is the training part: the files must have its columns, and their
    columns become features in the same way. Raises InputError with file, row and column.
    """
    laid = [(file, lay_out(file, asked)) for file in files]
    first, layout = laid[0]
    names = _features(first, layout) if training is None else training.features
    roles = layout.roles if training is None else [column.role for column in training.encoder.columns]
    for file, other in laid:
        before = (training or first).path
        if _features(file, other) != names:
            raise _other_columns(file.path, _features(file, other), before, names)
        for name, role, expected in zip(names, other.roles, roles, strict=True):
            if role != expected:
                raise InputError(
                    f"{file.path}: {name!r} is a column of type {role}, but of type {expected} in {before}; "
                    f"{remedy([name])}"
                )
    encoder = survey(laid, asked) if training is None else training.encoder
    if encoder.width - encoder.n_hashed > asked.max_features:
        raise InputError(
            f"{first.path}: {encoder.width:,} features, more than max_features = {asked.max_features:,}; if "
            "that is right, raise this option of the data set"
        )
    dtype = dtype or stored_dtype(laid)
    collected, sorter = _Collected(encoder), Sorter()
    for file, each in laid:
        done = 0
        for block in column_blocks(file, each, encoder, asked, sorter):
            X, over = cast(block.X, dtype)
            if over is not None:
                row, feature, value = over
                at = f"{file.place(done + row + 1)}, column {encoder.column_of(feature)!r}"
                raise InputError(f'{at}: {value} does not fit {dtype}; set dtype = "float64"')
            collected.add(block, X)
            if training is not None:
                collected.known.update(encoder.known(X))
            done += len(block.labels)
    if not len(collected.labels):
        raise InputError(f"{first.path}: the file has no rows")
    values, codes = collected.labels.finish()
    X = collected.rows.finish((len(codes), encoder.width))
    if collected.keys is not None:
        X, codes = by_keys(collected.keys.finish(), X, codes)
    if not all(isinstance(value, (bool, int, float)) for value in values):
        values = [str(value) for value in values]
        for value in values:
            if "\x00" in value:
                raise InputError(
                    f"{first.path}: the label {value!r} contains a NUL character: the file is damaged"
                )
    elif not all(isinstance(value, bool) for value in values):
        # Booleans of one file are numbers if another file has other numbers; 1 after True is the label true.
        values = [int(value) if isinstance(value, bool) else value for value in values]
    # Python objects, since NumPy would make float64 of mixed numbers, and so round large integers.
    labels = CodedLabels(np.array(values, dtype=object), codes)
    if training is None:
        named = {first.names[layout.label], asked.order_by, *asked.ignore, *names}
        unnamed = sorted(first.index - named)
        reason = "the index of a data frame, not a feature; reset_index() before writing makes it one"
        notes = tuple(f"column {name!r}: {reason}" for name in unnamed)
        notes = (
            *([first.hint] if first.hint else []),
            *notes,
            *encoder.notes(),
            *collected.missing_notes(first.path, asked),
        )
        cautions = tuple(encoder.cautions())
    else:
        notes, cautions = collected.unknown_notes()
    return LabelledColumns(first.path, names, X, labels, encoder, notes, cautions)


def stored_dtype(files: Sequence[tuple[ColumnFile, Layout]]) -> str:
    """Return "float32" if all files store all numbers so, otherwise "float64"."""
    singles = [
        position in file.singles
        for file, layout in files
        for position, role in zip(layout.features, layout.roles, strict=True)
        if role == "number"
    ]
    return "float32" if singles and all(singles) else "float64"


def column_blocks(
    file: ColumnFile, layout: Layout, encoder: Encoder, asked: Asked, sorter: Sorter
) -> Iterator[ColumnBlock]:
    """Yield the rows of a file a few MB at a time, in file order; raise InputError at an invalid row."""
    done = 0
    for batch in file.batches(layout.kinds(len(file.names)), missing=asked.missing != "error"):
        features = [batch[position] for position in layout.features]
        labels = batch[layout.label]
        if not len(labels):
            continue
        _refuse_missing_labels(file, layout, labels, done)
        missing = {}
        for position, role, array in zip(layout.features, layout.roles, features, strict=True):
            # `ColumnFile.batches` has already refused missing values in columns of numbers.
            if role == "number" and asked.missing == "error":
                continue
            where = missing_in(role, array)
            if where.any():
                missing[file.names[position]] = int(where.sum())
                if asked.missing == "error":
                    at = file.place(done + int(np.flatnonzero(where)[0]) + 1)
                    raise InputError(f"{at}, column {file.names[position]!r}: no value; {IF_MISSING}")
        if not encoder.width:
            names = listed(_features(file, layout))
            raise InputError(
                f"{file.path}: no features: no column has a word or value (columns: {names}); add a column "
                "of numbers, categories or words"
            )
        both = zip(features, layout.roles, strict=True)
        dtypes = {array.dtype for array, role in both if role == "number"}
        X = encoder.encode(features, np.float32 if dtypes == {np.dtype(np.float32)} else np.float64)
        order = layout.order
        keys = None if order is None else sorter.keys(file, order, batch[order], done)
        yield ColumnBlock(X, labels, keys, missing)
        done += len(labels)


class _Collected:
    """Collect rows, labels and sort keys of several files block by block, in bounded memory."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder, self._folder = encoder, cache_folder() / "streams"
        self.rows = SpillingMatrix(self._folder)
        self.labels = LabelCollector(self._folder)
        self.keys: SpillingArray[np.complex128] | None = None
        self._missing: Counter[str] = Counter()
        self.known: Counter[str] = Counter()

    def add(self, block: ColumnBlock, X: Any) -> None:
        """Append the rows of a block; `X` are their features in the final dtype."""
        self.rows.append(X)
        coded = block.labels.dictionary_encode()
        self.labels.append(coded.dictionary.to_pylist(), coded.indices.to_numpy())
        if block.keys is not None:
            self.keys = self.keys or SpillingArray(np.complex128, self._folder)
            self.keys.append(block.keys)
        self._missing.update(block.missing)

    def missing_notes(self, path: Path, asked: Asked) -> Iterable[str]:
        """Yield one line per column with missing values that says how they were handled."""
        fill = MEAN_SO_FAR if asked.standardize == ONLINE else TRAINING_MEAN
        for column in self._encoder.columns:
            n = self._missing[column.name]
            if n == len(self.labels) and column.role == "number":
                raise InputError(
                    f'{path}, column {column.name!r}: all values are missing; set ignore = ["{column.name}"]'
                )
            if n and column.role == "number":
                marked = ", and marked by an additional feature" if column.marked else ""
                yield (
                    f"column {column.name!r}: {n:,} of {len(self.labels):,} values missing, replaced by "
                    f"{fill}{marked}"
                )
            elif n:
                marked = ", except the indicator" if column.marked else ""
                yield (
                    f"column {column.name!r}: {n:,} of {len(self.labels):,} values missing: these rows have "
                    f"no feature of the column{marked}"
                )

    def unknown_notes(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return notes and cautions on categories of these test rows that have no feature.

        It is a caution if they are more than half of a column's values: training part and test part then
        probably write the same categories in two forms, such as 1 and 1.0.
        """
        few: list[str] = []
        many: list[str] = []
        for name, n_known in self.known.items():
            n = len(self.labels) - self._missing[name]
            if n > n_known:
                (many if 2 * n_known < n else few).append(
                    f"column {name!r}: {n - n_known:,} of {n:,} test values have no feature, because they "
                    "are not in the training part"
                )
        return tuple(few), tuple(many)


def combine(train: LabelledColumns, test: LabelledColumns | None) -> Table:
    """Return the table of a training part and its test part, if any, with labels as class codes."""
    tested = (None, None) if test is None else (test.labels, test.path)
    classes, y, y_test = encode_labels(train.labels, train.path, *tested)
    X_test: Any = None if test is None else test.X.astype(train.X.dtype, copy=False)
    parts = [train] if test is None else [train, test]
    notes = (*(note for part in parts for note in part.notes), *case_notes(classes))
    cautions = tuple(caution for part in parts for caution in part.cautions)
    return Table(train.X, y, classes, X_test, y_test, notes=notes, cautions=cautions)


def _other_columns(path: Path, found: Sequence[str], first: Path, names: Sequence[str]) -> InputError:
    """Return the error for a file whose feature columns differ from `names`, those of file `first`."""
    extra, missing = (
        [each for each in some if each not in others] for some, others in ((found, names), (names, found))
    )
    faults = [f"only {path.name} has {listed(extra)}"] if extra else []
    faults += [f"only {first.name} has {listed(missing)}"] if missing else []
    return InputError(
        f"{path}: its feature columns differ from those of {first}: "
        f"{' and '.join(faults) or 'another order'}; both need the same columns in the same order"
    )


def _features(file: ColumnFile, layout: Layout) -> tuple[str, ...]:
    return tuple(file.names[position] for position in layout.features)


def _refuse_missing_labels(file: ColumnFile, layout: Layout, labels: Any, done: int) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    where = labels.is_null(nan_is_null=True)
    if pa.types.is_string(labels.type) or pa.types.is_large_string(labels.type):
        texts = pc.utf8_lower(pc.utf8_trim_whitespace(labels))
        where = pc.or_(where, pc.is_in(texts, pa.array(_MISSING_LABELS, labels.type)))
    missing = np.flatnonzero(where.to_numpy(zero_copy_only=False))
    if len(missing):
        value = labels[missing[0]].as_py()
        shown = f", {value!r}" if str(value or "").strip() else ""
        place, name = file.place(done + int(missing[0]) + 1), file.names[layout.label]
        raise InputError(f"{place}: the label is missing{shown} (column {name!r})")
