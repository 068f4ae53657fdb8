"""The test of a learner at the end of its stream: what it gets wrong, and what metrics need besides."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import tied_predictions, wrong_predictions
from ...learners.guests.guest import Guest
from ...learners.guests.returned import checked_scores
from ..scoring import AREAS, LOSSES, PRECISIONS, TEST_BY_CLASS, TEST_SCORES
from .splits import Fold
from .stream_learner import blocks_of, has_log_odds, is_own, predictions
from .tallies import Tallies

_NOWHERE = np.empty(0, np.int64)
# There is one kind of labels: the columns of the clean ones.
_BY_CLASS = dict(zip(("predicted", "right_clean", "occurred_clean"), TEST_BY_CLASS, strict=True))
_SCORES = dict(zip((LOSSES[1], LOSSES[3], AREAS[1], PRECISIONS[1]), TEST_SCORES, strict=True))


def examined(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    """Test a learner.

    Parameters
    ----------
    learner : StreamLearner or estimator
        A fitted one; of batch baselines the estimator.
    test : Fold
    n_classes : int
    kept : collection of str
        What metrics need: "classes", "scores", both or neither.

    Returns
    -------
    dict of str to any
        Columns of the cells table.
    """
    n = len(test.codes)
    row = (_own if is_own(learner) else _other)(learner, test, n_classes, kept)
    row["test_occurred"] = class_counts(test, n_classes)
    return row | {"test_examples": n, "test_accuracy": 1 - row["test_mistakes"] / n}


def class_counts(part: Fold, n_classes: int) -> list[int]:
    """Return how often each class occurs in a fold."""
    counts: list[int] = part.class_counts.tolist()
    return counts + [0] * (n_classes - len(counts))


def _own(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    tallies = Tallies(test.codes, test.codes, n_classes, kept, has_log_odds(learner))
    wrong = tied = 0
    for start, stop, rows in blocks_of(learner, test):
        scores, codes = learner.score_rows(rows(start, stop)), test.codes[start:stop]
        wrong += wrong_predictions(scores, codes)
        tied += tied_predictions(scores, codes)
        if kept:
            tallies.add(scores, _NOWHERE)
    return {"test_mistakes": wrong, "test_ties": tied} | _columns(tallies)


def _other(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    """Ask for predictions, which need not be those that scores tell, and for scores where they are needed."""
    guest = isinstance(learner, Guest)
    wanted = "scores" in kept and (learner.gives_scores if guest else hasattr(learner, "decision_function"))
    tallies = Tallies(test.codes, test.codes, n_classes, ["scores"] if wanted else [], has_log_odds(learner))
    predicted = np.empty(len(test.codes), np.int64)
    for start, stop, codes in predictions(learner, test):
        predicted[start:stop] = codes
    for _, _, X in test.blocks() if wanted else ():
        scores = learner.score_rows(learner.rows_of(X)) if guest else _scores(learner, X, n_classes)
        tallies.add(scores, _NOWHERE)
    right = predicted == test.codes
    row: dict[str, Any] = {"test_mistakes": len(right) - int(np.count_nonzero(right))}
    if "classes" in kept:
        row["test_predicted"] = np.bincount(predicted, minlength=n_classes).tolist()
        row["test_right"] = np.bincount(predicted[right], minlength=n_classes).tolist()
    return row | _columns(tallies)


def _scores(learner: Any, X: Any, n_classes: int) -> NDArray[np.float64]:
    return checked_scores(learner.decision_function(X), "decision_function()", X.shape[0], n_classes)


def _columns(tallies: Tallies) -> dict[str, Any]:
    names = _BY_CLASS | _SCORES
    return {names[name]: value for name, value in tallies.totals().items() if name in names}
