"""Compare Wilcoxon's signed-rank test with SciPy and with a count of all sign patterns."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from singlepass.pipeline.analysis.pairwise import SignedRank, hodges_lehmann, signed_rank

# The name of the normal approximation; SciPy 1.14 has another one.
NORMAL = "asymptotic" if "asymptotic" in str(stats.wilcoxon.__doc__) else "approx"

DIFFERENCES = st.lists(st.integers(-4, 4), min_size=1, max_size=8)


def by_counting(differences: list[int]) -> float:
    """Return the two-sided p-value from all 2^n sign patterns, with zeros ranked and left out (Pratt)."""
    ranks = stats.rankdata(np.abs(differences))
    kept = [rank for rank, d in zip(ranks, differences, strict=True) if d]
    seen = sum(rank for rank, d in zip(ranks, differences, strict=True) if d > 0)
    sums = [
        sum(rank for rank, up in zip(kept, signs, strict=True) if up)
        for signs in itertools.product([False, True], repeat=len(kept))
    ]
    low = sum(total <= seen for total in sums) / len(sums)
    high = sum(total >= seen for total in sums) / len(sums)
    return min(1.0, 2 * min(low, high))


@given(DIFFERENCES)
def test_counting_every_sign_pattern_gives_the_same(differences: list[int]) -> None:
    assert signed_rank(differences).p == pytest.approx(by_counting(differences), rel=1e-12)


@given(st.lists(st.integers(1, 200), min_size=5, max_size=40, unique=True), st.randoms(use_true_random=False))
def test_scipy_agrees_without_ties(sizes: list[int], random) -> None:  # type: ignore[no-untyped-def]
    differences = [size * random.choice([-1, 1]) for size in sizes]
    theirs = stats.wilcoxon(differences, method="exact")
    assert signed_rank(differences).p == pytest.approx(theirs.pvalue, rel=1e-9)


@given(DIFFERENCES)
def test_swapping_the_two_changes_nothing(differences: list[int]) -> None:
    assert signed_rank(differences).p == signed_rank([-d for d in differences]).p


def test_nothing_differs() -> None:
    assert signed_rank([0.0, 0.0, 0.0]) == SignedRank(n=0, statistic=0.0, p=1.0)


def test_five_data_sets_cannot_reach_five_percent() -> None:
    assert signed_rank([1, 2, 3, 4, 5]).p == 0.0625


def test_151_base_sets_are_enumerated() -> None:
    """The AROW study has 151 tasks; there the normal approximation is off by factors for small p-values."""
    differences = np.random.RandomState(3).standard_normal(151) + 0.45
    exact = stats.wilcoxon(differences, method="exact").pvalue
    assert exact < 1e-5
    assert signed_rank(differences).p == pytest.approx(exact, rel=1e-9)
    assert stats.wilcoxon(differences, method=NORMAL).pvalue > 1.2 * exact


def test_the_longest_exact_test_takes_ties() -> None:
    differences = np.random.RandomState(4).randint(-30, 33, size=1000)
    approximate = stats.wilcoxon(differences, zero_method="pratt", method=NORMAL).pvalue
    assert signed_rank(differences).p == pytest.approx(approximate, rel=0.02)


def test_more_than_1000_are_approximated() -> None:
    differences = np.random.RandomState(5).standard_normal(1001)
    theirs = stats.wilcoxon(differences, zero_method="pratt", method=NORMAL)
    assert signed_rank(differences).p == pytest.approx(theirs.pvalue, rel=1e-12)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=9, unique=True))
def test_the_interval_has_the_shifts_that_the_test_keeps(differences: list[int]) -> None:
    effect, low, high = hodges_lehmann(differences)
    walsh = [(a + b) / 2 for i, a in enumerate(differences) for b in differences[i:]]
    assert effect == np.median(walsh)
    assert low <= effect <= high
    # Shifts a little inside and outside of the ends, which tie no two differences.
    for end, inside in ((low, 1), (high, -1)):
        if math.isfinite(end):
            assert signed_rank(np.array(differences) - end - inside * 0.0123).p > 0.05
            assert signed_rank(np.array(differences) - end + inside * 0.0123).p <= 0.05


def test_five_differences_have_no_interval() -> None:
    assert hodges_lehmann([1, 2, 3, 4, 5]) == (3, -math.inf, math.inf)
    assert hodges_lehmann([1, 2, 3, 4, 5, 6]) == (3.5, 1, 6)
