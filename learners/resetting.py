"""Restart any online learner when a drift detector finds that its error rate has risen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .estimator.inner_learner import check_inner_learner
from .estimator.online_classifier import OnlineClassifier
from .estimator.rollback import RolledBack
from .numeric.margins import is_mistake
from .numeric.rows import Rows, row_range

# The detector DDM reports nothing in the first 30 rows, then a rise of the error rate by more than 3 standard
# deviations.
_WARM_START, _DEVIATIONS = 30, 3.0


class Detector(Protocol):
    """A drift detector, which gets the outcome of one prediction after the other."""

    def has_risen(self, mistake: bool) -> bool:
        """Record whether the next prediction was a mistake; return whether the error rate has risen."""


class DDM:
    """The drift detection method of Gama, Medas, Castillo & Rodrigues (2004)."""

    def __init__(self) -> None:
        self._n = self._mistakes = 0
        # The error rate and its standard deviation at the row where their sum was smallest.
        self._lowest = (math.inf, 0.0)

    def has_risen(self, mistake: bool) -> bool:
        self._n += 1
        self._mistakes += mistake
        rate = self._mistakes / self._n
        deviation = math.sqrt(rate * (1.0 - rate) / self._n)
        if self._n <= _WARM_START:
            return False
        if rate + deviation <= sum(self._lowest):
            self._lowest = rate, deviation
        return rate + deviation > self._lowest[0] + _DEVIATIONS * self._lowest[1]


class ADWIN:
    """River's implementation of ADWIN (Bifet & Gavaldà 2007); only a change to a higher error rate counts."""

    def __init__(self) -> None:
        self._windows: Any = import_module("river.drift").ADWIN()

    def has_risen(self, mistake: bool) -> bool:
        before = self._windows.estimation
        self._windows.update(float(mistake))
        return bool(self._windows.drift_detected and self._windows.estimation > before)


_DETECTORS: Mapping[str, Callable[[], Detector]] = {"ddm": DDM, "adwin": ADWIN}


@dataclass(eq=False, repr=False)
class Resetting(OnlineClassifier):
    """Restart a learner when a drift detector finds that its mistakes have become more frequent.

    After each row the detector gets the outcome: a mistake or a correct prediction. When it reports a rise, a
    new learner and a new detector begin with the next row.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package; it is cloned, never changed.
    detector : {"ddm", "adwin"}, default="ddm"
        "ddm": after 30 rows, a rise is p + s > p* + 3 s*, with the error rate p, its standard deviation s,
        and their values p*, s* at the smallest p + s. "adwin": River's ADWIN with its δ of 0.002 (package
        river).
    epochs : int, default=1
        Passes that `fit` makes; the parameter ``epochs`` of `learner` is ignored.

    Attributes
    ----------
    learner_ : OnlineClassifier
        The learner that predicts the next row.
    resets_ : list of int
        The rows, counted from 0, before which the learner was restarted.

    Notes
    -----
    Rows are learned one by one, which takes some ten microseconds more for each.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Gama, Medas, Castillo, Rodrigues (2004), "Learning with drift detection", SBIA. Bifet, Gavaldà (2007),
    "Learning from time-changing data with adaptive windowing", SDM.

    Examples
    --------
    >>> from singlepass.learners import Perceptron
    >>> X, y = [[1.0, 0.0], [0.0, 1.0]] * 40, [0, 1] * 40
    >>> Resetting(Perceptron()).fit(X, y).partial_fit(X, [1, 0] * 40).resets_
    [83]
    """

    learner: OnlineClassifier
    detector: Literal["ddm", "adwin"] = "ddm"
    epochs: int = 1

    # True means that rows may come in a form with a row order. The inner learner copies them if its loops
    # cannot read that form.
    _reads_orders = True

    # Saved learners have this version. The key of a cell has that of the inner learner instead.
    algorithm_version = 2

    @property
    def _takes_many_classes(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.learner, "_takes_many_classes", False))

    @property
    def indifferent_to_absent_features(self) -> bool:
        return bool(self.learner.indifferent_to_absent_features)

    @property
    def scores_are_log_odds(self) -> bool:
        """Whether the scores of the learner are log odds."""
        return self.learner.scores_are_log_odds

    def _check_parameters(self) -> None:
        check_inner_learner(self)
        self.learner.check_parameters()
        if self.detector == "adwin":
            try:
                import_module("river.drift")
            except ImportError:
                raise ValueError(
                    "Resetting: detector 'adwin' needs the package river: pip install 'singlepass[river]'"
                ) from None

    def _allocate(self, n_features: int) -> None:
        self._allocate_classes(n_features, 2)

    def _allocate_classes(self, n_features: int, n_classes: int) -> None:
        self.resets_: list[int] = []
        # `_pass_start` is the number of rows learned before the current pass.
        self._round = self._evaluations = self._pass_start = 0

    def begin(self, classes: NDArray[Any], n_features: int, n_occurring: int | None = None) -> None:
        with RolledBack(self):
            super().begin(classes, n_features, n_occurring)
            self._n_occurring = n_occurring
            self._begin_again()

    def _begin_again(self) -> None:
        # Parameters may have changed: if the new learner cannot begin, the previous one stays.
        learner = clone(self.learner)
        learner.begin(self.classes_, self.n_features_in_, self._n_occurring)
        self.learner_: OnlineClassifier = learner
        self._detector: Detector = _DETECTORS[self.detector]()

    def check_rows(self, X: Rows) -> None:
        self.learner_.check_rows(X)

    def _pass(self, X: Rows, codes: NDArray[np.int32], scores: NDArray[np.float64]) -> tuple[int, int]:
        self.check_rows(X)
        mistakes = updates = 0
        for t in range(len(codes)):
            before = self.learner_.n_updates_
            scores[t] = self.learner_.learn_rows(row_range(X, t, t + 1), codes[t : t + 1])[0]
            updates += self.learner_.n_updates_ - before
            mistake = is_mistake(np.atleast_1d(scores[t]), codes[t])
            mistakes += mistake
            self._round += 1
            if self._detector.has_risen(mistake):
                evaluations = self.learner_.counters().get("kernel_evaluations", 0)
                self._begin_again()
                self._evaluations += evaluations
                self.resets_.append(self._round)
                self.learner_.begin_within_pass(self._round - self._pass_start)
        return mistakes, updates

    _pass_classes = _pass

    def _score(self, X: Rows, scores: NDArray[np.float64]) -> None:
        scores[:] = self.learner_.score_rows(X)

    _score_classes = _score

    def end_of_pass(self, last: bool) -> None:
        self.learner_.end_of_pass(last)
        if not last:
            self._pass_start = self._round

    def switches(self) -> list[int]:
        """Return the row numbers, from 0, before which the learner was restarted."""
        return self.resets_

    def counters(self) -> dict[str, int]:
        """Return the inner learner's counts; updates and kernel evaluations include those before restarts."""
        counted = self.learner_.counters() | {"updates": self.n_updates_}
        if "kernel_evaluations" in counted:
            counted["kernel_evaluations"] += self._evaluations
        return counted

    def evaluations_per_score(self) -> int:
        return self.learner_.evaluations_per_score()

    def inner_learners(self) -> list[OnlineClassifier]:
        return [self.learner, *self.learner.inner_learners()]

    @property
    def model_bytes_(self) -> int:
        return self.learner_.model_bytes_

    @property
    def coef_(self) -> NDArray[np.float64]:
        return self.learner_.coef_
