"""Labels that come late: a row is predicted, then the one before it whose label has come is learnt."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import Passage, row_range
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest


class DelayedLearner:
    """A learner that is given each label some examples after the row.

    It predicts x_t with what it has learnt, then learns (x_{t-D}, y_{t-D}): row by row, since a row that is
    learnt may change the next prediction.

    Parameters
    ----------
    learner : StreamLearner
        After `begin`.
    delay : int
        D, 1 or more.
    """

    def __init__(self, learner: StreamLearner, delay: int) -> None:
        self._learner, self._delay = learner, delay
        # What was predicted when it came need not be predicted again.
        self._teach = learner.teach_rows if isinstance(learner, Guest) else learner.learn_rows
        # Rows whose label has not come, oldest first.
        self._waiting: deque[tuple[Any, NDArray[np.int32]]] = deque()

    def learn_along(self, X: Any, codes: NDArray[np.int32], stops: NDArray[np.int64]) -> Passage:
        """Predict rows and learn those whose labels come meanwhile; see `StreamLearner.learn_along`.

        The scores are those of the rows of X, each with what has been learnt before it comes.
        """
        began = time.perf_counter()
        scores: list[NDArray[np.float64]] = []
        seconds: list[float] = []
        counted: list[Mapping[str, int]] = []
        noted = set(stops.tolist())
        for t in range(len(codes)):
            row = row_range(X, t, t + 1)
            scores.append(self._learner.score_rows(row))
            self._waiting.append((row, codes[t : t + 1]))
            if len(self._waiting) > self._delay:
                self._teach(*self._waiting.popleft())
            if t + 1 in noted:
                seconds.append(time.perf_counter() - began)
                counted.append(self._learner.counters())
        names = dict.fromkeys(name for counts in counted for name in counts)
        counts = {name: [each.get(name) for each in counted] for name in names}
        return Passage(np.concatenate(scores), seconds, counts)

    def end_of_stream(self) -> None:
        """Let it learn the rows whose labels come when the stream has ended."""
        while self._waiting:
            self._teach(*self._waiting.popleft())
