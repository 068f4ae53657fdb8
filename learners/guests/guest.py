"""Base of the adapters: a learner of somebody else's as a cell streams through it."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ..estimator.pieces import Passage, learn_in_pieces
from .returned import GuestError, first_line


class Guest(ABC):
    """A `StreamLearner` around a learner that knows nothing of this package.

    A subclass defines what is abstract here and, where it has them, ``_start(n_features)``, ``rows_of(X)``
    and a `predict_codes` of its own. What goes wrong in there comes out as a `GuestError`.

    Parameters
    ----------
    learner : object
        One for this cell alone: cells run in threads.
    batch : int, default=1
        How many rows are predicted before they are learnt together.
    attributes : mapping of str to str, default={}
        Attributes that count something, by the store's column.

    Attributes
    ----------
    scores_are_log_odds : bool
        Whether probabilities can be told from its scores.
    gives_scores : bool
        Whether its scores say more than its predictions do.
    """

    # It is given matrices, and may do with features what it likes.
    indifferent_to_absent_features = False
    scores_are_log_odds = False
    gives_scores = True
    epochs = 1

    def __init__(self, learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        self.learner = learner
        self.batch = batch
        self._attributes = attributes or {}

    def begin(self, classes: NDArray[np.int32], n_features: int, n_occurring: int | None = None) -> None:
        """Take note of the classes; see `StreamLearner.begin`."""
        self._classes = classes
        self._n_classes = len(classes)
        # Rows of a batch that is not full.
        self._waiting: list[tuple[Any, NDArray[np.int32]]] = []
        self._n_waiting = 0
        with in_one_line("it"):
            self._start(n_features)

    def _start(self, n_features: int) -> None:  # noqa: B027 -- most need not prepare
        """Prepare for a stream."""

    def rows_of(self, X: Any) -> Any:
        """Return a block of rows in the form that the learner takes, made once: something with a shape."""
        return X

    @abstractmethod
    def _scores(self, X: Any) -> NDArray[np.float64]:
        """Return the scores of rows, checked."""

    @abstractmethod
    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        """Learn rows."""

    def learn_rows(self, X: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
        """Let it predict and learn rows; see `StreamLearner.learn_rows`."""
        # Its own labels, too: those of the cell are shared with other cells.
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
        """Let it predict, then learn each row."""
        scores = [self._no_scores(0)]
        for t in range(len(codes)):
            scores.append(self.score_rows(X[t : t + 1]))
            self.teach_rows(X[t : t + 1], codes[t : t + 1])
        return np.concatenate(scores)

    def teach_rows(self, X: Any, codes: NDArray[np.int32]) -> None:
        """Let it learn rows that it has predicted before; of a batch as soon as it is full."""
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
        """Return its scores of rows, 0 before it can tell any; see `StreamLearner.score_rows`."""
        with in_one_line("predicting"):
            return self._scores(X)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        """Return what it predicts of rows, as codes.

        Parameters
        ----------
        X : what `rows_of` returns

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        scores = self.score_rows(X)
        return (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)

    def _no_scores(self, n: int) -> NDArray[np.float64]:
        """Return the scores of rows of which nothing can be said: a mistake each, as of our own."""
        return np.zeros(n if self._n_classes == 2 else (n, self._n_classes))

    def learn_along(self, X: Any, codes: NDArray[Any], stops: NDArray[np.int64]) -> Passage:
        """Let it learn rows, and look at what it counts; see `StreamLearner.learn_along`."""
        return learn_in_pieces(self, X, codes, stops)

    def end_of_pass(self, last: bool) -> None:
        """Let it learn what is left of a batch; see `StreamLearner.end_of_pass`."""
        self._learn_waiting()

    def counters(self) -> dict[str, int]:
        """Return what it counts, by the store's columns."""
        found = {name: getattr(self.learner, each, None) for name, each in self._attributes.items()}
        return {name: int(value) for name, value in found.items() if value is not None and not np.ndim(value)}

    def switches(self) -> list[int] | None:
        """Return its ``switches_``, None where there are none."""
        found = getattr(self.learner, "switches_", None)
        return None if found is None else [int(t) for t in found]


@contextlib.contextmanager
def in_one_line(doing: str) -> Iterator[None]:
    """Say in one line what a learner raises, and at what."""
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
