"""The adapter for learners like scikit-learn's: ``partial_fit`` and ``predict``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from .guest import Guest, in_one_line, signature_of
from .returned import (
    GuestError,
    checked_codes,
    checked_scores,
    first_line,
    scores_of_codes,
    scores_of_probabilities,
    shown,
)

# Methods that predict, in order of preference: scores are computed from the first one that the learner has.
_ASKED = ("decision_function", "predict_proba", "predict")


class PartialFitGuest(Guest):
    """Adapter of a learner with ``partial_fit(X, y, classes=...)``.

    For each row, ``decision_function`` is called, or else ``predict_proba``, or else ``predict``; then the
    row is learned. A score of 0 from ``decision_function`` is a mistake, as for this package's learners. If
    probabilities are equal, the first class is predicted, as by scikit-learn.
    """

    def __init__(self, learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        super().__init__(learner, batch, attributes)
        self._asked = next(name for name in _ASKED if hasattr(learner, name))
        self.gives_scores = self._asked != "predict"
        own = bool(getattr(learner, "scores_are_log_odds", False))
        self.scores_are_log_odds = own or self._asked == "predict_proba"

    def _start(self, n_features: int) -> None:
        self._learns = False
        self._known_classes: Any = None
        taken = signature_of(self.learner.partial_fit).parameters.values()
        told = any(each.name == "classes" or each.kind == each.VAR_KEYWORD for each in taken)
        self._told: dict[str, Any] = {"classes": self._classes} if told else {}

    def _row_by_row(self, X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        n, begun = len(codes), 0
        scores = []
        if n and not self._learns:
            # The first row is learned separately: only the first call of `partial_fit` is passed the classes,
            # and a prediction before that call may fail.
            scores.append(self.score_rows(X[:1]))
            self.teach_rows(X[:1], codes[:1])
            begun = 1
        if begun == n:
            return np.concatenate([self._no_scores(0), *scores])
        ask, learn = getattr(self.learner, self._asked), self.learner.partial_fit
        doing, t = self._asked, begun
        found: list[NDArray[Any]] = []
        try:
            for t in range(begun, n):
                row = X[t : t + 1]
                doing = self._asked
                # A copy, because the learner may return the same array for each row.
                answer = np.asarray(ask(row)).copy()
                # The shape is checked for each row: results of wrong shapes may have the right shape when
                # they are concatenated.
                if not answer.ndim or len(answer) != 1:
                    raise GuestError(f"{doing} returned shape {answer.shape} for a row, not a score or label")
                if found and answer.shape != found[0].shape:
                    raise GuestError(
                        f"{doing} returned shape {found[0].shape} for a row, then {answer.shape}: return one "
                        "shape for all rows"
                    )
                found.append(answer)
                doing = "partial_fit"
                learn(row, codes[t : t + 1])
            doing = self._asked
            kinds = {answer.dtype.kind for answer in found}
            # Otherwise NumPy would convert numbers next to text into text.
            mixed = len(kinds) > 1 and not kinds.isdisjoint("US")
            together = np.concatenate(found, dtype=object if mixed else None)
        except GuestError:
            raise
        except Exception as error:
            raise GuestError(f"{doing} raised {first_line(error)}") from error
        scores.append(self._counted(together))
        return np.concatenate(scores)

    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        with in_one_line("partial_fit"):
            self.learner.partial_fit(X, codes, **({} if self._learns else self._told))
        self._learns = True

    def _scores(self, X: Any) -> NDArray[np.float64]:
        try:
            with in_one_line(self._asked):
                found = getattr(self.learner, self._asked)(X)
        except GuestError as error:
            if not self._may_refuse(error):
                raise
            return self._no_scores(X.shape[0])
        if np.ndim(found) == 0 or len(found) != X.shape[0]:
            raise GuestError(f"{self._asked} returned shape {np.shape(found)} for {X.shape[0]} rows")
        return self._counted(found)

    def _counted(self, found: Any) -> NDArray[np.float64]:
        """Convert the returned decision values, probabilities or labels of some rows into scores."""
        n, name = len(found), self._asked
        self._check_order_of_classes()
        if name == "decision_function":
            return checked_scores(found, name, n, self._n_classes)
        if name == "predict_proba":
            return scores_of_probabilities(found, name, n, self._n_classes)
        return scores_of_codes(checked_codes(found, name, n, self._n_classes), self._n_classes)

    def _check_order_of_classes(self) -> None:
        """Raise GuestError if the learner has all classes, but in another order than its scores are read."""
        classes = getattr(self.learner, "classes_", None)
        if self._asked == "predict" or classes is self._known_classes:
            return
        given = np.asarray(classes)
        order = given.tolist() if given.ndim == 1 else []
        # The learner may append to the list: it is checked once it has all classes.
        if len(order) < self._n_classes:
            return
        if order != sorted(order):
            raise GuestError(
                f"its classes_ are {shown(order)}, but {self._asked} must have the classes in ascending order"
            )
        self._known_classes = classes

    def _may_refuse(self, error: GuestError) -> bool:
        """Return whether an error of predicting only says that the learner has not learned a row yet."""
        return not self._learns and isinstance(error.__cause__, NotFittedError | AttributeError)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        try:
            with in_one_line("predict"):
                found = self.learner.predict(X)
        except GuestError as error:
            if not self._may_refuse(error):
                raise
            # Like scores of 0: the first class.
            return np.zeros(X.shape[0], np.int64)
        return checked_codes(found, "predict", X.shape[0], self._n_classes)
