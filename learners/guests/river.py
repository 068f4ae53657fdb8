"""The adapter for learners like River's: ``predict_one`` and ``learn_one``, with a dict for each row."""

from __future__ import annotations

import copy
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from .guest import Guest, in_one_line
from .returned import GuestError, checked_codes, copied, scores_of_codes, scores_of_probabilities


class RiverGuest(Guest):
    """Adapter of a model with ``predict_one`` and ``learn_one``.

    Scores are computed from ``predict_proba_one`` if the model has it, otherwise from predicted labels.
    Labels are False and True with two classes, 0 … K - 1 with more. A prediction of None, before the model
    has seen a class, counts as the first class.
    """

    def __init__(self, learner: Any, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        super().__init__(learner, batch, attributes)
        model = _last_step(learner)
        # River's base class of classifiers. If River has not been imported, no learner can be derived from
        # it; NoneType then takes its place, because no learner is an instance of NoneType.
        theirs: type[Any] = getattr(sys.modules.get("river.base"), "Classifier", type(None))
        derived = isinstance(model, theirs)
        self._likely = hasattr(model, "predict_proba_one") and not (
            derived and type(model).predict_proba_one is vars(theirs)["predict_proba_one"]
        )
        # A learner of this package in `to_river` has probabilities if its scores are log odds.
        ours: Any = getattr(model, "learner_", None)
        is_ours = derived and isinstance(ours, OnlineClassifier)
        if is_ours:
            self._likely = ours.scores_are_log_odds
        # Other classifiers of River may be wrappers of a model without probabilities.
        self._asks_first = self._likely and derived and not is_ours
        # If a model inherits River's `predict_one`, which returns the most probable class, the prediction is
        # taken from the probabilities and `predict_one` is not called.
        self._by_chance = self._likely and derived and type(model).predict_one is vars(theirs)["predict_one"]
        self.gives_scores = self.scores_are_log_odds = self._likely

    def _start(self, n_features: int) -> None:
        if self._asks_first and self._lacks_chances():
            self._likely = self.gives_scores = self.scores_are_log_odds = False
        self._labels: list[Any] = [False, True] if self._n_classes == 2 else list(range(self._n_classes))
        self._known = frozenset(self._labels)

    def _lacks_chances(self) -> bool:
        """Return whether ``predict_proba_one`` raises NotImplementedError, as in a wrapper of such a model.

        A copy is asked, because predicting may change a model.
        """
        try:
            copy.deepcopy(self.learner).predict_proba_one({0: 0.0})
        except NotImplementedError:
            return True
        except Exception:
            # A model that cannot be copied, or asked before it has learned, is asked along the stream.
            return False
        return False

    def rows_of(self, X: Any) -> Any:
        """Return an array of dicts from feature number to value, one per row (CSR: stored values only)."""
        rows = np.empty(X.shape[0], object)
        if not isinstance(X, np.ndarray):
            stops, features, values = X.indptr.tolist(), X.indices.tolist(), X.data.tolist()
            for i in range(len(rows)):
                rows[i] = dict(
                    zip(features[stops[i] : stops[i + 1]], values[stops[i] : stops[i + 1]], strict=True)
                )
        else:
            names = range(X.shape[1])
            for i, row in enumerate(X.tolist()):
                rows[i] = dict(zip(names, row, strict=True))
        return rows

    def _row_by_row(self, X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        labels, learn = self._labels, self.learner.learn_one
        said = []
        with in_one_line("predict_one or learn_one"):
            for x, code in zip(X, codes.tolist(), strict=True):
                said.append(self._said(x))
                learn(x, labels[code])
        return self._counted(said)

    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        with in_one_line("learn_one"):
            for x, code in zip(X, codes.tolist(), strict=True):
                self.learner.learn_one(x, self._labels[code])

    def _scores(self, X: Any) -> NDArray[np.float64]:
        with in_one_line("predict_one"):
            return self._counted([self._said(x) for x in X])

    def _said(self, x: dict[int, float]) -> tuple[Any, list[float] | None]:
        """Return the predicted label of a row, and the class probabilities or None if the model has none."""
        if not self._likely:
            return copied(self.learner.predict_one(x)), None
        chances = self.learner.predict_proba_one(x)
        if self._by_chance:
            label = max(chances, key=chances.get) if chances else None
        else:
            label = copied(self.learner.predict_one(x))
        if not chances.keys() <= self._known:
            odd = next(key for key in chances if key not in self._known)
            raise GuestError(f"predict_proba_one returned the label {odd!r}, which is not one of the classes")
        return label, [chances.get(each, 0.0) for each in self._labels]

    def _counted(self, said: list[tuple[Any, list[float] | None]]) -> NDArray[np.float64]:
        """Convert the predicted labels and class probabilities of some rows into scores."""
        n, k = len(said), self._n_classes
        labels = [0 if label is None else label for label, _ in said]
        codes = checked_codes(labels, "predict_one", n, k)
        if not self._likely or not n:
            return scores_of_codes(codes, k)
        chances = [chances for _, chances in said]
        return scores_of_probabilities(chances, "predict_proba_one", n, k, codes)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        with in_one_line("predict_one"):
            labels = [copied(self.learner.predict_one(x)) for x in X]
        labels = [0 if label is None else label for label in labels]
        return checked_codes(labels, "predict_one", len(labels), self._n_classes)


def _last_step(model: Any) -> Any:
    """Return the model at the end of a pipeline, or the model itself."""
    steps = getattr(model, "steps", None)
    if isinstance(steps, Mapping) and steps:
        return _last_step(next(reversed(list(steps.values()))))
    return model
