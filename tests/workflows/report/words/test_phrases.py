"""Numbers and names as a sentence says them."""

from __future__ import annotations

import pytest

from singlepass.workflows.report.words.phrases import count, enumerate_names, p_value, percent


@pytest.mark.parametrize(("names", "text"), [([], ""), (["A"], "A"), (["A", "B"], "A and B")])
def test_lists_of_names(names: list[str], text: str) -> None:
    assert enumerate_names(names) == text


def test_numbers_in_words() -> None:
    assert (count(1, "seed"), count(0, "seed")) == ("1 seed", "0 seeds")
    assert (p_value(0.0), p_value(0.0005), p_value(1.0)) == ("<0.001", "0.001", "1.000")


def test_rates_as_percentages() -> None:
    assert [percent(rate) for rate in (0.0, 0.05, 0.125, 0.3)] == ["0%", "5%", "12.5%", "30%"]
