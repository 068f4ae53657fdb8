"""The work of a cell: a stream through a learner, every row predicted before it is learnt; or a batch fit."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import OnlineClassifier, as_rows, row_range, take_rows
from ..store.cell_result import CellResult
from ..study.plan import Cell
from .splits import Fold, checkpoints
from .warm_up import compile_loops

# Counters that a learner may keep (design: `n_updates_` and so on) and their columns in the store.
COUNTERS = {
    "updates": "n_updates_",
    "support_vectors": "n_support_",
    "kernel_evaluations": "n_kernel_evaluations_",
    "queried": "n_queried_",
    "complexity": "complexity_",
    "model_bytes": "model_bytes_",
}
# With a time limit the clock is read after this many rows: often enough for a learner that takes a
# millisecond a row, seldom beside one of a microsecond.
_LIMITED_ROWS = 64

# (start, stop, codes) -> scores before the updates
Learn = Callable[[int, int, NDArray[np.int32]], NDArray[np.float64]]


def is_mistake(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return which predictions are mistakes: signed margin <= 0 (or not a number).

    Parameters
    ----------
    scores : ndarray of float64, shape (n,) or (n, K)
        Scores before the update; for two classes positive stands for code 1.
    codes : ndarray of int32, shape (n,)
        The labels to judge by.

    Returns
    -------
    ndarray of bool, shape (n,)
    """
    if scores.ndim == 1:
        margin = np.where(codes == 1, scores, -scores)
    else:
        each = np.arange(len(codes))
        own = scores[each, codes]
        others = scores.copy()
        others[each, codes] = -np.inf
        margin = own - others.max(axis=1)
    # Negated, so that a score that overflowed to NaN counts as the mistake it is.
    return ~(margin > 0)


def _counters(learner: Any) -> dict[str, int | None]:
    found = {column: getattr(learner, name, None) for column, name in COUNTERS.items()}
    return {column: None if value is None else int(value) for column, value in found.items()}


def _takes_rows(learner: Any) -> bool:
    """Tell whether a learner may be given rows that were validated already; not if it has its own `learn`."""
    return isinstance(learner, OnlineClassifier) and type(learner).learn is OnlineClassifier.learn


def _open_block(learner: Any, X: Any, classes: NDArray[np.int32]) -> Learn:
    """Return how `learner` learns rows start … stop - 1 of a block: their scores before the updates."""
    if _takes_rows(learner):
        # The stream was validated when it was opened: once, not once a piece.
        rows = as_rows(X)
        return lambda start, stop, codes: learner.learn_rows(row_range(rows, start, stop), codes)
    return lambda start, stop, codes: learner.learn(X[start:stop], codes, classes=classes)


def _end_of_pass(learner: Any, last: bool) -> float:
    """Tell a learner that the stream has been passed over; return the seconds it took."""
    began = time.perf_counter()
    if isinstance(learner, OnlineClassifier):
        learner.end_of_pass(last)
    return time.perf_counter() - began


def _pieces(start: int, stop: int, stops: NDArray[np.int64], limited: bool) -> Iterator[tuple[int, int]]:
    """Cut a block where the curve is read, and into short pieces where the clock is."""
    cuts = {stop, *stops[(stops > start) & (stops < stop)].tolist()}
    if limited:
        cuts.update(range(start + _LIMITED_ROWS, stop, _LIMITED_ROWS))
    return itertools.pairwise([start, *sorted(cuts)])


