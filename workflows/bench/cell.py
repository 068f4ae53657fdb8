"""Compare a whole cell with the bare pass of its learner, to measure everything around learning."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ...learners import take_rows
from ...pipeline.errors import InputError
from ...pipeline.run.shared_inputs import inputs_of
from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell
from ...pipeline.study.learner_factory import resolve_learner
from ...pipeline.study.plan import make_plan
from ...pipeline.study.study_file import parse_study
from .timing import Measurement, milliseconds

# From `arow-binary-small`: few features, many features, and very many features of which few occur.
_TASKS = (
    ("usps", ("3", "4"), "holdout"),
    ("mnist", ("2", "5"), "holdout"),
    ("amazon", ("apparel", "books"), "crossval"),
    ("amazon", ("music", "video"), "crossval"),
)
_ALGORITHMS = ({"name": "AROW"}, {"name": "PassiveAggressive", "label": "PA-I"})
_REPEATS = 60
# Aims for the geometric mean of all ratios, and for each ratio.
_MEAN, _EACH = 2.5, 4.0


def measure() -> list[Measurement]:
    """Run the benchmark."""
    found: list[Measurement] = []
    for name, classes, protocol in _TASKS:
        try:
            found += [_compare(cell) for cell in _cells(name, classes, protocol)]
        except InputError as error:
            found.append(Measurement(f"{name}, {' or '.join(classes)}", "skipped", str(error), math.nan))
    ratios = [each.ratio for each in found if not math.isnan(each.ratio)]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        found.append(Measurement("geometric mean", "", "", mean, f"≤ {_MEAN}"))
    return found


def _cells(name: str, classes: tuple[str, str], protocol: str) -> list[Cell]:
    study = parse_study(
        {
            "name": "bench",
            "seeds": 1,
            "protocol": protocol,
            "max_examples": 1000,
            "folds": 10,
            "datasets": [{"name": name, "task": f"pair:{','.join(classes)}"}],
            "algorithms": list(_ALGORITHMS),
        }
    )
    return list(make_plan(study).evaluation_cells({}))


def _compare(cell: Cell) -> Measurement:
    """Measure processor time of a cell and of its bare pass in turns; the shortest of each counts."""
    row = run_cell(cell).row
    if row["status"] != "ok":
        raise RuntimeError(row["error"])
    bare = _bare_pass(cell)
    works: tuple[Callable[[], float], Callable[[], float]] = (lambda: _whole(cell), bare)
    whole_seconds, bare_seconds = np.min([[work() for work in works] for _ in range(_REPEATS)], axis=0)
    task = f"{cell.spec.dataset.parent}, {' or '.join(inputs_of(cell.spec).stream.classes)}"
    return Measurement(
        f"{task}, {cell.spec.algorithm} ({row['n_examples']:,} rows of {row['n_features']:,})",
        milliseconds(whole_seconds),
        f"bare pass and scoring {milliseconds(bare_seconds)}",
        whole_seconds / bare_seconds,
        f"≤ {_EACH:g}",
    )


def _whole(cell: Cell) -> float:
    began = time.thread_time()
    run_cell(cell)
    return time.thread_time() - began


def _bare_pass(cell: Cell) -> Callable[[], float]:
    """Return a function that times learning and scoring on rows gathered beforehand, after `begin`."""
    given = inputs_of(cell.spec).with_all_features()
    assert given.test is not None
    rows, held_out = (take_rows(fold.X, fold.rows) for fold in (given.train, given.test))
    classes = np.arange(len(given.stream.classes), dtype=np.int32)
    learner: Any = resolve_learner(cell.spec.learner).make(
        dict(cell.spec.params), classes=given.stream.classes
    )

    def bare() -> float:
        learner.begin(classes, given.train.n_features)
        began = time.thread_time()
        learner.learn_rows(rows, given.noisy)
        learner.score_rows(held_out)
        return time.thread_time() - began

    return bare
