"""Query strategies: wrap a learner of two classes and decide which labels of a stream to ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .estimator.inner_learner import check_inner_learner
from .estimator.online_classifier import OnlineClassifier
from .estimator.parameters import Count
from .estimator.rollback import RolledBack
from .numeric.orders import take_rows
from .numeric.rows import Rows, count_rows, row_range


class QueryAll(OnlineClassifier):
    """Ask for every label: learn like the inner learner, and count the labels.

    This is the reference for the other strategies, and their base class. A strategy is itself a learner:
    `learn` is given every label and scores every row, but the inner learner learns only the rows whose label
    the strategy asks for.

    Parameters
    ----------
    learner : OnlineClassifier
        The inner learner, of this package and for two classes; it is cloned, never changed. The strategy's
        ``set_params`` sets its parameters as ``learner__…``.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Attributes
    ----------
    learner_ : OnlineClassifier
        The trained learner. Its row numbers (`support_`) count only the rows whose label was asked for.
    n_queried_ : int
        Labels asked for.
    n_mistakes_ : int
        Mistakes on all rows, whether their label was asked for or not.
    n_updates_ : int
        Updates of `learner_`.
    n_support_, n_kernel_evaluations_, model_bytes_ : int
        The counts of `learner_`, if it has them; kernel evaluations include those for scores of rows that it
        does not learn.

    See Also
    --------
    Greedy : One label of every few rows.
    OnlineClassifier : Methods and attributes.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, section V.E.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> QueryAll(Perceptron()).fit([[1.0], [2.0], [-1.0]], [1, 1, 0]).n_queried_
    3
    """

    asks_for_labels = True

    learner_: OnlineClassifier
    n_queried_: int

    def __init__(self, learner: OnlineClassifier, epochs: int = 1) -> None:
        self.learner = learner
        self.epochs = epochs

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores of the learner are log odds."""
        return self.learner.scores_are_log_odds

    def _check_parameters(self) -> None:
        check_inner_learner(self)
        self.learner.check_parameters()

    def _allocate(self, n_features: int) -> None:
        # `_evaluations` counts kernel evaluations for scores of rows that the inner learner does not learn.
        # The inner learner counts the others.
        self.n_queried_ = self._evaluations = 0

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        with RolledBack(self):
            super().begin(classes, n_features, n_occurring)
            self.learner_ = clone(self.learner)
            self.learner_.begin(classes, n_features, n_occurring)

    def check_rows(self, X: Rows) -> None:
        self.learner_.check_rows(X)

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        self.check_rows(X)
        before = self.learner_.n_updates_
        self._query(X, codes, scores)
        mistakes = ~(np.where(codes == 1, scores, -scores) > 0.0)
        return int(mistakes.sum()), self.learner_.n_updates_ - before

    def _query(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        """Score the rows in order, and let the learner learn those whose label is asked for."""
        scores[:] = self.learner_.learn_rows(X, codes)
        self.n_queried_ += len(codes)

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        scores[:] = self.learner_.score_rows(X)

    def end_of_pass(self, last: bool) -> None:
        self.learner_.end_of_pass(last)

    def counters(self) -> dict[str, int]:
        """Return the inner learner's counts and the number of labels asked for."""
        counters = self.learner_.counters() | {"queried": self.n_queried_}
        if "kernel_evaluations" in counters:
            counters["kernel_evaluations"] += self._evaluations
        return counters

    def switches(self) -> list[int] | None:
        return self.learner_.switches()

    def inner_learners(self) -> list[OnlineClassifier]:
        return [self.learner, *self.learner.inner_learners()]

    # If the inner learner is linear, it has neither count, and `n_support_` and `n_kernel_evaluations_` raise
    # AttributeError.

    @property
    def n_support_(self) -> int:
        return int(self.learner_.n_support_)

    @property
    def n_kernel_evaluations_(self) -> int:
        return int(self.learner_.n_kernel_evaluations_) + self._evaluations

    @property
    def model_bytes_(self) -> int:
        return self.learner_.model_bytes_


@dataclass(eq=False, repr=False)
class Greedy(QueryAll):
    """Ask for one label in every `h` rows: that of the row with the least certain score.

    From each group of h consecutive rows, the learner learns the one with the smallest ``|f(x)|`` (ties: the
    first) once the group is complete; the other labels are never read. An incomplete group at the end of a
    stream is not learned. With ``h=1`` this is `QueryAll`.

    Parameters
    ----------
    learner : OnlineClassifier
        As for `QueryAll`.
    h : int, default=5
        Rows per label, >= 1.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Notes
    -----
    The paper says "the label of the example with the largest uncertainty from the h most recently observed
    examples" and that h = 1 is QueryAll. The groups here do not overlap: with overlapping groups the strategy
    would ask for one label per row, whatever h is.

    Within a group the model does not change, so each row is scored before any update, and only one row is
    stored. A score that has overflowed to NaN is the least certain.

    A change of `h` after training takes effect at the next fit.

    See Also
    --------
    QueryAll : Describes the attributes.
    ActiveRampSVM : Asks for the labels within its margin.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, section V.E;
    Guillory, Chastain, Bilmes (2009), "Active learning as non-convex optimization", AISTATS.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> learner = Greedy(Perceptron(), h=2)
    >>> learner.learn([[1.0], [2.0], [-1.0], [0.5]], [1, 1, 0, 1]).tolist()
    [0.0, 0.0, -1.0, 0.5]
    >>> learner.n_queried_
    2
    """

    learner: OnlineClassifier
    h: Count = 5
    epochs: int = 1

    def _allocate(self, n_features: int) -> None:
        super()._allocate(n_features)
        self._h_of_stream = int(self.h)
        self._begin_group()

    def _begin_group(self) -> None:
        # The current group: its number of rows so far, and |f|, row and code of its least certain row.
        self._n_waiting = 0
        self._candidate: tuple[float, Rows, NDArray[np.int32]] | None = None

    def _widened(self, name: str, old: Any, new: Any, n_features: int) -> Any:
        if name != "_candidate" or old is None or isinstance(old[1], tuple):
            return super()._widened(name, old, new, n_features)
        distance, row, codes = old  # a dense row
        return distance, np.pad(row, ((0, 0), (0, n_features - row.shape[1]))), codes

    def _query(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        start, n, h = 0, count_rows(X), self._h_of_stream
        while start < n:
            stop = min(n, start + h - self._n_waiting)
            scores[start:stop] = self.learner_.score_rows(row_range(X, start, stop))
            self._evaluations += (stop - start) * self.learner_.evaluations_per_score()
            distances = np.abs(scores[start:stop])
            distances[np.isnan(distances)] = -1.0  # less certain than any other score
            i = int(distances.argmin())
            if self._candidate is None or distances[i] < self._candidate[0]:
                row = start + i
                # A copy of a row of all CSR rows would take longer, because it reads all pointers to rows.
                copied = take_rows(row_range(X, row, row + 1), [0])
                self._candidate = distances[i], copied, codes[row : row + 1].copy()
            self._n_waiting += stop - start
            if self._n_waiting == h:
                # `learn_rows` scores the row a second time and counts its kernel evaluations again. So those
                # of the first time are subtracted.
                self._evaluations -= self.learner_.evaluations_per_score()
                self.learner_.learn_rows(*self._candidate[1:])
                self.n_queried_ += 1
                self._begin_group()
            start = stop

    def end_of_pass(self, last: bool) -> None:
        # With h > 1 each pass queries different rows, but `end_of_pass` would tell the inner learner that the
        # same rows follow again. So it is called only after the last pass.
        if last or self._h_of_stream == 1:
            super().end_of_pass(last)

    def switches(self) -> list[int] | None:
        inner = super().switches()
        # The inner learner counts only the rows that it learns, one per group of h rows. Its row t is learned
        # when group t is complete, at the last row of that group.
        return None if inner is None else [(t + 1) * self._h_of_stream - 1 for t in inner]