def stream_through(
    learner: Any,
    part: Fold,
    noisy: NDArray[np.int32],
    cell: Cell,
    classes: NDArray[np.int32],
    accuracy: Callable[[], float] | None = None,
) -> CellResult:
    """Predict and learn every row once, in order; read the curve at the checkpoints.

    Parameters
    ----------
    learner : estimator
        A fresh one.
    part : Fold
        The rows in their order, with their clean codes.
    noisy : ndarray of int32, shape (n,)
        The labels that the learner is given.
    cell : Cell
        Its checkpoints and time limit count.
    classes : ndarray of int32, shape (K,)
    accuracy : callable, default=None
        Returns the learner's test accuracy; it is then part of the curve. Its time is not the learner's.

    Returns
    -------
    CellResult
        Counts; status "stopped" and the reason where the learner took longer than the cell's time limit.
    """
    n, limit = len(part.rows), np.inf if cell.time_limit is None else cell.time_limit
    stops = checkpoints(n, cell.checkpoints)
    read_at = set(stops.tolist())
    curve: dict[str, list[Any]] = {"t": [], "fit_seconds": []}
    wrong, wrong_clean = (np.empty(n, dtype=bool) for _ in range(2))
    seconds, seen, stopped = 0.0, 0, ""
    if _takes_rows(learner):
        compile_loops(learner, (cell.learner, cell.params), part.X, classes)
        learner.begin(classes, part.X.shape[1])
    for start, stop, X in part.blocks():
        scores = []
        began = time.perf_counter()
        learn = _open_block(learner, X, classes)
        for first, seen in _pieces(start, stop, stops, limit < np.inf):
            scores.append(learn(first - start, seen - start, noisy[first:seen]))
            elapsed = seconds + time.perf_counter() - began
            over = elapsed > limit and seen < n
            if over or seen in read_at:
                for name, value in _counters(learner).items():
                    curve.setdefault(name, []).append(value)
                curve["t"].append(seen)
                curve["fit_seconds"].append(elapsed)
                if accuracy is not None:
                    curve.setdefault("test_accuracy", []).append(accuracy())
                    began = time.perf_counter() - (elapsed - seconds)
            if over:
                stopped = f"time limit of {limit:g} s reached after {seen:,} of {n:,} examples"
                break
        seconds += time.perf_counter() - began
        block_scores = np.concatenate(scores)
        wrong[start:seen] = is_mistake(block_scores, noisy[start:seen])
        wrong_clean[start:seen] = is_mistake(block_scores, part.codes[start:seen])
        if stopped:
            break
    places = np.array(curve["t"], np.int64) - 1
    curve["mistakes"] = np.cumsum(wrong[:seen])[places].tolist()
    curve["mistakes_clean"] = np.cumsum(wrong_clean[:seen])[places].tolist()
    # Further epochs, when asked for, only matter to what is measured afterwards: the online mistakes are
    # those of the first pass.
    passes = getattr(learner, "epochs", 1)
    for epoch in range(2, passes + 1):
        seconds += 0.0 if stopped else _end_of_pass(learner, last=False)
        for start, stop, X in () if stopped else part.blocks():
            began = time.perf_counter()
            _open_block(learner, X, classes)(0, stop - start, noisy[start:stop])
            seconds += time.perf_counter() - began
            if seconds > limit:
                stopped = f"time limit of {limit:g} s reached in pass {epoch}"
                break
    seconds += 0.0 if stopped else _end_of_pass(learner, last=True)
    row: dict[str, Any] = {
        "n_examples": seen,
        "mistakes": int(wrong[:seen].sum()),
        "mistakes_clean": int(wrong_clean[:seen].sum()),
        "fit_seconds": seconds,
        "status": "stopped" if stopped else "ok",
        "error": stopped or None,
    }
    switches = getattr(learner, "switches_", None)
    if switches is not None:
        row["switches"] = [int(t) for t in switches]
    return CellResult(row | _counters(learner), curve)


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
    began = time.perf_counter()
    learner.fit(X, noisy)
    row: dict[str, Any] = {
        "n_examples": len(part.rows),
        "fit_seconds": time.perf_counter() - began,
        "status": "ok",
    }
    evaluations = getattr(learner, "n_kernel_evaluations_", None)
    if evaluations is not None:
        row["kernel_evaluations"] = int(evaluations)
    support = getattr(learner, "support_vectors_", None)
    if support is not None:
        row["support_vectors"] = support.shape[0]
        row["model_bytes"] = _bytes(support) + _bytes(learner.dual_coef_)
    return CellResult(row)


def _bytes(matrix: Any) -> int:
    """Return the bytes of a dense or CSR matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix.nbytes
    return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
