"""Test winners of grids: judged by given labels, ties settled, edges flagged."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from singlepass.pipeline.analysis.tuning import tuned_grids
from singlepass.pipeline.noise import Noise
from singlepass.pipeline.study.study import TUNING_SEED

GRID = {"r": [0.1, 1.0, 10.0]}


def table(
    scores: dict[float, tuple[int | None, int, str]], grid: dict[str, list[float]] = GRID
) -> pd.DataFrame:
    rows = [
        {
            "dataset": "d",
            "algorithm": "AROW",
            "noise": "0.1",
            "seed": TUNING_SEED,
            "stage": "tune",
            "status": status,
            "params": json.dumps({"loss": "hinge", "r": r}),
            "grid": json.dumps(grid),
            "validation_mistakes": validation,
            "validation_examples": 100,
            "n_examples": 100,
            "mistakes": mistakes,
            "support_vectors": None,
        }
        for r, (validation, mistakes, status) in scores.items()
    ]
    rows.append({**rows[0], "stage": "run", "mistakes": 0})
    return pd.DataFrame(rows).astype({"validation_mistakes": "float64"})


def test_the_fewest_online_mistakes_win() -> None:
    (tuned,) = tuned_grids(table({10.0: (None, 9, "ok"), 0.1: (None, 8, "ok"), 1.0: (None, 5, "ok")}))
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    assert tuned.criterion == "online mistakes"
    assert [score for _, score in tuned.scores] == [8, 5, 9]
    assert tuned.at_edge == ()
    assert tuned.group == ("d", "AROW", Noise(0.1))


def test_validation_mistakes_come_before_online_ones() -> None:
    (tuned,) = tuned_grids(table({0.1: (3, 1, "ok"), 1.0: (2, 9, "ok"), 10.0: (2, 7, "ok")}))
    assert tuned.winner == {"loss": "hinge", "r": 10.0}
    assert tuned.criterion == "validation mistakes"
    # A value between the smallest and the largest makes as few mistakes.
    assert tuned.at_edge == ()
    (tuned,) = tuned_grids(table({0.1: (3, 1, "ok"), 1.0: (2, 9, "ok"), 10.0: (1, 7, "ok")}))
    assert tuned.at_edge == ("r",)


def test_a_full_tie_goes_to_the_first_on_the_grid() -> None:
    (tuned,) = tuned_grids(table({10.0: (2, 7, "ok"), 1.0: (2, 7, "ok"), 0.1: (2, 7, "ok")}))
    assert tuned.winner == {"loss": "hinge", "r": 0.1}


def test_failed_points_never_win() -> None:
    (tuned,) = tuned_grids(table({0.1: (None, 0, "failed"), 1.0: (None, 5, "ok"), 10.0: (None, 6, "ok")}))
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    (tuned,) = tuned_grids(table({0.1: (None, 0, "failed")}))
    assert tuned.winner is None
    assert tuned.scores == []
    assert tuned.criterion == ""


def test_a_batch_baseline_is_tuned_without_online_mistakes() -> None:
    cells = table({0.1: (3, 0, "ok"), 10.0: (2, 0, "ok"), 1.0: (2, 0, "ok")})
    (tuned,) = tuned_grids(cells.assign(mistakes=float("nan")))
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    assert [score for _, score in tuned.scores] == [3, 2, 2]


def test_the_sparsest_is_no_worse_than_a_standard_error_of_the_best() -> None:
    # 16 mistakes of 100: the standard error is 3.67 mistakes.
    cells = table({0.1: (20, 1, "ok"), 1.0: (16, 9, "ok"), 10.0: (19, 7, "ok")})
    cells["support_vectors"] = pd.array([10, 30, 20, 0], dtype="Int64")
    (tuned,) = tuned_grids(cells)
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    (tuned,) = tuned_grids(cells, "sparsest")
    assert tuned.winner == {"loss": "hinge", "r": 10.0}
    assert tuned.criterion == "validation mistakes; within a standard error, support vectors"
    # Among models of equal size the better one wins.
    cells["support_vectors"] = pd.array([10, 20, 20, 0], dtype="Int64")
    assert tuned_grids(cells, "sparsest")[0].winner == {"loss": "hinge", "r": 1.0}


def test_an_edge_has_fewer_mistakes_than_all_between_also_for_the_sparsest() -> None:
    cells = table({0.1: (19, 1, "ok"), 1.0: (16, 9, "ok"), 10.0: (20, 7, "ok")})
    cells["support_vectors"] = pd.array([10, 30, 20, 0], dtype="Int64")
    (tuned,) = tuned_grids(cells, "sparsest")
    assert tuned.winner == {"loss": "hinge", "r": 0.1}
    assert tuned.at_edge == ()


def test_an_algorithm_may_have_a_rule_of_its_own() -> None:
    cells = table({0.1: (20, 1, "ok"), 1.0: (16, 9, "ok"), 10.0: (19, 7, "ok")})
    cells["support_vectors"] = pd.array([10, 30, 20, 0], dtype="Int64")
    label = cells["algorithm"].iloc[0]
    (tuned,) = tuned_grids(cells, "sparsest", {label: "best", "another": "sparsest"})
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    assert tuned.criterion == "validation mistakes"


def test_a_learner_without_support_vectors_has_no_sparsest_point() -> None:
    (tuned,) = tuned_grids(table({0.1: (17, 1, "ok"), 1.0: (16, 9, "ok")}), "sparsest")
    assert tuned.winner == {"loss": "hinge", "r": 1.0}
    assert tuned.criterion == "validation mistakes"


@pytest.mark.parametrize(("grid", "edge"), [({"r": [1.0, 2.0]}, ()), ({"r": [1.0, 2.0, 3.0]}, ("r",))])
def test_a_grid_of_two_values_has_no_edge(grid: dict[str, list[float]], edge: tuple[str, ...]) -> None:
    (tuned,) = tuned_grids(table({1.0: (None, 1, "ok")}, grid))
    assert tuned.at_edge == edge


def test_each_seed_has_its_own_winner() -> None:
    first = table({0.1: (None, 1, "ok"), 1.0: (None, 2, "ok")}).assign(seed=0)
    second = table({0.1: (None, 2, "ok"), 1.0: (None, 1, "ok")}).assign(seed=1)
    found = tuned_grids(pd.concat([second, first]))
    assert [(each.seed, each.winner and each.winner["r"]) for each in found] == [(0, 0.1), (1, 1.0)]
