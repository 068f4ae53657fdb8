"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import json
import os
import socket
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners import registry, take_rows
from . import data
from .cells import Cell
from .noise import flip_labels
from .outcome import Outcome
from .randomness import random_state

# Rows are gathered into blocks of about this many bytes, so that a block stays in the core's own cache
# between being gathered and being learnt from.
BLOCK_BYTES = 1 << 18
# Counters that a learner may keep (design: `n_updates_` and so on) and their columns in the store.
COUNTERS = {
    "updates": "n_updates_",
    "support_vectors": "n_support_",
    "kernel_evaluations": "n_kernel_evaluations_",
    "queried": "n_queried_",
}


@dataclass(frozen=True)
class Part:
    """Rows of a matrix in the order they are read, with their clean codes."""

    X: Any
    rows: NDArray[np.int64]
    codes: NDArray[np.int32]

    def block_rows(self) -> int:
        """How many rows make a block of about `BLOCK_BYTES`."""
        if isinstance(self.X, np.ndarray):
            row_bytes: int = self.X.shape[1] * self.X.itemsize
        else:
            # A CSR row stores a value and a column index per non-zero.
            row_bytes = self.X.nnz // max(1, self.X.shape[0]) * (self.X.data.itemsize + 4)
        return max(16, min(BLOCK_BYTES // max(1, row_bytes), 1 << 16))

    def blocks(self, stops: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) ranges that cover the part, never across one of `stops`."""
        size = self.block_rows()
        start = 0
        for stop in (*stops.tolist(), len(self.rows)):
            while start < stop:
                end = min(start + size, stop)
                yield start, end
                start = end


def checkpoints(n: int, spec: str | int) -> NDArray[np.int64]:
    """Return the numbers of examples after which a learning curve is read.

    Parameters
    ----------
    n : int
        Length of the stream.
    spec : "log" or int
        "log": about 12 points a factor of ten, from 10 on; a number: that many equal steps.

    Returns
    -------
    ndarray of int64
        Strictly increasing, the last one `n`.

    Examples
    --------
    >>> checkpoints(1000, 4).tolist()
    [250, 500, 750, 1000]
    """
    if spec == "log":
        first = min(10, n)
        steps = max(2, int(12 * np.log10(n / first)) + 1)
        points = np.round(np.geomspace(first, n, steps))
    else:
        points = np.round(np.linspace(0, n, int(spec) + 1)[1:])
    return np.unique(np.clip(points, 1, n)).astype(np.int64)


def split(cell: Cell, stream: data.Stream) -> tuple[Part, Part | None]:
    """Return the training part in its seeded order and the clean test part, if the protocol has one.

    The part held out to judge a grid is cut from the end of the training part later: it carries noise.
    """
    n = len(stream.y)
    label, seed = cell.dataset.label, cell.seed
    train = np.arange(n)
    test: Part | None = None
    if cell.protocol == "holdout":
        if stream.y_test is not None:
            rows = np.arange(len(stream.y_test)) if stream.rows_test is None else stream.rows_test
            test = Part(stream.X_test, rows[: cell.max_test], stream.y_test[: cell.max_test])
        else:
            shuffled = random_state(cell.root_seed, label, seed=seed, purpose="split").permutation(n)
            n_test = max(1, round(n * cell.test_fraction))
            train, held_out = shuffled[n_test:], shuffled[:n_test][: cell.max_test]
            rows = held_out if stream.rows is None else stream.rows[held_out]
            test = Part(stream.X, rows, stream.y[held_out])
    order = random_state(cell.root_seed, label, seed=seed, purpose="order", noise=cell.noise)
    train = order.permutation(train)[: cell.max_train]
    rows = train if stream.rows is None else stream.rows[train]
    return Part(stream.X, rows, stream.y[train]), test


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
    for start, stop in part.blocks(np.empty(0, dtype=np.int64)):
        predicted = learner.predict(take_rows(part.X, part.rows[start:stop]))
        wrong += int(np.count_nonzero(predicted != codes[start:stop]))
    return wrong


def _counters(learner: Any) -> dict[str, int | None]:
    found = {column: getattr(learner, name, None) for column, name in COUNTERS.items()}
    return {column: None if value is None else int(np.sum(value)) for column, value in found.items()}


def _stream_through(
    learner: Any, part: Part, noisy: NDArray[np.int32], cell: Cell, n_classes: int
) -> Outcome:
    """Predict and learn every row once, in order; read the curve at the checkpoints."""
    stops = checkpoints(len(part.rows), cell.checkpoints)
    at_stop = set(stops.tolist())
    classes = np.arange(n_classes, dtype=np.int32)
    mistakes = mistakes_clean = 0
    seconds = 0.0
    curve: dict[str, list[Any]] = {}
    for start, stop in part.blocks(stops):
        X, y = take_rows(part.X, part.rows[start:stop]), noisy[start:stop]
        began = time.perf_counter()
        scores = learner.learn(X, y, classes=classes)
        seconds += time.perf_counter() - began
        mistakes += int(np.count_nonzero(is_mistake(scores, y)))
        mistakes_clean += int(np.count_nonzero(is_mistake(scores, part.codes[start:stop])))
        if stop in at_stop:
            point = {"t": stop, "mistakes": mistakes, "mistakes_clean": mistakes_clean}
            for name, value in {**point, **_counters(learner), "fit_seconds": seconds}.items():
                curve.setdefault(name, []).append(value)
    # Further epochs, when asked for, only matter to what is measured afterwards: the online mistakes are
    # those of the first pass.
    for _ in range(learner.get_params().get("epochs", 1) - 1):
        for start, stop in part.blocks(stops):
            X = take_rows(part.X, part.rows[start:stop])
            began = time.perf_counter()
            learner.learn(X, noisy[start:stop], classes=classes)
            seconds += time.perf_counter() - began
    row = {"mistakes": mistakes, "mistakes_clean": mistakes_clean, "fit_seconds": seconds}
    return Outcome(row | _counters(learner), curve)


def _stream_cell(cell: Cell) -> Outcome:
    for plugin in cell.plugins:
        registry.load_plugin(Path(plugin))
    stream = data.open_stream(cell.dataset, root=cell.root_seed, seed=cell.seed)
    learner = registry.available()[cell.learner](**dict(cell.params))
    part, test = split(cell, stream)
    n_classes = len(stream.classes)
    rng = random_state(cell.root_seed, cell.dataset.label, seed=cell.seed, purpose="noise", noise=cell.noise)
    noisy = flip_labels(part.codes, cell.noise, n_classes, rng)
    measured: dict[str, Any] = {}
    held_out = 0
    if cell.stage == "tune" and cell.judge == "validation":
        held_out = max(1, round(len(part.rows) * cell.validation_fraction))
    n = len(part.rows) - held_out
    train = Part(part.X, part.rows[:n], part.codes[:n])
    outcome = _stream_through(learner, train, noisy[:n], cell, n_classes)
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
