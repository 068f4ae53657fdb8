"""Compile a learner's loops before a cell's clock starts: a time limit is for learning."""

from __future__ import annotations

import contextlib
import hashlib
import platform
import threading
from collections.abc import Hashable, Iterator
from typing import Any

import filelock
import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...learners import OnlineClassifier
from .. import data
from ..code import code_digest
from ..study.cell_group import Params
from .splits import Fold
from .stream_learner import begin, is_own, mistakes_on

_ROWS, _FEATURES = 12, 8

# What compiling a learner takes at most, on a machine that has other things to do.
_LONGEST_SECONDS = 300.0

_compiled: set[Hashable] = set()
# A thread that needs the same loops waits, before its own clock starts.
_compiling = threading.Lock()


def compile_loops(learner: Any, key: tuple[str, Params], part: Fold, classes: NDArray[np.int32]) -> None:
    """Let a copy of a learner learn a few made-up rows, once in a process for each kind of learner and rows.

    Parameters
    ----------
    learner : estimator
        It stays as it is. One that is not of this package is left alone: its class may count what it is
        given.
    key : tuple of (str, tuple of (name, value))
        The learner's name and parameters.
    part : Fold
        Rows of the kind to come.
    classes : ndarray of int32, shape (K,)
    """
    X = part.X
    sparse = not isinstance(X, np.ndarray)
    kind = (key, X.dtype, X.indices.dtype if sparse else None, len(classes) > 2)
    if kind in _compiled or not is_own(learner):
        return
    name, params = key
    # Numbers are the same code.
    code = name, [each for each in params if isinstance(each[1], str | bool)], str(kind[1:])
    with _compiling, _alone_on_machine(str(code)):
        if kind not in _compiled:
            rows = _made_up(X, sparse)
            for each in (learner, *learner.inner_learners()):
                if is_own(each):
                    _learn(clone(each), rows, classes)
            _compiled.add(kind)


@contextlib.contextmanager
def _alone_on_machine(code: str) -> Iterator[None]:
    """Let one process of a machine compile what none has compiled yet; the others find it in the cache then.

    Loading what is there is not waited for: of what was compiled there is a mark.
    """
    text = f"{code} {code_digest()} {numba.__version__} {platform.python_version()} {platform.node()}"
    mark = data.cache_folder() / "compiled" / hashlib.sha256(text.encode()).hexdigest()[:32]
    if mark.exists():
        yield
        return
    with contextlib.ExitStack() as held:
        # On a file system without locks everyone compiles.
        with contextlib.suppress(OSError, NotImplementedError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(filelock.FileLock(mark.with_suffix(".lock"), timeout=_LONGEST_SECONDS))
        yield
        with contextlib.suppress(OSError):
            mark.touch()


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
