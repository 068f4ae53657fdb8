"""Measure what the pipeline adds to learning: the cost of a cell, and the gain of a second thread."""

from __future__ import annotations

import math
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...pipeline.study.study import Study
from ...pipeline.study.study_file import parse_study
from ..running.progress import RunProgress
from ..running.run import run_study
from ..running.workers import WorkerOptions
from .timing import Measurement, milliseconds

# benchopt's cost of one (data set, solver, repetition), measured on a machine like the project's.
BENCHOPT_MS = 16
EMPTY_CELLS = 4000


# Cells of a long run, and the number after which its memory is first measured.
MANY_CELLS, WARM_CELLS = 100_000, 20_000


class _Weighing(RunProgress):
    """Record the memory of this process after `WARM_CELLS` cells and at every advance after that."""

    def __init__(self) -> None:
        self.cells, self.megabytes = 0, [math.nan]

    def advance(self, cells: int) -> None:
        """Record the memory."""
        self.cells += cells
        if self.cells >= WARM_CELLS:
            self.megabytes.append(own_megabytes())


def own_megabytes() -> float:
    """Return this process's anonymous memory (not file-backed) in MB; NaN if the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return math.nan
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1e3


def _seconds(study: Study, threads: int, progress: RunProgress | None = None) -> float:
    """Run a study into an empty folder; return the wall time."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = run_study(
            study, folder, progress=progress or RunProgress(), options=WorkerOptions(threads=threads)
        )
        seconds = time.perf_counter() - began
        if summary.failed or summary.reused:
            raise RuntimeError(f"{summary.failed} cells failed, {summary.reused} were there before")
    return seconds


def _study(datasets: list[dict[str, Any]], algorithms: list[dict[str, Any]], seeds: int) -> Study:
    return parse_study({"name": "bench", "seeds": seeds, "datasets": datasets, "algorithms": algorithms})


def empty_study(seeds: int) -> Study:
    """Return a study with cells of two examples, so that almost all time is overhead."""
    study = _study([{"name": "breast-cancer"}], [{"name": "Perceptron"}], seeds)
    return study.model_copy(update={"max_train": 2})


def equal_study(folder: Path, cells: int, rows: int = 16_000) -> Study:
    """Return a study of equal cells, so that differences in time are due to the pipeline.

    Its data is written to `folder`. Each of a cell's `rows` takes about a microsecond.
    """
    path = folder / "equal.parquet"
    rng = np.random.RandomState(0)
    X = rng.standard_normal((rows, 100)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
    frame["y"] = (X[:, 0] + X[:, 1] * rng.standard_normal(len(X)) > 0).astype(np.int64)
    frame.to_parquet(path)
    full = [{"name": "AROW", "covariance": "full"}]
    return _study([{"path": str(path), "target": "y"}], full, cells)


def measure() -> list[Measurement]:
    """Run the benchmark."""
    started = min(_seconds(empty_study(1), 2) for _ in range(3))
    whole = min(_seconds(empty_study(EMPTY_CELLS), 2) for _ in range(3))
    per_cell = (whole - started) / (EMPTY_CELLS - 1)
    measurements = [
        Measurement(
            f"an empty cell ({EMPTY_CELLS:,} of them, 2 threads)",
            milliseconds(per_cell),
            f"benchopt about {BENCHOPT_MS} ms",
            BENCHOPT_MS / (per_cell * 1e3),
            "≥ 32 (0.5 ms)",
        )
    ]
    weighing = _Weighing()
    seconds = _seconds(empty_study(MANY_CELLS), 2, weighing)
    first, *later = weighing.megabytes[1:] or weighing.megabytes
    measurements.append(
        Measurement(
            f"memory of a run of {MANY_CELLS:,} empty cells ({milliseconds(seconds / MANY_CELLS)} each)",
            f"at most {max(later, default=first):.0f} MB",
            f"{first:.0f} MB after {WARM_CELLS:,}",
            max(later, default=first) / first,
            "≤ 1.1",
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        study = equal_study(Path(folder), 64)
        _seconds(study, 1)
        one = min(_seconds(study, 1) for _ in range(3))
        two = min(_seconds(study, 2) for _ in range(3))
    measurements.append(
        Measurement(
            "64 equal cells, 2 threads",
            milliseconds(two),
            f"1 thread {milliseconds(one)}",
            one / two,
            "≥ 1.7",
        )
    )
    return measurements
