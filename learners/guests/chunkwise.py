"""The adapter for learners with a ``learn`` method, which get the stream in blocks of rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from .guest import Guest, in_one_line
from .returned import checked_codes, checked_scores, scores_of_codes


class ChunkwiseGuest(Guest):
    """Adapter of a learner whose ``learn(X, y, classes=...)`` predicts each row, then learns it.

    The learner needs no base class of this package. Its counts (``n_updates_``, ``n_support_``, …),
    ``epochs`` and ``end_of_pass`` are used if it has them.
    """

    def __init__(self, learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        super().__init__(learner, batch, attributes)
        self.epochs = getattr(learner, "epochs", 1)
        self.gives_scores = hasattr(learner, "decision_function")
        self.scores_are_log_odds = bool(getattr(learner, "scores_are_log_odds", False))

    def _start(self, n_features: int) -> None:
        self._learns = False

    def scores_along(self, delayed: bool) -> bool:
        # Without a delay, the scores are those that `learn` returns.
        return self.gives_scores or not delayed

    def learn_rows(self, X: Any, codes: NDArray[Any]) -> NDArray[np.float64]:
        # The labels are copied because other runs share the array, and a learner might change it.
        with in_one_line("learn()"):
            scores = self.learner.learn(X, codes.copy(), classes=self._classes)
        self._learns = True
        return checked_scores(scores, "learn()", len(codes), self._n_classes)

    def teach_rows(self, X: Any, codes: NDArray[np.int32]) -> None:
        self._learn(X, codes)

    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        self.learn_rows(X, codes)

    def _scores(self, X: Any) -> NDArray[np.float64]:
        n = X.shape[0]
        try:
            if self.gives_scores:
                found = self.learner.decision_function(X)
                return checked_scores(found, "decision_function()", n, self._n_classes)
            return scores_of_codes(self._predicted(X), self._n_classes)
        except NotFittedError:
            return self._no_scores(n)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        with in_one_line("predict()"):
            try:
                return self._predicted(X)
            except NotFittedError:
                if self._learns:
                    raise
                # Like scores of 0: the first class.
                return np.zeros(X.shape[0], np.int64)

    def _predicted(self, X: Any) -> NDArray[np.int64]:
        return checked_codes(self.learner.predict(X), "predict()", X.shape[0], self._n_classes)

    def end_of_pass(self, last: bool) -> None:
        """Call the learner's ``end_of_pass``, if it has one."""
        end_of_pass = getattr(self.learner, "end_of_pass", None)
        if end_of_pass is not None:
            with in_one_line("end_of_pass()"):
                end_of_pass(last)
