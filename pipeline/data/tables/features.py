"""Change features as a data set's options say: fill missing values, standardize, add a constant, convert."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.folders import cache_folder
from ..io.spill import release
from .options import ONLINE, Options, Value
from .stream import (
    FloatArray,
    Matrix,
    Rows,
    SpillingMatrix,
    Table,
    arrays_of,
    cast,
    int32_csr,
    is_sparse,
    matrix_bytes,
    picked_rows,
    row_slice,
)

# Up to this size a matrix is changed at once; a larger one block by block, so that it need not fit in memory.
_WHOLE_BYTES = 1 << 28
_BLOCK_BYTES = 1 << 24
# Rows in a block of a CSR matrix. The number is fixed because the last bits of sums depend on it.
_BLOCK_ROWS = 1 << 12

# At most this many rows are read to estimate the typical size of each feature.
_SIZED_ROWS = 2048

# Internal option that opens a table without changing its features.
_RAW = "raw"


@dataclass(frozen=True, eq=False)
class FeatureFit:
    """Contain statistics to change features: each one's fill value, mean and standard deviation, or None."""

    fill: npt.NDArray[np.float64] | None
    mean: npt.NDArray[np.float64] | None
    spread: npt.NDArray[np.float64] | None


def computed(options: Options) -> bool:
    """Return whether options change features by statistics of the training rows, or of the rows so far."""
    return bool(options.get("standardize")) or options.get("missing", "error") != "error"


def scaled_online(options: Options) -> bool:
    """Return whether each row is standardized with statistics of its stream's rows so far."""
    return options.get("standardize") == ONLINE


def raw_options(options: Options) -> dict[str, Value]:
    """Return options that open the same table with unchanged features, for callers that change them later."""
    return {**options, "standardize": False, "bias": False, "dtype": "", _RAW: True}


def apply_feature_options(name: str, table: Table, options: Options) -> Table:
    """Fill missing values, then apply ``standardize``, ``bias`` and ``dtype``, in that order.

    The statistics are those of the whole training part of the table. Features with ``standardize = "online"``
    are not scaled here, but while an algorithm reads its stream. Returns the same arrays if the options
    change nothing. Raises InputError if a sparse table is to be standardized, which would make it dense, or
    if values are too large. `name` is the data set's name in error messages.
    """
    if options.get(_RAW):
        return table
    fit = fit_features(name, table.X, options)
    X = change_features(name, table.X, fit, options)
    X_test = None if table.X_test is None else change_features(name, table.X_test, fit, options)
    return replace(table, X=X, X_test=X_test)


