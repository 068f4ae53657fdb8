"""Test that other libraries' learners in a notebook give the cells and integers of the command line."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import SGDClassifier

from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.workflows import Results, compare, load
from singlepass.workflows.progress import LineProgress
from singlepass.workflows.running.run import run_study
from singlepass.workflows.shipped import find_study

RIVER = "river.naive_bayes:GaussianNB"
TOML = f"""
name = "study"
noise = [0.0, 0.2]
seeds = 2
protocol = "holdout"
metrics = ["error", "balanced_accuracy"]
[[datasets]]
path = "mine.parquet"
target = "label"
label = "mine"
standardize = true
[[algorithms]]
name = "AROW"
r = 0.1
[[algorithms]]
name = "sklearn.linear_model:SGDClassifier"
alpha = 0.01
[[algorithms]]
name = "sklearn.linear_model:SGDClassifier"
label = "in batches"
loss = "log_loss"
batch = 16
[[algorithms]]
name = "{RIVER}"
"""


def in_order(results: Results) -> pd.DataFrame:
    """Return cells without the columns for origin of rows, time, place and speed."""
    return results.cells.drop(columns=[*PROVENANCE, "source"]).sort_values("key", ignore_index=True)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("river") is None, reason="needs river: the extra `test`")
def test_cells_are_those_of_the_command_line(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    here = compare(
        {"mine": {"X": X, "y": y, "standardize": True}},
        [
            {"name": "AROW", "r": 0.1},
            SGDClassifier(alpha=0.01),
            {
                "name": "sklearn.linear_model:SGDClassifier",
                "label": "in batches",
                "loss": "log_loss",
                "batch": 16,
            },
            RIVER,
        ],
        noise=[0.0, 0.2],
        seeds=2,
        protocol="holdout",
        metrics=["error", "balanced_accuracy"],
        progress=False,
    )
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(label=y)
    frame.to_parquet(tmp_path / "mine.parquet")
    (tmp_path / "study.toml").write_text(TOML)
    study, file = find_study(str(tmp_path / "study.toml"))
    run_study(study, str(tmp_path / "out"), progress=LineProgress(), file=file)
    there = load(tmp_path / "out")
    assert (here.cells["status"] == "ok").all()
    assert len(here.cells) == 2 * 2 * 4
    pd.testing.assert_frame_equal(in_order(here), in_order(there), check_exact=True)
    ours, theirs = (
        each.curves.drop(columns="fit_seconds").sort_values(["key", "t"], ignore_index=True)
        for each in (here, there)
    )
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
