"""Test every metric by hand, which direction is better, and how values are printed."""

from __future__ import annotations

import pytest

from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.scoring import METRIC_NAMES, SCORINGS

from .cells import SCORED, cell, frame


def test_every_metric_by_hand() -> None:
    cells = frame(cell("d", "A", 0))
    values = {name: metric.of(cells).iloc[0] for name, metric in METRICS.items()}
    by_class = {name: values.pop(name) for name, scoring in SCORINGS.items() if scoring.needs == "classes"}
    assert {name: by_class[name] for name in ("error", "given_error", "test_error")} == pytest.approx(
        {"error": 0.16, "given_error": 0.28, "test_error": 0.16}
    )
    assert by_class["balanced_accuracy"] == pytest.approx((0.9 + 0.6) / 2)
    assert by_class["kappa_m"] == pytest.approx((0.84 - 0.8) / (1 - 0.8))
    assert by_class["kappa_temporal"] == pytest.approx((0.84 - 0.6) / (1 - 0.6))
    assert by_class["given_kappa_m"] == pytest.approx((0.72 - 0.8) / (1 - 0.8))
    assert by_class["test_f1"] == pytest.approx(0.6)
    assert values == {
        "test_accuracy": 0.9,
        "clean_error": 0.1,
        "online_error": 0.2,
        "mistakes_clean": 10,
        "mistakes": 20,
        "update_rate": 0.5,
        "query_rate": 0.25,
        "support_vectors": 30,
        "nonzeros": 40,
        "evaluation_rate": 15,
        "model_kilobytes": 2.5,
        "examples_per_second": 200,
        "ram_hours": 2500 * 0.5 / 2**30 / 3600,
        **{f"{side}{name}": 0.75 for name in SCORED for side in ("", "given_")},
        "regret": 12.5,
        "given_regret": 12.5,
        **{f"test_{name}": 0.625 for name in SCORED},
    }
    better = {name for name, metric in METRICS.items() if metric.direction == "higher"}
    assert {name for name in better if name not in SCORINGS} == {"test_accuracy", "examples_per_second"}
    losses = {"error", "hinge_loss", "log_loss", "regret"}
    assert all((scoring.measure in losses) == (name not in better) for name, scoring in SCORINGS.items())
    assert set(METRICS) == set(METRIC_NAMES)


def test_a_metric_that_can_be_asked_for_has_a_sentence_and_a_label_of_its_own() -> None:
    assert len({metric.label for metric in METRICS.values()}) == len(METRICS)
    for name in SCORINGS:
        assert METRICS[name].sentence.endswith(".")


def test_a_stream_too_short_for_the_clock_has_no_speed() -> None:
    assert METRICS["examples_per_second"].of(frame(cell("d", "A", 0, fit_seconds=0.0))).isna().all()


def test_values_as_printed() -> None:
    assert METRICS["test_accuracy"].show(0.95432, unit=True) == "95.4%"
    assert METRICS["mistakes"].show(12345.67) == "12,345.7"
    assert METRICS["mistakes"].show(float("nan")) == "–"
    assert METRICS["kappa"].show(-0.12345, unit=True) == "-0.123"
    assert METRICS["ram_hours"].show(0.000123) == "1.2e-04"
    # The loss of a learner that diverges.
    assert METRICS["hinge_loss"].show(1.5e199) == "1.500e+199"
    assert [METRICS["hinge_loss"].show(sign * float("inf")) for sign in (1, -1)] == ["∞", "-∞"]
    assert METRICS["hinge_loss"].show(123456789.0) == "123,456,789.000"
    # Two digits of a small model.
    sizes = [METRICS["model_kilobytes"].show(size) for size in (0.0, 0.0234, 0.467, 5.25, 467.2)]
    assert sizes == ["0", "0.023", "0.47", "5.2", "467"]


@pytest.mark.parametrize(
    ("metric", "values", "digits"),
    [
        ("test_accuracy", [0.5, 0.989, float("nan")], 1),
        ("test_accuracy", [0.5, 0.997], 2),
        ("clean_error", [0.5, 0.003], 2),
        ("clean_error", [0.5, 0.2], 1),
        ("mistakes", [0.003], 1),
        ("mistakes", [20.0, 10540.0], 0),
        ("support_vectors", [float("nan")], 0),
        ("model_kilobytes", [0.467, 300.0], 2),
        ("model_kilobytes", [46.7, 300.0], 0),
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
    counted += ["nonzeros"]
    kept = [field for field in cells if field.endswith(("_clean", "_given", "predicted"))]
    kept += [field for field in cells if field.startswith("test_")]
    for column in {*counted, *kept, "model_bytes"}:
        known = cells[column][0]
        cells[column] = [known, None if isinstance(known, list) else float("nan")]
    values = METRICS[name].of(cells)
    assert values.dtype == "float64"
    assert values.isna().tolist() == [False, True]
