"""Learn several models of one learner, in one reading of the rows where that is possible and faster."""

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
    """Return what lets up to LANES learners of one class, which have begun, learn rows in passes over X."""
    if can_share(learners):
        return KernelReading(learners)
    return LinearReading(learners) if can_interleave(learners, X, passes) else OneByOne(learners)


def readings_of(learners: Sequence[OnlineClassifier], X: Rows) -> list[OneByOne]:
    """Return readings of up to LANES learners each, which together learn X with all learners."""
    return [reading_of(learners[start : start + LANES], X) for start in range(0, len(learners), LANES)]


def learn_together(
    learners: Sequence[OnlineClassifier], X: Rows, codes: NDArray[np.int32]
) -> list[NDArray[np.float64]]:
    """Let each learner learn the rows; return the scores of each, as from its ``learn_rows``.

    The learners are of one class and have begun. Those whose rows can be read once learn in readings of LANES
    models, all others one by one.
    """
    scores = []
    for reading in readings_of(learners, X):
        scores += reading.learn_rows(X, codes)
        reading.write_back()
    return scores
