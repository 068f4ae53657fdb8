"""Rows in a given order: compiled loops read them without copying, or they are copied into a new matrix."""

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .compiled import compiled
from .rows import Matrix, Rows, as_rows, count_rows, read_only, row, row_range, with_order

MatrixT = TypeVar("MatrixT", bound=Matrix)

# Bytes that are copied at once: enough to make the fixed cost of a copy negligible, little compared with a
# stream that does not fit into memory.
_BLOCK_BYTES = 1 << 22


def ordered_rows(X: Matrix, order: ArrayLike) -> Rows:
    """Combine a matrix and an order of its rows into the form that compiled loops take; nothing is copied.

    `X` is what `as_rows` takes, `order` an array-like of m row numbers, in any order and with repetition. The
    result is a read-only ``(values, order)`` or ``(data, indices, indptr, order)``. Raises IndexError for row
    numbers that are not integers or outside 0 … n - 1, which compiled loops do not check, and TypeError as
    `as_rows` does.

    Examples
    --------
    >>> import numpy as np
    >>> from singlepass.learners import Perceptron
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> learner = Perceptron().fit(X, ["no", "no", "yes"])
    >>> learner.score_rows(ordered_rows(X, [2, 0])).tolist()
    [6.0, 2.0]
    """
    rows = as_rows(X)
    order = _row_numbers(order, count_rows(rows))
    return with_order(rows if isinstance(rows, tuple) else (rows,), order)


def blocks_in_order(X: Rows) -> Iterator[tuple[int, int, Rows]]:
    """Yield ``(start, stop, rows)``: copied blocks of a few MB if `X` has a row order, else all rows."""
    n = count_rows(X)
    if not (isinstance(X, tuple) and len(X) in (2, 4)):
        if n:
            yield 0, n, X
        return
    values = X[0]
    # The bytes of a row. CSR rows store a value and a column index per non-zero; their average is taken.
    each = (
        values.shape[1] * values.itemsize
        if len(X) == 2
        else len(values) // max(1, len(X[2]) - 1) * (values.itemsize + X[1].itemsize)
    )
    size = max(16, _BLOCK_BYTES // max(1, each))
    for start in range(0, n, size):
        stop = min(start + size, n)
        *matrix, order = row_range(X, start, stop)
        yield start, stop, take_rows(tuple(matrix) if len(matrix) > 1 else matrix[0], order)


def _row_numbers(order: ArrayLike, n: int) -> NDArray[np.int64]:
    given = np.asarray(order)
    if given.dtype.kind == "O":
        # Such as those of `pandas.Series` of mixed types: NumPy finds out what they are.
        given = np.array(given.tolist())
    if given.size and given.dtype.kind not in "iu":
        hint = ": pass np.flatnonzero(mask) for a mask" if given.dtype.kind == "b" else ""
        raise IndexError(f"row numbers must be integers, got {given.dtype}{hint}")
    numbers = np.ascontiguousarray(given, dtype=np.int64)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < n):
        raise IndexError(f"row numbers must be 0 to {n - 1}, got {numbers.min()} to {numbers.max()}")
    return read_only(numbers)


@compiled
def _take_csr(X, order, data, indices, indptr):
    for i in range(order.shape[0]):
        values, columns = row(X, order[i])
        start, stop = indptr[i], indptr[i + 1]
        data[start:stop] = values
        indices[start:stop] = columns


def take_rows(X: MatrixT, order: ArrayLike) -> MatrixT:
    """Gather rows into a new matrix of the same kind and dtype, without holding the GIL while copying.

    The arguments are those of `ordered_rows`. The result is C-contiguous and has its own memory. Raises
    IndexError for row numbers that are not integers or outside 0 … n - 1.
    """
    out: Any
    rows = as_rows(X)
    order = _row_numbers(order, count_rows(rows))
    if not isinstance(rows, tuple):
        out = rows.take(order, axis=0)
        return out
    indptr = np.zeros(len(order) + 1, np.int64)
    np.cumsum(np.diff(rows[2]).take(order), out=indptr[1:])
    indptr = indptr.astype(np.int64 if indptr[-1] > np.iinfo(np.int32).max else rows[2].dtype)
    data, indices = np.empty(indptr[-1], rows[0].dtype), np.empty(indptr[-1], rows[1].dtype)
    _take_csr(rows, order, data, indices, indptr)
    if isinstance(X, tuple):
        out = read_only(data), read_only(indices), read_only(indptr)
        return out
    kind: Any = type(X)
    return kind((data, indices, indptr), shape=(len(order), X.shape[1]))
