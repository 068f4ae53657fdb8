"""Test learning curves: averages at common points of the stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.curves import CellCurves, mean_curves
from singlepass.pipeline.noise import Noise


def tables(
    points: Mapping[str, Mapping[int, float]], *, status: str = "ok"
) -> tuple[pd.DataFrame, pd.DataFrame]:
    cells = pd.DataFrame(
        [
            {
                "key": key,
                "dataset": "d",
                "algorithm": key[0],
                "noise": "0.1",
                "seed": int(key[1:]),
                "stage": "run",
                "status": status,
            }
            for key in points
        ]
    )
    curves = pd.DataFrame(
        [{"key": key, "t": t, "mistakes_clean": y} for key, line in points.items() for t, y in line.items()]
    )
    return cells, curves


def test_mean_and_spread_at_shared_checkpoints() -> None:
    cells, curves = tables({"A0": {1: 1, 10: 4, 100: 10}, "A1": {1: 1, 10: 6, 100: 14}, "B0": {1: 0, 100: 3}})
    a, b = mean_curves(CellCurves(cells, curves), dataset="d", noise=Noise(0.1), algorithms=["A", "B", "C"])
    assert (a.algorithm, a.seeds, a.t.tolist(), a.mean.tolist()) == ("A", 2, [1, 10, 100], [1, 5, 12])
    assert a.sd == pytest.approx([0, 2**0.5, 8**0.5])
    assert (b.algorithm, b.seeds, b.sd.tolist()) == ("B", 1, [0, 0])


def test_streams_of_different_length_meet_on_the_shorter() -> None:
    cells, curves = tables({"A0": {10: 10, 20: 20, 40: 30}, "A1": {5: 5, 30: 30}})
    [curve] = mean_curves(CellCurves(cells, curves), dataset="d", noise=Noise(0.1), algorithms=["A"])
    assert curve.t.tolist() == [5, 10, 20, 30]
    assert curve.mean.tolist() == [5, 10, 20, 27.5]


def test_only_finished_cells_of_that_data_set_and_noise() -> None:
    cells, curves = tables({"A0": {1: 1}})
    assert mean_curves(CellCurves(cells, curves), dataset="other", noise=Noise(0.1), algorithms=["A"]) == []
    assert mean_curves(CellCurves(cells, curves), dataset="d", noise=Noise(0.2), algorithms=["A"]) == []
    assert (
        mean_curves(CellCurves(cells, curves.iloc[:0]), dataset="d", noise=Noise(0.1), algorithms=["A"]) == []
    )
    failed, _ = tables({"A0": {1: 1}}, status="failed")
    assert mean_curves(CellCurves(failed, curves), dataset="d", noise=Noise(0.1), algorithms=["A"]) == []


def test_order_of_rows_in_the_store_does_not_matter() -> None:
    cells, curves = tables({"A0": {1: 1, 10: 4, 100: 10}, "A1": {1: 1, 10: 6, 100: 14}, "B0": {1: 0, 100: 3}})
    shuffled = CellCurves(cells.iloc[::-1], curves.sample(frac=1, random_state=3))
    asked = {"dataset": "d", "noise": Noise(0.1), "algorithms": ["A", "B"]}
    forth, back = (mean_curves(each, **asked) for each in (CellCurves(cells, curves), shuffled))
    for one, other in zip(forth, back, strict=True):
        assert (one.algorithm, one.t.tolist(), one.mean.tolist()) == (
            other.algorithm,
            other.t.tolist(),
            other.mean.tolist(),
        )


def test_a_stopped_cell_counts_as_far_as_it_came() -> None:
    cells, curves = tables({"A0": {10: 1, 20: 3}}, status="stopped")
    [curve] = mean_curves(CellCurves(cells, curves), dataset="d", noise=Noise(0.1), algorithms=["A"])
    assert curve.t.tolist() == [10, 20]


NAN = float("nan")


@pytest.mark.parametrize(
    ("a", "b", "t", "mean"),
    [
        ({1: 0.0, 2: NAN, 3: NAN, 4: 1.0}, {1: 0.5, 2: 0.5, 4: 0.5}, [1, 2, 3, 4], [0.25, NAN, NAN, 0.75]),
        # Gaps at the ends only shorten the curve.
        ({1: NAN, 2: 1.0, 3: 0.0}, {1: 0.5, 2: 0.0, 3: NAN}, [2], [0.5]),
        # With other checkpoints a gap reaches from the last defined value to the next.
        ({2: 1.0, 4: NAN, 6: 1.0}, {2: 0.0, 3: 0.0, 6: 0.0}, [2, 3, 4, 6], [0.5, NAN, NAN, 0.5]),
        ({1: NAN, 2: NAN}, {1: 0.5, 2: 0.5}, None, None),
    ],
)  # fmt: skip
def test_undefined_values_are_gaps(a: Any, b: Any, t: Any, mean: Any) -> None:
    cells, curves = tables({"A0": a, "A1": b})
    asked = {"dataset": "d", "noise": Noise(0.1), "algorithms": ["A"], "from_zero": False}
    found = mean_curves(CellCurves(cells, curves), **asked)
    if t is None:
        assert found == []
        return
    [curve] = found
    assert curve.t.tolist() == t
    assert curve.mean == pytest.approx(mean, nan_ok=True)
    assert np.isnan(curve.sd).tolist() == np.isnan(mean).tolist()


def test_the_gap_of_a_single_seed_has_no_spread() -> None:
    cells, curves = tables({"A0": {1: 0.0, 2: NAN, 3: 1.0}})
    asked = {"dataset": "d", "noise": Noise(0.1), "algorithms": ["A"], "from_zero": False}
    [curve] = mean_curves(CellCurves(cells, curves), **asked)
    assert curve.sd == pytest.approx([0.0, NAN, 0.0], nan_ok=True)


def test_a_column_as_a_function_of_another() -> None:
    cells, curves = tables({"A0": {10: 1, 20: 3, 30: 3}, "A1": {10: 2, 20: 4, 30: 6}})
    curves["accuracy"] = [0.5, 0.7, 0.75, 0.6, 0.7, 0.8]
    [curve] = mean_curves(
        CellCurves(cells, curves),
        dataset="d",
        noise=Noise(0.1),
        algorithms=["A"],
        column="accuracy",
        against="mistakes_clean",
        from_zero=False,
    )
    # The points run from the later start, 2, to the earlier end, 3; the last of two values counts.
    assert curve.t.tolist() == [2, 3]
    assert curve.mean == pytest.approx([((0.5 + 0.75) / 2 + 0.6) / 2, (0.75 + 0.65) / 2])


def test_huge_values_have_a_finite_spread() -> None:
    cells, curves = tables({"A0": {1: 0.5, 10: 1e200}, "A1": {1: 0.7, 10: 3e200}})
    [curve] = mean_curves(CellCurves(cells, curves), dataset="d", noise=Noise(0.1), algorithms=["A"])
    assert curve.sd.tolist() == pytest.approx([0.1 * 2**0.5, 1e200 * 2**0.5])
