"""Stream the examples of a cell through its learner: predict each one, then learn it; or fit a batch learner.

Also here: the clock of a cell, compilation before the clock starts, and labels that arrive late.
"""

from __future__ import annotations

import bisect
import contextlib
import hashlib
import itertools
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any, Protocol

import filelock
import numba
import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ...learners import BaselineCounts, OnlineClassifier, Passage, References, row_range, take_rows
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest
from .. import data
from ..code import code_digest
from ..counts import COUNTS
from ..store.schema import CellResult
from ..study.cell import Cell, Params
from .recorder import Recorder, Tallies, declared
from .splits import Fold
from .stream_learner import batch_counters, begin, blocks_of, has_log_odds, is_own, mistakes_on

# Extra time beyond a cell's time limit for one call of another package's learner on a busy machine; after it
# the call is assumed never to return.
GRACE_SECONDS = 10.0


class Stopwatch:
    """Count the seconds within ``with watch:`` blocks; `limit` is the number after which `over` is true.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch:
    ...     before = watch.seconds
    >>> before <= watch.seconds, watch.over
    (True, False)
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._counted = 0.0
        self._began: float | None = None

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        if self._began is not None:
            self._counted += time.perf_counter() - self._began
            self._began = None

    @property
    def seconds(self) -> float:
        """Seconds counted so far."""
        return self._counted + (0.0 if self._began is None else time.perf_counter() - self._began)

    @property
    def over(self) -> bool:
        """Whether more seconds than the limit were counted."""
        return self.limit is not None and self.seconds > self.limit


class Patience(Protocol):
    """A callable that a cell calls when its own time begins, and before each step that may take long."""

    def __call__(self, seconds: float | None = None) -> None:
        """Wait `seconds` for the cell's next call; None allows all that is left of the cell's time."""


def endless(seconds: float | None = None) -> None:
    """Wait without a limit."""


_ROWS, _FEATURES = 12, 8

# Longest compilation of a learner on a busy machine.
_LONGEST_SECONDS = 300.0

_compiled: set[Hashable] = set()
# Held during compilation: a thread that needs the same loops waits before its own clock starts.
_compiling = threading.Lock()


def compile_loops(learner: Any, key: tuple[str, Params], part: Fold, classes: NDArray[np.int32]) -> None:
    """Train a copy of a learner on a few synthetic rows, once per process for each kind of learner and rows.

    `learner` itself is not changed. Learners of other packages are skipped, because their classes may count
    what they are given. `key` holds the learner's name and parameters, `part` rows of the kind to come.
    """
    X = part.X
    sparse = not isinstance(X, np.ndarray)
    kind = (key, X.dtype, X.indices.dtype if sparse else None, len(classes) > 2)
    if kind in _compiled or not is_own(learner):
        return
    name, params = key
    # Parameters that are numbers do not change the compiled code.
    code = name, [each for each in params if isinstance(each[1], str | bool)], str(kind[1:])
    with _compiling, _alone_on_machine(str(code)):
        if kind not in _compiled:
            rows = _made_up(X, sparse)
            for each in (learner, *learner.inner_learners()):
                if is_own(each):
                    _learn(clone(each), rows, classes)
            _compiled.add(kind)


@contextlib.contextmanager
def _alone_on_machine(code: str) -> Iterator[None]:
    """Let one process per machine compile new code, which other processes then load from the cache.

    A mark file in the cache names compiled code; a process that finds it does not wait.
    """
    text = f"{code} {code_digest()} {numba.__version__} {platform.python_version()} {platform.node()}"
    mark = data.cache_folder() / "compiled" / hashlib.sha256(text.encode()).hexdigest()[:32]
    if mark.exists():
        yield
        return
    with contextlib.ExitStack() as held:
        # On a file system without locks every process compiles.
        with contextlib.suppress(OSError, NotImplementedError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(filelock.FileLock(mark.with_suffix(".lock"), timeout=_LONGEST_SECONDS))
        yield
        with contextlib.suppress(OSError):
            mark.touch()


def _made_up(X: Any, sparse: bool) -> Fold:
    # Small values, because some learners require rows of norm at most 1.
    values = (np.arange(_ROWS * _FEATURES) * 7 % 11 / 100).astype(X.dtype).reshape(_ROWS, _FEATURES)
    order, codes = np.arange(_ROWS), np.zeros(_ROWS, np.int32)
    if not sparse:
        return Fold(values, order, codes)
    features = np.tile(np.arange(_FEATURES), _ROWS).astype(X.indices.dtype)
    starts = np.arange(0, values.size + 1, _FEATURES).astype(X.indptr.dtype)
    return Fold(type(X)((values.ravel(), features, starts), shape=values.shape), order, codes)


def _learn(learner: OnlineClassifier, part: Fold, classes: NDArray[np.int32]) -> None:
    # The cell itself reports errors of its learner.
    with contextlib.suppress(ValueError):
        begin(learner, classes, part)
        learner.learn_along(part.in_order, np.arange(_ROWS) % len(classes), np.array([_ROWS // 2, _ROWS]))
        learner.end_of_pass(last=True)
        mistakes_on(learner, part, part.codes)


class DelayedLearner:
    """A learner that gets each label `delay` (D ≥ 1) examples after the row.

    It predicts x_t with what it has learned so far, then learns (x_{t-D}, y_{t-D}). It goes row by row,
    because each learned row may change the next prediction. `learner` has been started by `begin`.
    """

    def __init__(self, learner: StreamLearner, delay: int) -> None:
        self._learner, self._delay = learner, delay
        # A guest's rows were predicted on arrival and need not be predicted again.
        self._teach = learner.teach_rows if isinstance(learner, Guest) else learner.learn_rows
        # Rows whose labels have not arrived, oldest first.
        self._waiting: deque[tuple[Any, NDArray[np.int32]]] = deque()

    def learn_along(self, X: Any, codes: NDArray[np.int32], stops: NDArray[np.int64]) -> Passage:
        """Predict rows and learn those whose labels arrive meanwhile; see `StreamLearner.learn_along`.

        The scores are those of the rows of X, each before the labels that arrive after it.
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
        """Learn the rows whose labels arrive after the end of the stream."""
        while self._waiting:
            self._teach(*self._waiting.popleft())


