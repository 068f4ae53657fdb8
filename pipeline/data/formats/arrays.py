"""Make tables from arrays, sparse matrices and data frames in memory; read the idx files of MNIST."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sized
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ..io.reading import open_text
from ..tables.stream import Table, first_where, int32_csr, is_sparse
from .labels import CodedLabels, encode_labels

if TYPE_CHECKING:
    import pyarrow as pa

# Name of the label column that is appended to a data frame; underscores are added if a column has this name.
_LABEL = "label"


def array_table(
    owner: str, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, missing: bool = False
) -> Table:
    """Convert arrays to the table that a file with the same rows would give.

    `owner` names the data set in errors. Features, (n, d) or sparse, stay float32 or become float64, and may
    be NaN if `missing`. Labels are numbers, booleans or strings. Give both `X_test` and `y_test`, or neither.
    Raises InputError with one line that names the argument.

    Examples
    --------
    >>> array_table("mine", [[1, 2], [3, 4]], ["no", "yes"]).classes
    ('no', 'yes')
    """
    check_test_pair(owner, X_test, y_test)
    features, labels = _features(f"{owner}: X", X, missing), _coded(f"{owner}: y", y)
    _same_length(owner, "", features.shape[0], labels)
    if X_test is None:
        classes, codes, _ = encode_labels(labels, Path(f"{owner}: y"))
        return Table(features, codes, classes)
    test = _features(f"{owner}: X_test", X_test, missing)
    test_labels = _coded(f"{owner}: y_test", y_test)
    _same_length(owner, "_test", test.shape[0], test_labels)
    if test.shape[1] != features.shape[1]:
        raise InputError(f"{owner}: X has {features.shape[1]} columns and X_test has {test.shape[1]}")
    if is_sparse(test) != is_sparse(features):
        raise InputError(f"{owner}: X and X_test must both be sparse or both be dense")
    paths = Path(f"{owner}: y"), Path(f"{owner}: y_test")
    classes, codes, test_codes = encode_labels(labels, paths[0], test_labels, paths[1])
    return Table(features, codes, classes, test.astype(features.dtype, copy=False), test_codes)


def check_test_pair(owner: str, X_test: Any, y_test: Any) -> None:
    """Raise InputError if only one of `X_test` and `y_test` is given."""
    if (X_test is None) != (y_test is None):
        given, lacks = ("X_test", "y_test") if y_test is None else ("y_test", "X_test")
        raise InputError(f"{owner}: {given} is given without {lacks}; give both or neither")


def _coded(owner: str, y: Any) -> CodedLabels:
    return CodedLabels(*np.unique(label_array(owner, y), return_inverse=True))


def label_array(owner: str, y: Any) -> npt.NDArray[Any]:
    """Convert labels to an array of shape (n,); raise InputError if one is missing."""
    import pandas as pd

    labels: npt.NDArray[Any] = _array(owner, y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise InputError(f"{owner} must be one column of labels; its shape is {labels.shape}")
    missing_rows = np.flatnonzero(pd.isna(labels))
    if len(missing_rows):
        raise InputError(f"{owner}, row {missing_rows[0] + 1}: the label is missing")
    if labels.dtype == object:
        # An object array of only numbers or booleans gets their dtype, so that its classes have the same
        # names as those of a numeric array.
        # Lone surrogates, of which pandas can make no strings, are refused later.
        with contextlib.suppress(UnicodeEncodeError):
            labels = pd.Series(labels).infer_objects().to_numpy()
    return labels.astype(str) if labels.dtype == object else labels


def frame_table(owner: str, frame: Any, y: Any = None) -> tuple[pa.Table, str]:
    """Convert a data frame to an Arrow table, with separately given labels as a further column.

    `owner` names the data set in errors. The frame is from pandas, or any library that exports frames as
    Arrow. `y` has labels in row order; its index is ignored. Returns the table and the name of the column
    made from `y`, empty without `y`: a column of the frame must then contain the labels. Raises InputError if
    the frame cannot be read or its length differs from that of `y`.
    """
    import pandas as pd
    import pyarrow as pa

    if type(frame).__name__ == "Series":
        raise InputError(f"{owner}: a Series is one column: give a frame (to_frame() makes one of it)")
    try:
        if isinstance(frame, pd.DataFrame):
            table = pa.Table.from_pandas(frame, preserve_index=False)
            # Write intervals, which are the categories of `pandas.cut`, and periods as text, because Arrow
            # cannot read them from a file.
            for i, (name, kind) in enumerate(zip(table.column_names, table.schema.types, strict=True)):
                if pa.types.is_dictionary(kind) and isinstance(kind.value_type, pa.BaseExtensionType):
                    texts = frame.iloc[:, i].cat.rename_categories(str)
                    table = table.set_column(i, name, pa.array(texts))
        else:
            table = pa.table(frame)
    except (pa.ArrowException, ValueError, TypeError) as error:
        reason = str(error.args[-1] if error.args else error).splitlines()[0]
        raise InputError(f"{owner}: the frame cannot be read ({reason})") from None
    # Drop the metadata that pandas adds, because they describe its index, which is not part of the rows.
    table = table.replace_schema_metadata(None)
    if y is None:
        return table, ""
    labels = label_array(f"{owner}: y", y)
    _same_length(owner, "", table.num_rows, labels)
    target = _LABEL
    while target in table.column_names:
        target += "_"
    try:
        return table.append_column(target, pa.array(labels)), target
    except UnicodeError:
        raise InputError(
            f"{owner}: y has a label with a lone surrogate, which is not text: remove it"
        ) from None
    except pa.ArrowException:
        raise InputError(f"{owner}: y has labels of type {labels.dtype}: give text or numbers") from None


def _array(owner: str, given: Any) -> npt.NDArray[Any]:
    # `is_masked` is also true for arrays of pandas with missing values, which are found later.
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        raise InputError(
            f"{owner} has masked values; fill them in, for example with NaN: array.filled(np.nan)"
        )
    try:
        return np.asarray(given)
    except ValueError as error:
        raise InputError(f"{owner} cannot be converted to an array ({str(error).splitlines()[0]})") from None


def _features(owner: str, X: Any, missing: bool) -> Any:
    """Return a matrix as streams store it: float32 or float64, C-contiguous or CSR without stored zeros."""
    from scipy.sparse import csr_array, issparse

    sparse = issparse(X)
    made: Any = X if sparse else _array(owner, X)
    if made.ndim != 2 or 0 in made.shape:
        raise InputError(f"{owner} must have rows and columns; its shape is {made.shape}")
    if made.dtype.kind not in "biuf":
        made = _numbers(owner, made)
    dtype = np.float32 if made.dtype == np.float32 else np.float64
    if sparse:
        # Copy, so that the changes below do not affect the user's matrix.
        made = int32_csr(csr_array(made, copy=True).astype(dtype))
        made.sum_duplicates()
        made.eliminate_zeros()
    else:
        # Take a view, which can be made read-only without affecting the user's array.
        made = np.ascontiguousarray(made, dtype=dtype).view()
    _refuse_wrong_values(owner, made, missing)
    return made


def _numbers(owner: str, made: Any) -> Any:
    # Object arrays may contain only numbers, so convert them; refuse other types, such as complex numbers.
    if made.dtype == object:
        try:
            return made.astype(np.float64)
        except (TypeError, ValueError):
            pass
    raise InputError(f"{owner} must contain numbers, not {made.dtype}; for categories give a data frame")


def _refuse_wrong_values(owner: str, X: Any, missing: bool) -> None:
    values = X.data if is_sparse(X) else X
    wrong = np.isinf(values) if missing else ~np.isfinite(values)
    if not wrong.any():
        return
    row, column, value = first_where(X, wrong)
    hint = 'be a finite number, or set missing = "mean" or "indicator"' if np.isnan(value) else "be finite"
    raise InputError(f"{owner}, row {row + 1}, column {column + 1}: {value}; every feature must {hint}")


def _same_length(owner: str, part: str, n_rows: int, labels: Sized) -> None:
    if n_rows != len(labels):
        raise InputError(f"{owner}: X{part} has {n_rows:,} rows and y{part} {len(labels):,} labels")


_BLOCK_BYTES = 1 << 20


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an idx file of unsigned bytes, plain or compressed, in the shape that its header gives."""
    with open_text(path) as (stream, _):
        # Header of an idx file: bytes 0 and 1 are zero, byte 2 is the type (8: unsigned byte), byte 3 the
        # number of dimensions; one big-endian 32-bit size per dimension follows.
        start = stream.read(4)
        sizes = stream.read(4 * start[3]) if start[:3] == b"\x00\x00\x08" and len(start) == 4 else b""
        if not sizes or len(sizes) < 4 * start[3]:
            raise InputError(f"{path}: not an idx file of unsigned bytes")
        shape = tuple(int(size) for size in np.frombuffer(sizes, dtype=">u4"))
        content = b"".join(iter(lambda: stream.read(_BLOCK_BYTES), b""))
    if len(content) != math.prod(shape):
        raise InputError(
            f"{path}: {len(content):,} bytes follow the header, which declares {math.prod(shape):,}; damaged?"
        )
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)
