"""Stream a cell's examples through its learner: predict each one, then learn it; or fit a batch learner.

This module also adapts learners of other packages, measures the time of learning, compiles learners before
the time counts, and delays labels.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import hashlib
import itertools
import platform
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import filelock
import numba
import numpy as np
import psutil
from numpy.typing import NDArray
from sklearn.base import clone

from ... import learners
from ...learners import (
    OnlineClassifier,
    Passage,
    References,
    reading_of,
    row_range,
    take_rows,
    wrong_predictions,
)
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest
from ...learners.guests.kinds import as_guest
from .. import data
from ..code import code_digest
from ..counts import COUNTS
from ..errors import InputError
from ..store.schema import CellResult
from ..study.cell import Cell, Params
from .recorder import Recorder, Tallies, declared
from .shared_inputs import SharedInputs
from .splits import BLOCK_ROWS, Codes, Floats, Fold, Rows

# Attributes from which counts such as support vectors are read in learners of other packages, by the column
# of the count.
_ATTRIBUTES = {name: count.attribute for name, count in COUNTS.items() if count.attribute is not None}

# Models of fewer bytes are not compared with the free memory: asking the system takes longer than many cells.
_SMALL_BYTES = 1 << 28


def stream_learner(learner: Any, batch: int = 1) -> StreamLearner:
    """Return an object with the methods of a `StreamLearner`: the learner itself, or an adapter around it.

    A learner of this package is returned unchanged. Any other learner, even one of a class derived from one
    of this package, gets an adapter of `learners.guests`, which predicts `batch` rows before it learns them.
    """
    return learner if is_own(learner) else as_guest(learner, batch, _ATTRIBUTES)


def is_own(learner: Any) -> bool:
    """Return whether a learner's class itself, not just a base class of it, is defined in this package."""
    module = type(learner).__module__
    return isinstance(learner, OnlineClassifier) and module.startswith(f"{learners.__name__}.")


def has_log_odds(learner: Any) -> bool:
    """Return whether a learner's scores are log odds of class 1, or log probabilities if K > 2 classes."""
    return bool(getattr(learner, "scores_are_log_odds", False))


def check_room(learner: StreamLearner, part: Fold, n_classes: int, n_models: int = 1) -> None:
    """Raise InputError if `n_models` models of this learner would not fit into the free memory.

    Learners that cannot tell the size of a model, because they lack `state_bytes`, are not checked.
    """
    state_bytes = getattr(learner, "state_bytes", None)
    if state_bytes is None:
        return
    numbered = part.n_occurring if learner.indifferent_to_absent_features else None
    n_features = part.n_features if numbered is None else numbered
    needed = n_models * state_bytes(n_classes, n_features)
    if needed < _SMALL_BYTES:
        return
    free = psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"the model of {n_features:,} features and {n_classes} classes takes {needed / 1e9:.1f} GB, but "
            f"{free / 1e9:.1f} GB are free: use fewer features (n_features, hash_bits) or a larger machine"
        )


def begin(learner: StreamLearner, classes: Codes, part: Fold) -> None:
    """Tell a learner its classes and features; raise InputError if its model would not fit into memory."""
    check_room(learner, part, len(classes))
    n_occurring = part.n_occurring if learner.indifferent_to_absent_features else None
    learner.begin(classes, part.n_features, n_occurring)


def blocks_of(learner: StreamLearner, part: Fold) -> Iterator[tuple[int, int, Callable[[int, int], Any]]]:
    """Split the rows of a fold (a selection of rows) into blocks; yield (start, stop, rows) for each block.

    The function ``rows(first, last)`` returns rows first … last - 1 of the fold, all within the block, in the
    form that the learner takes: a read-only view for learners of this package, a copy for others.
    """
    if isinstance(learner, Guest):
        for start, stop, X in part.blocks():
            yield start, stop, functools.partial(_rows_of_block, learner.rows_of(X), start)
        return
    renumbered = part.renumbered is not None and learner.indifferent_to_absent_features
    yield from part.views(renumbered=renumbered)


