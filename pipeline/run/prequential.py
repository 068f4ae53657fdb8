"""The work of a cell: a stream through a learner, every row predicted before it is learnt; or a batch fit."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import BaselineCounts, References, take_rows
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest
from ..counts import COUNTS
from ..store.cell_result import CellResult
from ..study.cell import Cell
from .delayed import DelayedLearner
from .recorder import Recorder, declared
from .splits import Fold
from .stopwatch import GRACE_SECONDS, Patience, Stopwatch, endless
from .stream_learner import batch_counters, begin, blocks_of, has_log_odds
from .tallies import Tallies
from .warm_up import compile_loops

# With a time limit the clock is read after this many rows: often enough for a learner that takes a
# millisecond a row, seldom beside one of a microsecond.
_LIMITED_ROWS = 64
_FIRST_LOOKS = (1, 2, 4, 8, 16, 32)
_NOWHERE = np.empty(0, np.int64)


def stream_through(
    streamed: StreamLearner,
    part: Fold,
    noisy: NDArray[np.int32],
    cell: Cell,
    classes: NDArray[np.int32],
    accuracy: Callable[[], float] | None = None,
    begins: Patience = endless,
    counted_from: int = 0,
    followed: dict[tuple[int, bytes], BaselineCounts] | None = None,
) -> CellResult:
    """Predict and learn every row once, in order; read the curve at the checkpoints.

    Parameters
    ----------
    streamed : StreamLearner
        A fresh one.
    part : Fold
        The rows to learn from, with their clean codes.
    noisy : ndarray of int32, shape (n,)
        The labels that the learner is given.
    cell : Cell
        Its checkpoints, course and time limit count.
    classes : ndarray of int32, shape (K,)
    accuracy : callable, default=None
        Returns the learner's test accuracy; it is then part of the curve. Its time is not the learner's.
    begins : Patience
        Called when the learner's code is compiled; with a time limit also before each step of a guest.
    counted_from : int, default=0
        How many rows are learnt before counting begins.
    followed : dict, default=None
        See `References`: what cells of the same labels found.

    Returns
    -------
    CellResult
        Counts; status "stopped" and the reason where the learner took longer than the cell's time limit.
    """
    course = cell.spec.course
    watch = Stopwatch(cell.execution.time_limit)
    kept = cell.spec.kept
    tallies = None
    if kept:
        log_odds = has_log_odds(streamed)
        references = References(noisy, part.codes, len(classes), course.delay, followed)
        tallies = Tallies(
            noisy,
            part.codes,
            len(classes),
            kept,
            log_odds,
            references,
            counted_from,
            course.window,
            course.fading,
        )
    recorder = Recorder(noisy, part.codes, cell.spec.checkpoints, course, counted_from, tallies)
    compile_loops(streamed, (cell.spec.learner, cell.spec.params), part, classes)
    begins()
    begin(streamed, classes, part)
    late = DelayedLearner(streamed, course.delay) if course.delay else None
    stopped = _first_pass(streamed, late, part, noisy, watch, recorder, accuracy, begins)
    begins()
    uncounted = _last_labels(streamed, late, watch)
    stopped = stopped or _later_passes(streamed, part, noisy, watch)
    counters = {name: value - uncounted.get(name, 0) for name, value in streamed.counters().items()}
    row: dict[str, Any] = {
        "counted_from": counted_from or None,
        "fit_seconds": watch.seconds - recorder.seconds_before(),
        "status": "stopped" if stopped else "ok",
        "error": stopped or None,
        "switches": streamed.switches(),
    }
    return CellResult(row | recorder.counted(counters), recorder.curve())


def _first_pass(
    learner: StreamLearner,
    late: DelayedLearner | None,
    part: Fold,
    noisy: NDArray[np.int32],
    watch: Stopwatch,
    recorder: Recorder,
    accuracy: Callable[[], float] | None,
    begins: Patience,
) -> str:
    """Predict and learn every row; return why it ended early, if it did."""
    n, limited = len(part.rows), watch.limit is not None
    stops = recorder.stops
    looks = recorder.shown if accuracy or limited else _NOWHERE
    # A call of this package's learners ends; one of somebody else's is not waited for without end.
    longest = watch.limit + GRACE_SECONDS if watch.limit and isinstance(learner, Guest) else None
    for start, stop, rows in blocks_of(learner, part):
        for first, seen in _pieces(start, stop, looks, limited):
            if longest is not None:
                begins(longest)
            noted = stops[bisect.bisect_right(stops, first) : bisect.bisect_right(stops, seen)]
            before = watch.seconds
            with watch:
                passage = (late or learner).learn_along(rows(first, seen), noisy[first:seen], noted - first)
            if longest is not None:
                # What is made of it is not the guest's.
                begins()
            recorder.add(passage, noted - first, before)
            over = watch.over and seen < n
            if over and seen not in recorder.shown:
                recorder.end(learner.counters(), watch.seconds)
            if accuracy and (over or seen in recorder.shown):
                begins()
                recorder.note_accuracy(accuracy())
            if over:
                return f"time limit of {watch.limit:g} s reached after {seen:,} of {n:,} examples"
    return ""


def _last_labels(learner: StreamLearner, late: DelayedLearner | None, watch: Stopwatch) -> dict[str, int]:
    """Let the learner have the last labels; return what that adds: it is not counted."""
    if late is None:
        return {}
    before = learner.counters()
    with watch:
        late.end_of_stream()
    after = learner.counters()
    return {name: after[name] - before.get(name, 0) for name in after if not COUNTS[name].state}


def _later_passes(learner: StreamLearner, part: Fold, noisy: NDArray[np.int32], watch: Stopwatch) -> str:
    """End the first pass and make the others, if asked for; return why they ended early, if they did.

    They only matter to what is measured afterwards: the online mistakes are those of the first pass.
    """
    # What a learner of somebody else's makes of a block may depend on where it is cut.
    limited = watch.limit is not None and not isinstance(learner, Guest)
    for epoch in range(2, learner.epochs + 1):
        with watch:
            learner.end_of_pass(last=False)
        for start, stop, rows in blocks_of(learner, part):
            for first, seen in _pieces(start, stop, _NOWHERE, limited):
                with watch:
                    learner.learn_rows(rows(first, seen), noisy[first:seen])
                if watch.over:
                    return f"time limit of {watch.limit:g} s reached in pass {epoch}"
    with watch:
        learner.end_of_pass(last=True)
    return ""


def _pieces(start: int, stop: int, stops: NDArray[np.int64], limited: bool) -> Iterator[tuple[int, int]]:
    """Cut a block where something is to be done at some rows, and into short pieces to look at the clock."""
    if not (limited or len(stops)):
        return iter([(start, stop)])
    cuts = {stop, *stops[(stops > start) & (stops < stop)].tolist()}
    if limited:
        cuts.update(range(start + _LIMITED_ROWS, stop, _LIMITED_ROWS))
        if not start:
            # The first rows tell whether it is one of seconds a row.
            cuts.update(each for each in _FIRST_LOOKS if each < stop)
    return itertools.pairwise([start, *sorted(cuts)])


def fit_batch(learner: Any, part: Fold, noisy: NDArray[np.int32]) -> CellResult:
    """Fit a batch baseline to the whole part at once: it has no mistakes along the stream and no curve.

    Parameters
    ----------
    learner : estimator
        A fresh one with scikit-learn's ``fit`` and ``predict``.
    part : Fold
    noisy : ndarray of int32, shape (n,)
        The labels that the learner is given.

    Returns
    -------
    CellResult
    """
    X = take_rows(part.X, part.rows)
    watch = Stopwatch()
    with watch:
        # Labels of its own: those of the cell are shared with other cells.
        learner.fit(X, noisy.copy())
    row: dict[str, Any] = {"n_examples": len(part.rows), "fit_seconds": watch.seconds, "status": "ok"}
    return CellResult(row | declared(batch_counters(learner)))
