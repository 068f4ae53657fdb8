"""Test a study of strategies that query labels, from its tables to its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report import write_report
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

STUDY: dict[str, Any] = {
    "name": "asked",
    "protocol": "holdout",
    "test_curve": True,
    "seeds": 2,
    "checkpoints": 5,
    "datasets": [{"name": "gauss", "n_train": 300, "n_test": 200}],
    "algorithms": [
        {"name": "Perceptron", "label": "all", "query": "all"},
        {"name": "Perceptron", "label": "greedy", "query": "greedy"},
        {"name": "Perceptron", "label": "selective", "query": "selective", "query_b": 0.5},
        {"name": "PassiveAggressive", "label": "adaptive", "query": "selective-adaptive", "query_beta": 0.1},
        {"name": "PassiveAggressive", "label": "random", "query": "random", "C": [0.1, 1.0]},
        {"name": "BBQ"},
        {"name": "AROW"},
    ],
}


@pytest.mark.slow
def test_a_study_shows_queried_labels_and_errors_against_them(tmp_path: Path, silent: Any) -> None:
    out = tmp_path / "results"
    for threads in (1, 2):
        run_study(parse_study(STUDY), str(out), progress=silent, options=WorkerOptions(threads=threads))
    cells = read_results(str(out)).cells
    assert (cells["status"] == "ok").all()
    run = cells[cells["stage"] == "run"]
    asked = run.groupby("algorithm")["queried"].mean()
    assert (asked["all"], asked["greedy"]) == (300, 60)
    assert (asked[["selective", "adaptive", "random", "BBQ"]].between(1, 299)).all()
    assert run.loc[run["algorithm"] == "AROW", "queried"].isna().all()
    write_report(out)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Test error against labels asked for" in page
    assert "Labels asked for: share of the examples" in page
    table = pd.read_csv(out / "tables" / "cost.csv")
    shares = table[table["metric"] == "query_rate"].groupby("algorithm")["mean"].first()
    assert shares.round(9).to_dict() == (asked.dropna() / 300).round(9).to_dict()
