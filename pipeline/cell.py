"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import itertools
import json
import os
import socket
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners import OnlineClassifier, as_rows, registry, row_range
from . import data
from .cells import Cell
from .noise import flip_labels
from .outcome import Outcome
from .protocol import Part, checkpoints, split
from .randomness import random_state

# Counters that a learner may keep (design: `n_updates_` and so on) and their columns in the store.
COUNTERS = {
    "updates": "n_updates_",
    "support_vectors": "n_support_",
    "kernel_evaluations": "n_kernel_evaluations_",
    "queried": "n_queried_",
}

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


def _test_mistakes(learner: Any, part: Part, codes: NDArray[np.int32]) -> int:
    """Count wrong predictions on `part`, judged by `codes`, block by block."""
    wrong = 0
    for start, stop, X in part.blocks():
        wrong += int(np.count_nonzero(learner.predict(X) != codes[start:stop]))
    return wrong


def _counters(learner: Any) -> dict[str, int | None]:
    found = {column: getattr(learner, name, None) for column, name in COUNTERS.items()}
    return {column: None if value is None else int(value) for column, value in found.items()}


def _open_block(learner: Any, X: Any, classes: NDArray[np.int32]) -> Learn:
    """Return how `learner` learns rows start … stop - 1 of a block: their scores before the updates."""
    if isinstance(learner, OnlineClassifier):
        # The stream was validated when it was opened: once, not once a piece.
        rows = as_rows(X)
        return lambda start, stop, codes: learner.learn_rows(row_range(rows, start, stop), codes)
    return lambda start, stop, codes: learner.learn(X[start:stop], codes, classes=classes)


def _end_of_pass(learner: Any, last: bool) -> float:
    """Tell the learner that the stream has been passed over; return the seconds it took."""
    began = time.perf_counter()
    if isinstance(learner, OnlineClassifier):
        learner.end_of_pass(last)
    return time.perf_counter() - began


def _stream_through(
    learner: Any, part: Part, noisy: NDArray[np.int32], cell: Cell, classes: NDArray[np.int32]
) -> Outcome:
    """Predict and learn every row once, in order; read the curve at the checkpoints."""
    stops = checkpoints(len(part.rows), cell.checkpoints)
    curve: dict[str, list[Any]] = {"t": stops.tolist(), "fit_seconds": []}
    wrong, wrong_clean = (np.empty(len(part.rows), dtype=bool) for _ in range(2))
    seconds = 0.0
    if isinstance(learner, OnlineClassifier):
        learner.begin(classes, part.X.shape[1])
    for start, stop, X in part.blocks():
        inner = stops[(stops > start) & (stops < stop)].tolist()
        scores = []
        began = time.perf_counter()
        learn = _open_block(learner, X, classes)
        for first, last in itertools.pairwise([start, *inner, stop]):
            scores.append(learn(first - start, last - start, noisy[first:last]))
            if last < stop or stop in stops:
                for name, value in _counters(learner).items():
                    curve.setdefault(name, []).append(value)
                curve["fit_seconds"].append(seconds + time.perf_counter() - began)
        seconds += time.perf_counter() - began
        block_scores = np.concatenate(scores)
        wrong[start:stop] = is_mistake(block_scores, noisy[start:stop])
        wrong_clean[start:stop] = is_mistake(block_scores, part.codes[start:stop])
    curve["mistakes"] = np.cumsum(wrong)[stops - 1].tolist()
    curve["mistakes_clean"] = np.cumsum(wrong_clean)[stops - 1].tolist()
    # Further epochs, when asked for, only matter to what is measured afterwards: the online mistakes are
    # those of the first pass.
    passes = getattr(learner, "epochs", 1)
    seconds += _end_of_pass(learner, last=passes == 1)
    for left in reversed(range(passes - 1)):
        for start, stop, X in part.blocks():
            began = time.perf_counter()
            _open_block(learner, X, classes)(0, stop - start, noisy[start:stop])
            seconds += time.perf_counter() - began
        seconds += _end_of_pass(learner, last=left == 0)
    row = {"mistakes": int(wrong.sum()), "mistakes_clean": int(wrong_clean.sum()), "fit_seconds": seconds}
    return Outcome(row | _counters(learner), curve)


def _stream_cell(cell: Cell) -> Outcome:
    _load_plugins(cell.plugins)
    stream = data.open_stream(cell.dataset, root=cell.root_seed, seed=cell.seed)
    learner = registry.available()[cell.learner](**dict(cell.params))
    part, test = split(cell, stream)
    n_classes = len(stream.classes)
    classes = np.arange(n_classes, dtype=np.int32)
    rng = random_state(cell.root_seed, cell.dataset.label, seed=cell.seed, purpose="noise", noise=cell.noise)
    noisy = flip_labels(part.codes, cell.noise, n_classes, rng)
    measured: dict[str, Any] = {}
    held_out = 0
    if cell.stage == "tune" and cell.judge == "validation":
        held_out = max(1, round(len(part.rows) * cell.validation_fraction))
    n = len(part.rows) - held_out
    train = Part(part.X, part.rows[:n], part.codes[:n])
    outcome = _stream_through(learner, train, noisy[:n], cell, classes)
    if held_out:
        # Judged by the labels the learner is given, noise included: never clean labels, never test data.
        rest = Part(part.X, part.rows[n:], part.codes[n:])
        measured["validation_mistakes"] = _test_mistakes(learner, rest, noisy[n:])
        measured["validation_examples"] = held_out
    if test is not None and cell.stage == "run":
        wrong = _test_mistakes(learner, test, test.codes)
        n_test = len(test.codes)
        measured |= {"test_mistakes": wrong, "test_examples": n_test, "test_accuracy": 1 - wrong / n_test}
    outcome.row |= measured | {
        "n_features": int(stream.X.shape[1]),
        "n_examples": n,
        "noise_realised": float(np.mean(noisy[:n] != train.codes)),
    }
    return outcome


@functools.cache
def _load_plugins(paths: tuple[str, ...]) -> None:
    for path in paths:
        registry.load_plugin(Path(path))


@functools.cache
def _limit_blas() -> None:
    """One BLAS thread per worker, for good: cells are the parallel axis."""
    threadpool_limits(limits=1)


def run_cell(cell: Cell) -> Outcome:
    """Run one cell; a failure becomes a row, so that it never stops the others.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    Outcome
        `row` has every column of the cells table; `curve` those of the curves table but the key.
    """
    _limit_blas()
    started = datetime.now(UTC)
    began = time.perf_counter()
    row: dict[str, Any] = describe(cell)
    try:
        outcome = _stream_cell(cell)
        row |= outcome.row | {"status": "ok"}
        curve = outcome.curve
    except Exception as error:
        row |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        row["traceback"] = traceback.format_exc()
        curve = {}
    row["total_seconds"] = time.perf_counter() - began
    row["started"] = started
    row["worker"] = f"{socket.gethostname()}:{os.getpid()}"
    return Outcome(row, curve)


def describe(cell: Cell) -> dict[str, Any]:
    """Return the columns of the cells table that are known before the cell is run."""
    return {
        "key": cell.key,
        "dataset": cell.dataset.label,
        "source": cell.dataset.source,
        "task": cell.dataset.task,
        "algorithm": cell.algorithm,
        "learner": cell.learner,
        "params": json.dumps(dict(cell.params), sort_keys=True),
        "grid": cell.grid,
        "noise": cell.noise,
        "seed": cell.seed,
        "stage": cell.stage,
        "protocol": cell.protocol,
    }
