"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import json
import os
import socket
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ..learners import registry
from . import data
from .algorithm import make_learner
from .cells import Cell
from .noise import flip_labels
from .outcome import Outcome
from .protocol import Part, split
from .randomness import random_state
from .streaming import fit_batch, stream_through


def _test_mistakes(learner: Any, part: Part, codes: NDArray[np.int32]) -> int:
    """Count wrong predictions on `part`, judged by `codes`, block by block."""
    wrong = 0
    for start, stop, X in part.blocks():
        wrong += int(np.count_nonzero(learner.predict(X) != codes[start:stop]))
    return wrong


def _stream_cell(cell: Cell) -> Outcome:
    _load_plugins(cell.plugins)
    stream = data.open_stream(cell.dataset, root=cell.root_seed, seed=cell.seed)
    learner = make_learner(cell.learner, dict(cell.params))
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
    if registry.is_batch(learner):
        outcome = fit_batch(learner, train, noisy[:n])
    else:
        accuracy = None
        if test is not None and cell.test_curve and cell.stage == "run":
            held = test
            accuracy = lambda: 1 - _test_mistakes(learner, held, held.codes) / len(held.codes)  # noqa: E731
        outcome = stream_through(learner, train, noisy[:n], cell, classes, accuracy)
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
        row |= outcome.row
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
