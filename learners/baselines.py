"""Baselines that every stream learner must beat: the most frequent class so far, and the previous label."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimator.online_classifier import OnlineClassifier
from .numeric.rows import Rows


class Baseline(OnlineClassifier):
    """Base of the classifiers that read labels only.

    The predicted class scores 1, other classes 0; with two classes the score is 1 or -1. Before the first
    label the prediction is ``classes_[0]``. `n_updates_` stays 0.

    A subclass defines ``_start(n_classes)``, which creates its state, and ``_codes(codes)``, which gets the
    labels of n rows and returns n + 1 predictions: one for each row, from the labels of the rows before it,
    and one for the next row.
    """

    _takes_many_classes = _scores_poorly = True
    # True means that rows may come in a form with a row order, which is fine because rows are never read.
    _reads_orders = True
    indifferent_to_absent_features = True

    def __init__(self, epochs: int = 1) -> None:
        self.epochs = epochs

    def _start(self, n_classes: int) -> None:
        raise self._undefined("_start")

    def _codes(self, codes: NDArray[np.int32]) -> NDArray[np.integer[Any]]:
        raise self._undefined("_codes")

    def _allocate(self, n_features: int) -> None:
        self._allocate_classes(n_features, 2)

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        self._start(n_classes)
        self._next = 0

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        predicted = self._codes(codes)
        self._next = int(predicted[-1])
        _write(predicted[:-1], scores)
        return int(np.count_nonzero(predicted[:-1] != codes)), 0

    _pass_classes = _pass

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        _write(np.full(len(scores), self._next), scores)

    _score_classes = _score

    def counters(self) -> dict[str, int]:
        return {"model_bytes": self.model_bytes_}


def _write(predicted: NDArray[np.integer[Any]], scores: NDArray[np.float64]) -> None:
    """Write, for predicted class codes, scores into `scores`: ±1 for two classes, else 1 or 0 per class."""
    if scores.ndim == 1:
        scores[:] = np.where(predicted == 1, 1.0, -1.0)
    else:
        scores[:] = predicted[:, np.newaxis] == np.arange(scores.shape[1])


class MajorityClass(Baseline):
    """Predict the most frequent class so far.

    On a tie, and before any label, it predicts the first class in the order of ``classes_``, and this
    prediction can be correct. Implementations that give such a row the score 0 always count a mistake.

    Parameters
    ----------
    epochs : int, default=1
        Passes that `fit` makes.

    See Also
    --------
    NoChange : Predicts the previous label.
    OnlineClassifier : Methods and attributes.

    Examples
    --------
    >>> MajorityClass().learn([[0.0]] * 4, ["b", "b", "a", "a"], classes=["a", "b"]).tolist()
    [-1.0, 1.0, 1.0, 1.0]
    """

    _state = ("_counts",)

    def _start(self, n_classes: int) -> None:
        self._counts = np.zeros(n_classes, np.int64)

    def _codes(self, codes: NDArray[np.int32]) -> NDArray[np.integer[Any]]:
        counts = np.zeros((len(codes) + 1, len(self._counts)), np.int64)
        counts[np.arange(1, len(counts)), codes] = 1
        counts[0] = self._counts
        counts.cumsum(axis=0, out=counts)
        self._counts = counts[-1].copy()
        predicted: NDArray[np.integer[Any]] = counts.argmax(axis=1)
        return predicted


class NoChange(Baseline):
    """Predict the label of the previous row.

    Before any label it predicts ``classes_[0]``, and this prediction can be correct. Implementations that
    give the first row the score 0 always count a mistake.

    It predicts well if successive labels are often equal: a learner that does not beat it has learned nothing
    useful (Žliobaitė et al. 2015).

    Parameters
    ----------
    epochs : int, default=1
        Passes that `fit` makes.

    See Also
    --------
    MajorityClass : Predicts the most frequent class.
    OnlineClassifier : Methods and attributes.

    References
    ----------
    Žliobaitė, Bifet, Read, Pfahringer, Holmes (2015), "Evaluation methods and decision theory for
    classification of streaming data with temporal dependence", Machine Learning 98.

    Examples
    --------
    >>> NoChange().learn([[0.0]] * 4, ["b", "b", "a", "a"], classes=["a", "b"]).tolist()
    [-1.0, 1.0, 1.0, -1.0]
    """

    _state = ("_last",)

    def _start(self, n_classes: int) -> None:
        self._last = np.zeros(1, np.int32)

    def _codes(self, codes: NDArray[np.int32]) -> NDArray[np.integer[Any]]:
        predicted = np.concatenate([self._last, codes])
        self._last = predicted[-1:].copy()
        return predicted
