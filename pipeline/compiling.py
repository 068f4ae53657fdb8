"""Compile a learner's loops before a cell's clock starts: a time limit is for learning."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..learners import OnlineClassifier

_ROWS, _FEATURES = 12, 8

_compiled: set[tuple[object, ...]] = set()


def compile_loops(learner: Any, X: Any, classes: NDArray[np.int32]) -> None:
    """Let a copy of a learner learn a few made-up rows, once in a process for each kind of learner and rows.

    Parameters
    ----------
    learner : estimator
        It stays as it is. One that is no `OnlineClassifier` is left alone.
    X : ndarray or csr_matrix
        Rows of the kind to come.
    classes : ndarray of int32, shape (K,)
    """
    if not isinstance(learner, OnlineClassifier):
        return
    sparse = not isinstance(X, np.ndarray)
    kind = (type(learner), repr(learner), X.dtype, sparse and X.indices.dtype, len(classes) > 2)
    if kind in _compiled:
        return
    _compiled.add(kind)
    # Small values: some learners ask for rows of norm 1 at most.
    values = (np.arange(_ROWS * _FEATURES) * 7 % 11 / 100).astype(X.dtype).reshape(_ROWS, _FEATURES)
    rows: Any = values
    if sparse:
        features = np.tile(np.arange(_FEATURES), _ROWS).astype(X.indices.dtype)
        starts = np.arange(0, values.size + 1, _FEATURES).astype(X.indptr.dtype)
        rows = type(X)((values.ravel(), features, starts), shape=values.shape)
    # What is wrong with a learner of the user's own is for its cell to say.
    with contextlib.suppress(Exception):
        copy = clone(learner)
        copy.begin(classes, _FEATURES)
        copy.learn_rows(rows, np.arange(_ROWS) % len(classes))
        copy.end_of_pass(last=True)
        copy.score_rows(rows)
