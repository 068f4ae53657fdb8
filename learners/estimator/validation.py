"""Checks of rows and labels that a user gives, and their form for loops."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import ArrayLike, NDArray

from ..numeric.compiled import compiled
from ..numeric.rows import Rows, as_rows, first_nonfinite_row, read_only, row_range

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

# Non-zeros of a CSR block: their indices (1 MB) stay in a core's cache until they are learnt, and what the
# call of a loop costs is little beside them.
_BLOCK_ENTRIES = 1 << 18

# The falls among so many indices are counted in 32 bits, as wide as the indices: half the work of 64.
_COUNTED_AT_ONCE = 1 << 20


def safe_rows(X: Any) -> Rows:
    """Return a matrix as rows for loops, which look at neither alignment nor the bounds of CSR columns.

    Parameters
    ----------
    X : ndarray of shape (n, d) or CSR matrix
        float32 or float64, C-contiguous.

    Returns
    -------
    ndarray of shape (n, d) or tuple (data, indices, indptr)
        Aligned or, of a CSR matrix, canonical; `X` itself where it is so already.

    Raises
    ------
    ValueError
        For column indices outside the matrix.
    """
    if isinstance(X, np.ndarray):
        return as_rows(X if X.flags.aligned else X.copy())
    indices, indptr = (read_only(np.ascontiguousarray(part)) for part in (X.indices, X.indptr))
    if not _is_canonical(indices, indptr, X.shape[1]):
        if X.nnz and not (X.indices.min() >= 0 and X.indices.max() < X.shape[1]):
            raise ValueError(f"X is a CSR matrix with column indices outside 0 to {X.shape[1] - 1}")
        # Squared norms are those of the row, so each column may occur only once.
        X = X.copy()
        X.sum_duplicates()
    return as_rows(X)


def safe_blocks(X: Any) -> Iterator[tuple[int, Rows]]:
    """Return a matrix as blocks of rows for loops, as `safe_rows` does it with the whole.

    A block of a CSR matrix is checked when it is asked for, and lies in the cache then: learnt at once, its
    rows are read from memory once. A dense matrix is one block, for nothing of it is looked at.

    Parameters
    ----------
    X : ndarray of shape (n, d) or CSR matrix
        As for `safe_rows`.

    Yields
    ------
    start : int
        The number of the block's first row.
    rows : ndarray of shape (n, d) or tuple (data, indices, indptr)

    Raises
    ------
    ValueError
        For column indices outside the matrix, by the block that holds them.
    """
    # Indices that `as_rows` has to convert are read beforehand anyway.
    if isinstance(X, np.ndarray) or X.indices.dtype != np.int32:
        yield 0, safe_rows(X)
        return
    rows, n = as_rows(X), X.shape[0]
    step = max(1, _BLOCK_ENTRIES * n // max(1, X.indices.size))
    for start in range(0, n, step):
        block = row_range(rows, start, start + step)
        if not _is_canonical(block[1], block[2], X.shape[1]):
            # SciPy's own slices leave out columns outside the matrix.
            indptr = block[2]
            cut = slice(indptr[0], indptr[-1])
            parts = block[0][cut], block[1][cut], indptr - indptr[0]
            block = safe_rows(type(X)(parts, shape=(len(indptr) - 1, X.shape[1])))
        yield start, block


@register_jitable
def _count_falls(indices):  # type: ignore[no-untyped-def]
    """Return how often an index is not above the one before."""
    falls, before = np.int32(0), indices[0]
    for k in range(1, indices.shape[0]):
        index = indices[np.uintp(k)]
        falls = np.int32(falls + np.int32(before >= index))
        before = index
    return falls


@compiled
def _is_canonical(indices, indptr, n_columns):  # type: ignore[no-untyped-def]
    """Tell whether the indices of every CSR row rise strictly within 0 … n_columns - 1."""
    n = indptr.shape[0] - 1
    start, stop = indptr[0], indptr[n]
    if not 0 <= start <= stop <= indices.shape[0]:
        return False
    # Over all rows at once, however short they are; where a row begins, the indices may fall.
    falls = 0
    for begin in range(start, stop, _COUNTED_AT_ONCE):
        falls += _count_falls(indices[begin : min(begin + _COUNTED_AT_ONCE + 1, stop)])
    for i in range(n):
        first, end = indptr[i], indptr[i + 1]
        if not start <= first <= end <= stop:
            return False
        if first < end:
            if first > start:
                falls -= indices[first - 1] >= indices[first]
            # The smallest and the largest, if they rise.
            if indices[first] < 0 or indices[end - 1] >= n_columns:
                return False
    return falls == 0


def _distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted distinct labels, without sorting where integers are just two."""
    if y.dtype.kind in "iu":
        two = np.array([y.min(), y.max()])
        if np.all((y == two[0]) | (y == two[1])):
            y = two
    return np.unique(y)


