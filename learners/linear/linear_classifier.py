"""What the linear learners share: their loops, which a pipeline enters once for many rows."""

import functools
from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.pieces import Passage
from ..numeric.loops import LOOPS_HAVE_A_CLOCK
from ..numeric.rows import Matrix, Rows, as_rows

_NOTHING = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)


class LinearClassifier(OnlineClassifier):
    """Base of the learners whose state is arrays of numbers by feature, and whose loops are compiled whole.

    A subclass defines, in place of ``_pass``,

    - ``_loop()``: return its loop, a `learning_loop`, and what it takes after the scores.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes, and what else a subclass defines.
    """

    _reads_orders = True
    _scores_tell = True

    @property
    def indifferent_to_absent_features(self) -> bool:
        # A full covariance is refused by the number of all features.
        return getattr(self, "covariance", "diagonal") == "diagonal"

    @property
    def scores_are_linear(self) -> bool:
        """Whether one vector scores all rows, apart from feature scales that depend on the rows so far."""
        return True

    @property
    def row_coef_(self) -> NDArray[np.float64]:
        """Weights for rows as given, shape (1, d) or (K, d): ``coef_`` divided by the features' scales."""
        return self.coef_

    @property
    def model_bytes_(self) -> int:
        numbered = super().model_bytes_
        return numbered + (self.state_bytes(len(self.classes_), self._n_absent) if self._n_absent else 0)

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        super().begin(classes, n_features, n_occurring)
        self._n_absent = 0 if n_occurring is None else n_features - n_occurring

    def state_bytes(self, n_classes: int, n_features: int) -> int:
        """Return what the arrays of a model take that grow with the features, before it is made.

        This does not hold for a full covariance, which has its own size limit.

        Parameters
        ----------
        n_classes, n_features : int

        Returns
        -------
        int
            Bytes.
        """
        return n_features * self._bytes_a_feature(n_classes)

    def _bytes_a_feature(self, n_classes: int) -> int:
        kind: Any = type(self)
        return _bytes_a_feature(
            kind, tuple([getattr(self, name) for name in _parameters_of(kind)]), n_classes
        )

    def _loop(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the loop for two classes, and its arguments after the scores."""
        raise self._undefined("_loop")

    def _loop_of_classes(self) -> tuple[Any, tuple[Any, ...]]:
        """Return the loop for more than two classes, and its arguments after the scores."""
        raise self._undefined("_loop_of_classes")

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        return self._run(X, codes, scores, *_NOTHING)

    def _pass_classes(
        self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]
    ) -> tuple[int, int]:
        return self._run(X, codes, scores, *_NOTHING)

    def _run(
        self,
        X: Rows,
        codes: NDArray[np.int32],
        scores: NDArray[np.float64],
        *noted: NDArray[Any],
    ) -> tuple[int, int]:
        loop, state = self._loop() if scores.ndim == 1 else self._loop_of_classes()
        outcome: tuple[int, int] = loop(X, codes, scores, *noted, *state)
        return outcome

    def learn_along(self, X: Matrix, codes: NDArray[np.integer[Any]], stops: NDArray[np.int64]) -> Passage:
        # What a learner counts besides is known to it alone.
        counts_more = type(self).counters is not OnlineClassifier.counters
        if counts_more or not LOOPS_HAVE_A_CLOCK:
            return super().learn_along(X, codes, stops)
        labels = np.ascontiguousarray(codes, dtype=np.int32)
        scores = self._new_scores(len(labels))
        changed, seconds = np.empty(len(stops), np.int64), np.empty(len(stops))
        before = self.n_updates_
        mistakes, updates = self._run(as_rows(X), labels, scores, stops, changed, seconds)
        self.n_examples_ += len(labels)
        self.n_mistakes_ += mistakes
        self.n_updates_ += updates
        changed += before
        # The size of the model does not change.
        counts = {"updates": changed, "model_bytes": np.full(len(stops), self.model_bytes_)}
        return Passage(scores, seconds, counts)


@functools.cache
def _parameters_of(kind: Any) -> tuple[str, ...]:
    # Weights of labels change no size, and are of other labels than those that sizes are asked with.
    return tuple(name for name in kind._get_param_names() if name != "class_weight")


@functools.lru_cache(maxsize=1024)
def _bytes_a_feature(kind: Any, parameters: tuple[Hashable, ...], n_classes: int) -> int:
    """Return what one more feature takes: arrays are by feature or of fixed size, so that two sizes tell."""
    sizes = []
    for n_features in (1, 2):
        small = kind(**dict(zip(_parameters_of(kind), parameters, strict=True)))
        small.begin(np.arange(n_classes), n_features)
        sizes.append(small.model_bytes_)
    return sizes[1] - sizes[0]
