"""Test aggregation: means over seeds, complete blocks, and missing cells."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import Averages, primary_metric
from singlepass.pipeline.analysis.design import study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.subsets import among, within
from singlepass.pipeline.noise import CLEAN

from .cells import cell, frame

STUDY = {"algorithms": [{"label": "B"}, {"label": "A"}], "noise": [0.0], "seeds": [0, 1]}


def test_mean_and_spread_over_seeds() -> None:
    cells = frame(
        cell("d", "A", 0, test_accuracy=0.8),
        cell("d", "A", 1, test_accuracy=0.9),
        cell("d", "B", 0, test_accuracy=0.5),
        cell("d", "B", 1, test_accuracy=0.5),
        # Cells of the tuning grid and of other noise rates are ignored.
        cell("d", "A", 7, test_accuracy=0.1, stage="tune"),
        cell("d", "A", 0, test_accuracy=0.1, noise="0.1"),
    )
    table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, study_design(cells, STUDY))
    assert list(table.mean.columns) == ["B", "A"]
    assert table.mean.loc["d", "A"] == pytest.approx(0.85)
    assert table.sd.loc["d", "A"] == pytest.approx(np.sqrt(0.005))
    assert table.count.loc["d", "B"] == 2
    assert table.missing == {}


def test_incomplete_blocks_are_dropped_and_say_what_they_lack() -> None:
    cells = frame(
        cell("full", "A", 0),
        cell("full", "A", 1),
        cell("full", "B", 0),
        cell("full", "B", 1),
        cell("gap", "A", 0),
        cell("gap", "B", 0),
        cell("gap", "B", 1, status="failed", test_accuracy=np.nan),
        cell("none", "A", 0),
        cell("none", "A", 1),
    )
    table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, study_design(cells, STUDY))
    complete, dropped = table.complete_blocks(["A", "B"])
    assert list(complete.index) == ["full"]
    assert {block.dataset: block.missing for block in dropped} == {
        "gap": {"A": "seed 1", "B": "seed 1"},
        "none": {"B": "all seeds"},
    }
    # No cell of A failed, but its second seed on "gap" has not run yet.
    alone, _ = table.complete_blocks(["A"])
    assert list(alone.index) == ["full", "gap", "none"]
    assert table.count["A"].tolist() == [2, 1, 2]


def test_what_lacks_a_value_says_why() -> None:
    cells = frame(
        cell("d", "A", 0, test_auc=np.nan),
        cell("d", "A", 1),
        cell("d", "B", 0, test_auc=np.nan),
        cell("stream", "A", 0, test_auc=np.nan, test_accuracy=np.nan),
    )
    bound = {"algorithms": [{"label": "A"}, {"label": "B"}, {"label": "C", "datasets": ["d"]}]}
    table = Averages(cells).scores(METRICS["test_auc"], CLEAN, study_design(cells, STUDY | bound))
    assert table.missing == {
        ("d", "A"): "undefined at seed 0",
        ("d", "B"): "seed 1, undefined at seed 0",
        ("d", "C"): "all seeds",
        ("stream", "A"): "no test part",
        ("stream", "B"): "all seeds",
        ("stream", "C"): "does not run there",
    }
    assert table.undefined == {("d", "A"), ("d", "B"), ("stream", "A")}


def test_many_missing_seeds_are_cut_short() -> None:
    cells = frame(cell("d", "A", 9))
    design = study_design(cells, {"seeds": list(range(10))})
    table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, design)
    assert table.missing == {("d", "A"): "seeds 0, 1, 2, 3, 4 and 4 more"}


def test_order_of_rows_in_the_store_does_not_matter() -> None:
    rows = [cell(f"d{i}", a, s, mistakes=i + s) for i in (1, 2, 10) for a in "AB" for s in (0, 1)]
    forth, back = frame(*rows), frame(*reversed(rows))
    metric = METRICS["mistakes"]
    one = Averages(forth).long_table(metric, study_design(forth, STUDY))
    pd.testing.assert_frame_equal(one, Averages(back).long_table(metric, study_design(back, STUDY)))
    assert one["dataset"].unique().tolist() == ["d1", "d2", "d10"]


def test_parts_of_a_study_have_the_means_of_the_whole() -> None:
    rows = [cell(f"d{i}", a, s, test_accuracy=0.1 * (i + s)) for i in range(3) for a in "AB" for s in (0, 1)]
    cells = frame(*rows, cell("d1", "A", 0, noise="0.1"))
    whole, averages = study_design(cells, STUDY), Averages(cells)
    metric = METRICS["test_accuracy"]
    part = among(within(whole, ["d1", "d2"]), ["A"])
    for noise in whole.noise:
        every, some = (averages.scores(metric, noise, design) for design in (whole, part))
        alone = Averages(cells).scores(metric, noise, part)
        for table in ("mean", "sd", "count"):
            expected = getattr(every, table).loc[["d1", "d2"], ["A"]]
            pd.testing.assert_frame_equal(getattr(some, table), expected)
            pd.testing.assert_frame_equal(getattr(some, table), getattr(alone, table))
        assert some.missing == alone.missing
    assert averages.measured(metric) == {"A", "B"}
    assert averages.scores(metric, whole.noise[1], part).missing == {
        ("d1", "A"): "seed 1",
        ("d2", "A"): "all seeds",
    }


def test_primary_metric() -> None:
    assert primary_metric(frame(cell("d", "A", 0)), {}).name == "test_accuracy"
    assert primary_metric(frame(cell("d", "A", 0, test_accuracy=np.nan)), {}).name == "clean_error"


def test_an_unfinished_study_compares_the_seeds_that_all_algorithms_have() -> None:
    """Cells run seed by seed, so the last seed exists for some algorithms only."""
    scores = {"A": [0.8, 0.7, 0.1], "B": [0.6, 0.9]}
    cells = frame(*(cell("d", a, s, test_accuracy=x) for a, own in scores.items() for s, x in enumerate(own)))
    design = study_design(cells, STUDY | {"seeds": [0, 1, 2, 3]})
    table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, design)
    assert table.mean.loc["d", ["A", "B"]].tolist() == pytest.approx([0.75, 0.75])
    assert table.count.loc["d", ["A", "B"]].tolist() == [2, 2]
    means, dropped = table.complete_blocks(["A", "B"])
    assert (list(means.index), dropped) == (["d"], [])
    # Taken alone, each algorithm has all the cells that it ran.
    alone = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, among(design, ["A"]))
    assert alone.count.loc["d", "A"] == 3


def test_stopped_and_failed_cells_leave_no_complete_mean() -> None:
    cells = frame(
        *(cell("d", name, seed) for name in "AB" for seed in (0, 1)),
        cell("d", "C", 0),
        # The store has the result up to the stop.
        cell("d", "C", 1, status="stopped", test_accuracy=1.0, n_examples=10),
    )
    table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, study_design(cells, STUDY))
    assert table.complete.loc["d"].to_dict() == {"A": True, "B": True, "C": False}
    assert table.mean.loc["d", "C"] == pytest.approx(0.9)
    assert table.complete_blocks(["A", "B", "C"])[0].empty
    assert list(table.complete_blocks(["A", "B"])[0].index) == ["d"]


def test_the_first_of_equal_means_is_the_best() -> None:
    """Sums in another order differ in the 17th digit."""
    scores = {"A": [0.1, 0.2, 0.3], "B": [0.3, 0.2, 0.1], "C": [0.1, 0.1, 0.1]}
    cells = frame(*(cell("d", a, s, test_accuracy=x) for a, own in scores.items() for s, x in enumerate(own)))
    for order in (list("ABC"), list("BAC")):
        study = {"algorithms": [{"label": name} for name in order], "seeds": [0, 1, 2]}
        table = Averages(cells).scores(METRICS["test_accuracy"], CLEAN, study_design(cells, study))
        for highest in (True, False):
            errors, _ = table.paired(highest=highest)
            best = 0 if highest else 2
            assert np.isnan(errors[0]).tolist() == [place == best for place in range(3)]


def test_huge_values_have_finite_deviations_and_hide_no_others() -> None:
    losses = {"A": [0.5, 0.52, 0.54], "B": [0.6, 0.63, 0.66], "far": [1e200, 2e200, 3e200]}
    cells = frame(
        *(cell("d", a, s, hinge_loss_clean=x) for a, own in losses.items() for s, x in enumerate(own))
    )
    study = {"algorithms": [{"label": name} for name in losses], "seeds": [0, 1, 2]}
    table = Averages(cells).scores(METRICS["hinge_loss"], CLEAN, study_design(cells, study))
    assert table.sd.loc["d"].tolist() == pytest.approx([0.02, 0.03, 1e200])
    errors, level = table.paired(highest=False)
    assert errors[0, 1:].tolist() == pytest.approx([0.01 / 3**0.5, 1e200 / 3**0.5])
    assert level[0].tolist() == [True, False, True]


def test_rounding_errors_of_large_values_are_no_differences() -> None:
    values = np.array([1234.5678, 1301.1, 1250.3])
    losses = {"A": values, "B": values + 3 * np.spacing(values), "C": 2 * values}
    cells = frame(
        *(cell("d", a, s, hinge_loss_clean=x) for a, own in losses.items() for s, x in enumerate(own))
    )
    study = {"algorithms": [{"label": name} for name in losses], "seeds": [0, 1, 2]}
    table = Averages(cells).scores(METRICS["hinge_loss"], CLEAN, study_design(cells, study))
    errors, level = table.paired(highest=False)
    assert level[0].tolist() == [True, True, False]
    assert errors[0, 1] == 0
