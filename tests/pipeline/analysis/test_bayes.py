"""Test the Bayesian signed-rank test against the definition; test_oracles compares it with baycomp."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from singlepass.pipeline.analysis.bayes import Belief, _mass_above, signed_rank_posterior

PAIR = ("A", "B")
VALUES = arrays(np.float64, st.integers(2, 7), elements=st.sampled_from([-0.25, -0.125, 0.0, 0.125, 0.25]))


@given(VALUES, st.sampled_from([0.0, 0.125]))
def test_the_mass_is_a_double_sum(values: np.ndarray, rope: float) -> None:
    values = np.sort(values)
    weights = np.random.RandomState(0).dirichlet(np.ones(len(values)), 5)
    sums = values[:, np.newaxis] + values
    half = (sums > 2 * rope) + 0.5 * (sums == 2 * rope)
    by_hand = [float(w @ half @ w) for w in weights]
    np.testing.assert_allclose(_mass_above(values, weights, rope), by_hand, atol=1e-12)


def test_plain_cases() -> None:
    assert signed_rank_posterior({PAIR: np.full(20, 0.1)})[PAIR].better > 0.999
    assert signed_rank_posterior({PAIR: np.full(20, -0.1)})[PAIR].worse > 0.999
    assert signed_rank_posterior({PAIR: np.zeros(20)})[PAIR] == Belief(0.0, 1.0, 0.0)
    assert signed_rank_posterior({}) == {}


def test_rounding_errors_do_not_move_a_gain_off_the_edge_of_the_region() -> None:
    # The first scores are one point higher than the second; some differences are above 0.01, some below.
    first, second = np.array([88, 57, 90, 83, 77, 64, 95]) / 100, np.array([87, 56, 89, 82, 76, 63, 94]) / 100
    assert set(np.sign(first - second - 0.01)) == {-1.0, 1.0}
    exact = signed_rank_posterior({PAIR: np.full(7, 0.01)})[PAIR]
    assert signed_rank_posterior({PAIR: first - second})[PAIR] == exact == Belief(0.0, 1.0, 0.0)


def test_pairs_mirror_each_other() -> None:
    gains = np.random.RandomState(2).standard_normal(12) * 0.03 + 0.01
    found = signed_rank_posterior({PAIR: gains, PAIR[::-1]: -gains})
    assert found[PAIR].better == pytest.approx(found[PAIR[::-1]].worse, abs=1e-12)
