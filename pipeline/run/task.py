"""Run one cell: stream its data through its learner, test the learner, and return the row of results.

A row of data passes the modules of this folder in this order: `splits` chooses it, `shared_inputs` adds noise
and caches it, `prequential` gives it to the learner, `recorder` counts the outcome, and `task` tests the
learner at the end.
"""

from __future__ import annotations

import functools
import math
import os
import socket
import time
import traceback
import warnings
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...learners import registry, take_rows, tied_predictions, wrong_predictions
from ...learners.contract import StreamLearner
from ...learners.guests.guest import Guest
from ...learners.guests.names import names_guest
from ...learners.guests.returned import GuestError, checked_scores
from .. import data
from ..hindsight import HindsightError, best_in_hindsight
from ..randomness import random_state
from ..scoring import REGRETS, TEST_BY_CLASS, TEST_SCORES
from ..store.schema import CellResult
from ..study.cell import Cell, CellSpec, sorted_json
from ..study.learner_factory import ResolvedLearner, resolve_learner
from ..study.specs import Scalar
from .drawn_inputs import drawn_inputs
from .prequential import (
    Patience,
    blocks_of,
    endless,
    fit_batch,
    has_log_odds,
    is_own,
    mistakes_on,
    predictions,
    stream_learner,
    stream_through,
)
from .recorder import Tallies
from .shared_inputs import SharedInputs, inputs_of
from .splits import Codes, Fold

_NOWHERE = np.empty(0, np.int64)
# The test part's column of each measure, by the column of the same measure along the stream (there against
# clean labels, because a test part has clean labels only).
_BY_CLASS = dict(zip(("predicted", "right_clean", "occurred_clean"), TEST_BY_CLASS, strict=True))
_SCORES = {f"{name.removeprefix('test_')}_clean": name for name in TEST_SCORES}


