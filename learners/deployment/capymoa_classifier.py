"""A learner of this package as a CapyMOA classifier, which learns instances of a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
from capymoa.base import Classifier
from capymoa.stream import Schema
from numpy.typing import NDArray
from sklearn.base import clone

from ..estimator.online_classifier import OnlineClassifier


class CapyMOAClassifier(Classifier):
    """A learner of singlepass as a classifier of CapyMOA; `to_capymoa` makes it.

    Parameters
    ----------
    schema : capymoa.stream.Schema
        The stream's features and classes. A nominal feature is read as the number of its value.
    learner : OnlineClassifier
        A learner of this package; it is cloned, never changed.
    random_seed : int, default=1
        Not used: a learner with random draws has a parameter ``random_state`` for its seed.

    Attributes
    ----------
    learner_ : OnlineClassifier
        The learner that ``train`` trains; its classes are the indices of the labels in the schema.
    """

    def __init__(self, schema: Any, learner: OnlineClassifier, random_seed: int = 1) -> None:
        if not isinstance(schema, Schema):
            raise ValueError(f"to_capymoa() takes a stream's schema, stream.get_schema(), got {schema!r}")
        n_classes = 0 if schema.is_regression() else schema.get_num_classes()
        if n_classes < 2:
            found = "a regression schema" if schema.is_regression() else f"a schema with {n_classes}"
            raise ValueError(f"to_capymoa() takes a schema with at least two classes, got {found}")
        super().__init__(schema, random_seed)
        learner.check_parameters()
        if n_classes > 2 and not learner.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(f"{type(learner).__name__} takes two classes, the schema has {n_classes}")
        self.learner = learner
        self.learner_ = clone(learner)
        self.learner_.begin(np.arange(n_classes), schema.get_num_attributes())

    def __str__(self) -> str:
        return repr(self.learner)

    def train(self, instance: Any) -> None:
        """Learn an instance and its label."""
        self.learner_.learn(_row(instance), np.array([instance.y_index]))

    def predict(self, instance: Any) -> int:
        """Return the index of the predicted label."""
        return int(self.learner_.predict(_row(instance))[0])

    def predict_proba(self, instance: Any) -> NDArray[np.float64]:
        """Return the probability of each label: 1 for the predicted one unless scores are log odds."""
        if not self.learner_.scores_are_log_odds:
            return np.asarray(np.eye(len(self.learner_.classes_))[self.predict(instance)])
        return np.asarray(self.learner_.predict_proba(_row(instance))[0])


def _row(instance: Any) -> NDArray[np.float64]:
    return np.ascontiguousarray(instance.x, np.float64).reshape(1, -1)
