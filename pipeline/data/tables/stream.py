"""What a data set name resolves to: a table of a source, and the stream of one task on it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..io.spill import steps

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
Matrix: TypeAlias = "FloatArray | csr_array"
Codes: TypeAlias = npt.NDArray[np.int32]
Rows: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Table:
    """All rows of a source with its own K classes, before a task is derived from it.

    Attributes
    ----------
    X : ndarray of shape (n, d) or scipy.sparse.csr_array
        float32 or float64; C-contiguous, or CSR with int32 indices.
    y : ndarray of shape (n,), int32
        Class codes 0..K-1.
    classes : tuple of str
        The K class names.
    X_test, y_test : same as X, y, or None
        The official test part, where the source has one.
    changes : tuple of int
        After how many rows what they follow changes, where it is known.
    notes : tuple of str
        What is to be known of how the features were made, a line each.
    """

    X: Matrix
    y: Codes
    classes: tuple[str, ...]
    X_test: Matrix | None = None
    y_test: Codes | None = None
    changes: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Origin:
    """The labels that those of a task are made of: the data set's own, before classes are joined.

    Attributes
    ----------
    y : ndarray of shape (n,), int32
        The data set's class codes, row by row of the task's stream.
    classes : tuple of str
        Their names.
    codes : ndarray of int32
        The task's class code of each.
    """

    y: Codes
    classes: tuple[str, ...]
    codes: Codes


@dataclass(frozen=True, eq=False)
class Stream:
    """One task, ready to be streamed. Every array is read-only: threads share them.

    Attributes
    ----------
    name : str
        Label of the task, such as ``"usps[3-vs-5]"``.
    X : ndarray of shape (N, d) or scipy.sparse.csr_array
        float32 or float64; C-contiguous (often memory-mapped), or CSR with int32 indices.
    y : ndarray of shape (n,), int32
        Class codes 0..K-1. In a binary task code 1 is the positive class.
    classes : tuple of str
        The K class names.
    X_test, y_test : same as X, y, or None
        The official test part, where there is one.
    fingerprint : str
        sha256, hex: equal to ``fingerprint(ref)`` of the reference it was opened from.
    rows : ndarray of shape (n,), int64, or None
        The rows of X that belong to this task: ``y[i]`` is the label of ``X[rows[i]]``. None means all of
        them, in order. So the 45 pairs of MNIST share one memory-mapped X.
    rows_test : ndarray of int64 or None
        The same for the test part.
    origin : Origin or None
        What the labels `y` are made of; None for a task that leaves rows out.
    changes : tuple of int
        After how many rows of the task what they follow changes.
    """

    name: str
    X: Matrix
    y: Codes
    classes: tuple[str, ...]
    X_test: Matrix | None
    y_test: Codes | None
    fingerprint: str
    rows: Rows | None = None
    rows_test: Rows | None = None
    origin: Origin | None = None
    changes: tuple[int, ...] = ()


def is_sparse(X: object) -> bool:
    """Return whether X is a SciPy sparse array, without importing SciPy to find out."""
    return not isinstance(X, np.ndarray)


def arrays_of(X: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the plain arrays that a matrix consists of, by their CSR names or ``"dense"``."""
    if is_sparse(X):
        return {"data": X.data, "indices": X.indices, "indptr": X.indptr}
    return {"dense": X}


def int32_csr(X: Any) -> Any:
    """Return a sparse matrix as CSR with int32 indices, as every stream has them; SciPy may choose int64."""
    from scipy.sparse import csr_array

    found = csr_array(X)
    found.indices = found.indices.astype(np.int32, copy=False)
    found.indptr = found.indptr.astype(np.int32, copy=False)
    return found


def freeze(table: Table) -> Table:
    """Make every array of a table read-only, in place, and return the table."""
    for X, y in ((table.X, table.y), (table.X_test, table.y_test)):
        if X is not None and y is not None:
            for array in (*arrays_of(X).values(), y):
                array.flags.writeable = False
    return table


def content_fingerprint(table: Table) -> str:
    """Return the sha256 of a table: shapes, dtypes, contents and class names, train and test.

    Parameters
    ----------
    table : Table
        Any table.

    Returns
    -------
    str
        64 hexadecimal digits. The same rows read from CSV or from Parquet have the same fingerprint.
    """
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
