"""One cell: stream one (dataset, algorithm, noise, seed) once through a learner. The task that Dask runs."""

from __future__ import annotations

import functools
import math
import os
import socket
import time
import traceback
import warnings
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from ...learners import registry, take_rows
from ...learners.contract import StreamLearner
from ...learners.guests.returned import GuestError
from .. import data
from ..hindsight import HindsightError, best_in_hindsight
from ..randomness import random_state
from ..scoring import LOSSES, REGRETS
from ..store.cell_result import CellResult
from ..study.cell import Cell, CellSpec, sorted_json
from ..study.learner_factory import ResolvedLearner, resolve_learner
from ..study.specs import Scalar
from .examination import class_counts, examined
from .material import Material, material
from .prequential import fit_batch, stream_through
from .splits import Fold
from .stopwatch import Patience, endless
from .stream_learner import mistakes_on, stream_learner


class RegretWarning(UserWarning):
    """A cell has no regret: the best weights in hindsight were not found, or are not to be had."""


@dataclass(frozen=True)
class Learnt:
    """A cell's learner at the end of its stream, and what it has learnt from.

    Attributes
    ----------
    learner : object
        As it was made.
    streamed : StreamLearner or estimator
        The same as the cell asks it; a batch baseline itself.
    material : Material
        What it was given, and what it is tested on.
    outcome : CellResult
        What was counted along the stream.
    """

    learner: Any
    streamed: Any
    material: Material
    outcome: CellResult


def learn_cell(cell: Cell, *, all_features: bool = True, begins: Patience = endless) -> Learnt:
    """Make a cell's learner and let it learn the cell's stream.

    Parameters
    ----------
    cell : Cell
    all_features : bool, default=True
        Whether the learner must know features by their own numbers, for whoever looks into it or has it
        predict; else those that do not occur may be left out, which changes nothing that is counted.
    begins : Patience
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
    resolved = _resolved(cell)
    state = functools.partial(_state_of, spec)
    learner = resolved.make(dict(spec.params), state, given.stream.classes)
    if registry.is_batch(learner):
        begins()
        return Learnt(learner, learner, given, fit_batch(learner, given.train, given.noisy))
    streamed = stream_learner(learner, resolved.batch_size(dict(spec.params)))
    classes = np.arange(len(given.stream.classes), dtype=np.int32)
    accuracy = None
    if given.test is not None and spec.test_curve and spec.stage == "run":
        accuracy = functools.partial(_accuracy, streamed, given.test)
    outcome = stream_through(
        streamed,
        given.train,
        given.noisy,
        cell,
        classes,
        accuracy,
        begins,
        given.counted_from,
        given.followed,
    )
    return Learnt(learner, streamed, given, outcome)


def _resolved(cell: Cell) -> ResolvedLearner:
    """Return the cell's learner, which must be the one that it was planned with."""
    name, own = cell.spec.learner, _own_learners(cell.execution.plugins)
    resolved = ResolvedLearner(name, own[name]) if name in own else resolve_learner(name)
    if resolved.package and resolved.version != cell.spec.algorithm_version:
        raise GuestError(f"planned with {cell.spec.algorithm_version}, and {resolved.version} is here")
    return resolved


def _state_of(spec: CellSpec) -> int:
    """Return what draws of a guest or of a strategy begin with, alike wherever it is run."""
    drawn = random_state(
        spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="learner", noise=spec.noise
    )
    return int(drawn.randint(2**31 - 1))


def _accuracy(learner: StreamLearner, test: Fold) -> float:
    return 1 - mistakes_on(learner, test, test.codes) / len(test.codes)


