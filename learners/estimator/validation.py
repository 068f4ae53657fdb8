"""Checks of rows and labels that a user gives, and their form for loops."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..numeric.rows import Rows, as_rows, first_nonfinite_row, row_range

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


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
    if X.nnz and not (X.indices.min() >= 0 and X.indices.max() < X.shape[1]):
        raise ValueError(f"X is a CSR matrix with column indices outside 0 to {X.shape[1] - 1}")
    if not X.has_canonical_format:
        # Squared norms are those of the row, so each column may occur only once.
        X = X.copy()
        X.sum_duplicates()
    return as_rows(X)


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


def refuse_nonfinite(rows: Rows) -> None:
    """Raise ValueError for a row with a NaN or infinity.

    Parameters
    ----------
    rows : ndarray of shape (n, d) or tuple (data, indices, indptr)
        What `safe_rows` returns.
    """
    i = first_nonfinite_row(rows)
    if i >= 0:
        values = row_range(rows, i, i + 1)
        if isinstance(values, tuple):
            values = values[0][slice(*values[2])]
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(f"Input X contains {what} in row {i} (counted from 0).")


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
