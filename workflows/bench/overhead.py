"""What the pipeline adds to learning: the cost of a cell, and what a second thread gains."""

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
from ..running.run import run_study
from ..running.workers import WorkerOptions
from .timing import Measurement, milliseconds

# benchopt's cost of one (data set, solver, repetition), measured on a machine like the project's own.
BENCHOPT_MS = 16
EMPTY_CELLS = 4000


# Cells of a long run, and after how many of them its memory is looked at first.
MANY_CELLS, WARM_CELLS = 100_000, 20_000


class Silent:
    """A progress that says nothing."""

    def start(self, total: int, already: int) -> None:
        """Say nothing."""

    def advance(self, cells: int) -> None:
        """Say nothing."""

    def expect(self, seconds: float | None) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


class _Weighing(Silent):
    """Notes the memory of this process after `WARM_CELLS` cells and whenever there are more."""

    def __init__(self) -> None:
        self.cells, self.megabytes = 0, [math.nan]

    def advance(self, cells: int) -> None:
        """Look at the memory."""
        self.cells += cells
        if self.cells >= WARM_CELLS:
            self.megabytes.append(own_megabytes())


def own_megabytes() -> float:
    """Return what this process has of memory that is no file's, in MB; NaN where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return math.nan
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1e3


def _seconds(study: Study, threads: int, progress: Silent | None = None) -> float:
    """Run a study into an empty folder; return the wall time."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = run_study(
            study, folder, progress=progress or Silent(), options=WorkerOptions(threads=threads)
        )
        seconds = time.perf_counter() - began
        if summary.failed or summary.reused:
            raise RuntimeError(f"{summary.failed} cells failed, {summary.reused} were there before")
    return seconds


def _study(datasets: list[dict[str, Any]], algorithms: list[dict[str, Any]], seeds: int) -> Study:
    return parse_study({"name": "bench", "seeds": seeds, "datasets": datasets, "algorithms": algorithms})


def empty_study(seeds: int) -> Study:
    """Cells of two examples: nothing to learn, everything else to do."""
    study = _study([{"name": "breast-cancer"}], [{"name": "Perceptron"}], seeds)
    return study.model_copy(update={"max_train": 2})


def equal_study(folder: Path, cells: int, rows: int = 16_000) -> Study:
    """Cells that are all alike: what is left besides them is the pipeline.

    Parameters
    ----------
    folder : Path
        Where its data is written.
    cells : int
    rows : int, default=16000
        Of a cell; each takes about a microsecond.
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
