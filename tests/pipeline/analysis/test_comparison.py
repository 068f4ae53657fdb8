"""Test comparisons end to end: N is data sets, gaps are dropped, degenerate studies get no test."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import Averages
from singlepass.pipeline.analysis.comparison import Comparison, compare, overall_ranks
from singlepass.pipeline.analysis.design import study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.ranks import block_ranks, mean_ranks
from singlepass.pipeline.analysis.subsets import within
from singlepass.pipeline.noise import CLEAN, Noise

ACCURACY = METRICS["test_accuracy"]


def study(
    accuracy: np.ndarray, *, noise: tuple[float, ...] = (0.0,), seeds: int = 2
) -> tuple[pd.DataFrame, Any]:
    """Return cells whose seeds lie symmetrically around given accuracies, shape (data sets, algorithms)."""
    rows = [
        {
            "dataset": f"d{i}",
            "source": f"d{i}",
            "parent": f"d{i}",
            "algorithm": "ABCDEFGH"[j],
            "noise": f"{rate:g}",
            "seed": seed,
            "stage": "run",
            "status": "ok",
            "test_accuracy": value + 0.01 * (seed - (seeds - 1) / 2),
        }
        for rate in noise
        for i, line in enumerate(accuracy)
        for j, value in enumerate(line)
        for seed in range(seeds)
    ]
    cells = pd.DataFrame(rows)
    return cells, study_design(cells, {})


def clear_order(n: int, k: int) -> np.ndarray:
    """Return accuracies in which every algorithm beats the next on every data set, by growing steps."""
    return np.array([[0.9 - 0.01 * j * (j + 1 + i / 20) for j in range(k)] for i in range(n)])


@pytest.mark.parametrize("seeds", [1, 2, 10])
def test_n_is_data_sets_whatever_the_seeds(seeds: int) -> None:
    cells, design = study(clear_order(7, 3), seeds=seeds)
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert (comparison.n, comparison.k) == (7, 3)
    assert comparison.mean_ranks.to_dict() == {"A": 1, "B": 2, "C": 3}
    assert [pair.p for pair in comparison.pairs] == [2 / 2**7] * 3


def test_bars_and_differences_agree() -> None:
    cells, design = study(clear_order(8, 3))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert len(comparison.different) == 3
    assert comparison.cliques == []


def test_without_friedman_no_pair_differs() -> None:
    """Eight data sets, with one pair at its smallest p-value, but the ranks as a whole are level."""
    accuracy = np.full((8, 4), 0.5)
    accuracy[:, 0] += 0.001
    accuracy[:4, 2], accuracy[4:, 2] = 0.9, 0.1
    accuracy[:4, 3], accuracy[4:, 3] = 0.1, 0.9
    cells, design = study(accuracy)
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert min(pair.p_holm for pair in comparison.pairs) <= 0.05
    assert comparison.friedman is not None
    assert comparison.friedman.p > 0.05
    assert comparison.different == set()
    assert len(comparison.cliques) == 1


def test_two_algorithms_are_left_to_wilcoxon() -> None:
    cells, design = study(clear_order(6, 2))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.friedman is None
    assert comparison.different == {frozenset("AB")}


def test_one_data_set_gets_ranks_and_no_test() -> None:
    cells, design = study(clear_order(1, 4), seeds=5)
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert list(comparison.mean_ranks) == [1, 2, 3, 4]
    assert comparison.friedman is None
    assert comparison.pairs == []
    assert comparison.critical_difference is None
    assert comparison.different == set()


def test_one_algorithm() -> None:
    cells, design = study(clear_order(5, 1))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.mean_ranks.to_dict() == {"A": 1.0}
    assert comparison.pairs == []


def test_all_ties() -> None:
    cells, design = study(np.full((7, 3), 0.5))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.all_tied
    assert comparison.friedman is not None
    assert comparison.friedman.p == 1.0
    assert comparison.different == set()


def test_an_algorithm_without_results_is_left_out_not_the_data_sets() -> None:
    cells, design = study(clear_order(6, 4))
    cells.loc[cells["algorithm"] == "B", ["status", "test_accuracy"]] = ["failed", np.nan]
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.left_out == ["B"]
    assert (comparison.n, comparison.k) == (6, 3)


def test_a_failed_seed_drops_its_data_set() -> None:
    cells, design = study(clear_order(6, 3))
    hit = (cells["dataset"] == "d2") & (cells["algorithm"] == "C") & (cells["seed"] == 1)
    cells.loc[hit, ["status", "test_accuracy"]] = ["failed", np.nan]
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.n == 5
    assert [(block.dataset, block.missing) for block in comparison.dropped] == [("d2", {"C": "seed 1"})]


def test_nothing_complete() -> None:
    cells, design = study(clear_order(2, 3))
    cells = cells[~((cells["algorithm"] == "A") & (cells["seed"] == 0))]
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.n == 0
    assert comparison.mean_ranks.empty
    assert len(comparison.dropped) == 2


def test_overall_ranks_average_noise_within_data_sets() -> None:
    accuracy = clear_order(3, 2)
    cells, design = study(accuracy, noise=(0.0, 0.3))
    # At 30% noise B is ahead on d0, and d2 is incomplete: overall counts d0 and d1 only.
    here = (cells["noise"] == "0.3") & (cells["algorithm"] == "B")
    cells.loc[here & (cells["dataset"] == "d0"), "test_accuracy"] += 0.5
    cells = cells[~(here & (cells["dataset"] == "d2") & (cells["seed"] == 0))]
    comparisons = [compare(Averages(cells), ACCURACY, noise, design) for noise in (CLEAN, Noise(0.3))]
    assert [c.n for c in comparisons] == [3, 2]
    assert overall_ranks(comparisons).to_dict() == {"A": 1.25, "B": 1.75}
    assert overall_ranks([]).empty


def test_who_is_bound_to_some_data_sets_is_ranked_there_alone() -> None:
    cells, _ = study(clear_order(7, 3))
    cells = cells[(cells["algorithm"] != "A") | cells["dataset"].isin(["d0", "d1"])]
    design = study_design(cells, {"algorithms": [{"label": "A", "datasets": ["d0", "d1"]}, {"label": "B"}]})
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert (comparison.n, list(comparison.mean_ranks.index)) == (7, ["B", "C"])
    assert (comparison.bound, comparison.left_out, comparison.dropped) == (["A"], [], [])
    there = compare(Averages(cells), ACCURACY, CLEAN, within(design, ["d0", "d1"]))
    assert (there.n, list(there.mean_ranks.index), there.bound) == (2, ["A", "B", "C"], [])


def test_where_nobody_takes_part_everywhere_data_sets_are_dropped() -> None:
    cells, _ = study(clear_order(3, 2))
    cells = cells[cells["dataset"] != cells["algorithm"].map({"A": "d0", "B": "d2"})]
    bound = [{"label": "A", "datasets": ["d1", "d2"]}, {"label": "B", "datasets": ["d0", "d1"]}]
    comparison = compare(Averages(cells), ACCURACY, CLEAN, study_design(cells, {"algorithms": bound}))
    assert (comparison.n, comparison.k, comparison.bound) == (1, 2, [])
    assert [block.dataset for block in comparison.dropped] == ["d0", "d2"]


def test_tests_count_base_sets_not_tasks() -> None:
    """Forty tasks of four base sets are four independent data sets: nothing can be significant."""
    cells, design = study(clear_order(40, 3))
    few = replace(design, sources=[f"s{i % 4}" for i in range(40)])
    comparison = compare(Averages(cells), ACCURACY, CLEAN, few)
    assert (comparison.n, comparison.n_sources) == (40, 4)
    assert comparison.smallest_p == 3 / 2**3
    assert [pair.p for pair in comparison.pairs] == [2 / 2**4] * 3
    assert comparison.friedman is not None
    assert comparison.friedman.n == 4
    assert comparison.different == set()
    assert comparison.rank_intervals is None
    # The score of a base set is the mean over its tasks, and mean ranks are over tasks.
    np.testing.assert_allclose(comparison.base_scores.loc["s1"], comparison.scores.iloc[1::4].mean())
    assert compare(Averages(cells), ACCURACY, CLEAN, design).different == {
        *map(frozenset, ("AB", "AC", "BC"))
    }


def test_one_base_set_allows_no_test() -> None:
    cells, design = study(clear_order(8, 3))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, replace(design, sources=["digits"] * 8))
    assert (comparison.friedman, comparison.pairs, comparison.critical_difference) == (None, [], None)
    assert (comparison.beliefs, comparison.smallest_p) == ({}, 1.0)


def test_intervals_and_posteriors() -> None:
    cells, design = study(clear_order(20, 3))
    comparison = compare(Averages(cells), ACCURACY, CLEAN, design)
    assert comparison.rank_intervals is not None
    assert comparison.rank_intervals.to_numpy().tolist() == [[1, 1], [2, 2], [3, 3]]
    assert comparison.beliefs["A", "B"].better > 0.95
    assert list(comparison.beliefs) == [("A", "B"), ("A", "C"), ("B", "C")]


def test_means_are_paired_with_the_best_over_seeds() -> None:
    accuracy = np.array([[0.9, 0.88, 0.5], [0.5, 0.6, 0.7]])
    cells, design = study(accuracy, seeds=4)
    # A and B differ by 2 points on average, by 1 to 3 in single seeds: B is told apart from A.
    shift = {0: 0.01, 1: -0.01, 2: 0.01, 3: -0.01}
    here = (cells["dataset"] == "d0") & (cells["algorithm"] == "B")
    cells.loc[here, "test_accuracy"] += cells.loc[here, "seed"].map(shift)
    scores = Averages(cells).scores(ACCURACY, CLEAN, design)
    errors, level = scores.paired(highest=True)
    assert level.tolist() == [[True, False, False], [False, False, True]]
    assert np.isnan(errors[0, 0])
    assert errors[0, 1] == pytest.approx(np.std([0.01, -0.01, 0.01, -0.01], ddof=1) / 2)
    # Differences of 1 to 5 points in two seeds have a wide interval.
    cells, design = study(accuracy, seeds=2)
    here = (cells["dataset"] == "d0") & (cells["algorithm"] == "B")
    cells.loc[here, "test_accuracy"] += cells.loc[here, "seed"].map(shift)
    assert Averages(cells).scores(ACCURACY, CLEAN, design).paired(highest=True)[1][0].tolist() == [
        True,
        True,
        False,
    ]


def test_no_lead_where_ranks_and_tests_contradict_each_other() -> None:
    """A wins by a little on the 60 tasks of one base set, B on the single tasks of eleven others."""
    a = [0.901] * 60 + [0.5] * 11
    b = [0.9] * 60 + [0.6 + place / 100 for place in range(11)]
    table = pd.DataFrame({"A": a, "B": b})
    sources = ["many"] * 60 + [f"set {place}" for place in range(11)]
    ranks = block_ranks(table, ACCURACY.direction)
    found = Comparison(ACCURACY, CLEAN, table, ranks, mean_ranks(ranks), [], [], [], sources)
    assert found.mean_ranks.index[0] == "A"
    assert found.different == {frozenset("AB")}
    assert found.beaten == []
    # Without the base set of many tasks B leads, in ranks as in tests.
    rest = table.iloc[60:]
    ranks = block_ranks(rest, ACCURACY.direction)
    clear = Comparison(ACCURACY, CLEAN, rest, ranks, mean_ranks(ranks), [], [], [], sources[60:])
    assert clear.beaten == ["A"]


@pytest.mark.parametrize("order", ["AB", "BA"])
@pytest.mark.parametrize("metric", ["accuracy", "error"])
def test_no_lead_if_the_estimated_difference_is_0(metric: str, order: str) -> None:
    """B is ahead on six of 30 base sets and ties on the others."""
    measure, ahead = METRICS[metric], np.r_[[0.1, 0.1, 0.1, 0.2, 0.2, 0.2], np.zeros(24)]
    sign = 1 if measure.direction == "higher" else -1
    table = pd.DataFrame({"A": np.full(30, 0.5), "B": 0.5 + sign * ahead})[list(order)]
    ranks = block_ranks(table, measure.direction)
    sources = [f"set {place}" for place in range(30)]
    found = Comparison(measure, CLEAN, table, ranks, mean_ranks(ranks), [], [], [], sources)
    assert found.pairs[0].effect == 0
    assert found.different == {frozenset("AB")}
    assert found.beaten == []
