"""Learners as a cell streams through them: this package's as they are, all others behind an adapter."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from ... import learners
from ...learners import OnlineClassifier, row_range, wrong_predictions
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest
from ...learners.guests.kinds import as_guest
from ..counts import COUNTS
from ..errors import InputError
from .excerpts import matrix_bytes
from .splits import BLOCK_ROWS, Fold

# What a learner of somebody else's may count, by the store's columns.
_ATTRIBUTES = {name: count.attribute for name, count in COUNTS.items() if count.attribute is not None}

# Whether a smaller model fits is not asked: to look takes longer than many a cell.
_SMALL_BYTES = 1 << 28


def stream_learner(learner: Any, batch: int = 1) -> StreamLearner:
    """Return a learner with the methods that a cell calls.

    Parameters
    ----------
    learner : object
        A learner of this package, or one that an adapter of `learners.guests` knows.
    batch : int, default=1
        How many rows somebody else's predicts before it learns them.

    Returns
    -------
    StreamLearner
        A learner of this package itself; else, also of one derived from them, an adapter.
    """
    return learner if is_own(learner) else as_guest(learner, batch, _ATTRIBUTES)


def is_own(learner: Any) -> bool:
    """Tell whether a learner is one of this package's, not one derived from them elsewhere.

    Parameters
    ----------
    learner : estimator

    Returns
    -------
    bool
    """
    module = type(learner).__module__
    return isinstance(learner, OnlineClassifier) and module.startswith(f"{learners.__name__}.")


def has_log_odds(learner: Any) -> bool:
    """Tell whether a learner says that its scores are log odds, so that predictions have probabilities.

    Parameters
    ----------
    learner : StreamLearner
        One with ``scores_are_log_odds = True`` says so: its score is the logarithm of the odds of the second
        of two classes; of more classes the scores are logarithms of probabilities, up to a constant.

    Returns
    -------
    bool
    """
    return bool(getattr(learner, "scores_are_log_odds", False))


def check_room(learner: StreamLearner, part: Fold, n_classes: int) -> None:
    """Refuse a learner whose model would not fit into the memory that is free.

    Parameters
    ----------
    learner : StreamLearner
        One that can tell what its model will take has `state_bytes`; others are let pass.
    part : Fold
    n_classes : int

    Raises
    ------
    InputError
        Says what it would take, and what is free.
    """
    tell = getattr(learner, "state_bytes", None)
    if tell is None:
        return
    numbered = part.n_occurring if learner.indifferent_to_absent_features else None
    n_features = part.n_features if numbered is None else numbered
    needed = tell(n_classes, n_features)
    if needed < _SMALL_BYTES:
        return
    free = psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"its model of {n_features:,} features and {n_classes} classes takes {needed / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free: fewer features (n_features, hash_bits), or a larger machine"
        )


def begin(learner: StreamLearner, classes: NDArray[np.int32], part: Fold) -> None:
    """Prepare a learner for the rows of a fold.

    Parameters
    ----------
    learner : StreamLearner
    classes : ndarray of int32, shape (K,)
    part : Fold

    Raises
    ------
    InputError
        Its model would not fit into memory.
    """
    check_room(learner, part, len(classes))
    n_occurring = part.n_occurring if learner.indifferent_to_absent_features else None
    learner.begin(classes, part.n_features, n_occurring)


def blocks_of(learner: StreamLearner, part: Fold) -> Iterator[tuple[int, int, Callable[[int, int], Any]]]:
    """Yield the rows of a fold a block at a time, in the form that a learner takes.

    Parameters
    ----------
    learner : StreamLearner
    part : Fold

    Yields
    ------
    start, stop : int
    rows : callable
        Of two row numbers of the fold, from start to stop: the rows from the one to before the other. For
        this package's learners read-only rows as kernels take them, where they lie; for others a matrix that
        is theirs to change.
    """
    if isinstance(learner, Guest):
        for start, stop, X in part.blocks():
            yield start, stop, functools.partial(_stretch, learner.rows_of(X), start)
        return
    rows = _own_rows(learner, part)
    for start in range(0, len(part.rows), BLOCK_ROWS):
        yield start, min(start + BLOCK_ROWS, len(part.rows)), functools.partial(row_range, rows)


def _stretch(X: Any, start: int, first: int, last: int) -> Any:
    """Return rows first … last - 1 of a fold, of a block of it that begins with row `start`."""
    return X[first - start : last - start]


def _own_rows(learner: StreamLearner, part: Fold) -> Any:
    if part.renumbered is not None and learner.indifferent_to_absent_features:
        return part.in_order_renumbered
    return part.in_order


def mistakes_on(learner: Any, part: Fold, codes: NDArray[np.int32]) -> int:
    """Count wrong predictions on a fold.

    Parameters
    ----------
    learner : StreamLearner or estimator
        A fitted one; of batch baselines the estimator.
    part : Fold
    codes : ndarray of int32, shape (n,)
        The labels to judge by.

    Returns
    -------
    int
    """
    wrong = 0
    if is_own(learner):
        for start, stop, rows in blocks_of(learner, part):
            scores = learner.score_rows(rows(start, stop))
            wrong += wrong_predictions(scores, codes[start:stop])
        return wrong
    for start, stop, predicted in predictions(learner, part):
        wrong += int(np.count_nonzero(predicted != codes[start:stop]))
    return wrong


def predictions(learner: Any, part: Fold) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Yield what a learner that is not this package's predicts of a fold, a block at a time.

    Parameters
    ----------
    learner : Guest or estimator
    part : Fold

    Yields
    ------
    start, stop : int
    codes : ndarray of integers, shape (stop - start,)
    """
    for start, stop, X in part.blocks():
        guest = isinstance(learner, Guest)
        yield start, stop, learner.predict_codes(learner.rows_of(X)) if guest else learner.predict(X)


def batch_counters(learner: Any) -> dict[str, int]:
    """Return what a batch baseline has counted, once it is fitted.

    Parameters
    ----------
    learner : estimator
        A batch baseline of this package, which tells itself, or a support vector machine of scikit-learn's.

    Returns
    -------
    dict of str to int
        By the store's columns.
    """
    counters: dict[str, int] = learner.counters() if hasattr(learner, "counters") else {}
    support = getattr(learner, "support_vectors_", None)
    if support is None:
        return counters
    model_bytes = matrix_bytes(support) + matrix_bytes(learner.dual_coef_)
    return {"support_vectors": support.shape[0], "model_bytes": model_bytes} | counters
