"""Test ranks within data sets: direction, ties, and sums."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from singlepass.pipeline.analysis.ranks import block_ranks, mean_ranks, snap

TABLES = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=8),
    elements=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 3.0]),
)


def test_higher_is_better() -> None:
    scores = pd.DataFrame({"A": [0.9, 0.5], "B": [0.8, 0.7], "C": [0.7, 0.6]})
    assert block_ranks(scores, "higher").to_numpy().tolist() == [[1, 2, 3], [3, 1, 2]]


def test_lower_is_better() -> None:
    scores = pd.DataFrame({"A": [10.0, 30.0], "B": [20.0, 10.0], "C": [30.0, 20.0]})
    assert block_ranks(scores, "lower").to_numpy().tolist() == [[1, 2, 3], [3, 1, 2]]


def test_ties_share_the_average_rank() -> None:
    scores = pd.DataFrame([[0.9, 0.8, 0.8, 0.1], [0.5, 0.5, 0.5, 0.5]], columns=list("ABCD"))
    assert block_ranks(scores, "higher").to_numpy().tolist() == [[1, 2.5, 2.5, 4], [2.5, 2.5, 2.5, 2.5]]


def test_rounding_error_makes_no_difference() -> None:
    """Means of the same counts, summed in another order, differ in the last digit only."""
    scores = pd.DataFrame(
        {"A": [np.mean([0.1, 0.2, 0.3])], "B": [np.mean([0.3, 0.2, 0.1])], "C": [0.2 - 1e-9]}
    )
    assert block_ranks(scores, "higher").to_numpy().tolist() == [[1.5, 1.5, 3]]


def test_equal_scores_tie_next_to_half_of_the_last_digit() -> None:
    """Two means of equal totals over five seeds of 40,960 rows."""
    scores = pd.DataFrame({"A": [0.8000927734375001], "B": [0.8000927734374998]})
    assert block_ranks(scores, "lower").to_numpy().tolist() == [[1.5, 1.5]]


def test_infinite_scores_tie_with_each_other_only() -> None:
    scores = pd.DataFrame({"A": [np.inf], "B": [1e300], "C": [np.inf], "D": [-np.inf]})
    assert block_ranks(scores, "lower").to_numpy().tolist() == [[3.5, 2, 3.5, 1]]


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_real_differences_survive_at_any_size(size: float) -> None:
    scores = pd.DataFrame({"A": [size], "B": [size * (1 + 1e-9)]})
    assert block_ranks(scores, "lower").to_numpy().tolist() == [[1, 2]]


def test_a_gap_has_no_ranks() -> None:
    with pytest.raises(ValueError, match="complete blocks"):
        block_ranks(pd.DataFrame({"A": [0.5], "B": [np.nan]}), "higher")


def test_no_data_sets() -> None:
    assert block_ranks(pd.DataFrame({"A": [], "B": []}), "higher").shape == (0, 2)


@given(TABLES, st.sampled_from(["lower", "higher"]))
def test_every_block_adds_up(table: np.ndarray, direction: str) -> None:
    k = table.shape[1]
    ranks = block_ranks(pd.DataFrame(table), direction)  # type: ignore[arg-type]
    np.testing.assert_array_equal(ranks.sum(axis=1), k * (k + 1) / 2)


@given(TABLES)
def test_turning_the_scores_round_turns_the_ranks_round(table: np.ndarray) -> None:
    frame = pd.DataFrame(table)
    np.testing.assert_array_equal(block_ranks(frame, "lower"), block_ranks(-frame, "higher"))
    k = table.shape[1]
    np.testing.assert_array_equal(block_ranks(frame, "lower"), k + 1 - block_ranks(frame, "higher"))


def test_mean_ranks_come_best_first_and_keep_the_order_of_equals() -> None:
    ranks = pd.DataFrame({"A": [2.0, 3.0], "B": [2.5, 1.0], "C": [1.5, 2.0]})
    assert mean_ranks(ranks).to_dict() == {"B": 1.75, "C": 1.75, "A": 2.5}
    assert list(mean_ranks(ranks).index) == ["B", "C", "A"]


def test_snap_leaves_zero_and_nan_alone() -> None:
    assert snap(np.array([0.0, 0.0])).tolist() == [0, 0]
    assert np.isnan(snap(np.array([np.nan, 1.0]))).tolist() == [True, False]
    assert np.isfinite(snap(np.array([1e-305]))).all()
