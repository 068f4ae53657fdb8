"""Selective sampling: active strategies that ask for a row's label at random, less often for certain rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .active import QueryAll
from .estimator.online_classifier import OnlineClassifier
from .estimator.parameters import Scale, Seed, Share
from .linear.linear_classifier import LinearClassifier
from .numeric.rows import Rows, count_rows, row_range, squared_norms_of_rows


class _ByChance(QueryAll):
    """Base: row t gets a random number u_t from [0, 1), and its label is asked for if ``u_t < p_t``."""

    random_state: Seed

    def _allocate(self, n_features: int) -> None:
        super()._allocate(n_features)
        self._random = np.random.RandomState(int(self.random_state))
        # Numbers of the queried rows, to translate the inner learner's `switches`, which count these alone.
        self._asked: list[int] = []

    def _uniforms(self, n: int) -> NDArray[np.float64]:
        """Return u_t of the next rows, one number per row, whether it is used or not."""
        return self._random.random_sample(n)

    def _learn_asked(self, X: Rows, codes: NDArray[np.int32], start: int, stop: int) -> NDArray[np.float64]:
        """Let the inner learner learn rows start … stop - 1 of a block; return their scores."""
        scores = self.learner_.learn_rows(row_range(X, start, stop), codes[start:stop])
        self.n_queried_ += stop - start
        if self.learner_.switches() is not None:
            self._asked.extend(range(self.n_examples_ + start, self.n_examples_ + stop))
        return scores

    def end_of_pass(self, last: bool) -> None:
        # Each pass queries other rows, so to the inner learner all passes are one.
        if last:
            super().end_of_pass(last)

    def switches(self) -> list[int] | None:
        inner = super().switches()
        return None if inner is None else [self._asked[t] for t in inner]


@dataclass(eq=False, repr=False)
class RandomQueries(_ByChance):
    """Ask for a label with the same probability at every row: the baseline for the other strategies.

    Parameters
    ----------
    learner : OnlineClassifier
        As for `QueryAll`.
    q : float, default=0.5
        The probability, from 0 to 1; with 1 it is `QueryAll`.
    random_state : int, default=0
        Seed of the draws, one per row. In a study it comes from the repetition.
    epochs : int, default=1
        Passes that `fit` makes; those of `learner` do not count.

    See Also
    --------
    QueryAll : Attributes.
    SelectiveSampling : Asks less often when the learner is certain.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> learner = RandomQueries(Perceptron(), q=0.0).fit([[1.0], [2.0], [-1.0]], [1, 1, 0])
    >>> learner.n_queried_, learner.n_mistakes_
    (0, 3)
    """

    learner: OnlineClassifier
    q: Share = 0.5
    random_state: Seed = 0
    epochs: int = 1

    def _query(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        asked = self._uniforms(len(codes)) < float(self.q)
        # The rows at which a run of queried rows, or of other rows, ends.
        turns = [*(np.flatnonzero(np.diff(asked)) + 1).tolist(), len(codes)]
        start = 0
        for stop in turns:
            if start < stop and asked[start]:
                scores[start:stop] = self._learn_asked(X, codes, start, stop)
            elif start < stop:
                scores[start:stop] = self.learner_.score_rows(row_range(X, start, stop))
                self._evaluations += (stop - start) * getattr(self.learner_, "n_support_", 0)
            start = stop


class _ByScore(_ByChance):
    """Base of the strategies with ``p_t = b_t/(b_t + |f(x_t)|)``."""

    def _query(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        n, uniforms, norms = count_rows(X), self._uniforms(len(codes)), self._norms(X)
        # The model changes at queries only: rows are scored ahead, twice as many as were used last time.
        start, ahead = 0, 1
        while start < n:
            stop = min(n, start + ahead)
            made = self.learner_.score_rows(row_range(X, start, stop))
            distances = np.abs(made)
            with np.errstate(all="ignore"):
                b = self._b_of(norms[start:stop])
                # NaN (0/0, or after an overflow) asks for the label.
                asked = ~(uniforms[start:stop] >= b / (b + distances))
            i = int(asked.argmax())
            last = start + i if asked[i] else stop
            scores[start:last] = made[: last - start]
            self._evaluations += (last - start) * getattr(self.learner_, "n_support_", 0)
            if last < stop:
                before = self.learner_.n_updates_
                scores[last : last + 1] = self._learn_asked(X, codes, last, last + 1)
                if self.learner_.n_updates_ > before:
                    self._take_update(float(norms[last]))
            ahead = 2 * (last - start + 1)
            start = last + (last < stop)

    def _norms(self, X: Rows) -> NDArray[np.float64]:
        """Return ‖x‖² of each row, or zeros if b does not depend on it."""
        return np.zeros(count_rows(X))

    def _b_of(self, norms: NDArray[np.float64]) -> float | NDArray[np.float64]:
        """Return b_t of the next rows; each is valid if no row before it is an update."""
        raise self._undefined("_b_of")

    def _take_update(self, norm: float) -> None:
        """Record a row that was an update."""


@dataclass(eq=False, repr=False)
class SelectiveSampling(_ByScore):
    """Ask for a label with probability ``b/(b + |f(x)|)``: less often when the learner is certain.

    Around the `Perceptron` it is the selective-sampling Perceptron, around `PassiveAggressive` PAA (b is its
    δ). If the score is 0 the label is asked for; only rows whose label is asked for reach the learner.

    Parameters
    ----------
    learner : OnlineClassifier
        As for `QueryAll`.
    b : float, default=1.0
        From 1e-150 to 1e150, in the unit of scores: a larger b asks for more labels; as b grows it becomes
        `QueryAll`.
    random_state : int, default=0
        Seed of the draws, one per row, whether it is used or not. In a study it comes from the repetition.
    epochs : int, default=1
        Passes that `fit` makes; those of `learner` do not count.

    Notes
    -----
    The expected number of mistakes of the selective-sampling Perceptron on rows with ``‖x‖ <= R`` is at most
    ``(1 + R²/(2b)) L/γ + ‖u‖² (2b + R²)²/(8bγ²)`` for any u and γ > 0, L being u's hinge loss at margin γ on
    the updates.

    If a score has overflowed to NaN, the label is asked for.

    PAA is the published rule; neither the paper's text nor its code was available.

    See Also
    --------
    QueryAll : Attributes.
    AdaptiveSelectiveSampling : b from the stream.
    BBQ : Decides by the rows alone.

    References
    ----------
    Cesa-Bianchi, Gentile, Zaniboni (2006), "Worst-case analysis of selective sampling for linear
    classification", JMLR 7; Lu, Zhao, Hoi (2016), "Online passive-aggressive active learning", Machine
    Learning 103.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> learner = SelectiveSampling(Perceptron(), b=0.1)
    >>> learner.learn([[1.0], [2.0], [-1.0], [9.0]], [1, 1, 0, 1]).tolist()
    [0.0, 2.0, -1.0, 9.0]
    >>> learner.n_queried_
    1
    """

    learner: OnlineClassifier
    b: Scale = 1.0
    random_state: Seed = 0
    epochs: int = 1

    def _b_of(self, norms: NDArray[np.float64]) -> float:
        return float(self.b)


@dataclass(eq=False, repr=False)
class AdaptiveSelectiveSampling(_ByScore):
    """Selective sampling with b from the stream: ``b_t = β R² √(1 + k)``, with k updates so far.

    R² is the largest ‖x‖² of these updates and of the row itself, so that β has no unit.

    Parameters
    ----------
    learner : OnlineClassifier
        A linear learner of this package, for two classes; it is cloned, never changed. Its parameters are
        ``learner__…`` of the strategy.
    beta : float, default=1.0
        β, from 1e-150 to 1e150: a larger β asks for more labels.
    random_state : int, default=0
        Seed of the draws, one per row, whether it is used or not. In a study it comes from the repetition.
    epochs : int, default=1
        Passes that `fit` makes; those of `learner` do not count.

    See Also
    --------
    QueryAll : Attributes.
    SelectiveSampling : The same with a fixed b.

    References
    ----------
    Cesa-Bianchi, Gentile, Zaniboni (2006), "Worst-case analysis of selective sampling for linear
    classification", JMLR 7, the adaptive version.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> learner = AdaptiveSelectiveSampling(Perceptron(), beta=0.1)
    >>> learner.learn([[1.0], [2.0], [-1.0], [0.1]], [1, 1, 0, 1]).tolist()
    [0.0, 2.0, -1.0, 0.1]
    >>> learner.n_queried_
    2
    """

    learner: OnlineClassifier
    beta: Scale = 1.0
    random_state: Seed = 0
    epochs: int = 1

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.learner, LinearClassifier):
            # Other learners score transformed rows, such as a kernel's features, with other norms.
            raise ValueError(
                f"{type(self).__name__}: learner must be a linear one of this package, got {self.learner!r}"
            )

    def _allocate(self, n_features: int) -> None:
        super()._allocate(n_features)
        self._largest = 0.0

    def _norms(self, X: Rows) -> NDArray[np.float64]:
        norms = np.empty(count_rows(X))
        squared_norms_of_rows(X, norms)
        return norms

    def _b_of(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        largest = np.maximum(norms, self._largest)
        return float(self.beta) * largest * math.sqrt(1.0 + self.learner_.n_updates_)

    def _take_update(self, norm: float) -> None:
        self._largest = max(self._largest, norm)
