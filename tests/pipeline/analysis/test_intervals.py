"""Test intervals of means over tasks of a few base sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from singlepass.pipeline.analysis.intervals import FEWEST, level_with_best, mean_intervals


def table(n: int, *, tasks: int = 1, seed: int = 0) -> tuple[pd.DataFrame, list[str]]:
    """Return values of three algorithms on tasks of n base sets, all tasks of a set alike."""
    values = np.random.RandomState(seed).normal([0.0, 0.2, 3.0], size=(n, 3))
    sources = [f"s{i}" for i in range(n) for _ in range(tasks)]
    return pd.DataFrame(np.repeat(values, tasks, axis=0), columns=list("ABC")), sources


def test_repeating_tasks_adds_no_certainty() -> None:
    once = mean_intervals(*table(12))
    often = mean_intervals(*table(12, tasks=9))
    assert once is not None
    assert often is not None
    pd.testing.assert_frame_equal(once, often)


def test_many_base_sets_have_students_interval() -> None:
    frame, sources = table(400)
    found = mean_intervals(frame, sources)
    assert found is not None
    half = stats.t.ppf(0.975, 399) * frame.std(ddof=1) / 20
    np.testing.assert_allclose(found["low"], frame.mean() - half, atol=0.015)
    np.testing.assert_allclose(found["high"], frame.mean() + half, atol=0.015)


def test_few_base_sets_have_none() -> None:
    assert mean_intervals(*table(FEWEST - 1, tasks=20)) is None
    assert mean_intervals(*table(FEWEST)) is not None


def test_bold_are_all_that_are_level_with_the_best() -> None:
    assert level_with_best(*table(12)).to_dict() == {"A": True, "B": True, "C": False}
    few = table(4)
    best = few[0].mean().idxmin()
    assert level_with_best(*few)[lambda x: x].index.tolist() == [best]
    assert level_with_best(*table(12), highest=True).to_dict() == {"A": False, "B": False, "C": True}


@pytest.mark.parametrize("n", [4, 9])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_17th_digit_tells_no_means_apart(n: int, sign: int) -> None:
    values = {"A": 0.1 + 0.2, "B": 0.3, "C": 0.5, "D": 1e6 + 1e-9}
    frame = sign * pd.DataFrame({name: np.full(n, value) for name, value in values.items()})
    sources = [f"s{i}" for i in range(n)]
    assert level_with_best(frame, sources, highest=sign < 0).tolist() == [True, True, False, False]
    assert level_with_best(frame[["D"]].assign(E=sign * 1e6), sources).all()


def test_huge_values_of_one_data_set_hide_no_difference_on_others() -> None:
    frame = pd.DataFrame({"A": np.full(9, 0.5), "B": np.full(9, 0.504)})
    frame.iloc[0] = 1e10
    assert level_with_best(frame, [f"s{i}" for i in range(9)]).tolist() == [True, False]


def test_an_infinite_value_of_one_base_set_hides_no_difference_on_others() -> None:
    frame = pd.DataFrame({"A": np.full(9, 0.5), "B": np.full(9, 0.4), "C": np.full(9, 0.6), "D": np.inf})
    frame.loc[0, ["B", "C"]] = np.inf
    # Samples without the first base set favor B.
    assert level_with_best(frame, [str(i) for i in range(9)]).tolist() == [True, True, False, False]


def test_the_interval_is_of_the_difference() -> None:
    """A small but steady difference is told apart, however much both vary between base sets."""
    noise = 5 * np.random.RandomState(1).standard_normal(20)
    frame = pd.DataFrame({"A": noise, "B": noise + 0.1})
    assert level_with_best(frame, [str(i) for i in range(20)]).to_dict() == {"A": True, "B": False}


def test_columns_of_one_value() -> None:
    frame = pd.DataFrame({"A": np.ones(10), "B": np.full(10, 2.0)})
    found = mean_intervals(frame, [str(i) for i in range(10)])
    assert found is not None
    assert found.to_numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]


@pytest.mark.parametrize("seed", [0, 1])
def test_the_seed_is_fixed(seed: int) -> None:
    first, second = (mean_intervals(*table(10, seed=seed)) for _ in range(2))
    assert first is not None
    assert second is not None
    pd.testing.assert_frame_equal(first, second)
