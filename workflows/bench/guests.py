"""Measure what a cell adds to the calls of a third-party learner, in microseconds per row."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...learners.guests.guest import Guest
from ...learners.guests.kinds import as_guest
from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell
from ...pipeline.study.plan import make_plan
from ...pipeline.study.study_file import parse_study
from .timing import Measurement, best_times

ROWS, FEATURES = 20_000, 20
# The most a cell may add per row, in microseconds.
MOST = 10

_HERE = f"{__name__}:"


class Idle:
    """Provide a learner with scikit-learn's interface that does nothing."""

    _answer = np.ones(1)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Idle:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Any:
        """Return a constant."""
        return self._answer


class IdleModel:
    """Provide a learner with River's interface that does nothing."""

    def learn_one(self, x: dict[int, float], y: bool) -> None:
        """Learn nothing."""

    def predict_one(self, x: dict[int, float]) -> bool:
        """Return a constant."""
        return True


def _cell(path: Path, name: str) -> Cell:
    table = {
        "name": "bench",
        "seeds": 1,
        "datasets": [{"path": str(path), "target": "y"}],
        "algorithms": [{"name": name}],
    }
    return next(make_plan(parse_study(table)).evaluation_cells({}))


def _run(cell: Cell) -> None:
    row = run_cell(cell).row
    if row["status"] != "ok":
        raise RuntimeError(row["error"])


def _sklearn_calls(learner: Any, rows: list[Any], labels: list[Any]) -> None:
    for row, label in zip(rows, labels, strict=True):
        learner.predict(row)
        learner.partial_fit(row, label)


def _river_calls(learner: Any, rows: Any, labels: list[Any]) -> None:
    for row, label in zip(rows, labels, strict=True):
        learner.predict_one(row)
        learner.learn_one(row, label)


def measure() -> list[Measurement]:
    """Run the benchmark."""
    random = np.random.RandomState(0)
    X = random.standard_normal((ROWS, FEATURES))
    y = (X[:, 0] > 0).astype(np.int32)
    rows, labels = [X[t : t + 1] for t in range(ROWS)], [y[t : t + 1] for t in range(ROWS)]
    model: Guest = as_guest(IdleModel())
    model.begin(np.arange(2, dtype=np.int32), FEATURES)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(FEATURES)])
        frame.assign(y=y).to_parquet(path)
        cells = {each.__name__: _cell(path, _HERE + each.__name__) for each in (Idle, IdleModel)}
        seconds = best_times(
            {
                "Idle": lambda: _run(cells["Idle"]),
                "IdleModel": lambda: _run(cells["IdleModel"]),
                "calls": lambda: _sklearn_calls(Idle(), rows, labels),
                "dicts": lambda: model.rows_of(X),
                "model calls": lambda: _river_calls(IdleModel(), rows, labels),
            }
        )
    each = {name: 1e6 * value / ROWS for name, value in seconds.items()}
    return [
        _line("scikit-learn's manner", each["Idle"], each["calls"], f"≤ {MOST}"),
        _line("River's manner, dicts made", each["IdleModel"], each["model calls"], f"≤ {MOST}"),
        _line("of that making the dicts", each["dicts"], 0.0, ""),
    ]


def _line(what: str, whole: float, calls: float, aim: str) -> Measurement:
    return Measurement(
        f"a row of {FEATURES} features through a cell, {what}",
        f"{whole:.1f} µs",
        f"the bare calls {calls:.1f} µs",
        whole - calls,
        aim,
    )