def _rows_of_block(X: Any, start: int, first: int, last: int) -> Any:
    """Return rows first … last - 1 of a fold from its block X, which begins with row `start`."""
    return X[first - start : last - start]


def mistakes_on(learner: Any, part: Fold, codes: Codes) -> int:
    """Return the number of a fold's rows for which a fitted learner does not predict the class in `codes`."""
    wrong = 0
    if is_own(learner):
        for start, stop, rows in blocks_of(learner, part):
            scores = learner.score_rows(rows(start, stop))
            wrong += wrong_predictions(scores, codes[start:stop])
        return wrong
    for start, stop, predicted in predictions(learner, part):
        wrong += int(np.count_nonzero(predicted != codes[start:stop]))
    return wrong


def predictions(learner: Any, part: Fold) -> Iterator[tuple[int, int, NDArray[Any]]]:
    """Predict a fold block by block; yield (start, stop, predicted class codes) of each block.

    The learner is a batch estimator, or another package's learner in its adapter.
    """
    for start, stop, X in part.blocks():
        guest = isinstance(learner, Guest)
        yield start, stop, learner.predict_codes(learner.rows_of(X)) if guest else learner.predict(X)


def batch_counters(learner: Any) -> dict[str, int]:
    """Return a fitted batch estimator's counts, such as its number of support vectors, by column name."""
    counters: dict[str, int] = learner.counters() if hasattr(learner, "counters") else {}
    support = getattr(learner, "support_vectors_", None)
    if support is None:
        return counters
    model_bytes = data.matrix_bytes(support) + data.matrix_bytes(learner.dual_coef_)
    return {"support_vectors": support.shape[0], "model_bytes": model_bytes} | counters


# Another package's learner may exceed the cell's time limit by this much within one piece of rows (see
# `LIMITED_ROWS`), because the machine may be busy. If it takes longer, a call is assumed never to return.
GRACE_SECONDS = 10.0


class Stopwatch:
    """Measure the total seconds spent in ``with watch:`` blocks, and whether they exceed a limit."""

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        # Total seconds of the ``with`` blocks that have ended.
        self.seconds = 0.0

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.perf_counter() - self._began

    @property
    def over(self) -> bool:
        """Whether the seconds so far exceed the limit."""
        return self.limit is not None and self.seconds > self.limit


class Patience(Protocol):
    """A function by which a running cell reports progress to the code that enforces its timeout.

    The cell calls it once its learner is compiled, and then before each step that may take long.
    """

    def __call__(self, seconds: float | None = None) -> None:
        """Set the seconds until the cell must call this function again; None allows all time left."""


def endless(seconds: float | None = None) -> None:
    """Do nothing: the function for cells that run without a timeout, see `Patience`."""


# Shape of the synthetic rows on which learners are trained to compile them. The rows are learned in two
# halves, each long enough to compile also the loop that trains several parameter settings together.
_ROWS, _FEATURES = 64, 8

# Seconds that the compilation of a learner may take on a busy machine.
_LONGEST_SECONDS = 300.0

_compiled: set[Hashable] = set()
# Only one thread compiles at a time. The wait for this lock counts neither as learning time nor towards the
# time limit of a cell, but its `total_seconds` include it.
_compiling = threading.Lock()


