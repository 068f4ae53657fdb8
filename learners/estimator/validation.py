"""Check rows and labels that a user passes, and convert them to the form that loops take."""

from collections.abc import Set
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numeric.compiled import compiled
from ..numeric.rows import (
    Rows,
    as_rows,
    first_nonfinite_row,
    is_canonical,
    read_only,
    row_range,
    rows_to_check,
)

# Classes that a user gives.
Classes: TypeAlias = ArrayLike | Set[Any]

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))

# A matrix with at most this many column indices (256 KB) is checked before it is learned. The indices stay in
# a core's cache, so the check is cheap, and compiling a second loop, which checks as it learns, does not pay.
_FEW_INDICES = 1 << 16

# The label codes of one row: an array for the first class, and one for the second. They are never written to,
# but not marked read-only, because loops would be compiled again for read-only arrays.
_FIRST, _SECOND = np.zeros(1, np.int32), np.ones(1, np.int32)


def safe_rows(X: Any) -> Rows:
    """Return a matrix as rows that compiled loops can read without checking alignment or column indices.

    `X` is float32 or float64, C-contiguous or CSR. The result is aligned and, if CSR, canonical. Raise
    ValueError for column indices outside the matrix, and for an indptr that decreases or points outside the
    indices.
    """
    if isinstance(X, np.ndarray):
        return as_rows(X if X.flags.aligned else X.copy())
    indices, indptr = (read_only(np.ascontiguousarray(part)) for part in (X.indices, X.indptr))
    if not _all_canonical(indices, indptr, X.shape[1]):
        if X.nnz and not (X.indices.min() >= 0 and X.indices.max() < X.shape[1]):
            raise ValueError(f"X is a CSR matrix with column indices outside 0 to {X.shape[1] - 1}")
        if not (indptr[0] >= 0 and np.all(indptr[:-1] <= indptr[1:]) and indptr[-1] <= len(indices)):
            raise ValueError("X is a CSR matrix whose indptr decreases or points outside its indices")
        # Entries of the same column and row are added up: squared norms are computed entry by entry, so each
        # column may occur only once in a row.
        X = X.copy()
        X.sum_duplicates()
    return as_rows(X)


class NotLearntError(Exception):
    """The learning loop met a row that is not canonical: check all rows, then learn them again."""


def checked_later(X: Any) -> Rows:
    """Return rows for the learning loop, checked or, if that is faster, in a form that the loop checks.

    Call `refuse_learnt` after the loop.
    """
    # Indices that are not int32 have to be converted before the loop, so they are checked before it as well.
    if isinstance(X, np.ndarray) or X.indices.dtype != np.int32 or X.indices.size <= _FEW_INDICES:
        return safe_rows(X)
    return rows_to_check(X)


@compiled
def _all_canonical(indices, indptr, n_columns):  # type: ignore[no-untyped-def]
    for i in range(indptr.shape[0] - 1):
        if not is_canonical(indices, np.intp(indptr[i]), np.intp(indptr[i + 1]), n_columns):
            return False
    return True


def _distinct(y: NDArray[Any]) -> NDArray[Any]:
    """Return the sorted distinct labels, without sorting if they are just two integers."""
    if y.dtype.kind in "iu":
        two = np.array([y.min(), y.max()])
        if np.all((y == two[0]) | (y == two[1])):
            y = two
    return np.unique(y)


def _are_positions(classes: NDArray[Any]) -> bool:
    """Return whether sorted distinct classes are the integers 0 … K - 1."""
    return bool(classes.dtype.kind in "iu" and classes[0] == 0 and classes[-1] == len(classes) - 1)