def _stream_cell(cell: Cell, begins: Patience) -> CellResult:
    learnt = learn_cell(cell, all_features=False, begins=begins)
    given, row = learnt.material, learnt.outcome.row
    if given.held_out is not None:
        # Judged by the labels the learner is given, noise included, never by clean labels.
        rest, noisy = given.held_out
        row["validation_mistakes"] = mistakes_on(learnt.streamed, rest, noisy)
        row["validation_examples"] = len(noisy)
    n_classes, counted, first = len(given.stream.classes), row["n_examples"], given.counted_from
    # The whole of it has these counts for all cells that share it.
    whole = counted == len(given.train.rows)
    counted_part = given.train if whole else given.train.part(first, first + counted)
    row["occurred_clean"] = class_counts(counted_part, n_classes)
    if given.test is not None and cell.spec.stage == "run":
        row |= examined(learnt.streamed, given.test, n_classes, cell.spec.kept)
    if "regret" in cell.spec.kept and registry.is_weighted(learnt.learner):
        row |= _regrets(learnt.learner, counted_part, given.noisy[first : first + counted], row, cell)
    row["drawn"] = data.is_drawn(cell.spec.dataset)
    if cell.spec.protocol == "holdout":
        row["own_test"] = given.stream.y_test is not None
    row["scaling"] = _scaling(cell.spec)
    row["n_features"] = given.train.n_features
    row["changes"] = list(given.changes) or None
    row["noise_realised"] = given.noise_realised
    row["noise_by_class"] = given.noise_by_class
    return learnt.outcome


def _scaling(spec: CellSpec) -> str | None:
    """Return which rows decide how features are scaled and filled: those "so far", "learnt" or "all"."""
    if spec.features:
        return "so far" if spec.features == "standardised along the stream" else "learnt"
    return "all" if data.feature_fit(spec.dataset) else None


def _regrets(
    learner: Any, part: Fold, noisy: NDArray[np.int32], losses: dict[str, Any], cell: Cell
) -> dict[str, float | None]:
    """Return the regret of a linear learner on the rows that count, by the given and by the clean labels."""
    found: dict[str, float | None] = dict.fromkeys(REGRETS)
    try:
        radius = _length_of_weights(getattr(learner, "learner_", learner))
        X = take_rows(part.X if part.renumbered is None else part.renumbered, part.rows).astype(np.float64)
        best: dict[bytes, float] = {}
        for column, mean, codes in zip(REGRETS, LOSSES[:2], (noisy, part.codes), strict=True):
            total = (losses.get(mean) or 0.0) * len(codes)
            if not math.isfinite(total):
                raise HindsightError("its scores are no numbers")
            key = codes.tobytes()
            if key not in best:
                signs = np.where(codes == 1, 1.0, -1.0).astype(np.float64)
                best[key] = best_in_hindsight(X, signs, radius).loss
            found[column] = total - best[key]
    except Exception as error:  # whatever it is, the cell has its other figures
        why = str(error) if isinstance(error, HindsightError) else f"{type(error).__name__}: {error}"
        spec = cell.spec
        warnings.warn(
            f"algorithm {spec.algorithm!r} on data set {spec.dataset.label!r}: its regret is left out: {why}",
            RegretWarning,
            stacklevel=2,
        )
    return found


def _length_of_weights(learner: Any) -> float:
    """Return the norm of what a linear learner scores rows with."""
    if not learner.scores_are_linear:
        raise HindsightError("it does not score with one vector")
    w = learner.row_coef_
    largest = float(np.abs(w).max(initial=0.0))
    # Squares leave the range of float64 sooner than weights do.
    length = largest * float(np.linalg.norm(w / largest)) if 0.0 < largest < math.inf else largest
    if not math.isfinite(length):
        raise HindsightError("its weights are no numbers")
    return length


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


def run_cell(cell: Cell, begins: Patience = endless) -> CellResult:
    """Run one cell; a failure becomes a row, so that it never stops the others.

    Parameters
    ----------
    cell : Cell
    begins : Patience
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
        row |= failed(cell, error).row
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
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, GuestError):
        said = f"algorithm {cell.spec.algorithm!r}: {error}"
    return CellResult(describe(cell) | {"status": "failed", "error": said})


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
        "order": "given" if spec.course.order == "given" else None,
        "repetitions": cell.execution.repetitions,
        "noise": spec.noise.slug,
        "noise_rate": spec.noise.uniform_rate,
        "seed": spec.seed,
        "stage": spec.stage,
        "protocol": spec.protocol,
    }
