"""svmlight / LIBSVM text: ``label index:value index:value …``, sparse."""

from __future__ import annotations

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from .labels import encode_labels, is_number
from .stream import Matrix, Table
from .text import first_line, lines, open_bytes


def read_svmlight(
    path: Path,
    test: Path | None = None,
    *,
    n_features: int = 0,
    zero_based: bool = False,
    dense: bool = False,
) -> Table:
    """Read an svmlight file, and its test file with it so that both have the same features.

    Parameters
    ----------
    path, test : Path
        Plain text or .gz, .bz2, .xz.
    n_features : int, default=0
        Number of features; 0 takes the largest index of both files.
    zero_based : bool, default=False
        Whether indices start at 0; LIBSVM's own files start at 1.
    dense : bool, default=False
        Return a dense array instead of CSR.

    Returns
    -------
    Table
        float64; CSR with int32 indices unless `dense`.

    Raises
    ------
    InputError
        Naming the file and the line.
    """
    from sklearn.datasets import load_svmlight_files

    paths = [path] if test is None else [path, test]
    for each in paths:
        first_line(each)
    with ExitStack() as stack:
        streams = [stack.enter_context(open_bytes(each)) for each in paths]
        try:
            # multilabel=False, query_id=False: a `qid:` field is skipped.
            loaded = load_svmlight_files(streams, n_features=n_features or None, zero_based=zero_based)
        except (ValueError, OverflowError) as error:
            for each in paths:
                _explain(each, n_features, zero_based)
            raise InputError(f"{path}: not svmlight text ({str(error).splitlines()[0]})") from None
    parts = []
    for X, labels, each in zip(loaded[::2], loaded[1::2], paths, strict=True):
        if not (np.isfinite(X.data).all() and np.isfinite(labels).all()):
            _explain(each, n_features, zero_based)
        parts.append(_compact(X, each))
    classes, y, y_test = encode_labels(loaded[1], path, loaded[3] if test else None, test)
    matrices: list[Matrix] = [np.ascontiguousarray(X.toarray()) if dense else X for X in parts]
    return Table(matrices[0], y, classes, matrices[1] if test else None, y_test)


def _compact(X: Any, path: Path) -> Any:
    from scipy.sparse import csr_array

    if X.nnz >= 2**31:
        raise InputError(f"{path}: {X.nnz:,} non-zeros; the index of a stream is 32 bit, so split the file")
    parts = (X.data, X.indices.astype(np.int32, copy=False), X.indptr.astype(np.int32, copy=False))
    return csr_array(parts, shape=X.shape)


def _explain(path: Path, n_features: int, zero_based: bool) -> None:
    """Raise the error of the first wrong line; the fast parser does not say which it is."""
    lowest = 0 if zero_based else 1
    for number, text in lines(path):
        fields = text.partition("#")[0].split()
        if not fields:
            continue
        where = f"{path}, line {number}"
        if not is_number(fields[0]) or not math.isfinite(float(fields[0])):
            raise InputError(f"{where}: the label {fields[0]!r} is not a number")
        last = lowest - 1
        for field in fields[1:]:
            index, colon, value = field.partition(":")
            if index == "qid":
                continue
            if not colon or not index.isdecimal() or not is_number(value):
                raise InputError(f"{where}: {field!r} is not of the form index:number")
            if int(index) < lowest:
                raise InputError(
                    f"{where}: index 0, but indices start at 1; set zero_based = true if 0 is meant"
                )
            if int(index) <= last:
                raise InputError(f"{where}: index {index} follows {last}; indices must rise along a line")
            if n_features and int(index) >= n_features + lowest:
                raise InputError(f"{where}: index {index} is past n_features = {n_features}")
            if not math.isfinite(float(value)):
                raise InputError(
                    f"{where}: feature {index} is {value}; every feature must be a finite number"
                )
            last = int(index)
