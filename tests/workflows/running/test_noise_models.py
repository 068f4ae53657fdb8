"""Test a study of every noise model, from its file to its report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.workflows.report import write_report
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study


@pytest.mark.slow
def test_the_shipped_study_on_one_data_set(tmp_path: Path, silent: Any) -> None:
    study, _ = find_study("noise-models")
    kept = [entry for entry in study.algorithms if entry.label in ("Perceptron", "PA-I")]
    small = study.model_copy(
        update={"datasets": [study.datasets[1]], "algorithms": kept, "seeds": [0, 1], "max_train": 120}
    )
    out = tmp_path / "results"
    run_study(small, str(out), progress=silent, options=WorkerOptions(threads=1))
    results = read_results(str(out))
    cells = results.cells
    assert (cells["status"] == "ok").all()
    # Every level has evaluation cells and its own grid.
    assert set(cells["noise"]) == {noise.slug for noise in study.noise}
    assert {tuned.noise for tuned in results.tuning} == set(study.noise)
    # Noise is recorded by class, and all algorithms get the same noise.
    noisy = cells[(cells["noise"] != "0") & (cells["stage"] == "run")]
    assert noisy["noise_by_class"].map(len).eq(2).all()
    assert cells.loc[cells["noise"] == "0", "noise_by_class"].isna().all()
    assert (noisy.groupby(["noise", "seed"])["noise_realised"].nunique() == 1).all()
    # By the matrix, no negative is given as a positive.
    by_class = noisy[noisy["noise"].str.startswith("class_")]["noise_by_class"]
    assert (by_class.map(lambda shares: shares[0]) == 0).all()
    assert (by_class.map(lambda shares: shares[1]) > 0).any()
    write_report(out)
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "by model of noise" in page
    assert "With label noise by class (0%/30%)" in page
    # Nothing is left to compute: the store has every cell that the plan asks for.
    assert not run_study(small, str(out), progress=silent, options=WorkerOptions(threads=1)).computed
