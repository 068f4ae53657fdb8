"""What the learners share whose weights go each its own way: FTRL and bettors by coordinate."""

import numpy as np
from numpy.typing import NDArray

from ...numeric.rows import new_state
from ..multiclass_classifier import MulticlassClassifier
from ..parts.by_feature import NUMBERS, learn, learn_classes, score_rows, score_rows_of_classes
from ..parts.classes import new_class_state
from ..parts.losses import LOSSES


class FeatureLearner(MulticlassClassifier):
    """Base of the learners with a rule of `by_feature`.

    A subclass has the parameter `loss` and defines

    - ``_rule()``: the rule with its parameters; those with which learning begins hold until the next `fit`;
    - ``_is_scaled()``: whether features are divided by their largest size so far.

    With more than two classes "logistic" is the softmax, any other loss is of the margin over the best wrong
    class.
    """

    loss: str

    def _rule(self):
        raise self._undefined("_rule")

    def _is_scaled(self):
        return False

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores are log odds, so that predictions have probabilities."""
        return self.loss == "logistic"

    _state = ("_weights", "_numbers", "_largest")

    def _allocate(self, n_features):
        self._weights = new_state(n_features)
        self._begin_with(n_features)

    def _allocate_classes(self, n_features, n_classes):
        self._weights = new_class_state(n_features, n_classes)
        self._begin_with(n_features)

    def _begin_with(self, n_features):
        self._rule_of_stream = self._rule()
        self._numbers = new_state(NUMBERS[type(self._rule_of_stream)] * self._weights.size, place=1)
        self._largest = new_state(n_features, place=2) if self._is_scaled() else None

    def _largest_or_empty(self):
        return np.empty(0) if self._largest is None else self._largest

    def _loop(self):
        return learn, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss))

    def _loop_of_classes(self):
        softmax = self.loss == "logistic"
        return learn_classes, (*self._arrays(), self._rule_of_stream, LOSSES.index(self.loss), softmax)

    def _arrays(self):
        return self._weights, self._numbers, self._largest_or_empty()

    def _score(self, X, scores):
        score_rows(X, self._weights, self._largest_or_empty(), scores)

    def _score_classes(self, X, scores):
        score_rows_of_classes(X, self._weights, self._largest_or_empty(), scores)

    @property
    def row_coef_(self) -> NDArray[np.float64]:
        if self._largest is None:
            return self.coef_
        # A feature that never occurred has no scale, and needs none.
        return self.coef_ / np.where(self._largest == 0.0, 1.0, self._largest)
