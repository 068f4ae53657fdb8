"""The base class of the adapters, through which the pipeline calls learners from outside this package."""

from __future__ import annotations

import contextlib
import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..estimator.pieces import Passage, learn_in_pieces
from .returned import GuestError, first_line


class Guest(ABC):
    """A `StreamLearner` around a learner from outside this package.

    A subclass defines the abstract methods and, if needed, ``_start(n_features)``, ``rows_of(X)`` and
    `predict_codes`. Any exception of the learner becomes a `GuestError`. Each run needs its own `learner`,
    because runs share a process as threads. `batch` rows at a time are predicted, then learned together.
    `attributes` maps columns of the table of results to the learner's attributes with these counts.

    `scores_are_log_odds` says whether the scores are log odds, from which probabilities follow;
    `gives_scores` is False if the scores only express the predicted class. Both are final after `begin`.
    """

    # False means that rows keep features that never occur. A learner may use the number of features, so
    # leaving some out could change its outcome.
    indifferent_to_absent_features = False
    scores_are_log_odds = False
    gives_scores = True
    epochs = 1

    def __init__(self, learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        self.learner = learner
        self.batch = batch
        self._attributes = attributes or {}

    def begin(self, classes: NDArray[np.int32], n_features: int, n_occurring: int | None = None) -> None:
        """Prepare for a stream with these classes; see `StreamLearner.begin`."""
        self._classes = classes
        self._n_classes = len(classes)
        # Blocks of rows, with labels, that were predicted and are not learned until their batch is full.
        self._waiting: list[tuple[Any, NDArray[np.int32]]] = []
        self._n_waiting = 0
        with in_one_line("the learner"):
            self._start(n_features)

    def _start(self, n_features: int) -> None:  # noqa: B027 -- optional
        """Prepare for a stream with `n_features` features; does nothing by default."""

    def scores_along(self, delayed: bool) -> bool:
        """Return whether scores along a stream, with `delayed` labels or not, say more than predictions."""
        return self.gives_scores

    def rows_of(self, X: Any) -> Any:
        """Convert a block of rows to the learner's input, an object with a `shape`; called once per block."""
        return X

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return the learner's scores of rows, checked for their shape and for NaN and infinity."""

    @abstractmethod
    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        """Let the learner learn rows, all in one batch."""

    def learn_rows(self, X: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Let the learner predict and learn rows; see `StreamLearner.learn_rows`."""
        # The labels are copied because other runs share the array, and a learner might change it.
        codes = codes.astype(np.int32)
        if self.batch == 1:
            return self._row_by_row(X, codes)
        n, start, scores = len(codes), 0, [self._no_scores(0)]
        while start < n:
            stop = min(n, start + self.batch - self._n_waiting)
            scores.append(self.score_rows(X[start:stop]))
            self.teach_rows(X[start:stop], codes[start:stop])
            start = stop
        return np.concatenate(scores)

    def _row_by_row(self, X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        """Let the learner predict each row, then learn it."""
        scores = [self._no_scores(0)]
        for t in range(len(codes)):
            scores.append(self.score_rows(X[t : t + 1]))
            self.teach_rows(X[t : t + 1], codes[t : t + 1])
        return np.concatenate(scores)

    def teach_rows(self, X: Any, codes: NDArray[np.int32]) -> None:
        """Let the learner learn rows that were already predicted, or keep them until a batch is full."""
        self._waiting.append((X, codes.astype(np.int32)))
        self._n_waiting += len(codes)
        if self._n_waiting >= self.batch:
            self._learn_waiting()

    def _learn_waiting(self) -> None:
        if not self._waiting:
            return
        parts = [X for X, _ in self._waiting]
        codes = np.concatenate([codes for _, codes in self._waiting])
        self._waiting, self._n_waiting = [], 0
        with in_one_line("learning"):
            self._learn(_together(parts), codes)

    def score_rows(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows, 0 before the learner can predict; see `StreamLearner.score_rows`."""
        with in_one_line("predicting"):
            return self._scores(X)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        """Return the predicted class codes, int64, of rows that `rows_of` has converted."""
        scores = self.score_rows(X)
        return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)

    def _no_scores(self, n: int) -> NDArray[np.float64]:
        """Return scores of 0, which count as mistakes, for rows that the learner cannot predict yet."""
        return np.zeros(n if self._n_classes == 2 else (n, self._n_classes))

    def learn_along(self, X: Any, codes: NDArray[Any], stops: NDArray[np.int64]) -> Passage:
        """Let the learner learn rows and record its counts; see `StreamLearner.learn_along`."""
        return learn_in_pieces(self, X, codes, stops)

    def end_of_pass(self, last: bool) -> None:
        """Let the learner learn an incomplete batch; see `StreamLearner.end_of_pass`."""
        self._learn_waiting()

    def counters(self) -> dict[str, int]:
        """Return the learner's counts, by column of the table of results, without counts that it lacks."""
        found = {name: getattr(self.learner, each, None) for name, each in self._attributes.items()}
        return {name: int(value) for name, value in found.items() if value is not None and not np.ndim(value)}

    def switches(self) -> list[int] | None:
        """Return the learner's ``switches_``, the rows at which its model changed; None if it has none."""
        found = getattr(self.learner, "switches_", None)
        return None if found is None else [int(t) for t in found]


@contextlib.contextmanager
def in_one_line(doing: str) -> Iterator[None]:
    """Convert an exception of the learner into a GuestError of one line, which begins with `doing`."""
    try:
        yield
    except GuestError:
        raise
    except Exception as error:
        raise GuestError(f"{doing} raised {first_line(error)}") from error


def _together(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    if sp.issparse(parts[0]):
        return sp.vstack(parts, format="csr")
    return np.concatenate(parts)


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """Return a function's or class's signature, even if annotations use names that only type checkers import.

    From Python 3.14 on, annotations are evaluated when the signature is read.
    """
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)
