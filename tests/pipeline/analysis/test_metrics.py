"""Every metric by hand, which way is better, and how values are printed."""

from __future__ import annotations

import pytest

from singlepass.pipeline.analysis.metrics import METRICS

from .cells import cell, frame


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


@pytest.mark.parametrize("name", METRICS)
def test_a_cell_without_a_result_has_no_value(name: str) -> None:
    cells = frame(cell("d", "A", 0), cell("d", "B", 0, n_examples=None, test_accuracy=None, fit_seconds=None))
    counted = ["mistakes", "mistakes_clean", "updates", "support_vectors", "kernel_evaluations", "queried"]
    cells.loc[1, [*counted, "model_bytes"]] = float("nan")
    values = METRICS[name].of(cells)
    assert values.dtype == "float64"
    assert values.isna().tolist() == [False, True]
