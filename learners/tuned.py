"""Tune on the stream: all points of a parameter grid learn every row; their mistakes decide who predicts.

No row is read twice and no seed is reserved for tuning, so the mistakes include the cost of tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimator.inner_learner import check_inner_learner
from .estimator.online_classifier import OnlineClassifier
from .estimator.parameters import Count, Positive
from .estimator.pieces import OneByOne
from .estimator.rollback import RolledBack
from .grid import Grid, check_grid, points_of
from .numeric.rows import Rows, row_range
from .numeric.votes import follow, follow_of_two, vote_by_weight, vote_by_weight_of_two, votes
from .readings import readings_of

# The stream is read in pieces of this many rows; all parameter combinations learn a piece before the next one
# is read. The scores of a piece by 20 combinations take 650 KB.
_PIECE = 4096


class TunedOnline(OnlineClassifier):
    """Base of the learners in which the points of a grid (parameter combinations) compete along the stream.

    A subclass takes `learner`, `grid` and `epochs`, and defines

    - ``_choose(scores, codes, out)``: write each row's prediction into `out`, count the points' mistakes in
      `point_mistakes_`, and return the number of mistakes of the predictions;
    - ``_score(X, scores)``: write the scores of rows under the current models.
    """

    # True means that rows may come in a form with a row order. The inner learners copy them if their loops
    # cannot read that form.
    _reads_orders = True

    learner: OnlineClassifier
    grid: Grid

    points_: list[dict[str, Any]]
    learners_: list[OnlineClassifier]
    point_mistakes_: NDArray[np.int64]

    @property
    def _takes_many_classes(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.learner, "_takes_many_classes", False))

    @property
    def indifferent_to_absent_features(self) -> bool:
        return all(each.indifferent_to_absent_features for each in points_of(self.learner, self.grid)[1])

    def state_bytes(self, n_classes: int, n_features: int) -> int:
        """Return the bytes of all points' arrays that grow with the number of features; 0 without any."""
        learners: list[Any] = points_of(self.learner, self.grid)[1]
        sized = [each for each in learners if hasattr(each, "state_bytes")]
        return sum([each.state_bytes(n_classes, n_features) for each in sized])

    def __getstate__(self) -> dict[str, Any]:
        # `_readings`, through which several points learn in one pass over the rows, is left out of copies and
        # pickles; a copy creates new ones.
        state: dict[str, Any] = super().__getstate__()
        return state | {"_readings": []} if "_readings" in state else state

    def _check_parameters(self) -> None:
        check_inner_learner(self)
        check_grid(self.grid, type(self).__name__)
        for each in points_of(self.learner, self.grid)[1]:
            each.check_parameters()

    def _allocate(self, n_features: int) -> None:
        self._allocate_classes(n_features, 2)

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        self.points_, self.learners_ = points_of(self.learner, self.grid)
        self.point_mistakes_ = np.zeros(len(self.points_), np.int64)
        self._round = 0
        self._readings: list[OneByOne] = []

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        with RolledBack(self):
            super().begin(classes, n_features, n_occurring)
            for each in self.learners_:
                each.begin(classes, n_features, n_occurring)

    def check_rows(self, X: Rows) -> None:
        for each in self.learners_:
            each.check_rows(X)

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        self.check_rows(X)
        before, mistakes = self._n_updates_of_all(), 0
        if not (self._readings and all(each.goes_on() for each in self._readings)):
            self._readings = readings_of(self.learners_, X)
        for start in range(0, len(codes), _PIECE):
            stop = min(start + _PIECE, len(codes))
            rows, labels = row_range(X, start, stop), codes[start:stop]
            found = [each.learn_rows(rows, labels) for each in self._readings]
            # The scores of a single reading may already be one array.
            made = np.asarray(found[0]) if len(found) == 1 else np.concatenate(found)
            mistakes += self._choose(made, labels, scores[start:stop])
            self._round += stop - start
        for reading in self._readings:
            reading.write_back()
        if not all(each.goes_on() for each in self._readings):
            self._readings = []
        return mistakes, self._n_updates_of_all() - before

    _pass_classes = _pass

    def _choose(self, scores: NDArray[np.float64], codes: NDArray[np.int32], out: NDArray[np.float64]) -> int:
        """Write predictions into `out`, given the scores of all G points, shape (G, n) or (G, n, K)."""
        raise self._undefined("_choose")

    def _score_classes(self, X: Rows, scores: NDArray[np.float64]) -> None:
        self._score(X, scores)

    def _n_updates_of_all(self) -> int:
        return sum([each.n_updates_ for each in self.learners_])

    def end_of_pass(self, last: bool) -> None:
        for each in self.learners_:
            each.end_of_pass(last)

    def begin_within_pass(self, row: int) -> None:
        for each in self.learners_:
            each.begin_within_pass(row)

    def counters(self) -> dict[str, int]:
        """Return the learners' counts, each added up over all points of the grid."""
        counted = [each.counters() for each in self.learners_]
        return {name: sum([each[name] for each in counted]) for name in counted[0]}

    def evaluations_per_score(self) -> int:
        return sum([each.evaluations_per_score() for each in self.learners_])

    def inner_learners(self) -> list[OnlineClassifier]:
        first = points_of(self.learner, self.grid)[1][0]
        return [first, *first.inner_learners()]

    @property
    def model_bytes_(self) -> int:
        return sum([each.model_bytes_ for each in self.learners_])