def label_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the position of each label in the classes.

    Parameters
    ----------
    y : ndarray of shape (n,)
    classes : ndarray of shape (K,)
        Sorted and distinct, K >= 2.

    Returns
    -------
    ndarray of int32, shape (n,)

    Raises
    ------
    ValueError
        For a label that is none of them.
    """
    if len(classes) == 2:
        codes: NDArray[Any] = y == classes[1]
        known = codes | (y == classes[0])
    else:
        try:
            codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        except TypeError:  # labels of another kind: numbers and strings have no order
            codes = np.zeros(len(y), np.int32)
        known = classes[codes] == y
    if not np.all(known):
        unknown = y[np.flatnonzero(~np.broadcast_to(known, y.shape))[:1]].tolist()[0]
        raise ValueError(f"label {unknown!r} is not one of the classes {_listed(classes)}")
    return codes.astype(np.int32)


def _listed(classes: NDArray[Any]) -> str:
    """Return the classes for a message: all, or the first few of many."""
    if len(classes) <= 20:
        return str(classes.tolist())
    return f"{str(classes[:10].tolist())[:-1]}, … ({len(classes)} of them)]"


def refuse_nonfinite(rows: Rows, start: int = 0) -> None:
    """Raise ValueError for a row with a NaN or infinity.

    Parameters
    ----------
    rows : ndarray of shape (n, d) or tuple (data, indices, indptr)
        What `safe_rows` returns.
    start : int, default=0
        The number of the first of them.
    """
    i = first_nonfinite_row(rows)
    if i >= 0:
        values = row_range(rows, i, i + 1)
        if isinstance(values, tuple):
            values = values[0][slice(*values[2])]
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(f"Input X contains {what} in row {start + i} (counted from 0).")


def finite_rows(X: Any) -> Rows:
    """Return what `safe_rows` returns, or raise ValueError for a row with a NaN or infinity."""
    rows = safe_rows(X)
    refuse_nonfinite(rows)
    return rows


def sorted_classes(y: NDArray[Any], classes: ArrayLike | None, name: str, takes_many: bool) -> NDArray[Any]:
    """Return the sorted class labels of the first call of a learner.

    Parameters
    ----------
    y : ndarray of shape (n,)
    classes : array-like or None
        What the user says they are; None: those of `y`.
    name : str
        Of the learner, for messages.
    takes_many : bool
        Whether it takes more than two classes.

    Returns
    -------
    ndarray of shape (K,)
        Distinct, K >= 2.

    Raises
    ------
    ValueError
        For fewer than two classes, and for more where the learner takes two only.
    """
    if classes is None:
        classes = _distinct(y)
        if len(classes) == 1:
            raise ValueError(
                f"{name} needs two classes, but the labels hold 1 class, {classes.tolist()}; "
                "a first chunk of one class needs classes=[...]"
            )
    classes = np.unique(classes)
    if len(classes) > 2 and not takes_many:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass. "
            f"{name} was given {len(classes)} classes."
        )
    if len(classes) < 2:
        raise ValueError(f"{name} needs two classes, got classes={classes.tolist()}")
    return classes
