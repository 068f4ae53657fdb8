"""Aggregation: means over seeds, complete blocks, what is missing, order of names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import (
    long_table,
    natural_key,
    primary_metric,
    scores,
    study_design,
)
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.noise import CLEAN, Noise


def cell(dataset: str, algorithm: str, seed: int, **given: Any) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "source": dataset.partition("[")[0],
        "algorithm": algorithm,
        "noise": "0",
        "seed": seed,
        "stage": "run",
        "status": "ok",
        "n_examples": 100,
        "mistakes": 20,
        "mistakes_clean": 10,
        "updates": 50,
        "support_vectors": 30,
        "kernel_evaluations": 1500,
        "queried": 25,
        "model_bytes": 2500,
        "test_accuracy": 0.9,
        "fit_seconds": 0.5,
        **given,
    }


def frame(*rows: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame(list(rows))


META = {"study": {"algorithms": [{"label": "B"}, {"label": "A"}], "noise": [0.0], "seeds": [0, 1]}}


def test_every_metric_by_hand() -> None:
    cells = frame(cell("d", "A", 0))
    values = {name: metric.of(cells).iloc[0] for name, metric in METRICS.items()}
    assert values == {
        "test_accuracy": 0.9,
        "clean_error": 0.1,
        "online_error": 0.2,
        "mistakes_clean": 10,
        "mistakes": 20,
        "update_rate": 0.5,
        "query_rate": 0.25,
        "support_vectors": 30,
        "evaluation_rate": 15,
        "model_kilobytes": 2.5,
        "examples_per_second": 200,
    }
    assert {name for name, metric in METRICS.items() if metric.direction == "higher"} == {
        "test_accuracy",
        "examples_per_second",
    }


def test_a_stream_too_short_for_the_clock_has_no_speed() -> None:
    assert METRICS["examples_per_second"].of(frame(cell("d", "A", 0, fit_seconds=0.0))).isna().all()


def test_values_as_printed() -> None:
    assert METRICS["test_accuracy"].show(0.95432, unit=True) == "95.4%"
    assert METRICS["mistakes"].show(12345.67) == "12,345.7"
    assert METRICS["mistakes"].show(float("nan")) == "–"


@pytest.mark.parametrize(
    ("metric", "values", "digits"),
    [
        ("test_accuracy", [0.5, 0.989, float("nan")], 1),
        ("test_accuracy", [0.5, 0.997], 2),
        ("clean_error", [0.5, 0.003], 2),
        ("clean_error", [0.5, 0.2], 1),
        ("mistakes", [0.003], 1),
        ("support_vectors", [float("nan")], 0),
    ],
)
def test_near_the_end_of_the_scale_another_digit_is_printed(
    metric: str, values: list[float], digits: int
) -> None:
    assert METRICS[metric].digits(values) == digits


def test_mean_and_spread_over_seeds() -> None:
    cells = frame(
        cell("d", "A", 0, test_accuracy=0.8),
        cell("d", "A", 1, test_accuracy=0.9),
        cell("d", "B", 0, test_accuracy=0.5),
        cell("d", "B", 1, test_accuracy=0.5),
        # Cells of the tuning grid and of other noise rates have no part in it.
        cell("d", "A", 7, test_accuracy=0.1, stage="tune"),
        cell("d", "A", 0, test_accuracy=0.1, noise="0.1"),
    )
    table = scores(cells, METRICS["test_accuracy"], CLEAN, study_design(cells, META))
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
    table = scores(cells, METRICS["test_accuracy"], CLEAN, study_design(cells, META))
    complete, dropped = table.complete_blocks(["A", "B"])
    assert list(complete.index) == ["full"]
    assert {block.dataset: block.missing for block in dropped} == {
        "gap": {"A": "seed 1", "B": "seed 1"},
        "none": {"B": "all seeds"},
    }
    alone, _ = table.complete_blocks(["A"])
    assert list(alone.index) == ["full", "none"]


def test_many_missing_seeds_are_cut_short() -> None:
    cells = frame(cell("d", "A", 9))
    design = study_design(cells, {"study": {"seeds": list(range(10))}})
    table = scores(cells, METRICS["test_accuracy"], CLEAN, design)
    assert table.missing == {("d", "A"): "seeds 0, 1, 2, 3, 4 and 4 more"}


def test_layout_follows_the_study_and_sorts_naturally() -> None:
    cells = frame(
        cell("usps[10]", "A", 1),
        cell("usps[2]", "A", 0),
        cell("gauss", "C", 0, status="failed"),
        cell("gauss", "A", 0, stage="tune"),
    )
    meta = {
        "study": {
            "datasets": [{"name": "usps", "label": None}, {"name": "gauss"}, {"name": "usps"}],
            "algorithms": [{"label": "B"}, {"label": "A"}],
            "noise": [0.3, 0.0],
            "seeds": [0, 1],
        },
        "planned": 60,
    }
    design = study_design(cells, meta)
    assert design.datasets == ["usps[2]", "usps[10]", "gauss"]
    assert design.sources == ["usps", "usps", "gauss"]
    # B was planned and has not run; C ran before the study was changed.
    assert design.algorithms == ["B", "A", "C"]
    assert design.noise == [CLEAN, Noise(0.3)]
    assert (design.ok, design.failed, design.tuning, design.planned, design.missing) == (2, 1, 1, 60, 56)


def test_layout_follows_labels_of_the_study() -> None:
    cells = frame(
        cell("gauss", "A", 0), cell("late[2]", "A", 0), cell("zebra", "A", 0), cell("stray", "A", 0)
    )
    cells["source"] = ["/x/gauss.csv", "usps", "usps", "aaa"]
    entries = [{"name": "usps", "label": "zebra"}, {"name": "usps", "label": "late"}, {"path": "x/gauss.csv"}]
    design = study_design(cells, {"study": {"datasets": entries, "algorithms": [{"label": "A"}]}})
    assert design.datasets == ["zebra", "late[2]", "gauss", "stray"]


def test_layout_without_a_plan_counts_what_it_met() -> None:
    cells = frame(cell("d", "A", 0), cell("d", "B", 1))
    design = study_design(cells, META)
    assert (design.planned, design.missing) == (4, 2)


def test_order_of_rows_in_the_store_does_not_matter() -> None:
    rows = [cell(f"d{i}", a, s, mistakes=i + s) for i in (1, 2, 10) for a in "AB" for s in (0, 1)]
    forth, back = frame(*rows), frame(*reversed(rows))
    metric = METRICS["mistakes"]
    one = long_table(forth, metric, study_design(forth, META))
    pd.testing.assert_frame_equal(one, long_table(back, metric, study_design(back, META)))
    assert one["dataset"].unique().tolist() == ["d1", "d2", "d10"]


def test_primary_metric() -> None:
    assert primary_metric(frame(cell("d", "A", 0))).name == "test_accuracy"
    assert primary_metric(frame(cell("d", "A", 0, test_accuracy=np.nan))).name == "clean_error"


def test_natural_key_takes_any_digits_apart() -> None:
    assert sorted(["b", "a10b2", "a2", "10", "9", ""], key=natural_key) == ["", "9", "10", "a2", "a10b2", "b"]