def _wide(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return scores of shape (n,) as a view of shape (n, 1); scores of shape (n, K) keep their shape."""
    return scores.reshape(len(scores), -1)


@dataclass(eq=False, repr=False)
class FollowTheLeader(TunedOnline):
    """Predict each row by the point of a grid that has made the fewest mistakes on the stream so far.

    All points learn every row. The point with the fewest mistakes so far is the leader; on a tie it is the
    first of them in the grid.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package; it is cloned for each point, never changed.
    grid : dict of str to list
        Values of its parameters; the points are all combinations, the last parameter changing fastest.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Attributes
    ----------
    points_ : list of dict
        The G points of the grid.
    learners_ : list of OnlineClassifier
        The learner of each point.
    point_mistakes_ : ndarray of int64, shape (G,)
        Mistakes of each point.
    leader_ : int
        Index in `points_` of the point that predicts the next row.
    n_mistakes_ : int
        Mistakes of the predictions.
    n_updates_, model_bytes_ : int
        Sums over the points.

    See Also
    --------
    ExponentialWeights : All points vote.
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Cesa-Bianchi, Lugosi (2006), "Prediction, learning, and games", section 2.1.

    Examples
    --------
    >>> from singlepass.learners import PassiveAggressive
    >>> tuned = FollowTheLeader(PassiveAggressive(), {"C": [0.1, 1.0]})
    >>> tuned.learn([[1.0], [2.0], [2.0], [2.0]], [0, 1, 1, 1]).tolist()
    [0.0, -0.2, 0.2, 0.6000000000000001]
    >>> tuned.point_mistakes_.tolist(), tuned.points_[tuned.leader_]
    ([2, 2], {'C': 0.1})
    """

    learner: OnlineClassifier
    grid: Grid
    epochs: Count = 1

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        super()._allocate_classes(n_features, n_classes)
        self._changes: list[int] = []

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores of every point are log odds."""
        return all(each.scores_are_log_odds for each in points_of(self.learner, self.grid)[1])

    @property
    def leader_(self) -> int:
        return int(self.point_mistakes_.argmin())

    def _choose(self, scores: NDArray[np.float64], codes: NDArray[np.int32], out: NDArray[np.float64]) -> int:
        changes = np.empty(len(codes), np.int64)
        choose = follow_of_two if out.ndim == 1 else follow
        mistakes, n_changes = choose(scores, codes, self.point_mistakes_, changes, out)
        self._changes += (self._round + changes[:n_changes]).tolist()
        return int(mistakes)

    def evaluations_per_score(self) -> int:
        return self.learners_[self.leader_].evaluations_per_score()

    def switches(self) -> list[int]:
        """Return the row numbers, from 0, from which a new leader predicts."""
        return self._changes

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        scores[:] = self.learners_[self.leader_].score_rows(X)


@dataclass(eq=False, repr=False)
class ExponentialWeights(TunedOnline):
    """Predict each row by a vote of all points of a grid, weighted by ``exp(-η_t M)`` for M mistakes so far.

    All points learn every row. A point votes for the class with its largest score; on a tie it does not
    vote. The score of a class is the sum of the weights that vote for it; all weights add up to 1. With two
    classes the score of a row is that of the second class minus that of the first.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package; it is cloned for each point, never changed.
    grid : dict of str to list
        Values of its parameters; the points are all combinations, the last parameter changing fastest.
    eta : float, default=None
        η > 0. None: ``η_t = √(8 ln G / t)`` in round t, with G points.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Attributes
    ----------
    points_ : list of dict
        The G points of the grid.
    learners_ : list of OnlineClassifier
        The learner of each point.
    point_mistakes_ : ndarray of int64, shape (G,)
        Mistakes of each point.
    expected_mistakes_ : float
        Expected mistakes of a forecaster that predicts each row with one point, drawn at random by weight.
    n_mistakes_ : int
        Mistakes of the predictions.
    n_updates_, model_bytes_ : int
        Sums over the points.

    Notes
    -----
    After T rounds with the default η_t, ``expected_mistakes_`` exceeds the mistakes of the best point by at
    most ``2 √(T ln G / 2) + √(ln G / 8)`` (theorem 2.3).

    See Also
    --------
    FollowTheLeader : The best point so far predicts.
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Cesa-Bianchi, Lugosi (2006), "Prediction, learning, and games", sections 2.2 and 2.3.

    Examples
    --------
    >>> from singlepass.learners import PassiveAggressive
    >>> tuned = ExponentialWeights(PassiveAggressive(), {"C": [0.01, 0.1, 1.0]})
    >>> tuned.fit([[1.0], [-2.0], [-1.0], [3.0]], [0, 1, 1, 0]).predict([[2.0], [-2.0]]).tolist()
    [0, 1]
    """

    learner: OnlineClassifier
    grid: Grid
    eta: Positive | None = None
    epochs: Count = 1

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        super()._allocate_classes(n_features, n_classes)
        self.expected_mistakes_ = 0.0

    def _choose(self, scores: NDArray[np.float64], codes: NDArray[np.int32], out: NDArray[np.float64]) -> int:
        state = self.point_mistakes_, float(self.eta or 0.0), self._round, self.expected_mistakes_
        vote = vote_by_weight_of_two if out.ndim == 1 else vote_by_weight
        mistakes, expected = vote(scores, codes, *state, out)
        self.expected_mistakes_ = float(expected)
        return int(mistakes)

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        made = np.stack([_wide(each.score_rows(X)) for each in self.learners_])
        state = self.point_mistakes_, float(self.eta or 0.0), self._round + 1
        votes(made, *state, _wide(scores))