def label_codes(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int32]:
    """Return the position of each label in the sorted distinct classes, as int32.

    Raise ValueError for a label that is not in `classes`. If the classes are 0 … K - 1 and `y` is contiguous
    int32, the result is `y` itself.
    """
    if (
        y.dtype == np.int32
        and y.flags.carray
        and _are_positions(classes)
        # Negative labels, viewed as unsigned integers, are larger than any class code.
        and np.maximum.reduce(y.view(np.uint32), initial=0) < len(classes)
    ):
        return y
    if y.dtype == object:
        for label in y.tolist():
            if type(label).__name__ == "NAType":  # pandas.NA, whose comparisons are neither true nor false
                raise ValueError(f"label {label!r} is not one of the classes {_listed(classes)}")
    if len(y) == 1 and len(classes) == 2:
        # A single label is compared as a Python number: NumPy's functions would take half of the time of a
        # call that learns one row.
        label = y.item()
        if label == classes.item(1):
            return _SECOND
        if label == classes.item(0):
            return _FIRST
    if len(classes) == 2:
        # Integer classes are converted to Python numbers. NumPy then compares in the dtype of the labels,
        # instead of converting a copy of all labels.
        first, second = classes.tolist() if y.dtype.kind in "iu" else classes
        codes: NDArray[Any] = y == second
        known = codes | (y == first)
    else:
        try:
            codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        except TypeError:  # labels and classes cannot be compared (numbers, strings), so no label is known
            codes = np.zeros(len(y), np.int32)
        known = classes[codes] == y
    if not np.all(known):
        unknown = y[np.flatnonzero(~np.broadcast_to(known, y.shape))[:1]].tolist()[0]
        raise ValueError(f"label {unknown!r} is not one of the classes {_listed(classes)}")
    return codes.astype(np.int32)


def _listed(classes: NDArray[Any]) -> str:
    """Return the classes for a message: all of them, or the first few."""
    if len(classes) <= 20:
        return str(classes.tolist())
    return f"{str(classes[:10].tolist())[:-1]}, … ({len(classes)} of them)]"


def refuse_nonfinite(rows: Rows) -> None:
    """Raise ValueError for a row with NaN or infinity; the indices of CSR rows must be valid."""
    i = first_nonfinite_row(rows)
    if i >= 0:
        values = row_range(rows, i, i + 1)
        if isinstance(values, tuple):
            values = values[0][slice(*values[2])]
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(f"Input X contains {what} in row {i} (counted from 0).")


def refuse_learnt(rows: Rows, scores: NDArray[np.float64]) -> None:
    """Raise an error if rows that have just been learned are invalid.

    NotLearntError: the loop met a row that is not canonical. ValueError: a row has NaN or infinity, so that
    its score is not finite.
    """
    if isinstance(rows, tuple) and len(rows) == 5 and rows[4][0]:
        raise NotLearntError
    # A score that is not finite may also come from an overflow, so the rows themselves are checked then.
    if first_nonfinite_row(read_only(scores.reshape(1, -1))) >= 0:
        refuse_nonfinite(rows)


def finite_rows(X: Any) -> Rows:
    """Return a matrix as rows for compiled loops; raise ValueError for bad indices, NaN or infinity."""
    rows = safe_rows(X)
    refuse_nonfinite(rows)
    return rows


def refuse_other_classes(classes: Classes, known: NDArray[Any]) -> None:
    """Raise ValueError if the classes that the user gives in a later call are not the known ones."""
    given = _distinct_classes(classes)
    if not np.array_equal(given, known):
        raise ValueError(f"classes {given.tolist()} are not those of the first call, {known.tolist()}")


def _distinct_classes(classes: Classes) -> NDArray[Any]:
    # NumPy takes a set for a single object.
    return np.unique(list(classes) if isinstance(classes, Set) else classes)


def sorted_classes(y: NDArray[Any], classes: Classes | None, name: str, takes_many: bool) -> NDArray[Any]:
    """Return the sorted distinct classes of a first call: those given by the user, or the labels in `y`.

    Raise ValueError, which contains the learner's `name`, for NaN, for fewer than two classes, and for more
    than two unless the learner `takes_many`.
    """
    if classes is None:
        classes = _distinct(y)
        if len(classes) == 1:
            raise ValueError(
                f"{name} needs two classes, but the labels contain 1 class, {classes.tolist()}; "
                "if further classes follow in later rows, pass classes=[...] to partial_fit or learn"
            )
    classes = _distinct_classes(classes)
    if any(each != each for each in classes.tolist()):
        raise ValueError(f"{name}: classes contain NaN, which is no class: leave it out")
    if len(classes) > 2 and not takes_many:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass. "
            f"{name} was given {len(classes)} classes."
        )
    if len(classes) < 2:
        raise ValueError(f"{name} needs two classes, got classes={classes.tolist()}")
    return classes
