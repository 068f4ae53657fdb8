"""Test the numbers on axes."""

from __future__ import annotations

import pytest

from singlepass.workflows.report.plots.svg import logarithmic_ticks, written


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (10, 60_000, ["10", "100", "1,000", "10,000"]),
        (2.2, 3.2, ["2.5", "3"]),
        (24, 43, ["25", "30", "35", "40"]),
        (1e6, 6e7, ["10⁶", "2·10⁶", "5·10⁶", "10⁷", "2·10⁷", "5·10⁷"]),
    ],
)
def test_numbers_of_a_logarithmic_axis(first: float, last: float, expected: list[str]) -> None:
    shown = [written(tick, last > 1e6) for tick in logarithmic_ticks(first, last)]
    assert set(expected) <= set(shown)
    assert len(shown) <= 8


def test_the_finest_scale_that_fits_is_taken() -> None:
    assert logarithmic_ticks(10, 60_000) == [10.0, 100.0, 1000.0, 10000.0]
    assert logarithmic_ticks(24, 43) == [25.0, 30.0, 35.0, 40.0]
    assert (written(20_000, large=False), written(2e6, large=True)) == ("20,000", "2·10⁶")
