"""Call learners in a cell: this package's directly, all others through an adapter."""

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
from .shared_inputs import matrix_bytes
from .splits import BLOCK_ROWS, Fold

# Attributes in which other packages' learners may count, by column of the store.
_ATTRIBUTES = {name: count.attribute for name, count in COUNTS.items() if count.attribute is not None}

# Smaller models are not checked: the check takes longer than many cells.
_SMALL_BYTES = 1 << 28


def stream_learner(learner: Any, batch: int = 1) -> StreamLearner:
    """Return a learner with the methods that a cell calls.

    A learner of this package is returned unchanged. Any other, including a class derived from this package's,
    gets an adapter of `learners.guests`, which predicts `batch` rows before it learns them.
    """
    return learner if is_own(learner) else as_guest(learner, batch, _ATTRIBUTES)


def is_own(learner: Any) -> bool:
    """Return whether a learner's class is defined in this package, not merely derived from it elsewhere."""
    module = type(learner).__module__
    return isinstance(learner, OnlineClassifier) and module.startswith(f"{learners.__name__}.")


def has_log_odds(learner: Any) -> bool:
    """Return whether a learner declares that its scores are log odds, which give probabilities.

    It does so by ``scores_are_log_odds = True``. For two classes the score is the log odds of the second. For
    more classes the scores are log probabilities up to a constant.
    """
    return bool(getattr(learner, "scores_are_log_odds", False))


def check_room(learner: StreamLearner, part: Fold, n_classes: int) -> None:
    """Raise InputError if a learner's model would not fit into the free memory.

    A learner declares its need by the method `state_bytes`; others are not checked.
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
    """Prepare a learner for the rows of a fold; raise InputError if its model would not fit into memory."""
    check_room(learner, part, len(classes))
    n_occurring = part.n_occurring if learner.indifferent_to_absent_features else None
    learner.begin(classes, part.n_features, n_occurring)


def blocks_of(learner: StreamLearner, part: Fold) -> Iterator[tuple[int, int, Callable[[int, int], Any]]]:
    """Yield (start, stop, rows) for each block of a fold, in the form that a learner takes.

    ``rows(first, last)`` returns rows first … last - 1 of the fold, within the block. For this package's
    learners they are read-only and not copied; for others they are a matrix that the learner may change.
    """
    if isinstance(learner, Guest):
        for start, stop, X in part.blocks():
            yield start, stop, functools.partial(_stretch, learner.rows_of(X), start)
        return
    rows = _own_rows(learner, part)
    for start in range(0, len(part.rows), BLOCK_ROWS):
        yield start, min(start + BLOCK_ROWS, len(part.rows)), functools.partial(row_range, rows)


def _stretch(X: Any, start: int, first: int, last: int) -> Any:
    """Return rows first … last - 1 of a fold from its block X, which begins with row `start`."""
    return X[first - start : last - start]


def _own_rows(learner: StreamLearner, part: Fold) -> Any:
    if part.renumbered is not None and learner.indifferent_to_absent_features:
        return part.in_order_renumbered
    return part.in_order


def mistakes_on(learner: Any, part: Fold, codes: NDArray[np.int32]) -> int:
    """Count a fitted learner's, or batch estimator's, wrong predictions on a fold, judged by `codes`."""
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
    """Yield (start, stop, predicted codes) for each block of a fold; for learners of other packages."""
    for start, stop, X in part.blocks():
        guest = isinstance(learner, Guest)
        yield start, stop, learner.predict_codes(learner.rows_of(X)) if guest else learner.predict(X)


def batch_counters(learner: Any) -> dict[str, int]:
    """Return the counts of a fitted batch baseline by column of the store.

    It has a method `counters` or, like scikit-learn's support vector machines, `support_vectors_`.
    """
    counters: dict[str, int] = learner.counters() if hasattr(learner, "counters") else {}
    support = getattr(learner, "support_vectors_", None)
    if support is None:
        return counters
    model_bytes = matrix_bytes(support) + matrix_bytes(learner.dual_coef_)
    return {"support_vectors": support.shape[0], "model_bytes": model_bytes} | counters
