"""Compare a cell that counts by class for metrics with the same cell without them."""

from __future__ import annotations

import math
import time

import numpy as np

from ...pipeline.errors import InputError
from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell
from ...pipeline.study.plan import make_plan
from ...pipeline.study.study_file import parse_study
from .timing import Measurement, milliseconds

# Sparse rows with few entries, where a row costs least and counting shows most; and dense rows.
DATASETS: tuple[dict[str, object], ...] = (
    {"name": "a9a"},
    {"name": "arow-synthetic", "n_train": 30_000, "n_test": 0},
)
_ALGORITHMS = ({"name": "AROW"}, {"name": "PassiveAggressive", "label": "PA-I", "variant": "PA-I"})
_METRICS = ("balanced_accuracy", "macro_f1", "f1", "g_mean", "mcc", "kappa", "kappa_m", "kappa_temporal")
_REPEATS = 40
# Aim for each ratio.
_MOST = 1.05


def measure() -> list[Measurement]:
    """Run the benchmark."""
    found: list[Measurement] = []
    for dataset in DATASETS:
        try:
            without, kept = (_cells(dataset, metrics) for metrics in ((), _METRICS))
        except InputError as error:
            found.append(Measurement(str(dataset["name"]), "skipped", str(error), math.nan))
            continue
        found += [_compare(*pair) for pair in zip(without, kept, strict=True)]
    return found


def _cells(dataset: dict[str, object], metrics: tuple[str, ...]) -> list[Cell]:
    study = {
        "name": "bench",
        "seeds": 1,
        "datasets": [dataset],
        "algorithms": list(_ALGORITHMS),
        "metrics": list(metrics),
    }
    return list(make_plan(parse_study(study)).evaluation_cells({}))


def _compare(without: Cell, kept: Cell) -> Measurement:
    """Measure processor time of both cells in turns; the shortest of each counts."""
    row = run_cell(without).row
    # Compile, and fill the cache of shared inputs.
    for cell in (without, kept):
        if (error := run_cell(cell).row["error"]) is not None:
            raise RuntimeError(error)
    times = [[_seconds(cell) for cell in (kept, without)] for _ in range(_REPEATS)]
    own, plain = np.min(times, axis=0)
    return Measurement(
        f"{without.spec.dataset.label}, {without.spec.algorithm} ({row['n_examples']:,} rows)",
        milliseconds(own),
        f"without metrics {milliseconds(plain)}",
        own / plain,
        f"≤ {_MOST:g}",
    )


def _seconds(cell: Cell) -> float:
    began = time.thread_time()
    run_cell(cell)
    return time.thread_time() - began
