"""Define the table of a source and the stream of a task; build large matrices in bounded memory."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..io.spill import SpillingArray, steps

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Matrix: TypeAlias = "FloatArray | csr_array"
Codes: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """Contain all rows of a source with its K classes, before a task is derived from it."""

    #: Shape (n, d), float32 or float64; a C-contiguous array, or CSR with int32 indices. `indptr` is
    #: int32, or int64 from 2^31 non-zeros on.
    X: Matrix
    #: Class codes 0..K-1, shape (n,).
    y: Codes
    classes: tuple[str, ...]
    #: The official test part, if the source has one.
    X_test: Matrix | None = None
    y_test: Codes | None = None
    #: Number of rows before each change of concept; empty if there is no change, or if changes are unknown.
    changes: tuple[int, ...] = ()
    #: What a user should know about how the features were made, one line each.
    notes: tuple[str, ...] = ()
    #: Those of what a user should know that are probably mistakes; a run shows them before it begins.
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Origin:
    """Contain the labels of a task's rows as classes of the data set, before the task joined any classes."""

    #: The data set's class code of each row of the task's stream.
    y: Codes
    #: The names of the data set's classes.
    classes: tuple[str, ...]
    #: For each class of the data set, the class code that it has in the task.
    codes: Codes


@dataclass(frozen=True, eq=False)
class Stream:
    """One task, ready to be streamed. All arrays are read-only, because threads share them."""

    #: Label of the task, such as ``"usps[3-vs-5]"``.
    name: str
    #: Shape (N, d) for N rows of the source, float32 or float64; a C-contiguous array (often mapped), or CSR
    #: with int32 indices.
    X: Matrix
    #: Class codes 0..K-1 of the task's n rows, shape (n,). In a binary task code 1 is the positive class.
    y: Codes
    #: The K class names.
    classes: tuple[str, ...]
    #: The official test part, if there is one.
    X_test: Matrix | None
    y_test: Codes | None
    #: sha256 in hex, equal to ``fingerprint(ref)`` of the reference from which the stream was opened.
    fingerprint: str
    #: The rows of X that belong to this task: ``y[i]`` is the label of ``X[rows[i]]``. None means all rows,
    #: in order. This lets the 45 pairs of MNIST share one memory-mapped X.
    rows: Rows | None = None
    #: The rows of `X_test` that belong to this task: ``y_test[i]`` is the label of ``X_test[rows_test[i]]``.
    rows_test: Rows | None = None
    #: The data set's labels from which `y` was made; None for a task that leaves rows out.
    origin: Origin | None = None
    #: For each change of concept, the number of rows of the task before it, counted from the first row.
    changes: tuple[int, ...] = ()


def is_sparse(X: object) -> bool:
    """Return whether X is a SciPy sparse array, without importing SciPy."""
    return not isinstance(X, np.ndarray)