def fit_features(name: str, X: Any, options: Options, rows: Rows | None = None) -> FeatureFit:
    """Compute the statistics for changing a data set's features; `name` is the data set's name in errors.

    `X` has NaN where a value is missing. `rows` are the training rows in ascending order, by default all.
    """
    fill = mean = spread = None
    if options.get("missing", "error") != "error":
        fill = _means_of_known(X, rows)
    if options["standardize"] and is_sparse(X):
        # Arrays and generators have no option `dense`.
        remedy = "set dense = true" if "dense" in options else "give dense rows"
        raise InputError(
            f"data set {name!r} is sparse: standardize would make it dense; set standardize = false, or "
            f"{remedy}"
        )
    if options["standardize"] and not scaled_online(options):
        # Clip means to the range of the values: the rounded mean of equal values may differ from them, and a
        # constant feature would then be divided by the rounding error instead of becoming 0. The range of a
        # feature without known values is NaN, which fmax and fmin ignore.
        low, high = _ranges(X, rows)
        fill = None if fill is None else np.fmin(np.fmax(fill, low), high)
        # Two or more columns are summed row by row, so the sums do not depend on the machine's vector width.
        n = X.shape[0] if rows is None else len(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = _sum(X, rows, lambda block: _filled(block, fill)) / n
            mean = np.fmin(np.fmax(mean, low), high)
            spread = np.sqrt(_sum(X, rows, lambda block: (_filled(block, fill) - mean) ** 2) / n)
        wrong = np.flatnonzero(~(np.isfinite(mean) & np.isfinite(spread)))
        if len(wrong):
            raise InputError(
                f"data set {name!r}: feature {wrong[0] + 1} has values too large to be standardized (their "
                "squares overflow); divide it by a constant, or set standardize = false"
            )
        spread[spread == 0.0] = 1.0
    return FeatureFit(fill, mean, spread)


def typical_sizes(X: Matrix) -> npt.NDArray[np.float64]:
    """Return the mean absolute non-zero value of each feature, NaN if all its values are 0, shape (d,).

    At most 2,048 rows are read, evenly spread over the matrix.
    """
    rows = picked_rows(X, np.arange(0, X.shape[0], -(-X.shape[0] // _SIZED_ROWS) or 1))
    if isinstance(rows, np.ndarray):
        values = np.abs(rows, dtype=np.float64)
        sums, n = values.sum(axis=0), np.count_nonzero(values, axis=0)
    else:
        d = rows.shape[1]
        sums = np.bincount(rows.indices, np.abs(rows.data), minlength=d)
        n = np.bincount(rows.indices[rows.data != 0], minlength=d)
    sizes = np.full(len(n), np.nan)
    np.divide(sums, n, out=sizes, where=n > 0)
    return sizes


def change_features(name: str, X: Any, fit: FeatureFit, options: Options) -> Any:
    """Fill missing values, then apply ``standardize``, ``bias`` and ``dtype``; return the changed matrix.

    A standardized constant feature becomes 0. A matrix larger than 256 MB is written to disk, block by block.
    """
    dtype = np.dtype(str(options["dtype"]) or X.dtype)
    if fit.fill is None and fit.mean is None and not options["bias"] and dtype == X.dtype:
        return X

    def change(block: Any) -> Any:
        block = _filled(block, fit.fill)
        if fit.mean is not None:
            block = ((block - fit.mean) / fit.spread).astype(block.dtype)
        if options["bias"]:
            block = _with_constant(block)
        made, over = cast(block, dtype)
        if over is not None:
            raise InputError(
                f"data set {name!r}: feature {over[1] + 1} has values that do not fit {dtype.name}; set "
                'dtype = "float64"'
            )
        return made

    if matrix_bytes(X) <= _WHOLE_BYTES:
        return change(X)
    made = SpillingMatrix(cache_folder() / "streams")
    for block in _blocks(X, None):
        made.append(change(block))
    return made.finish((X.shape[0], X.shape[1] + bool(options["bias"])))


# A dense copy and its source must both fit into a worker's memory; 2 GiB is half of a common worker's.
_LARGEST_DENSE = 2 << 30


def with_layout(name: str, table: Table, *, dense: bool) -> Table:
    """Return a table as CSR or as dense arrays; raise InputError if dense ones would take more than 2 GiB."""

    def laid_out(X: Any) -> Any:
        if X is None or is_sparse(X) != dense:
            return X
        if not dense:
            return int32_csr(X)
        size = X.shape[0] * X.shape[1] * X.dtype.itemsize
        if size > _LARGEST_DENSE:
            raise InputError(
                f"data set {name!r}: {X.shape[0]:,} x {X.shape[1]:,} would take {size / 2**30:.1f} GiB; "
                "leave out dense = true"
            )
        return np.ascontiguousarray(X.toarray())

    return replace(table, X=laid_out(table.X), X_test=laid_out(table.X_test))


def _blocks(X: Any, rows: Rows | None) -> Iterator[Any]:
    """Yield the rows of a matrix: a small dense matrix at once, any other in blocks, for bounded memory."""
    if rows is None and not is_sparse(X) and X.nbytes <= _WHOLE_BYTES:
        yield X
        return
    step = _BLOCK_ROWS if is_sparse(X) else max(1, _BLOCK_BYTES // max(1, X.shape[1] * X.itemsize))
    for start in range(0, X.shape[0] if rows is None else len(rows), step):
        yield (
            row_slice(X, start, start + step) if rows is None else picked_rows(X, rows[start : start + step])
        )
        if matrix_bytes(X) > _WHOLE_BYTES:
            for array in arrays_of(X).values():
                release(array)


def _sum(X: Any, rows: Rows | None, of: Callable[[Any], Any]) -> Any:
    """Apply `of` to each block of rows and return the column sums over all blocks.

    With two or more columns, the sums do not depend on the sizes of blocks.
    """
    total = None
    for block in _blocks(X, rows):
        part = of(block)
        if total is not None:
            part = np.concatenate([total[None], part])
        total = np.add.reduce(part, axis=0, dtype=np.float64)
    return total


def _ranges(X: Any, rows: Rows | None) -> tuple[Any, Any]:
    """Return the least and the largest known value of each feature of a dense matrix; NaN without any."""
    lows, highs = [], []
    for block in _blocks(X, rows):
        lows.append(np.fmin.reduce(block, axis=0, initial=np.nan))
        highs.append(np.fmax.reduce(block, axis=0, initial=np.nan))
    return np.fmin.reduce(lows, axis=0), np.fmax.reduce(highs, axis=0)


def _means_of_known(X: Any, rows: Rows | None) -> npt.NDArray[np.float64]:
    """Return each feature's mean over the values that are not missing; 0 if all are missing."""
    if is_sparse(X):
        n, d = X.shape[0] if rows is None else len(rows), X.shape[1]
        sums, gaps = np.zeros(d), np.zeros(d)
        for block in _blocks(X, rows):
            missing = np.isnan(block.data)
            sums += np.bincount(block.indices, np.where(missing, 0.0, block.data), minlength=d)
            gaps += np.bincount(block.indices[missing], minlength=d)
        known = n - gaps
    else:
        known = _sum(X, rows, lambda block: ~np.isnan(block))
        sums = _sum(X, rows, lambda block: np.where(np.isnan(block), 0.0, block))
    means: npt.NDArray[np.float64] = sums / np.maximum(known, 1)
    return means


def _filled(X: Any, fill: npt.NDArray[np.float64] | None) -> Any:
    """Return a matrix with missing values replaced; the same matrix if none is missing."""
    if fill is None:
        return X
    if is_sparse(X):
        missing = np.isnan(X.data)
        if not missing.any():
            return X
        data = X.data.copy()
        data[missing] = fill[X.indices[missing]]
        return type(X)((data, X.indices, X.indptr), shape=X.shape)
    missing = np.isnan(X)
    return np.where(missing, fill.astype(X.dtype), X) if missing.any() else X


def _with_constant(X: Matrix) -> Matrix:
    if not isinstance(X, np.ndarray):
        from scipy.sparse import csr_array, hstack

        ones = csr_array(np.ones((X.shape[0], 1), dtype=X.dtype))
        joined: Matrix = int32_csr(hstack([X, ones], format="csr"))
        return joined
    wider: FloatArray = np.ones((X.shape[0], X.shape[1] + 1), dtype=X.dtype)
    wider[:, :-1] = X
    return wider
