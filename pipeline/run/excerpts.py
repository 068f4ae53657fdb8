"""The part of a matrix that the cells of a task read, copied next to each other where it is small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import take_rows
from .splits import Fold

# A part of more bytes than this is left where it lies: copying it would take longer than a pass over it
# gains, and memory that is not there beside a stream larger than memory.
_MOST_BYTES = 1 << 26
# What the objects around an array take, about.
_LITTLE = 1 << 12


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Rows of one matrix or two, with the features that occur in them numbered anew.

    Attributes
    ----------
    parts : tuple of (rows, X, renumbered)
        Of the training and the test matrix: the row numbers that it has, ascending (None: all of them), the
        rows themselves and, of CSR matrices, those with renumbered features.
    n_bytes : int
        What it takes or keeps from being freed.
    """

    parts: tuple[tuple[NDArray[np.int64] | None, Any, Any], ...]
    n_bytes: int

    def fold(self, fold: Fold, part: int) -> Fold:
        """Return a fold of matrix 0 or 1 as one of the excerpt."""
        rows, X, renumbered = self.parts[part]
        places = fold.rows if rows is None else np.searchsorted(rows, fold.rows)
        # Blocks are those of the whole matrix: what a learner of somebody else's makes of them may differ.
        return Fold(X, places, fold.codes, renumbered, fold.block_rows())


def excerpt(matrices: list[tuple[Any, NDArray[np.int64] | None]]) -> Excerpt:
    """Copy what is read of matrices.

    Parameters
    ----------
    matrices : list of (X, rows)
        The training matrix and, where there is one, the test matrix, each with the numbers of the rows that
        are read of it, ascending; None: all.

    Returns
    -------
    Excerpt
        With the matrices themselves, where what is read is all or much of them.
    """
    parts: list[tuple[NDArray[np.int64] | None, Any, Any]] = []
    n_bytes = 0
    for X, rows in matrices:
        if rows is None or matrix_bytes(X) * (len(rows) / X.shape[0]) > _MOST_BYTES:
            parts.append((None, X, None))
        else:
            parts.append((rows, take_rows(X, rows), None))
        n_bytes += held_bytes(X) + (0 if parts[-1][1] is X else held_bytes(parts[-1][1]))
    if all(not isinstance(X, np.ndarray) and matrix_bytes(X) <= _MOST_BYTES for _, X, _ in parts):
        # Of training and test part together: a learner knows a feature by one number.
        occurs = np.zeros(parts[0][1].shape[1], bool)
        for _, X, _ in parts:
            occurs[X.indices] = True
        occurring = np.flatnonzero(occurs)
        # Of the others nothing is asked: their numbers are not even written.
        numbers = np.empty(len(occurs), parts[0][1].indices.dtype)
        numbers[occurring] = np.arange(len(occurring))
        for i, (rows, X, _) in enumerate(parts):
            indices = numbers[X.indices].astype(X.indices.dtype, copy=False)
            renumbered = type(X)((X.data, indices, X.indptr), shape=(X.shape[0], len(occurring)))
            parts[i] = rows, X, renumbered
            n_bytes += indices.nbytes
    return Excerpt(tuple(parts), n_bytes)


def held_bytes(X: Any) -> int:
    """Return the bytes of memory that a matrix takes: next to none where it is mapped from a file."""
    array = X if isinstance(X, np.ndarray) else X.data
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return _LITTLE
        array = array.base
    return matrix_bytes(X) + _LITTLE


def matrix_bytes(X: Any) -> int:
    """Return the bytes of a dense or CSR matrix."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
