"""Compare Wilcoxon's signed-rank test with SciPy and with a count of all sign patterns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from singlepass.pipeline.analysis.pairwise import SignedRank, signed_rank

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


def test_many_data_sets_by_approximation() -> None:
    """Above 100 data sets SciPy's normal approximation is used; at 100 both nearly agree."""
    differences = np.random.RandomState(3).standard_normal(101) + 0.15
    exact = signed_rank(differences[:100])
    theirs = stats.wilcoxon(differences[:100], zero_method="pratt", method="exact")
    assert exact.p == pytest.approx(theirs.pvalue, rel=1e-9)
    assert signed_rank(differences).p == pytest.approx(
        stats.wilcoxon(differences, method="exact").pvalue, rel=0.02
    )
    assert signed_rank(differences).n == 101
