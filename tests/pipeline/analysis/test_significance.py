"""Compare tests over data sets with the worked example of Demšar (2006) and with SciPy."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from singlepass.pipeline.analysis.friedman import friedman, nemenyi_difference
from singlepass.pipeline.analysis.pairwise import (
    cliques,
    hodges_lehmann,
    holm,
    signed_rank,
    smallest_p,
    wilcoxon_holm,
)
from singlepass.pipeline.analysis.ranks import block_ranks, mean_ranks

# Demšar (2006), table 6: area under the curve of four variants of C4.5 on 14 data sets. (On "voting" the last
# two are printed alike and ranked 2 and 3.)
AUC = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.975, 0.97499],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"],
)


def test_demsar_ranks() -> None:
    means = mean_ranks(block_ranks(AUC, "higher"))
    assert {name: round(value, 3) for name, value in means.items()} == {
        "C4.5": 3.143,
        "C4.5+m": 2.000,
        "C4.5+cf": 2.893,
        "C4.5+m+cf": 1.964,
    }


def test_demsar_friedman() -> None:
    outcome = friedman(block_ranks(AUC, "higher"), correct_ties=False)
    assert round(outcome.chi2, 2) == 9.28
    assert round(outcome.f, 2) == 3.69
    assert outcome.df == (3, 39)
    # "The critical value of F(3, 39) for α = 0.05 is 2.85, so we reject the null-hypothesis."
    assert outcome.f_p < 0.05
    assert outcome.p == outcome.f_p


def test_demsar_nemenyi() -> None:
    assert round(nemenyi_difference(4, 14), 2) == 1.25
    # q at 0.10 is 2.291: CD = 1.12.
    assert round(nemenyi_difference(4, 14, alpha=0.10), 2) == 1.12


# Demšar (2006), table 5(a): q at 0.05 for 2 to 10 classifiers, off by up to 7e-4 as printed.
@pytest.mark.parametrize(
    ("k", "q"),
    [
        (2, 1.960),
        (3, 2.343),
        (4, 2.569),
        (5, 2.728),
        (6, 2.850),
        (7, 2.949),
        (8, 3.031),
        (9, 3.102),
        (10, 3.164),
    ],
)
def test_demsar_critical_values(k: int, q: float) -> None:
    assert nemenyi_difference(k, 1) / math.sqrt(k * (k + 1) / 6) == pytest.approx(q, abs=1e-3)


def test_demsar_wilcoxon() -> None:
    """Section 3.1.3: C4.5 against C4.5+m has R+ = 93 and R- = 12; the paper splits two zeros of rank 1.5."""
    pair = wilcoxon_holm(AUC[["C4.5+m", "C4.5"]], ["C4.5+m", "C4.5"], "higher")[0]
    assert (pair.statistic, pair.wins, pair.ties, pair.losses) == (93 - 1.5, 10, 2, 2)
    assert pair.p < 0.05
    assert pair.difference == pytest.approx((AUC["C4.5+m"] - AUC["C4.5"]).mean())


TABLES = arrays(
    np.float64,
    st.tuples(st.integers(2, 9), st.integers(3, 6)),
    elements=st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.9]),
)


@given(TABLES)
def test_friedman_equals_scipy(table: np.ndarray) -> None:
    outcome = friedman(block_ranks(pd.DataFrame(table), "lower"))
    if (table == table[:, :1]).all():
        assert (outcome.chi2, outcome.p) == (0.0, 1.0)
        return
    theirs = stats.friedmanchisquare(*table.T)
    assert outcome.chi2 == pytest.approx(theirs.statistic, abs=1e-9)
    assert outcome.chi2_p == pytest.approx(theirs.pvalue, abs=1e-9)


def test_unanimous_data_sets_are_judged_by_chi_square() -> None:
    """F is infinite and its p-value 0 even for two data sets, which agree by chance once in six times."""
    outcome = friedman([[1, 2, 3], [1, 2, 3]])
    assert (outcome.chi2, outcome.f) == (4.0, math.inf)
    assert outcome.p == outcome.chi2_p == pytest.approx(math.exp(-2))


@pytest.mark.parametrize("shape", [(1, 4), (5, 2), (0, 3)])
def test_friedman_needs_two_data_sets_and_three_algorithms(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="at least two data sets and three algorithms"):
        friedman(np.ones(shape))


def test_nemenyi_needs_two_algorithms() -> None:
    with pytest.raises(ValueError, match="two algorithms"):
        nemenyi_difference(1, 10)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=12))
def test_holm_keeps_order_and_never_helps(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(p <= a <= 1 for p, a in zip(p_values, adjusted, strict=True))
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    assert [adjusted[i] for i in order] == sorted(adjusted)


def test_direction_decides_who_wins() -> None:
    scores = [[1.0, 2.0], [1.0, 3.0], [5.0, 4.0]]
    lower = wilcoxon_holm(scores, ["A", "B"], "lower")[0]
    higher = wilcoxon_holm(scores, ["A", "B"], "higher")[0]
    assert (lower.wins, lower.losses) == (higher.losses, higher.wins) == (2, 1)
    assert lower.p == higher.p
    assert lower.difference == higher.difference == pytest.approx(-2 / 3)


def test_rounding_error_is_a_tie() -> None:
    scores = [[0.1 + 0.2, 0.3], [0.7, 0.7]]
    pair = wilcoxon_holm(scores, ["A", "B"], "higher")[0]
    assert (pair.wins, pair.ties, pair.losses, pair.p) == (0, 2, 0, 1.0)


@pytest.mark.parametrize("third", [0.5, 2e5, 2e11, 1e300])
def test_a_diverging_loss_leaves_other_scores_their_digits(third: float) -> None:
    table = np.array([[0.3, 0.1], [0.5, 0.3], [0.7, 0.4], [0.2, 0.6], [0.9, 0.4], [0.45, 0.3]])
    scores = pd.DataFrame(table, columns=["a", "b"]).assign(c=[third, 0.5, 0.5, 0.5, 0.5, 0.5])
    pair = wilcoxon_holm(scores, [*"abc"], "lower")[0]
    # 0.3 - 0.1 and 0.5 - 0.3 tie, whatever rounding does.
    exact = [20, 20, 30, -40, 50, 15]
    assert (pair.wins, pair.ties, pair.losses) == (1, 0, 5)
    assert pair.p == signed_rank(exact).p
    assert pair.effect == pytest.approx(hodges_lehmann(exact)[0] / 100, rel=1e-9)
    assert block_ranks(scores, "lower").iloc[0].tolist() == [2, 1, 3]


def test_effects_are_of_the_differences_as_they_are() -> None:
    table = [[0.3, 0.2], [3e14, 3e14 + 600], [1000.5, 0.5], [0.5, 0.3], [0.6, 0.25]]
    (pair,) = wilcoxon_holm(table, ["a", "b"], "lower")
    assert pair.difference == pytest.approx((0.1 - 600 + 1000 + 0.2 + 0.35) / 5)
    assert (pair.wins, pair.statistic) == (1, 4)
    # Each size is within the tolerance, 300, of the next one, and the last is not of the first.
    chain = [[0.0, 500.0], [3e14, 3e14 + 750], [0.0, 1000.0], [3e14, 3e14 + 1250], [0.0, 1500.0]]
    (pair,) = wilcoxon_holm(chain, ["a", "b"], "lower")
    assert pair.difference == -1000


def test_infinite_differences_tie() -> None:
    table = [[np.inf, 0.1], [0.3, np.inf], [0.7, 0.4], [0.2, 0.1], [0.9, 0.4], [np.inf, np.inf]]
    (pair,) = wilcoxon_holm(table, ["a", "b"], "lower")
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 4)
    assert pair.p == signed_rank([9, -9, 3, 1, 5, 0]).p
    assert pair.effect == pytest.approx(0.2)


@given(st.lists(st.lists(st.integers(0, 60), min_size=6, max_size=6), min_size=4, max_size=12))
def test_p_values_are_those_of_exact_means(right: list[list[int]]) -> None:
    """Accuracies of two algorithms, means of three seeds of 60 rows: the differences tie as fractions do."""
    scores = [[np.mean(np.array(row[at : at + 3]) / 60) for at in (0, 3)] for row in right]
    (pair,) = wilcoxon_holm(scores, ["a", "b"], "higher")
    exact = [sum(row[:3]) - sum(row[3:]) for row in right]
    assert pair.p == signed_rank(exact).p
    assert (pair.wins, pair.ties) == (sum(d > 0 for d in exact), exact.count(0))


@pytest.mark.parametrize(("n", "k"), [(4, 2), (6, 2), (8, 7), (10, 7), (12, 8)])
def test_the_smallest_p_is_reached_and_not_passed(n: int, k: int) -> None:
    """In the clearest possible outcome every algorithm beats the next by more on every data set."""
    table = np.array([[-(j**2) * (1 + i / 10) for j in range(k)] for i in range(n)])
    tests = wilcoxon_holm(table, [str(j) for j in range(k)], "higher")
    assert min(pair.p_holm for pair in tests) == pytest.approx(smallest_p(n, k))


def test_cliques_by_hand() -> None:
    different = {frozenset(pair) for pair in ("AC", "AD", "BD")}
    assert cliques(list("ABCD"), different) == [("A", "B"), ("B", "C"), ("C", "D")]
    assert cliques(list("ABCD"), set()) == [tuple("ABCD")]
    assert cliques(["A"], set()) == []
    # A and C do not differ, but B, which lies between, differs from A: no bar may join all three.
    assert cliques(list("ABC"), {frozenset("AB")}) == [("B", "C")]


@given(st.sets(st.frozensets(st.sampled_from("ABCDEF"), min_size=2, max_size=2)))
def test_no_bar_joins_two_that_differ(different: set[frozenset[str]]) -> None:
    groups = cliques("ABCDEF", different)
    for group in groups:
        assert not any(pair <= set(group) for pair in different)
    # Neighbours that do not differ share a bar, and no bar lies within another.
    for first, second in zip("ABCDE", "BCDEF", strict=True):
        joined = any({first, second} <= set(group) for group in groups)
        assert joined == (frozenset({first, second}) not in different)
    assert not any(set(a) < set(b) for a in groups for b in groups)
