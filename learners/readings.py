"""Let several learners of one class learn the same rows, reading the rows once where that is faster."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .estimator.online_classifier import OnlineClassifier
from .estimator.pieces import OneByOne
from .kernel.readings import KernelReading, can_share
from .linear.readings import LinearReading, can_interleave
from .numeric.lanes import LANES
from .numeric.rows import Rows


def reading_of(learners: Sequence[OnlineClassifier], X: Rows, passes: int = 1) -> OneByOne:
    """Return an object that lets up to LANES learners of one class learn X, reading X once if that is faster.

    `passes` is the number of passes over X. The learners must have begun (``begin``).
    """
    if can_share(learners):
        return KernelReading(learners)
    return LinearReading(learners) if can_interleave(learners, X, passes) else OneByOne(learners)


def can_read_once(learners: Sequence[OnlineClassifier], X: Rows, passes: int = 1) -> bool:
    """Return whether learners of one class will read X once in `reading_of`; the first must have begun."""
    return can_share(learners) or can_interleave(learners, X, passes)


def readings_of(learners: Sequence[OnlineClassifier], X: Rows) -> list[OneByOne]:
    """Divide learners into groups of up to LANES, and return the result of `reading_of` for each group."""
    return [reading_of(learners[start : start + LANES], X) for start in range(0, len(learners), LANES)]


def learn_together(
    learners: Sequence[OnlineClassifier], X: Rows, codes: NDArray[np.int32]
) -> list[NDArray[np.float64]]:
    """Let each learner learn the rows; return a list of the scores that each ``learn_rows`` would return.

    The learners are of one class and have begun. If their rows can be read once for several learners, LANES
    learners learn at a time, otherwise one.
    """
    scores: list[NDArray[np.float64]] = []
    for reading in readings_of(learners, X):
        scores.extend(reading.learn_rows(X, codes))
        reading.write_back()
    return scores
