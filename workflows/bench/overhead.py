"""What the pipeline adds to learning: the cost of a cell, and what a second thread gains."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...pipeline.study.study import Study
from ...pipeline.study.study_file import parse_study
from ..running.run import run_study
from .timing import Measurement, milliseconds

# benchopt's cost of one (data set, solver, repetition), measured on a machine like the project's own.
BENCHOPT_MS = 16
EMPTY_CELLS = 4000


class _Silent:
    def start(self, total: int, already: int) -> None:
        """Say nothing."""

    def advance(self, cells: int) -> None:
        """Say nothing."""

    def note(self, text: str) -> None:
        """Say nothing."""


def _seconds(study: Study, threads: int) -> float:
    """Run a study into an empty folder; return the wall time."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.perf_counter()
        summary = run_study(study, folder, progress=_Silent(), threads=threads)
        seconds = time.perf_counter() - began
        if summary.failed or summary.reused:
            raise RuntimeError(f"{summary.failed} cells failed, {summary.reused} were there before")
    return seconds


def _study(datasets: list[dict[str, Any]], algorithms: list[dict[str, Any]], seeds: int) -> Study:
    return parse_study({"name": "bench", "seeds": seeds, "datasets": datasets, "algorithms": algorithms})


def _empty_study(seeds: int) -> Study:
    """Cells of two examples: nothing to learn, everything else to do."""
    study = _study([{"name": "breast-cancer"}], [{"name": "Perceptron"}], seeds)
    return study.model_copy(update={"max_train": 2})


def measure() -> list[Measurement]:
    """Run the benchmark."""
    started = min(_seconds(_empty_study(1), 2) for _ in range(3))
    whole = min(_seconds(_empty_study(EMPTY_CELLS), 2) for _ in range(3))
    per_cell = (whole - started) / (EMPTY_CELLS - 1)
    measurements = [
        Measurement(
            f"an empty cell ({EMPTY_CELLS:,} of them, 2 threads)",
            milliseconds(per_cell),
            f"benchopt about {BENCHOPT_MS} ms",
            BENCHOPT_MS / (per_cell * 1e3),
            "≥ 16 (1 ms)",
        )
    ]
    with tempfile.TemporaryDirectory() as folder:
        # Cells of about 60 ms, all alike: what is left besides them is the pipeline.
        path = Path(folder, "equal.parquet")
        rng = np.random.RandomState(0)
        X = rng.standard_normal((16_000, 100)).astype(np.float32)
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
        frame["y"] = (X[:, 0] + X[:, 1] * rng.standard_normal(len(X)) > 0).astype(np.int64)
        frame.to_parquet(path)
        full = [{"name": "AROW", "covariance": "full"}]
        study = _study([{"path": str(path), "target": "y"}], full, 64)
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
