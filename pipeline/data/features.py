"""Changes to the features that any data set may ask for: dtype, standardisation, a constant feature."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .options import Options
from .stream import FloatArray, Matrix, Table, is_sparse


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
                "set dense = true for an svmlight file"
            )
        parts = _standardized(parts)
    if options["bias"]:
        parts = [None if X is None else _with_constant(X) for X in parts]
    if options["dtype"]:
        parts = [None if X is None else X.astype(options["dtype"], copy=False) for X in parts]
    return Table(parts[0], table.y, table.classes, parts[1], table.y_test)


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

        joined = csr_array(hstack([X, csr_array(np.ones((X.shape[0], 1), dtype=X.dtype))], format="csr"))
        joined.indices = joined.indices.astype(np.int32, copy=False)
        joined.indptr = joined.indptr.astype(np.int32, copy=False)
        return joined
    wider: FloatArray = np.ones((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
    wider[:, :-1] = X
    return wider
