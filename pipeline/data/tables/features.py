"""Changes to the features that any data set may ask for: dtype, standardisation, a constant feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...errors import InputError
from .options import Options
from .stream import FloatArray, Matrix, Table, int32_csr, is_sparse


def apply_feature_options(name: str, table: Table, options: Options) -> Table:
    """Apply ``standardize``, ``bias`` and ``dtype``, in that order.

    Parameters
    ----------
    name : str
        Name of the data set, for the error line.
    table : Table
        What the source gave.
    options : mapping
        Resolved options.

    Returns
    -------
    Table
        The same table when nothing was asked for.

    Raises
    ------
    InputError
        When a sparse set should be standardised: that would make it dense.
    """
    parts: list[Any] = [table.X, table.X_test]
    if options["standardize"]:
        if is_sparse(table.X):
            raise InputError(
                f"data set {name!r} is sparse: standardize would make it dense; leave standardize out, or "
                "set dense = true"
            )
        parts = _standardized(parts)
    if options["bias"]:
        parts = [None if X is None else _with_constant(X) for X in parts]
    if options["dtype"]:
        parts = [None if X is None else X.astype(options["dtype"], copy=False) for X in parts]
    return replace(table, X=parts[0], X_test=parts[1])


# A dense copy beside its source must fit into a worker's memory; 2 GiB is half of a common one's.
_LARGEST_DENSE = 2 << 30


def with_layout(name: str, table: Table, *, dense: bool) -> Table:
    """Return a table as dense arrays or as CSR.

    Parameters
    ----------
    name : str
        Name of the data set, for the error line.
    table : Table
        In either layout.
    dense : bool
        The layout wanted. CSR leaves zeros out and has int32 indices.

    Raises
    ------
    InputError
        When the dense form would take more than 2 GiB.
    """
    parts: list[Any] = [_laid_out(name, X, dense) for X in (table.X, table.X_test)]
    return Table(parts[0], table.y, table.classes, parts[1], table.y_test)


def _laid_out(name: str, X: Any, dense: bool) -> Any:
    if X is None or is_sparse(X) != dense:
        return X
    if dense:
        size = X.shape[0] * X.shape[1] * X.dtype.itemsize
        if size > _LARGEST_DENSE:
            raise InputError(
                f"data set {name!r}: {X.shape[0]:,} x {X.shape[1]:,} would take {size / 2**30:.1f} GiB; "
                "leave out dense = true"
            )
        return np.ascontiguousarray(X.toarray())
    return int32_csr(X)


def _standardized(parts: list[Any]) -> list[Any]:
    """Mean 0, standard deviation 1 over the training rows; a constant feature becomes 0.

    Sums run down the columns row by row, so that they do not depend on the machine's vector width.
    """
    X = parts[0]
    mean = X.mean(axis=0, dtype=np.float64)
    spread = np.sqrt(np.mean((X - mean) ** 2, axis=0, dtype=np.float64))
    spread[spread == 0.0] = 1.0
    return [None if part is None else ((part - mean) / spread).astype(part.dtype) for part in parts]


def _with_constant(X: Matrix) -> Matrix:
    if not isinstance(X, np.ndarray):
        from scipy.sparse import csr_array, hstack

        ones = csr_array(np.ones((X.shape[0], 1), dtype=X.dtype))
        joined: Matrix = int32_csr(hstack([X, ones], format="csr"))
        return joined
    wider: FloatArray = np.ones((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
    wider[:, :-1] = X
    return wider
