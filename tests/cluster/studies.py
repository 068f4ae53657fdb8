"""Studies for these tests, on bundled and generated data, and comparisons of their results."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pandas as pd
import pyarrow.parquet as pq

from singlepass.learners import registry
from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.store.schema import IDENTITY, PROVENANCE
from singlepass.workflows.running.progress import RunProgress
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study

# With 8 algorithms, 36 points of their grids and 5 seeds there are 76 cells per task and noise level: 9 tasks
# at 3 levels make 2,052. Two threads took 10 s for them on the machine where this was written.
_TASKS = [
    'name = "digits"\ntask = "group:round"\n',
    'name = "digits"\ntask = "one-vs-rest:3"\n',
    'name = "digits"\ntask = "one-vs-rest:8"\n',
    'name = "breast-cancer"\nbias = true\n',
    'name = "breast-cancer"\nlabel = "raw"\nstandardize = false\nbias = true\n',
    'name = "gauss"\nbias = true\nn_train = 200000\nn_test = 1000\n',
    'name = "arow-synthetic"\nn_train = 200000\nn_test = 1000\n',
    'name = "checkerboard"\nbias = true\nn_train = 200000\nn_test = 1000\n',
    'name = "waveform-generator"\ntask = "uci-first-negative"\nn_train = 200000\nn_test = 1000\n',
]
_ALGORITHMS = """
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "Perceptron"
label = "Averaged Perceptron"
average = true
[[algorithms]]
name = "PassiveAggressive"
label = "PA"
variant = "PA"
[[algorithms]]
name = "PassiveAggressive"
label = "PA-I"
variant = "PA-I"
C = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]
[[algorithms]]
name = "SecondOrderPerceptron"
label = "SOP"
a = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
[[algorithms]]
name = "ConfidenceWeighted"
label = "CW"
eta = [0.501, 0.51, 0.55, 0.6, 0.7, 0.8, 0.9, 0.99]
[[algorithms]]
name = "AROW"
r = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
[[algorithms]]
name = "AROW"
label = "AROW-H"
loss = "hinge"
r = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
"""
# Cells of `wide_study` per task and noise level, and the number of its noise levels.
_CELLS_A_TASK, _LEVELS = 76, 3


def wide_study(n_tasks: int = 9) -> str:
    """Return a study with grids: 2,052 cells on all nine tasks, 228 per task."""
    study = 'name = "wide"\nprotocol = "holdout"\nnoise = [0.0, 0.1, 0.3]\nseeds = 5\ntune_by = "online"\n'
    return study + "".join(f"[[datasets]]\n{task}" for task in _TASKS[:n_tasks]) + _ALGORITHMS


def cells_of_wide_study(n_tasks: int = 9) -> int:
    """Return the number of cells of `wide_study`, including its grids."""
    return _CELLS_A_TASK * _LEVELS * n_tasks


def narrow_study(*algorithms: str, seeds: int = 4, datasets: str = "", n_train: int = 200) -> str:
    """Return a study of one generated data set of `n_train` rows.

    Each of `algorithms` is the body of an ``[[algorithms]]`` table. `datasets` holds further ``[[datasets]]``
    tables.
    """
    study = f'name = "narrow"\nprotocol = "holdout"\nseeds = {seeds}\ncheckpoints = 4\n'
    study += f'[[datasets]]\nname = "gauss"\nbias = true\nn_train = {n_train}\nn_test = 100\n{datasets}\n'
    return study + "".join(f"[[algorithms]]\n{body}\n" for body in algorithms)


def run_in_threads(study: Path, out: Path, *plugins: Path) -> None:
    """Run a study on threads of this process, for comparison with a cluster."""
    options = WorkerOptions(threads=2)
    found, _ = find_study(str(study))
    # Several tests have plug-ins that define learners of one name.
    with mock.patch.dict(registry._plugins):
        run_study(found, str(out), progress=RunProgress(), plugins=tuple(map(str, plugins)), options=options)


def tables(out: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and curves without the columns that record when, where and how fast."""
    results = read_results(str(out))
    return tuple(
        frame.drop(columns=[name for name in PROVENANCE if name in frame])
        for frame in (results.cells, results.curves)
    )


def assert_same(ours: Path, theirs: Path) -> None:
    """Assert that two folders have equal results, except for times and workers."""
    for mine, other in zip(tables(ours), tables(theirs), strict=True):
        pd.testing.assert_frame_equal(mine, other, check_exact=True)


def stored_keys(out: Path) -> list[str]:
    """Return the keys of all stored rows of cells, repeated if a row is stored twice."""
    return _column(out, "cells", "key")


def doubled(out: Path) -> dict[str, int]:
    """Return the number of surplus rows in each table.

    Curves without cells come from a process that was killed between the two files. They are not counted:
    readers ignore them, and they are removed an hour later.
    """
    found = {}
    for table, names in IDENTITY.items():
        rows = list(zip(*(_column(out, table, name) for name in names), strict=True))
        found[table] = len(rows) - len(set(rows))
    return found


def _column(out: Path, table: str, name: str) -> list[object]:
    found: list[object] = []
    for cells in sorted((out / "cells").glob("*.parquet")):
        part = out / table / cells.name
        found += pq.ParquetFile(part).read([name])[name].to_pylist()
    return found


def unlike(ours: Path, theirs: Path, planned: int) -> list[str]:
    """Return a line for each deviation of results from those of an undisturbed run (`theirs`).

    `planned` is the number of cells in the study.
    """
    found = []
    results = read_results(str(ours))
    others = int((results.cells["status"] != "ok").sum())
    if others:
        error = results.cells.loc[results.cells["status"] != "ok", "error"].astype(str)
        reasons = error.str.slice(0, 70).value_counts().to_dict()
        found.append(f"{others} cells are not ok: {reasons}")
    if len(results.cells) != planned:
        found.append(f"{len(results.cells)} of {planned} planned cells are there")
    keys = set(stored_keys(ours))
    if keys != set(results.cells["key"]):
        found.append(f"{len(keys - set(results.cells['key']))} cells are stored that the plan does not have")
    found += [f"{rows} rows of {table} are stored twice" for table, rows in doubled(ours).items() if rows]
    for name, mine, other in zip(("cells", "curves"), tables(ours), tables(theirs), strict=True):
        found += _differing(name, mine, other)
    return found


def _differing(name: str, mine: pd.DataFrame, other: pd.DataFrame) -> list[str]:
    index = list(IDENTITY[name])
    mine, other = mine.set_index(index).sort_index(), other.set_index(index).sort_index()
    found = []
    strange, lacking = len(mine.index.difference(other.index)), len(other.index.difference(mine.index))
    if strange or lacking:
        found.append(f"{name}: {strange} rows of other parameters, {lacking} missing")
    shared = mine.index.intersection(other.index)
    mine, other = mine.loc[shared], other.loc[shared]
    for column in mine.columns:
        unequal = int((mine[column].map(_exact) != other[column].map(_exact)).sum())
        if unequal:
            found.append(f"{name}: {unequal} rows differ in {column}")
    return found


def _exact(value: object) -> str:
    """Return a distinct text for each value; integers count as floats, as in a column that has a null."""
    return repr(float(value)) if isinstance(value, int | float) else repr(value)
