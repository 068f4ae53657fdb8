"""The adapter for CapyMOA's classifiers, most of which run in a Java virtual machine in this process."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .guest import Guest, in_one_line
from .returned import checked_codes, copied, first_line, scores_of_codes, scores_of_probabilities


class CapyMOA:
    """A CapyMOA classifier and its parameters; the model is created once features and classes are known.

    `params` are the arguments of the classifier's constructor, without `schema`.
    """

    theirs: type[Any]

    def __init__(self, **params: Any) -> None:
        self.params = params

    def model(self, n_features: int, n_classes: int) -> Any:
        """Return a new model for a stream with these numbers of features and classes."""
        stream = importlib.import_module("capymoa.stream")
        schema = stream.Schema.from_custom(
            features=[*map(str, range(n_features)), "target"],
            target="target",
            categories={"target": [str(code) for code in range(n_classes)]},
        )
        return self.theirs(schema=schema, **self.params)

    def check_parameters(self) -> None:
        """Raise ValueError for parameters that the classifier does not take."""
        try:
            self.model(2, 2)
        except Exception as error:
            raise ValueError(first_line(error)) from None


def leave_signals_to_python() -> None:
    """Let CapyMOA, if it is imported later, start Java with ``-Xrs``: without handlers of signals.

    Java's handlers would replace Python's, so that Ctrl-C and SIGTERM end the process instead of the run.
    """
    # The default is CapyMOA's own.
    arguments = os.environ.get("CAPYMOA_JVM_ARGS", "-Xmx8g -Xss10M")
    if "-Xrs" not in arguments.split():
        os.environ["CAPYMOA_JVM_ARGS"] = f"{arguments} -Xrs"


def is_classifier(found: type[Any]) -> bool:
    """Return whether a class of CapyMOA is a classifier."""
    return issubclass(found, importlib.import_module("capymoa.base").Classifier)


@functools.cache
def as_named(theirs: type[Any]) -> type[CapyMOA]:
    """Return a subclass of `CapyMOA` for a classifier, whose signature has the classifier's parameters."""
    signature = inspect.signature(theirs)
    given = [each for name, each in signature.parameters.items() if name != "schema"]
    members = {"theirs": theirs, "__signature__": signature.replace(parameters=given)}
    return type(theirs.__name__, (CapyMOA,), members)


class CapyMOAGuest(Guest):
    """Adapter of a classifier with ``predict`` and ``train``.

    Scores are computed from class probabilities, or from predicted classes if the classifier overrides
    `predict`. A prediction of None counts as the first class, as in CapyMOA's own evaluation.
    """

    def __init__(self, learner: CapyMOA, batch: int = 1, attributes: Mapping[str, str] | None = None) -> None:
        super().__init__(learner, batch, attributes)
        base = importlib.import_module("capymoa.base")
        # Class probabilities are used unless the classifier overrides `predict`, as it may then have none.
        own = [base.Classifier, getattr(base, "MOAClassifier", base.Classifier)]
        self._likely = any(learner.theirs.predict is each.predict for each in own)
        self.gives_scores = self.scores_are_log_odds = self._likely

    def _start(self, n_features: int) -> None:
        self._model = self.learner.model(n_features, self._n_classes)
        self._instance = importlib.import_module("capymoa.core").LabeledInstance.from_array

    def rows_of(self, X: Any) -> Any:
        """Return rows as a dense float64 array; an instance is created from a row only when it is used."""
        return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)

    def _row_by_row(self, X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        said = []
        with in_one_line("predict or train"):
            for x, code in zip(X, codes.tolist(), strict=True):
                # Predicting does not read the label, so the same instance, which contains it, is used to
                # predict and to train.
                instance = self._instance(self._model.schema, x, code)
                said.append(self._said(instance))
                self._model.train(instance)
        return self._counted(said)

    def _learn(self, X: Any, codes: NDArray[np.int32]) -> None:
        with in_one_line("train"):
            for x, code in zip(X, codes.tolist(), strict=True):
                self._model.train(self._instance(self._model.schema, x, code))

    def _scores(self, X: Any) -> NDArray[np.float64]:
        with in_one_line("predict"):
            return self._counted([self._said(self._instance(self._model.schema, x, 0)) for x in X])

    def _said(self, instance: Any) -> Any:
        """Predict an instance's class probabilities, or its class; None if the model predicts nothing."""
        said = self._model.predict_proba(instance) if self._likely else self._model.predict(instance)
        return copied(said)

    def _counted(self, said: list[Any]) -> NDArray[np.float64]:
        """Convert predictions of some rows (class probabilities or classes, see `_said`) into scores."""
        n, k = len(said), self._n_classes
        if self._likely and n:
            alike = np.full(k, 1 / k)
            chances = [alike if each is None else each for each in said]
            return scores_of_probabilities(chances, "predict_proba", n, k)
        codes = [0 if each is None else each for each in said]
        return scores_of_codes(checked_codes(codes, "predict", n, k), k)

    def predict_codes(self, X: Any) -> NDArray[np.int64]:
        with in_one_line("predict"):
            found = [copied(self._model.predict(self._instance(self._model.schema, x, 0))) for x in X]
        found = [0 if each is None else each for each in found]
        return checked_codes(found, "predict", len(found), self._n_classes)
