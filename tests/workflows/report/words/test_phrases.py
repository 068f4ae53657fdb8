"""Test how sentences format numbers and names."""

from __future__ import annotations

import pytest

from singlepass.pipeline.analysis.progress import Shortfall
from singlepass.pipeline.noise import Noise
from singlepass.workflows.report.words.wording import (
    count,
    enumerate_names,
    equation,
    how_far,
    noise_levels,
    p_value,
    percent,
)


@pytest.mark.parametrize(
    ("names", "text"), [([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C")]
)
def test_lists_of_names(names: list[str], text: str) -> None:
    assert enumerate_names(names) == text


def test_numbers_in_words() -> None:
    assert (count(1, "seed"), count(0, "seed"), count(1200, "cell")) == ("1 seed", "0 seeds", "1,200 cells")
    assert (p_value(0.0), p_value(0.0005), p_value(1.0)) == ("<0.001", "0.001", "1.000")
    assert (p_value(0.0421), p_value(0.00004)) == ("0.042", "<0.001")
    assert (equation(0.0421), equation(0.00004)) == ("p = 0.042", "p < 0.001")


def test_rates_as_percentages() -> None:
    assert [percent(rate) for rate in (0.0, 0.025, 0.05, 0.1, 0.125)] == ["0%", "2.5%", "5%", "10%", "12.5%"]
    assert percent(0.3) == "30%"


def test_progress_of_unfinished_cells() -> None:
    assert how_far(Shortfall(3, stopped=3, reached=(10, 10), examples=569)) == "stopped at 10 of 569"
    some = Shortfall(5, stopped=1, failed=2, waiting=1, reached=(10, 10), examples=569)
    assert how_far(some) == "1 of 5 stopped at 10 of 569, 2 of 5 failed, 1 of 5 not run"


class Drifting(Noise):
    """Provide another noise model."""

    @property
    def short(self) -> str:
        return f"up to {super().short}"

    @property
    def label(self) -> str:
        return f"{self.short} drifting noise"


def test_levels_of_noise_are_named_by_their_model() -> None:
    assert noise_levels([Noise(0.1), Noise(0.3)]) == "10% and 30% label noise"
    assert noise_levels([Noise(0.1), Noise(0.2), Noise(0.3)]) == "10%, 20% and 30% label noise"
    assert noise_levels([Drifting(0.1), Drifting(0.3)]) == "up to 10% and up to 30% drifting noise"
    assert noise_levels([Noise(0.1), Drifting(0.3)]) == "10% label noise and up to 30% drifting noise"
