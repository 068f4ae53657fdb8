"""Test comparisons on one stream by blocks of rows."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from singlepass.pipeline.analysis.blocks import block_errors, leader_tests
from singlepass.pipeline.analysis.curves import CellCurves
from singlepass.pipeline.noise import Noise

NOISE = Noise(0.1)


def curves_of(made: dict[str, list[np.ndarray]], ends: np.ndarray) -> CellCurves:
    """Return the curves of algorithms with the mistakes in each step, one array per seed."""
    cells, points = [], []
    for name, seeds in made.items():
        for seed, mistakes in enumerate(seeds):
            key = f"{name}{seed}"
            cells.append((key, "d", name, NOISE.slug, seed, "run", "ok"))
            points += [(key, t, y) for t, y in zip(ends, np.cumsum(mistakes), strict=True)]
    names = ["key", "dataset", "algorithm", "noise", "seed", "stage", "status"]
    return CellCurves(
        pd.DataFrame(cells, columns=names), pd.DataFrame(points, columns=["key", "t", "mistakes_clean"])
    )


def test_a_block_has_the_mean_error_of_its_rows() -> None:
    steps = np.arange(100.0)
    curves = curves_of({"A": [steps, steps + 2], "B": [steps, steps]}, 20 * np.arange(1, 101))
    errors = block_errors(curves, "d", NOISE, ["A", "B"])
    # 100 steps of 20 rows make 50 blocks of 40.
    assert errors.index.tolist() == list(range(40, 2001, 40))
    assert errors["B"].tolist() == pytest.approx(((4 * np.arange(50) + 1) / 40).tolist())
    assert (errors["A"] - errors["B"]).tolist() == pytest.approx([2 / 40] * 50)


@pytest.mark.parametrize(
    "ends",
    [np.geomspace(10, 1000, 20).round(), np.arange(100, 1000, 100), np.arange(100.0, 2000, 100) ** 1.01],
)
def test_unequal_or_few_steps_are_no_blocks(ends: np.ndarray) -> None:
    curves = curves_of({"A": [np.ones(len(ends))]}, ends)
    assert block_errors(curves, "d", NOISE, ["A"]).empty


@pytest.mark.parametrize(
    ("n", "checkpoints", "steps"), [(296, 10, 0), (300, 10, 1), (591, 20, 2), (600, 20, 1), (1499, 200, 5)]
)
def test_every_block_has_30_rows(n: int, checkpoints: int, steps: int) -> None:
    ends = np.round(np.linspace(0, n, checkpoints + 1)[1:])
    errors = block_errors(curves_of({"A": [np.ones(len(ends))]}, ends), "d", NOISE, ["A"])
    assert errors.index.tolist() == (ends[steps - 1 :: steps].tolist() if steps else [])


def test_curves_of_different_steps_are_no_blocks() -> None:
    ends = np.arange(30, 601, 30)
    curves = curves_of({"A": [np.ones(20)]}, ends)
    assert len(block_errors(curves, "d", NOISE, ["A"])) == 20
    assert block_errors(curves, "d", NOISE, ["A", "none"]).columns.tolist() == ["A"]
    other = curves_of({"A": [np.ones(20)], "B": [np.ones(20)]}, ends)
    other.column("t")[-1] += 5
    assert block_errors(other, "d", NOISE, ["A", "B"]).empty


def test_the_leader_is_tested_as_scipy_does() -> None:
    rng = np.random.default_rng(0)
    errors = pd.DataFrame(
        {"A": rng.random(15), "B": rng.random(15) - 0.4, "C": rng.random(15)}, range(100, 1600, 100)
    )
    tests = leader_tests(errors)
    assert [each.leader for each in tests] == ["B", "B"]
    assert errors[[each.algorithm for each in tests]].mean().is_monotonic_increasing
    for each in tests:
        gap = errors["B"] - errors[each.algorithm]
        assert each.test.p == pytest.approx(stats.wilcoxon(gap, method="exact").pvalue)
        assert each.test.p_holm >= each.test.p
        assert each.test.low < each.test.effect < each.test.high < 1.0
        assert each.correlation == pytest.approx(np.corrcoef(gap[:-1], gap[1:])[0, 1])
        assert (each.blocks, each.rows) == (15, 100)
    # 5 of 100 rows more in each block, with rounding errors.
    constant = pd.DataFrame({"A": errors["A"], "B": errors["A"] + 0.05})
    assert math.isnan(leader_tests(constant)[0].correlation)
    assert leader_tests(errors[["A"]]) == []
    assert leader_tests(pd.DataFrame()) == []


@pytest.mark.slow
def test_equal_algorithms_seldom_differ() -> None:
    # 400 streams of two equal algorithms with independent mistakes: 5% of tests would reject by chance, and
    # 8% is 2.75 standard deviations above that.
    rng = np.random.default_rng(1)
    found = 0
    for _ in range(400):
        errors = pd.DataFrame(rng.binomial(200, 0.2, (20, 2)) / 200, range(200, 4001, 200), ["A", "B"])
        found += leader_tests(errors)[0].test.p_holm <= 0.05
    assert 0 < found <= 32
