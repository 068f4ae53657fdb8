"""Compile a learner's loops before a cell's clock starts: a time limit is for learning."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...learners import OnlineClassifier
from .splits import Fold
from .stream_learner import begin, is_own, mistakes_on

_ROWS, _FEATURES = 12, 8

_compiled: set[Hashable] = set()
# A thread that needs the same loops waits, before its own clock starts.
_compiling = threading.Lock()


def compile_loops(learner: Any, key: Hashable, part: Fold, classes: NDArray[np.int32]) -> None:
    """Let a copy of a learner learn a few made-up rows, once in a process for each kind of learner and rows.

    Parameters
    ----------
    learner : estimator
        It stays as it is. One that is not of this package is left alone: its class may count what it is
        given.
    key : hashable
        What tells the learner and its parameters from others.
    part : Fold
        Rows of the kind to come.
    classes : ndarray of int32, shape (K,)
    """
    X = part.X
    sparse = not isinstance(X, np.ndarray)
    kind = (key, X.dtype, X.indices.dtype if sparse else None, len(classes) > 2)
    if kind in _compiled or not is_own(learner):
        return
    with _compiling:
        if kind not in _compiled:
            rows = _made_up(X, sparse)
            for each in (learner, *learner.inner_learners()):
                if is_own(each):
                    _learn(clone(each), rows, classes)
            _compiled.add(kind)


def _made_up(X: Any, sparse: bool) -> Fold:
    # Small values: some learners ask for rows of norm 1 at most.
    values = (np.arange(_ROWS * _FEATURES) * 7 % 11 / 100).astype(X.dtype).reshape(_ROWS, _FEATURES)
    order, codes = np.arange(_ROWS), np.zeros(_ROWS, np.int32)
    if not sparse:
        return Fold(values, order, codes)
    features = np.tile(np.arange(_FEATURES), _ROWS).astype(X.indices.dtype)
    starts = np.arange(0, values.size + 1, _FEATURES).astype(X.indptr.dtype)
    return Fold(type(X)((values.ravel(), features, starts), shape=values.shape), order, codes)


def _learn(learner: OnlineClassifier, part: Fold, classes: NDArray[np.int32]) -> None:
    # What is wrong with a learner is for its cell to say.
    with contextlib.suppress(ValueError):
        begin(learner, classes, part)
        learner.learn_along(part.in_order, np.arange(_ROWS) % len(classes), np.array([_ROWS // 2, _ROWS]))
        learner.end_of_pass(last=True)
        mistakes_on(learner, part, part.codes)