# With a time limit the clock is read after this many rows: often enough for a learner that takes a
# millisecond per row, rarely enough for one that takes a microsecond.
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
    """Predict and learn every row once, in order; record the curve at the checkpoints.

    `streamed` is a fresh learner, `part` the rows with their clean codes. `noisy` (int32, shape (n,)) are the
    labels that the learner gets. `accuracy` returns the test accuracy for the curve; its time is not counted.
    `begins` is called when the learner's code is compiled, and with a time limit before each step of a guest.
    The first `counted_from` rows are learned but not counted. For `followed` see `References`.

    The outcome has status "stopped" if the learner took longer than the cell's time limit.
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
    """Predict and learn every row; return why the pass ended early, or ""."""
    n, limited = len(part.rows), watch.limit is not None
    stops = recorder.stops
    looks = recorder.shown if accuracy or limited else _NOWHERE
    # Only another package's learner may fail to return from a call.
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
                # The time that recording takes is not the guest's.
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
    """Let the learner have the last delayed labels; return the increase of its counts, to be left out."""
    if late is None:
        return {}
    before = learner.counters()
    with watch:
        late.end_of_stream()
    after = learner.counters()
    return {name: after[name] - before.get(name, 0) for name in after if not COUNTS[name].state}


def _later_passes(learner: StreamLearner, part: Fold, noisy: NDArray[np.int32], watch: Stopwatch) -> str:
    """End the first pass and make the others, if requested; return why they ended early, or "".

    They only affect measures taken afterwards: the online mistakes are those of the first pass.
    """
    # Blocks of another package's learner are not cut, because its result may depend on the cuts.
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
    """Cut a block at the stops, and with `limited` into short pieces between readings of the clock."""
    if not (limited or len(stops)):
        return iter([(start, stop)])
    cuts = {stop, *stops[(stops > start) & (stops < stop)].tolist()}
    if limited:
        cuts.update(range(start + _LIMITED_ROWS, stop, _LIMITED_ROWS))
        if not start:
            # The first rows reveal a learner that takes seconds per row.
            cuts.update(each for each in _FIRST_LOOKS if each < stop)
    return itertools.pairwise([start, *sorted(cuts)])


def fit_batch(learner: Any, part: Fold, noisy: NDArray[np.int32]) -> CellResult:
    """Fit a fresh batch baseline to all rows at once; it has no mistakes along the stream and no curve.

    `noisy` (int32, shape (n,)) are the labels that the learner gets.
    """
    X = take_rows(part.X, part.rows)
    watch = Stopwatch()
    with watch:
        # A copy of the labels, because other cells share them.
        learner.fit(X, noisy.copy())
    row: dict[str, Any] = {"n_examples": len(part.rows), "fit_seconds": watch.seconds, "status": "ok"}
    return CellResult(row | declared(batch_counters(learner)))
