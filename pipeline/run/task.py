"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import json
import os
import socket
import time
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ...learners import registry
from .. import data
from ..randomness import random_state
from ..store.cell_result import CellResult
from ..study.learner_factory import make_learner
from ..study.plan import Cell
from .prequential import fit_batch, stream_through
from .splits import Fold, split


def _test_mistakes(learner: Any, part: Fold, codes: NDArray[np.int32]) -> int:
    """Count wrong predictions on `part`, judged by `codes`, block by block."""
    wrong = 0
    for start, stop, X in part.blocks():
        wrong += int(np.count_nonzero(learner.predict(X) != codes[start:stop]))
    return wrong


def _accuracy(learner: Any, test: Fold) -> float:
    return 1 - _test_mistakes(learner, test, test.codes) / len(test.codes)


@dataclass(frozen=True)
class Learnt:
    """A cell's learner at the end of its stream, and what it has learnt from.

    Attributes
    ----------
    learner : estimator
    stream : data.Stream
    train : Fold
        The rows it was given, in their order, with their clean codes.
    noisy : ndarray of int32, shape (n,)
        The labels it was given.
    held_out : tuple of (Fold, ndarray of int32) or None
        The rows that judge a grid, with their noisy labels.
    test : Fold or None
        The clean test part.
    outcome : CellResult
        What was counted along the stream.
    """

    learner: Any
    stream: data.Stream
    train: Fold
    noisy: NDArray[np.int32]
    held_out: tuple[Fold, NDArray[np.int32]] | None
    test: Fold | None
    outcome: CellResult


def learn_cell(cell: Cell) -> Learnt:
    """Make a cell's learner and let it learn the cell's stream.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    Learnt
        The same to the last bit whenever it is asked for.
    """
    _limit_blas()
    _load_plugins(cell.plugins)
    stream = data.open_stream(cell.dataset, root=cell.root_seed, seed=cell.seed)
    learner = make_learner(cell.learner, dict(cell.params))
    part, test = split(cell, stream)
    n_classes = len(stream.classes)
    rng = random_state(cell.root_seed, cell.dataset.label, seed=cell.seed, purpose="noise", noise=cell.noise)
    noisy = cell.noise.corrupt(part.codes, n_classes, rng)
    n = len(part.rows)
    held_out = None
    if cell.stage == "tune" and cell.judge == "validation":
        n -= max(1, round(n * cell.validation_fraction))
        held_out = Fold(part.X, part.rows[n:], part.codes[n:]), noisy[n:]
    train = Fold(part.X, part.rows[:n], part.codes[:n])
    if registry.is_batch(learner):
        outcome = fit_batch(learner, train, noisy[:n])
    else:
        classes = np.arange(n_classes, dtype=np.int32)
        accuracy = None
        if test is not None and cell.test_curve and cell.stage == "run":
            accuracy = functools.partial(_accuracy, learner, test)
        outcome = stream_through(learner, train, noisy[:n], cell, classes, accuracy)
    return Learnt(learner, stream, train, noisy[:n], held_out, test, outcome)


def _stream_cell(cell: Cell) -> CellResult:
    learnt = learn_cell(cell)
    measured: dict[str, Any] = {}
    if learnt.held_out is not None:
        # Judged by the labels the learner is given, noise included: never clean labels, never test data.
        rest, given = learnt.held_out
        measured["validation_mistakes"] = _test_mistakes(learnt.learner, rest, given)
        measured["validation_examples"] = len(given)
    test = learnt.test
    if test is not None and cell.stage == "run":
        wrong = _test_mistakes(learnt.learner, test, test.codes)
        n_test = len(test.codes)
        measured |= {"test_mistakes": wrong, "test_examples": n_test, "test_accuracy": 1 - wrong / n_test}
    learnt.outcome.row |= measured | {
        "n_features": int(learnt.stream.X.shape[1]),
        "noise_realised": float(np.mean(learnt.noisy != learnt.train.codes)),
    }
    return learnt.outcome


@functools.cache
def _load_plugins(paths: tuple[str, ...]) -> None:
    for path in paths:
        registry.load_plugin(Path(path))


@functools.cache
def _limit_blas() -> None:
    """One BLAS thread per worker, for good: cells are the parallel axis."""
    threadpool_limits(limits=1)


def run_cell(cell: Cell) -> CellResult:
    """Run one cell; a failure becomes a row, so that it never stops the others.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    CellResult
        `row` has every column of the cells table; `curve` those of the curves table but the key.
    """
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
    return CellResult(row, curve)


def describe(cell: Cell) -> dict[str, Any]:
    """Return the columns of the cells table that are known before the cell is run."""
    return {
        "key": cell.key,
        "dataset": cell.dataset.label,
        "source": cell.dataset.source,
        "parent": cell.dataset.parent,
        "task": cell.dataset.task,
        "algorithm": cell.algorithm,
        "learner": cell.learner,
        "params": json.dumps(dict(cell.params), sort_keys=True),
        "grid": cell.grid,
        "noise": cell.noise.slug,
        "seed": cell.seed,
        "stage": cell.stage,
        "protocol": cell.protocol,
    }