def compile_loops(learners: Sequence[Any], key: tuple[str, Params], part: Fold, classes: Codes) -> None:
    """Compile learners by training copies of them on synthetic rows, once per process and type of rows.

    `learners` is one learner, or several with different parameters that are trained together. Learners of
    other packages are skipped, because their classes may count the rows that they get. `key` is the learner's
    name and parameters; the synthetic rows have the same type as the rows of `part`.
    """
    X, first = part.X, learners[0]
    sparse = not isinstance(X, np.ndarray)
    indices = X.indices.dtype if sparse else None
    kind = (key, len(learners) > 1, X.dtype, indices, len(classes) > 2)
    if kind in _compiled or not is_own(first):
        return
    name, params = key
    # Identify the compiled code: parameters that are numbers do not change it, so they are left out.
    code = name, [each for each in params if isinstance(each[1], str | bool)], str(kind[1:])
    with _compiling, _alone_on_machine(str(code)):
        if kind not in _compiled:
            rows = _synthetic_rows(X, sparse)
            for each in (learners, *[[inner] for inner in first.inner_learners()]):
                if is_own(each[0]):
                    _learn_all([clone(one) for one in each], rows, classes)
            _compiled.add(kind)


@contextlib.contextmanager
def _alone_on_machine(code: str) -> Iterator[None]:
    """Compile in the ``with`` block; processes on this machine take turns, so that later ones use the cache.

    `code` identifies the code. Once it was compiled on this machine, processes no longer wait.
    """
    text = f"{code} {code_digest()} {numba.__version__} {platform.python_version()} {platform.node()}"
    mark = data.cache_folder() / "compiled" / hashlib.sha256(text.encode()).hexdigest()[:32]
    if mark.exists():
        # Numba's cache already has the code: no lock is needed.
        yield
        return
    with contextlib.ExitStack() as held:
        # If the file system has no locks, every process compiles for itself.
        with contextlib.suppress(OSError, NotImplementedError):
            mark.parent.mkdir(parents=True, exist_ok=True)
            held.enter_context(filelock.FileLock(mark.with_suffix(".lock"), timeout=_LONGEST_SECONDS))
        yield
        with contextlib.suppress(OSError):
            mark.touch()


def _synthetic_rows(X: Any, sparse: bool) -> Fold:
    # Small values, because some learners require rows of norm at most 1.
    values = (np.arange(_ROWS * _FEATURES) * 7 % 11 / 100).astype(X.dtype).reshape(_ROWS, _FEATURES)
    order, codes = np.arange(_ROWS), np.zeros(_ROWS, np.int32)
    if not sparse:
        return Fold(values, order, codes)
    features = np.tile(np.arange(_FEATURES), _ROWS).astype(X.indices.dtype)
    starts = np.arange(0, values.size + 1, _FEATURES).astype(X.indptr.dtype)
    return Fold(type(X)((values.ravel(), features, starts), shape=values.shape), order, codes)