def arrays_of(X: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the plain arrays of a matrix by name: "data", "indices" and "indptr" for CSR, else "dense"."""
    if is_sparse(X):
        return {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return {"dense": X}


def matrix_bytes(X: Any) -> int:
    """Return the bytes of the arrays of a dense or CSR matrix."""
    return sum(array.nbytes for array in arrays_of(X).values())


def first_where(X: Any, mask: npt.NDArray[np.bool_]) -> tuple[int, int, Any]:
    """Return (row, column, value) of the first stored value for which the mask is true.

    `mask` has the shape of a dense `X`, or of the stored values of a sparse one.
    """
    place = np.argwhere(mask)[0]
    if not is_sparse(X):
        return int(place[0]), int(place[1]), X[tuple(place)]
    row = int(np.searchsorted(X.indptr, place[0], side="right")) - 1
    return row, int(X.indices[place[0]]), X.data[place[0]]


def cast(X: Any, dtype: Any) -> tuple[Any, tuple[int, int, Any] | None]:
    """Convert a matrix; also return (row, column, value) of the first number that does not fit, or None."""
    if X.dtype == dtype:
        return X, None
    with np.errstate(over="ignore"):
        made = X.astype(dtype)
    over = np.isinf(made.data if is_sparse(made) else made)
    return made, first_where(X, over) if over.any() else None


def csr_of(data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> csr_array:
    """Return a CSR array that shares these arrays; SciPy's constructor copies if index types differ."""
    from scipy.sparse import csr_array

    made = csr_array(shape, dtype=data.dtype)
    made.data, made.indices, made.indptr = data, indices, indptr
    return made


def int32_csr(X: Any) -> Any:
    """Return a sparse matrix as CSR with int32 indices, which all streams have; SciPy may choose int64.

    With less than 2^31 non-zeros, `indptr` is int32, too.
    """
    from scipy.sparse import csr_array

    found = csr_array(X)
    found.indices = found.indices.astype(np.int32, copy=False)
    found.indptr = found.indptr.astype(row_pointer_type(found.nnz), copy=False)
    return found


def row_pointer_type(n_stored: int) -> type[np.int32] | type[np.int64]:
    """Return the integer type of the array `indptr` of a CSR matrix with a number of non-zeros."""
    return np.int32 if n_stored < 2**31 else np.int64


def row_slice(X: Any, start: int, stop: int) -> Any:
    """Return rows start … stop - 1 of a matrix as a view.

    SciPy's slice of a CSR array would copy all its indices if `indptr` is int64.
    """
    if not is_sparse(X):
        return X[start:stop]
    start, stop = (min(each, X.shape[0]) for each in (start, stop))
    ends = X.indptr[start : stop + 1]
    stored = slice(ends[0], ends[-1])
    ends = ends - ends[0]
    data, indices = X.data[stored], X.indices[stored]
    return csr_of(data, indices, ends.astype(row_pointer_type(len(data))), (stop - start, X.shape[1]))


def picked_rows(X: Any, rows: Rows) -> Any:
    """Return a copy of some rows of a matrix, in the given order; SciPy would copy more (see `row_slice`)."""
    if not is_sparse(X):
        return X[rows]
    starts = X.indptr[rows].astype(np.int64)
    lengths = X.indptr[rows + 1] - starts
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])
    indptr = ends.astype(row_pointer_type(len(places)))
    return csr_of(X.data[places], X.indices[places], indptr, (len(rows), X.shape[1]))


def freeze(table: Table) -> Table:
    """Make every array of a table read-only, in place, and return the table."""
    for X, y in ((table.X, table.y), (table.X_test, table.y_test)):
        if X is not None and y is not None:
            for array in (*arrays_of(X).values(), y):
                array.flags.writeable = False
    return table


def content_fingerprint(table: Table) -> str:
    """Return the sha256 (hex) of a table: shapes, dtypes, contents and class names, train and test."""
    digest = hashlib.sha256()
    for X, y in ((table.X, table.y), (table.X_test, table.y_test)):
        if X is None or y is None:
            digest.update(b"no test part")
            continue
        parts = {**arrays_of(X), "y": y}
        header = {name: [array.dtype.str, list(array.shape)] for name, array in parts.items()}
        digest.update(json.dumps([list(X.shape), header], sort_keys=True).encode())
        for name in sorted(parts):
            for step in steps(parts[name]):
                digest.update(step)
    digest.update(json.dumps(table.classes).encode())
    return digest.hexdigest()


class SpillingMatrix:
    """Collect rows block by block into one matrix, stored in unnamed files in `folder` if it is large."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[SpillingArray[Any]] = []

    def append(self, X: Any) -> None:
        """Add copies of rows; raise InputError if the folder cannot be written or is full."""
        if is_sparse(X):
            self.append_csr(X.data, X.indices, X.indptr[1:])
            return
        if not self._parts:
            self._parts = [SpillingArray(X.dtype.type, self._folder)]
        self._parts[0].append(X)

    def append_csr(self, data: Any, indices: Any, ends: Any) -> None:
        """Add copies of the rows of a CSR matrix, like `append`; `ends` is `indptr` without the leading 0."""
        if not self._parts:
            kinds: tuple[Any, ...] = data.dtype.type, np.int32, np.int64
            self._parts = [SpillingArray(kind, self._folder) for kind in kinds]
            self._parts[2].append(np.zeros(1))
        self._parts[2].append(ends + np.int64(self._parts[0].size))
        self._parts[0].append(data)
        self._parts[1].append(indices)

    def finish(self, shape: tuple[int, int]) -> Any:
        """Return the matrix, either in memory or memory-mapped and read-only."""
        if len(self._parts) == 1:
            return self._parts[0].finish(shape)
        data, indices, ends = (part.finish() for part in self._parts)
        kind = row_pointer_type(len(data))
        if kind is not np.int64:
            narrow = SpillingArray(kind, self._folder)
            for step in steps(ends):
                narrow.append(np.frombuffer(step, np.int64).astype(kind))
            ends = narrow.finish()
        return csr_of(data, indices, ends, shape)
