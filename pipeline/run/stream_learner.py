"""Learners as a cell streams through them: those of this package as they are, all others behind one adapter.

What a plug-in may have or lack is asked here and nowhere else.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ...learners import OnlineClassifier
from ...learners.contract import StreamLearner

# Attributes of a learner that is not of this package, and the counts that they are.
_ATTRIBUTES = {
    "updates": "n_updates_",
    "support_vectors": "n_support_",
    "kernel_evaluations": "n_kernel_evaluations_",
    "queried": "n_queried_",
    "complexity": "complexity_",
    "model_bytes": "model_bytes_",
}


def stream_learner(learner: Any) -> StreamLearner:
    """Return a learner with the methods that a cell calls.

    Parameters
    ----------
    learner : estimator
        A learner of this package, or any scikit-learn classifier with a ``learn`` method.

    Returns
    -------
    StreamLearner
        The learner itself if it learns as this package's do; else, also where it has a ``learn`` of its own,
        an adapter that calls that.
    """
    if isinstance(learner, OnlineClassifier) and type(learner).learn is OnlineClassifier.learn:
        return learner
    return PluginLearner(learner)


def is_own(learner: Any) -> bool:
    """Tell whether a learner is one of this package's, not one derived from them elsewhere."""
    package = OnlineClassifier.__module__.removesuffix(".estimator.online_classifier")
    return isinstance(learner, OnlineClassifier) and type(learner).__module__.startswith(f"{package}.")


class PluginLearner:
    """A learner of somebody else's as a `StreamLearner`.

    Its ``learn(X, y, classes=...)`` is called, whatever its base class. What it counts is read from
    ``n_updates_``, ``n_support_`` and so on, where it has them.

    Parameters
    ----------
    learner : estimator
    """

    def __init__(self, learner: Any) -> None:
        self.learner = learner
        self.epochs: int = getattr(learner, "epochs", 1)

    def check_parameters(self) -> None:
        """Ask the learner, if it can tell."""
        check = getattr(self.learner, "check_parameters", None)
        if check is not None:
            check()

    def begin(self, classes: NDArray[np.int32], n_features: int) -> None:
        """Keep what every call of ``learn`` is told; see `StreamLearner.begin`."""
        self._classes, self._n_features = classes, n_features

    def learn_rows(self, X: Any, codes: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """Let it predict and learn rows; see `StreamLearner.learn_rows`."""
        scores: NDArray[np.float64] = self.learner.learn(self._matrix(X), codes, classes=self._classes)
        return scores

    def end_of_pass(self, last: bool) -> None:
        """Say so to a learner that wants to know."""
        end_of_pass = getattr(self.learner, "end_of_pass", None)
        if end_of_pass is not None:
            end_of_pass(last)

    def score_rows(self, X: Any) -> NDArray[np.float64]:
        """Return its scores; see `StreamLearner.score_rows`."""
        scores: NDArray[np.float64] = self.learner.decision_function(self._matrix(X))
        return scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return its predictions."""
        labels: NDArray[Any] = self.learner.predict(X)
        return labels

    def counters(self) -> dict[str, int]:
        """Return what it counts, by the store's columns."""
        found = {column: getattr(self.learner, name, None) for column, name in _ATTRIBUTES.items()}
        return {column: int(value) for column, value in found.items() if value is not None}

    def switches(self) -> list[int] | None:
        """Return its ``switches_``, None where there are none."""
        found = getattr(self.learner, "switches_", None)
        return None if found is None else [int(t) for t in found]

    def _matrix(self, X: Any) -> Any:
        """Return rows as a matrix."""
        if not isinstance(X, tuple):
            return X
        values, columns, starts = X
        first, last = starts[0], starts[-1]
        parts = values[first:last], columns[first:last], starts - first
        return sp.csr_array(parts, shape=(len(starts) - 1, self._n_features), copy=False)


def batch_counters(learner: Any) -> dict[str, int]:
    """Return what a batch baseline has counted, once it is fitted.

    Parameters
    ----------
    learner : estimator
        A batch baseline of this package, which tells itself, or a support vector machine of scikit-learn's.
    """
    counters: dict[str, int] = learner.counters() if hasattr(learner, "counters") else {}
    support = getattr(learner, "support_vectors_", None)
    if support is None:
        return counters
    model_bytes = _bytes(support) + _bytes(learner.dual_coef_)
    return {"support_vectors": support.shape[0], "model_bytes": model_bytes} | counters


def _bytes(matrix: Any) -> int:
    """Return the bytes of a dense or CSR matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix.nbytes
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