def _learn_all(learners: list[OnlineClassifier], part: Fold, classes: Codes) -> None:
    # An error on the synthetic rows is ignored: if the learner is faulty, its cell fails and reports that.
    with contextlib.suppress(ValueError):
        for each in learners:
            begin(each, classes, part)
        reading = reading_of(learners, part.in_order)
        codes = (np.arange(_ROWS) % len(classes)).astype(np.int32)
        reading.learn_along(part.in_order, codes, np.array([_ROWS // 2, _ROWS]))
        reading.score_rows(part.in_order)
        reading.write_back()
        for each in learners:
            each.end_of_pass(last=True)
            mistakes_on(each, part, part.codes)


class DelayedLearner:
    """Give a learner each label `delay` (D ≥ 1) examples late: predict x_t, then learn (x_{t-D}, y_{t-D}).

    The learner gets one row at a time, because each learned row may change the next prediction.
    """

    def __init__(self, learner: StreamLearner, delay: int) -> None:
        self._learner, self._delay = learner, delay
        # The method that learns a row. Adapters of other packages' learners normally predict a row before
        # they learn it; `teach_rows` does not, because the row was predicted when it arrived.
        self._teach = learner.teach_rows if isinstance(learner, Guest) else learner.learn_rows
        # Rows whose labels have not arrived, oldest first.
        self._waiting: deque[tuple[Any, Codes]] = deque()
        self._seen = 0

    def learn_along(self, X: Any, codes: Codes, stops: Rows) -> Passage:
        """Predict each row of X, and after each learn the earlier row whose label is due.

        The arguments and the result are those of `StreamLearner.learn_along`.
        """
        began = time.perf_counter()
        scores: list[Floats] = []
        seconds: list[float] = []
        counted: list[Mapping[str, int]] = []
        noted_at = set(stops.tolist())
        for t in range(len(codes)):
            row = row_range(X, t, t + 1)
            scores.append(self._learner.score_rows(row))
            self._waiting.append((row, codes[t : t + 1]))
            if len(self._waiting) > self._delay:
                self._teach(*self._waiting.popleft())
            if t + 1 in noted_at:
                seconds.append(time.perf_counter() - began)
                counted.append(self._learner.counters())
        names = dict.fromkeys(name for counts in counted for name in counts)
        counts = {name: [each.get(name) for each in counted] for name in names}
        self._seen += len(codes)
        return Passage(np.concatenate(scores), seconds, counts)

    def end_of_stream(self) -> None:
        """Learn the last `delay` rows, whose labels arrive only after the stream has ended."""
        while self._waiting:
            self._teach(*self._waiting.popleft())

    def switches(self) -> list[int] | None:
        """Return after how many examples of the stream each switch of the learner came.

        The learner numbers the rows that it has learned. Switches after the end of the stream are left out.
        """
        learned = self._learner.switches()
        return learned and [t + self._delay for t in learned if t + self._delay <= self._seen]


# If a cell has a time limit, the time is checked each time after this many rows: often enough for a learner
# that takes a millisecond per row, rarely enough for one that takes a microsecond. At the start of a stream
# it is also checked after 1, 2, 4, … rows (`_FIRST_LOOKS`).
LIMITED_ROWS = 64
_FIRST_LOOKS = (1, 2, 4, 8, 16, 32)
_NOWHERE = np.empty(0, np.int64)


def stream_through(
    streamed: StreamLearner,
    inputs: SharedInputs,
    cell: Cell,
    accuracy: Callable[[], float] | None = None,
    begins: Patience = endless,
) -> CellResult:
    """Predict and learn the training rows in order, learn them again in later passes; return the results.

    `streamed` is a new learner. `accuracy`, if given, returns its current test accuracy for the learning
    curve; the time that this takes is not counted. `begins` is called once the learner is compiled and, if
    the cell has a time limit, before each piece of rows of another package's learner (see `Patience`).
    """
    spec, part, noisy, counted_from = cell.spec, inputs.train, inputs.noisy, inputs.counted_from
    course, classes = spec.course, np.arange(len(inputs.stream.classes), dtype=np.int32)
    watch = Stopwatch(cell.execution.time_limit)
    compile_loops([streamed], (spec.learner, spec.params), part, classes)
    begins()
    begin(streamed, classes, part)
    tallies = None
    if spec.kept:
        # Asked after `begin`, because adapters may know only then which scores they give.
        scored = not isinstance(streamed, Guest) or streamed.scores_along(course.delay > 0)
        kept = [each for each in spec.kept if scored or each != "scores"]
        references = References(noisy, part.codes, len(classes), course.delay, inputs.followed)
        log_odds = has_log_odds(streamed)
        tallies = Tallies(noisy, part.codes, len(classes), kept, log_odds, references, counted_from, course)
    recorder = Recorder(noisy, part.codes, spec.checkpoints, course, counted_from, tallies)
    late = DelayedLearner(streamed, course.delay) if course.delay else None
    stopped = _first_pass(streamed, late, part, noisy, watch, recorder, accuracy, begins)
    begins()
    uncounted = _last_labels(streamed, late, watch)
    stopped = stopped or _later_passes(streamed, part, noisy, watch)
    counters = {name: value - uncounted.get(name, 0) for name, value in streamed.counters().items()}
    outcome = recorded(recorder, counters, watch.seconds)
    outcome.row |= {
        "status": "stopped" if stopped else "ok",
        "error": stopped or None,
        "switches": (late or streamed).switches(),
    }
    return outcome


def recorded(recorder: Recorder, counters: Mapping[str, int], seconds: float) -> CellResult:
    """Return the results of a cell from what `recorder` noted, the learner's final counts and its seconds."""
    row: dict[str, Any] = {
        "counted_from": recorder.counted_from or None,
        "fit_seconds": seconds - recorder.seconds_before(),
        "status": "ok",
    }
    return CellResult(row | recorder.counted(counters), recorder.curve())


def _first_pass(
    learner: StreamLearner,
    late: DelayedLearner | None,
    part: Fold,
    noisy: Codes,
    watch: Stopwatch,
    recorder: Recorder,
    accuracy: Callable[[], float] | None,
    begins: Patience,
) -> str:
    """Predict and learn every row once; return why the time limit ended this early, or "" if it did not."""
    n, limited = len(part.rows), watch.limit is not None
    stops = recorder.stops
    looks = recorder.shown if accuracy or limited else _NOWHERE
    # Seconds that each piece of rows may take: set for other packages' learners, which may never return.
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
                # The learner's call has returned: remove the limit on its duration.
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
    """Let the learner learn the labels that arrive after the end of the stream.

    Return how much each of its counts grew meanwhile, because results leave this growth out.
    """
    if late is None:
        return {}
    before = learner.counters()
    with watch:
        late.end_of_stream()
    after = learner.counters()
    return {name: after[name] - before.get(name, 0) for name in after if not COUNTS[name].state}


def _later_passes(learner: StreamLearner, part: Fold, noisy: Codes, watch: Stopwatch) -> str:
    """Learn the training rows again for every pass after the first; return why this ended early, or "".

    Online mistakes are those of the first pass: later passes change only what is measured at the end.
    """
    # Check the time within blocks of rows, but not for other packages' learners: their results may depend on
    # how many rows they get in one call.
    limited = watch.limit is not None and not isinstance(learner, Guest)
    passes = learner.epochs - 1
    if watch.limit is None and type(learner).end_of_pass is OnlineClassifier.end_of_pass:
        part, noisy, passes = joined(part, noisy, passes)
    for epoch in range(2, passes + 2):
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


def joined(part: Fold, noisy: Codes, passes: int) -> tuple[Fold, Codes, int]:
    """Return the rows, labels and number of passes to make; few rows are repeated to need a single pass.

    This saves time: after each pass a thread returns from compiled code and waits for the GIL, as long as
    learning some hundred rows takes.
    """
    if passes < 2 or passes * len(part.rows) > BLOCK_ROWS:
        return part, noisy, passes
    return part.repeated(passes), np.tile(noisy, passes), 1


def _pieces(start: int, stop: int, stops: Rows, limited: bool) -> Iterator[tuple[int, int]]:
    """Yield (first, last) for the pieces into which rows start … stop - 1 are cut.

    They are cut at the row numbers `stops` and, if the cell's time is `limited`, where the time is checked.
    """
    if not (limited or len(stops)):
        return iter([(start, stop)])
    cuts = {stop, *stops[(stops > start) & (stops < stop)].tolist()}
    if limited:
        cuts.update(range(start + LIMITED_ROWS, stop, LIMITED_ROWS))
        if not start:
            # Check the time after the first few rows too, for learners that take seconds per row.
            cuts.update(each for each in _FIRST_LOOKS if each < stop)
    return itertools.pairwise([start, *sorted(cuts)])


def fit_batch(learner: Any, inputs: SharedInputs) -> CellResult:
    """Fit a new batch estimator to all training rows at once; the result has no online mistakes or curve."""
    X = take_rows(inputs.train.X, inputs.train.rows)
    watch = Stopwatch()
    with watch:
        # Copy the labels: other cells share them, and the estimator might change them.
        learner.fit(X, inputs.noisy.copy())
    row: dict[str, Any] = {"n_examples": X.shape[0], "fit_seconds": watch.seconds, "status": "ok"}
    return CellResult(row | declared(batch_counters(learner)))
