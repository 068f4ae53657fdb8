"""Learners as a cell streams through them: those of this package as they are, all others behind one adapter.

What a plug-in that learns along a stream may have or lack is asked here and nowhere else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from ... import learners
from ...learners import OnlineClassifier, Passage, learn_in_pieces, row_range, wrong_predictions
from ...learners.contract import StreamLearner
from ..counts import COUNTS
from .excerpts import matrix_bytes
from .splits import BLOCK_ROWS, Fold


def stream_learner(learner: Any) -> StreamLearner:
    """Return a learner with the methods that a cell calls.

    Parameters
    ----------
    learner : estimator
        A learner of this package, or any scikit-learn classifier with a ``learn`` method.

    Returns
    -------
    StreamLearner
        A learner of this package itself; else, also of one derived from them, an adapter.
    """
    return learner if is_own(learner) else PluginLearner(learner)


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
    learner : estimator
        One with ``scores_are_log_odds = True`` says so: its score is the logarithm of the odds of the second
        of two classes; of more classes the scores are logarithms of probabilities, up to a constant.

    Returns
    -------
    bool
    """
    return bool(getattr(learner, "scores_are_log_odds", False))


def begin(learner: StreamLearner, classes: NDArray[np.int32], part: Fold) -> None:
    """Prepare a learner for the rows of a fold.

    Parameters
    ----------
    learner : StreamLearner
    classes : ndarray of int32, shape (K,)
    part : Fold
    """
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
    if isinstance(learner, PluginLearner):
        for start, stop, X in part.blocks():
            yield start, stop, functools.partial(_stretch, X, start)
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
    learner : estimator
        A fitted one of any origin.
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
    for start, stop, X in part.blocks():
        wrong += int(np.count_nonzero(learner.predict(X) != codes[start:stop]))
    return wrong


class PluginLearner:
    """A learner of somebody else's as a `StreamLearner`.

    Its ``learn(X, y, classes=...)`` is called, whatever its base class. What it counts is read from
    ``n_updates_``, ``n_support_`` and so on (`Count.attribute`), where it has them.

    Parameters
    ----------
    learner : estimator
    """

    # It is given matrices, and may do with features what it likes.
    indifferent_to_absent_features = False

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.epochs: int = getattr(learner, "epochs", 1)

    def begin(self, classes: NDArray[np.int32], n_features: int, n_occurring: int | None = None) -> None:
        """Keep what every call of ``learn`` is told; see `StreamLearner.begin`."""
        self._classes = classes

    def learn_rows(self, X: Any, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Let it predict and learn rows; see `StreamLearner.learn_rows`."""
        # Its own labels, too: those of the cell are shared with other cells.
        scores = np.asarray(self.learner.learn(X, codes.copy(), classes=self._classes), dtype=np.float64)
        n, n_classes = len(codes), len(self._classes)
        if scores.shape != (n, n_classes) and (scores.shape != (n,) or n_classes > 2):
            wanted = f"({n},)" if n_classes == 2 else f"({n}, {n_classes})"
            raise ValueError(f"learn() returned scores of shape {scores.shape}, not {wanted}")
        return np.ascontiguousarray(scores)

    def score_rows(self, X: Any) -> NDArray[np.float64]:
        """Return its scores of rows, 0 before it has learnt any; see `StreamLearner.score_rows`."""
        n, n_classes = X.shape[0], len(self._classes)
        try:
            decide = getattr(self.learner, "decision_function", None)
            if decide is not None:
                found: NDArray[np.float64] = np.ascontiguousarray(decide(X), dtype=np.float64)
                return found
            predicted = np.searchsorted(self._classes, self.learner.predict(X))
        except NotFittedError:
            return np.zeros(n if n_classes == 2 else (n, n_classes))
        chosen = (predicted[:, np.newaxis] == np.arange(n_classes)).astype(np.float64)
        scores: NDArray[np.float64] = 2.0 * chosen[:, 1] - 1.0 if n_classes == 2 else chosen
        return scores

    def learn_along(self, X: Any, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        """Let it learn rows, and look at what it counts; see `StreamLearner.learn_along`."""
        return learn_in_pieces(self, X, codes, stops)

    def end_of_pass(self, last: bool) -> None:
        """Say so to a learner that wants to know."""
        end_of_pass = getattr(self.learner, "end_of_pass", None)
        if end_of_pass is not None:
            end_of_pass(last)

    def counters(self) -> dict[str, int]:
        """Return what it counts, by the store's columns."""
        kept = {name: count.attribute for name, count in COUNTS.items() if count.attribute is not None}
        found = {name: getattr(self.learner, attribute, None) for name, attribute in kept.items()}
        return {name: int(value) for name, value in found.items() if value is not None}

    def switches(self) -> list[int] | None:
        """Return its ``switches_``, None where there are none."""
        found = getattr(self.learner, "switches_", None)
        return None if found is None else [int(t) for t in found]


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
