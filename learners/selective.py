"""Selective sampling: strategies that ask for labels at random, less often if the score is certain."""

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
    """Base of strategies that ask for the label of row t with some probability p_t.

    They draw u_t uniformly from [0, 1) and ask if ``u_t < p_t``.
    """

    random_state: Seed

    def _allocate(self, n_features: int) -> None:
        super()._allocate(n_features)
        self._random = np.random.RandomState(int(self.random_state))
        # Numbers of the queried rows. `switches` needs them, because the inner learner numbers only the rows
        # that it learns.
        self._asked: list[int] = []

    def _uniforms(self, n: int) -> NDArray[np.float64]:
        """Return the random numbers u_t of the next n rows; each row draws one, whether it is used or not."""
        return self._random.random_sample(n)

    def _learn_asked(self, X: Rows, codes: NDArray[np.int32], start: int, stop: int) -> NDArray[np.float64]:
        """Let the inner learner learn rows start … stop - 1 of X, which are all queried; return scores."""
        scores = self.learner_.learn_rows(row_range(X, start, stop), codes[start:stop])
        self.n_queried_ += stop - start
        if self.learner_.switches() is not None:
            self._asked.extend(range(self.n_examples_ + start, self.n_examples_ + stop))
        return scores

    def end_of_pass(self, last: bool) -> None:
        # Each pass queries different rows, but `end_of_pass` would tell the inner learner that the same rows
        # follow again. So it is called only after the last pass.
        if last:
            super().end_of_pass(last)

    def switches(self) -> list[int] | None:
        inner = super().switches()
        # After a restart by the last queried row, the next queried row is not known yet: it is a later one.
        rows = [*self._asked, self.n_examples_]
        return None if inner is None else [rows[t] for t in inner]


@dataclass(eq=False, repr=False)
class RandomQueries(_ByChance):
    """Ask for a label with the same probability at every row: the baseline for the other strategies.

    Parameters
    ----------
    learner : OnlineClassifier
        As for `QueryAll`.
    q : float, default=0.5
        The probability, from 0 to 1; with 1 it is, in one pass, `QueryAll`.
    random_state : int, default=0
        Seed of the draws, one per row. A study sets it for each repetition.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    See Also
    --------
    QueryAll : Describes the attributes.
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
        # The ends of runs of successive rows that are either all queried or all not queried.
        turns = [*(np.flatnonzero(np.diff(asked)) + 1).tolist(), len(codes)]
        start = 0
        for stop in turns:
            if start < stop and asked[start]:
                scores[start:stop] = self._learn_asked(X, codes, start, stop)
            elif start < stop:
                scores[start:stop] = self.learner_.score_rows(row_range(X, start, stop))
                self._evaluations += (stop - start) * self.learner_.evaluations_per_score()
            start = stop


class _ByScore(_ByChance):
    """Base of the strategies that ask for the label of row t with probability ``b_t/(b_t + |f(x_t)|)``."""

    def _query(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> None:
        n, uniforms, norms = count_rows(X), self._uniforms(len(codes)), self._norms(X)
        # The model changes only at queries, so all rows up to the next query can be scored in one call. How
        # many that are is not known beforehand: each call scores twice as many rows as the previous one used.
        start, ahead = 0, 1
        while start < n:
            stop = min(n, start + ahead)
            made = self.learner_.score_rows(row_range(X, start, stop))
            distances = np.abs(made)
            with np.errstate(all="ignore"):
                b = self._b_of(norms[start:stop])
                # If the probability is NaN (0/0, or after an overflow), the label is asked for.
                asked = ~(uniforms[start:stop] >= b / (b + distances))
            i = int(asked.argmax())
            last = start + i if asked[i] else stop
            scores[start:last] = made[: last - start]
            self._evaluations += (last - start) * self.learner_.evaluations_per_score()
            if last < stop:
                before = self.learner_.n_updates_
                scores[last : last + 1] = self._learn_asked(X, codes, last, last + 1)
                if self.learner_.n_updates_ > before:
                    self._take_update(float(norms[last]))
            ahead = 2 * (last - start + 1)
            start = last + (last < stop)

    def _norms(self, X: Rows) -> NDArray[np.float64]:
        """Return ‖x‖² of each row, or zeros if b does not depend on the norm."""
        return np.zeros(count_rows(X))

    def _b_of(self, norms: NDArray[np.float64]) -> float | NDArray[np.float64]:
        """Return b_t of the next rows, given their ‖x‖²; the values are invalid after an update."""
        raise self._undefined("_b_of")

    def _take_update(self, norm: float) -> None:
        """Note that a row with this ‖x‖² has updated the model; b_t may depend on such rows."""


@dataclass(eq=False, repr=False)
class SelectiveSampling(_ByScore):
    """Ask for a label with probability ``b/(b + |f(x)|)``: less often when the learner is certain.

    With `Perceptron` as the learner this is the selective-sampling Perceptron, with `PassiveAggressive` it is
    PAA (whose δ is b). If the score is 0, the label is asked for. The learner learns only rows whose label is
    asked for.

    Parameters
    ----------
    learner : OnlineClassifier
        As for `QueryAll`.
    b : float, default=1.0
        From 1e-150 to 1e150, in the unit of scores. A larger b asks for more labels; for b → ∞ the strategy
        is, in one pass, `QueryAll`.
    random_state : int, default=0
        Seed of the draws, one per row, whether it is used or not. A study sets it for each repetition.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Notes
    -----
    The expected number of mistakes of the selective-sampling Perceptron on rows with ``‖x‖ <= R`` is at most
    ``(1 + R²/(2b)) L/γ + ‖u‖² (2b + R²)²/(8bγ²)`` for any u and γ > 0, L being u's hinge loss at margin γ on
    the updates.

    If a score has overflowed to NaN, the label is asked for.

    PAA follows the published update rule; neither the paper's text nor its code was available.

    See Also
    --------
    QueryAll : Describes the attributes.
    AdaptiveSelectiveSampling : b adapts to the stream.
    BBQ : Decides by the rows alone, without scores.

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
    """Selective sampling with b adapted to the stream: ``b_t = β R² √(1 + k)``, with k updates so far.

    R² is the largest ‖x‖² among the rows of these updates and row t, so that β has no unit.

    Parameters
    ----------
    learner : OnlineClassifier
        A linear learner of this package, for two classes; it is cloned, never changed. The strategy's
        ``set_params`` sets its parameters as ``learner__…``.
    beta : float, default=1.0
        β, from 1e-150 to 1e150: a larger β asks for more labels.
    random_state : int, default=0
        Seed of the draws, one per row, whether it is used or not. A study sets it for each repetition.
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    See Also
    --------
    QueryAll : Describes the attributes.
    SelectiveSampling : The same strategy with a fixed b.

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
            # Learners that are not linear score transformed rows, such as a kernel's features, whose norms
            # differ from the rows'.
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