def final_test(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    """Test a trained learner or batch estimator on the test rows; return its results by column name."""
    n = len(test.codes)
    row = (_test_own if is_own(learner) else _test_other)(learner, test, n_classes, kept)
    row["test_occurred"] = class_counts(test, n_classes)
    return row | {"test_examples": n, "test_accuracy": 1 - row["test_mistakes"] / n}


def class_counts(part: Fold, n_classes: int) -> list[int]:
    """Return the number of rows of each of `n_classes` classes in a selection of rows."""
    counts: list[int] = part.class_counts.tolist()
    return counts + [0] * (n_classes - len(counts))


def _test_own(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    tallies = Tallies(test.codes, test.codes, n_classes, kept, has_log_odds(learner))
    wrong = tied = 0
    for start, stop, rows in blocks_of(learner, test):
        scores, codes = learner.score_rows(rows(start, stop)), test.codes[start:stop]
        wrong += wrong_predictions(scores, codes)
        tied += tied_predictions(scores, codes)
        if kept:
            tallies.add(scores, _NOWHERE)
    return {"test_mistakes": wrong, "test_ties": tied} | _columns(tallies)


def _test_other(learner: Any, test: Fold, n_classes: int, kept: Collection[str]) -> dict[str, Any]:
    """Test a learner of another package; count mistakes by predictions, which may disagree with scores."""
    guest = isinstance(learner, Guest)
    wanted = "scores" in kept and (learner.gives_scores if guest else _scores_classes(learner, n_classes))
    tallies = Tallies(test.codes, test.codes, n_classes, ["scores"] if wanted else [], has_log_odds(learner))
    predicted = np.empty(len(test.codes), np.int64)
    for start, stop, codes in predictions(learner, test):
        predicted[start:stop] = codes
    for _, _, X in test.blocks() if wanted else ():
        if guest:
            scores = learner.score_rows(learner.rows_of(X))
        else:
            found = learner.decision_function(X)
            scores = checked_scores(found, "decision_function()", X.shape[0], n_classes)
        tallies.add(scores, _NOWHERE)
    right = predicted == test.codes
    row: dict[str, Any] = {"test_mistakes": len(right) - int(np.count_nonzero(right))}
    if "classes" in kept:
        row["test_predicted"] = np.bincount(predicted, minlength=n_classes).tolist()
        row["test_right"] = np.bincount(predicted[right], minlength=n_classes).tolist()
    return row | _columns(tallies)


def _scores_classes(learner: Any, n_classes: int) -> bool:
    """Return whether a batch learner scores each class: it was fitted to all, and does not score pairs."""
    pairs = n_classes > 2 and getattr(learner, "decision_function_shape", "ovr") == "ovo"
    return len(learner.classes_) == n_classes and not pairs


def _columns(tallies: Tallies) -> dict[str, Any]:
    names = _BY_CLASS | _SCORES
    return {names[name]: value for name, value in tallies.totals().items() if name in names}


class RegretWarning(UserWarning):
    """Warn that a cell has no regret: the best weights in hindsight were not found, or do not exist."""


@dataclass(frozen=True)
class TrainedCell:
    """A cell's trained learner, with the rows and labels it was given and the results along the stream."""

    learner: Any
    # For a learner of another package, the adapter through which it is called; otherwise `learner` itself.
    streamed: Any
    resolved: ResolvedLearner
    inputs: SharedInputs
    outcome: CellResult


def learn_cell(cell: Cell, *, all_features: bool = True, begins: Patience = endless) -> TrainedCell:
    """Create a cell's learner and train it on the cell's stream; the result is bitwise reproducible.

    With `all_features` the model has a weight for every feature of the data, so that the caller can inspect
    it or predict with it. Otherwise features that do not occur may be left out, which changes no count.
    `begins` is called when the data are loaded and the learner is compiled: the timeout counts from then on.
    """
    limit_blas()
    spec = cell.spec
    resolved = learner_of(cell)
    inputs = None
    if not all_features and resolved.built_in and not registry.is_batch(resolved.factory):
        inputs = drawn_inputs(spec)
    inputs = inputs or inputs_of(spec)
    if all_features:
        inputs = inputs.with_all_features()
    learner = resolved.make(dict(spec.params), functools.partial(draw_seed, spec), inputs.stream.classes)
    if registry.is_batch(learner):
        begins()
        return TrainedCell(learner, learner, resolved, inputs, fit_batch(learner, inputs))
    streamed = stream_learner(learner, resolved.batch_size(dict(spec.params)))
    accuracy = None
    if inputs.test is not None and spec.test_curve and spec.stage == "run":
        accuracy = functools.partial(_accuracy, streamed, inputs.test)
    outcome = stream_through(streamed, inputs, cell, accuracy, begins)
    return TrainedCell(learner, streamed, resolved, inputs, outcome)


def learner_of(cell: Cell) -> ResolvedLearner:
    """Find the learner that a cell names; raise GuestError if its version here is not the planned one."""
    resolved = _plugin_learner(cell) or resolve_learner(cell.spec.learner)
    _check_version(cell, resolved)
    return resolved


def _plugin_learner(cell: Cell) -> ResolvedLearner | None:
    """Return the learner of a plug-in that a cell names, or None if it names another learner.

    The process that planned the cell has the learner already. Its file may have been edited since, so the
    file is read only if the learner is not here, as on a worker, or here in another version.
    """
    name = cell.spec.learner
    if not cell.execution.plugins or names_guest(name) or registry.built_in(name) is not None:
        return None
    if name in registry.available():
        here = resolve_learner(name)
        if here.version == cell.spec.algorithm_version:
            return here
    try:
        parts = [_learners_in(path, _state(path)) for path in cell.execution.plugins]
    except (OSError, ValueError) as error:
        raise GuestError(f"{error}: correct this, and run the study again with --retry-failed") from error
    own = {name: learner for part in parts for name, learner in part.items()}
    return ResolvedLearner(name, own[name]) if name in own else None


def _check_version(cell: Cell, resolved: ResolvedLearner) -> None:
    if resolved.problem:
        raise GuestError(resolved.problem)
    if not resolved.built_in and resolved.version != cell.spec.algorithm_version:
        files = "" if resolved.package else ", ".join(Path(file).name for file in cell.execution.plugins)
        edited = f"if you edited {files} during the run, run it again; otherwise " if files else ""
        raise GuestError(
            f"planned with {cell.spec.algorithm_version}, but {resolved.version} is here: {edited}"
            "give all workers the same versions and code, restart them, and run the study again with "
            "--retry-failed"
        )


def _check_imports(cell: Cell, resolved: ResolvedLearner) -> None:
    """Raise an error if the learner, while it ran, imported code that was edited after planning."""
    if resolved.package:
        _check_version(cell, resolve_learner(resolved.name))
    elif not resolved.built_in and isinstance(resolved.factory, type):
        registry.check_imports(resolved.factory)


def draw_seed(spec: CellSpec) -> int:
    """Return the seed for random draws of another package's learner or of an active-learning strategy."""
    drawn = random_state(
        spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="learner", noise=spec.noise
    )
    return int(drawn.randint(2**31 - 1))


def _accuracy(learner: StreamLearner, test: Fold) -> float:
    return 1 - mistakes_on(learner, test, test.codes) / len(test.codes)


def _stream_cell(cell: Cell, begins: Patience) -> CellResult:
    trained = learn_cell(cell, all_features=False, begins=begins)
    inputs, row = trained.inputs, trained.outcome.row
    if inputs.held_out is not None:
        # Validation mistakes are counted against noisy labels, because tuning must not use clean labels.
        rest, noisy = inputs.held_out
        row |= validation(mistakes_on(trained.streamed, rest, noisy), len(noisy))
    n_classes, counted, first = len(inputs.stream.classes), row["n_examples"], inputs.counted_from
    if inputs.test is not None and cell.spec.tested:
        row |= final_test(trained.streamed, inputs.test, n_classes, cell.spec.kept)
    if "regret" in cell.spec.kept and registry.is_weighted(trained.learner):
        given = inputs.noisy[first : first + counted]
        row |= _regrets(trained.learner, _counted_part(inputs, counted), given, row, cell)
    row |= about_inputs(cell.spec, inputs, counted)
    _check_imports(cell, trained.resolved)
    return trained.outcome


def validation(mistakes: int, n: int) -> dict[str, int]:
    """Return the result columns with a tuning cell's mistakes on its n validation rows."""
    return {"validation_mistakes": mistakes, "validation_examples": n}


def about_inputs(spec: CellSpec, inputs: SharedInputs, counted: int) -> dict[str, Any]:
    """Return the result columns that describe a cell's data; results are for `counted` of its rows."""
    row: dict[str, Any] = {
        "occurred_clean": class_counts(_counted_part(inputs, counted), len(inputs.stream.classes)),
        "drawn": data.is_drawn(spec.dataset),
        "scaling": _scaling(spec),
        "n_features": inputs.train.n_features,
        "changes": list(inputs.changes) or None,
        "noise_realised": inputs.noise_realised,
        "noise_by_class": inputs.noise_by_class,
    }
    if spec.protocol == "holdout":
        row["own_test"] = inputs.stream.y_test is not None
    return row


def _counted_part(inputs: SharedInputs, counted: int) -> Fold:
    # If all training rows are counted, return the shared object: it caches its class counts for all cells.
    first = inputs.counted_from
    whole = counted == len(inputs.train.rows)
    return inputs.train if whole else inputs.train.part(first, first + counted)


def _scaling(spec: CellSpec) -> str | None:
    """Return for column ``scaling`` on which rows features are standardized; None if they are unchanged.

    "so far": the rows up to each row; "learnt": the training rows of the cell; "all": those of the data set.
    "gaps by …" says on which rows features are filled, if they are not standardized.
    """
    if spec.features == "standardised along the stream":
        return "so far"
    if not data.feature_fit(spec.dataset):
        return None
    rows = "learnt" if spec.features else "all"
    return rows if data.is_standardized(spec.dataset) else f"gaps by {rows}"


def _regrets(
    learner: Any, part: Fold, noisy: Codes, losses: dict[str, Any], cell: Cell
) -> dict[str, float | None]:
    """Return a linear learner's regret on the rows of `part`, against their given (`noisy`) and clean labels.

    `losses` has the learner's mean losses. A regret that cannot be computed is None, and a warning says why.
    """
    found: dict[str, float | None] = dict.fromkeys(REGRETS)
    try:
        radius = _length_of_weights(getattr(learner, "learner_", learner))
        X = take_rows(part.X if part.renumbered is None else part.renumbered, part.rows).astype(np.float64)
        best: dict[bytes, float] = {}
        means = "hinge_loss_given", "hinge_loss_clean"
        for column, mean, codes in zip(REGRETS, means, (noisy, part.codes), strict=True):
            total = (losses.get(mean) or 0.0) * len(codes)
            if not math.isfinite(total):
                raise HindsightError("the learner's loss is NaN or infinite")
            key = codes.tobytes()
            if key not in best:
                signs = np.where(codes == 1, 1.0, -1.0).astype(np.float64)
                best[key] = best_in_hindsight(X, signs, radius).loss
            found[column] = total - best[key]
    except Exception as error:  # After any error the cell keeps its other results.
        why = str(error) if isinstance(error, HindsightError) else f"{type(error).__name__}: {error}"
        spec = cell.spec
        warnings.warn(
            f"algorithm {spec.algorithm!r} on data set {spec.dataset.label!r}: its regret is left out: {why}",
            RegretWarning,
            stacklevel=2,
        )
    return found


def _length_of_weights(learner: Any) -> float:
    """Return the norm of a linear learner's weights; raise HindsightError if it is infinite or undefined.

    The norm is undefined if the learner does not score all rows with one weight vector.
    """
    if not learner.scores_are_linear:
        raise HindsightError("the learner does not score with one weight vector")
    w = learner.row_coef_
    largest = float(np.abs(w).max(initial=0.0))
    # Divide by the largest weight first: the square of a large weight would overflow float64.
    length = largest * float(np.linalg.norm(w / largest)) if 0.0 < largest < math.inf else largest
    if not math.isfinite(length):
        raise HindsightError("the learner's weights are NaN or infinite")
    return length


@functools.lru_cache(maxsize=64)
def _learners_in(path: str, state: tuple[int, ...]) -> dict[str, type]:
    """Return the learners that a plug-in file defines, by name; `state` changes when the file is edited."""
    return registry.learners_in(path)


def _state(path: str) -> tuple[int, ...]:
    """Return numbers that change when a file is edited: inode, size and time of the last change."""
    status = os.stat(path)
    return status.st_ino, status.st_size, status.st_mtime_ns


@functools.cache
def limit_blas() -> None:
    """Limit BLAS to one thread in this process, because cells already run in parallel."""
    threadpool_limits(limits=1)


def run_cell(cell: Cell, begins: Patience = endless) -> CellResult:
    """Run one cell; if it raises an error, return results of status "failed", so that other cells go on."""
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
    row |= stamp(started, time.perf_counter() - began)
    return CellResult(row, curve)


def stamp(started: datetime, seconds: float) -> dict[str, Any]:
    """Return the result columns that say when and where a cell ran, and for how long."""
    return {
        "total_seconds": seconds,
        "started": started,
        "worker": f"{socket.gethostname()}:{os.getpid()}",
    }


def failed(cell: Cell, error: BaseException) -> CellResult:
    """Return the results to store for a cell that raised an error: status "failed" and a message."""
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, GuestError):
        said = f"algorithm {cell.spec.algorithm!r}: {error}"
    if place := _place_in(cell.execution.plugins, error):
        said += f" ({place})"
    return CellResult(describe(cell) | {"status": "failed", "error": said})


def _place_in(plugins: tuple[str, ...], error: BaseException) -> str:
    """Return the innermost file and line in an error's traceback that belong to a plug-in, or ""."""
    files = {str(Path(plugin).resolve()) for plugin in plugins}
    place = ""
    each: BaseException | None = error
    while each is not None:
        for frame in traceback.extract_tb(each.__traceback__):
            if frame.filename in files:
                place = f"{Path(frame.filename).name}, line {frame.lineno}"
        each = each.__cause__
    return place


def crashed(cell: Cell, reason: str) -> CellResult:
    """Return the results to store for a cell that crashed its process or reached its timeout."""
    return CellResult(describe(cell) | {"status": "crashed", "error": reason})


# Cached, because many cells have the same parameters. With `typed`, because 1, 1.0 and True are equal in
# Python but have different JSON texts.
@functools.lru_cache(maxsize=1024, typed=True)
def _as_json(*params: str | Scalar) -> str:
    """Return a JSON object as text; the arguments are its names and values, alternating."""
    return sorted_json(dict(zip(params[::2], params[1::2], strict=True)))


def describe(cell: Cell) -> dict[str, Any]:
    """Return the result columns that are known before a cell runs: what it computes."""
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
        "order": None if spec.course.order == "shuffled" else spec.course.order,
        "repetitions": cell.execution.repetitions,
        "noise": spec.noise.slug,
        "noise_rate": spec.noise.uniform_rate,
        "seed": spec.seed,
        "stage": spec.stage,
        "protocol": spec.protocol,
    }
