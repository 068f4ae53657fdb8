"""Run a small study, and read, change and compare its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.running.run import run_study

from .conftest import Silent

STUDY: dict[str, Any] = {
    "name": "whole",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 3,
    "checkpoints": 3,
    "datasets": [
        {"name": "gauss", "n_train": 60, "n_test": 30},
        {"name": "breast-cancer", "max_examples": 80},
    ],
    "algorithms": [{"name": "Perceptron"}, {"name": "AROW", "r": [0.1, 1.0]}],
}
GRID, FINAL = 8, 24
SMALL: dict[str, Any] = {"noise": [0.0], "seeds": 1, "checkpoints": 2}
PLUGIN = """
class {name}:
    def partial_fit(self, X, y, classes=None):
        return self
    def predict(self, X):
        return [1] * len(X)
"""


def run(out: Path, **keys: Any) -> str:
    run_study(parse_study({**STUDY, **keys}), str(out), progress=Silent())
    return str(out)


def assert_same_cells(found: str, whole: str) -> None:
    tables = [read_results(url) for url in (found, whole)]
    cells = [each.cells.drop(columns=["base", *PROVENANCE], errors="ignore") for each in tables]
    pd.testing.assert_frame_equal(*cells)
    curves = [each.curves.drop(columns="fit_seconds") for each in tables]
    pd.testing.assert_frame_equal(*curves)
    assert tables[0].tuning == tables[1].tuning


def with_changed_cell(folder: str, column: str) -> str:
    """Raise a count of one final cell in a store, and return the cell's key."""
    store = Store(folder)
    with exclusive(store):
        store.compact(above=1)
    [part] = (Path(folder) / "cells").iterdir()
    cells, curves = store.own("cells").to_pylist(), store.own("curves")
    row = next(row for row in cells if row["stage"] == "run" and row["algorithm"] == "AROW")
    row[column] += 1
    for within in ("cells", "curves"):
        (Path(folder) / within / part.name).unlink()
    store.write_tables(
        store.own("cells").schema.empty_table().from_pylist(cells, store.own("cells").schema), curves
    )
    return str(row["key"])


def read_cells(out: Path) -> dict[str, str]:
    return Store(str(out)).own_keys()


def with_run(url: str, **keys: Any) -> str:
    """Change keys of the only run in the provenance of results; None removes a key."""
    store = Store(url)
    [ran] = store.read_json("provenance.json")["runs"]
    run = {key: value for key, value in {**ran, **keys}.items() if value is not None}
    store.write_json("provenance.json", {"runs": [run]})
    return url


def compared(*urls: str, out: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]], pd.DataFrame]:
    """Compare results; return the new study, its algorithms by label, and the cells."""
    compare_results(urls, str(out), None, lambda line: None)
    found = read_results(str(out))
    parse_study(found.study)
    return found.study, {each["label"]: each for each in found.study["algorithms"]}, found.cells
