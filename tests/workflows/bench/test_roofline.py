"""Test the loops with which the roofline benchmark compares learners."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array

from singlepass.workflows.bench import BENCHMARKS, ingestion, roofline, runner
from singlepass.workflows.cli import bench

from .untimed import untimed


def test_the_loops_do_what_they_are_called() -> None:
    rows, codes = roofline.hashed_rows(50, 300)
    X = csr_array(rows, shape=(50, 300))
    assert X.has_canonical_format
    assert set(codes.tolist()) == {0, 1}
    w = np.random.RandomState(1).standard_normal(300)
    assert roofline.read(*rows)[0] == pytest.approx(float(rows[0].sum(dtype=np.float64)))
    assert roofline.gather(*rows, w) == pytest.approx(float((X @ w).sum()))
    written, v = np.zeros(300), np.zeros(300)
    roofline.gather_scatter_two(*rows, written, v)
    touched = np.unique(rows[1])
    assert np.flatnonzero(v).tolist() == touched.tolist()
    again = np.zeros(300)
    roofline.gather_scatter(*rows, again)
    assert np.flatnonzero(again).tolist() == touched.tolist()


def test_each_timed_pass_is_the_first_of_a_new_learner(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[int] = []

    class Counting:
        def begin(self, classes: object, n_features: int) -> None:
            self.learned = 0

        def learn_rows(self, rows: object, codes: object) -> None:
            self.learned += 1
            passes.append(self.learned)

    monkeypatch.setattr(roofline, "ROWS", (60, 200))
    monkeypatch.setattr(roofline, "FEATURES", (1 << 9,))
    monkeypatch.setattr(roofline, "LEARNERS", {"FTRL": (Counting, 2, "")})
    roofline.roofline(gigabytes=0.0)
    assert len(passes) > 1
    assert set(passes) == {1}


@pytest.mark.slow
def test_every_learner_has_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "best_times", untimed)
    monkeypatch.setattr(roofline, "ROWS", (60, 200))
    monkeypatch.setattr(roofline, "FEATURES", (1 << 9,))
    lines = roofline.roofline(gigabytes=0.0)
    assert [line.aim for line in lines] == ["", "≥ 0.8", "≥ 0.8", "≥ 0.8", "≥ 0.7"]
    assert len(roofline.roofline(gigabytes=1.0)) == 10
    assert BENCHMARKS["roofline"].tables == ("roofline.roofline",)


def test_the_help_names_the_least_sizes_and_the_defaults() -> None:
    [said] = [option.help for option in bench.params if option.name == "gigabytes"]
    for rows in (ingestion.PIECE_ROWS, ingestion.ROWS, roofline.ROWS[0]):
        assert f"{rows:,} rows" in said
    for measured in (ingestion.ingestion, roofline.roofline):
        assert f"[default: {inspect.signature(measured).parameters['gigabytes'].default}]" in said
