"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import os
import socket
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...learners import registry
from ..store.cell_result import CellResult
from ..study.cell import Cell, sorted_json
from ..study.learner_factory import make_learner
from ..study.specs import Scalar
from .material import Material, material
from .prequential import fit_batch, stream_through
from .splits import Fold
from .stream_learner import mistakes_on


@dataclass(frozen=True)
class Learnt:
    """A cell's learner at the end of its stream, and what it has learnt from.

    Attributes
    ----------
    learner : estimator
    material : Material
        What it was given, and what it is tested on.
    outcome : CellResult
        What was counted along the stream.
    """

    learner: Any
    material: Material
    outcome: CellResult


def learn_cell(cell: Cell, *, all_features: bool = True, begins: Callable[[], None] = lambda: None) -> Learnt:
    """Make a cell's learner and let it learn the cell's stream.

    Parameters
    ----------
    cell : Cell
    all_features : bool, default=True
        Whether the learner must know features by their own numbers, for whoever looks into it or has it
        predict; else those that do not occur may be left out, which changes nothing that is counted.
    begins : callable
        Called when data are there and code is compiled: what comes is the cell's own time.

    Returns
    -------
    Learnt
        The same to the last bit whenever it is asked for.
    """
    _limit_blas()
    spec = cell.spec
    given = material(spec)
    if all_features:
        given = given.with_all_features()
    learner = make_learner(spec.learner, dict(spec.params), _own_learners(cell.execution.plugins))
    if registry.is_batch(learner):
        begins()
        return Learnt(learner, given, fit_batch(learner, given.train, given.noisy))
    classes = np.arange(len(given.stream.classes), dtype=np.int32)
    accuracy = None
    if given.test is not None and spec.test_curve and spec.stage == "run":
        accuracy = functools.partial(_accuracy, learner, given.test)
    return Learnt(
        learner, given, stream_through(learner, given.train, given.noisy, cell, classes, accuracy, begins)
    )


def _accuracy(learner: Any, test: Fold) -> float:
    return 1 - mistakes_on(learner, test, test.codes) / len(test.codes)


def _stream_cell(cell: Cell, begins: Callable[[], None]) -> CellResult:
    learnt = learn_cell(cell, all_features=False, begins=begins)
    given, row = learnt.material, learnt.outcome.row
    if given.held_out is not None:
        # Judged by the labels the learner is given, noise included: never clean labels, never test data.
        rest, noisy = given.held_out
        row["validation_mistakes"] = mistakes_on(learnt.learner, rest, noisy)
        row["validation_examples"] = len(noisy)
    test = given.test
    if test is not None and cell.spec.stage == "run":
        n_test = len(test.codes)
        row["test_mistakes"] = mistakes_on(learnt.learner, test, test.codes)
        row["test_examples"] = n_test
        row["test_accuracy"] = 1 - row["test_mistakes"] / n_test
    row["n_features"] = given.train.n_features
    row["noise_realised"] = given.noise_realised
    row["noise_by_class"] = given.noise_by_class
    return learnt.outcome


def _own_learners(paths: tuple[str, ...]) -> dict[str, type]:
    """Return the learners of plug-in files: those of this cell, whatever else this process has loaded."""
    return {name: learner for path in paths for name, learner in _learners_in(path, _state(path)).items()}


@functools.lru_cache(maxsize=64)
def _learners_in(path: str, state: tuple[int, ...]) -> dict[str, type]:
    return registry.learners_in(path)


def _state(path: str) -> tuple[int, ...]:
    """Return what changes when a file is edited."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


@functools.cache
def _limit_blas() -> None:
    """One BLAS thread per worker, for good: cells are the parallel axis."""
    threadpool_limits(limits=1)


def run_cell(cell: Cell, begins: Callable[[], None] = lambda: None) -> CellResult:
    """Run one cell; a failure becomes a row, so that it never stops the others.

    Parameters
    ----------
    cell : Cell
    begins : callable
        See `learn_cell`.

    Returns
    -------
    CellResult
        `row` has every column of the cells table; `curve` those of the curves table but the key.
    """
    started = datetime.now(UTC)
    began = time.perf_counter()
    row: dict[str, Any] = describe(cell)
    try:
        outcome = _stream_cell(cell, begins)
        row |= outcome.row
        curve = outcome.curve
    except Exception as error:
        row |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
        row["traceback"] = traceback.format_exc()
        curve = {}
    row["total_seconds"] = time.perf_counter() - began
    row["started"] = started
    row["worker"] = f"{_host()}:{os.getpid()}"
    return CellResult(row, curve)


@functools.cache
def _host() -> str:
    return socket.gethostname()


def failed(cell: Cell, error: BaseException) -> CellResult:
    """Return the outcome of a cell that ended without one of its own."""
    return CellResult(describe(cell) | {"status": "failed", "error": f"{type(error).__name__}: {error}"})


def crashed(cell: Cell, reason: str) -> CellResult:
    """Return the outcome of a cell that takes its process along, or never ends."""
    return CellResult(describe(cell) | {"status": "crashed", "error": reason})


# Few cells have parameters of their own. Typed: 1 and 1.0 and True are one key, and three texts.
@functools.lru_cache(maxsize=1024, typed=True)
def _as_json(*params: str | Scalar) -> str:
    """Return names and values, one after the other, as JSON."""
    return sorted_json(dict(zip(params[::2], params[1::2], strict=True)))


def describe(cell: Cell) -> dict[str, Any]:
    """Return the columns of the cells table that are known before the cell is run."""
    spec = cell.spec
    return {
        "key": cell.key,
        "dataset": spec.dataset.label,
        "parent": spec.dataset.parent,
        "source": spec.dataset.source,
        "task": spec.dataset.task,
        "algorithm": spec.algorithm,
        "learner": spec.learner,
        "params": _as_json(*[part for param in spec.params for part in param]),
        "grid": cell.execution.grid,
        "noise": spec.noise.slug,
        "seed": spec.seed,
        "stage": spec.stage,
        "protocol": spec.protocol,
    }
