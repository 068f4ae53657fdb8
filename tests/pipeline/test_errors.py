"""Test hints with the nearest name."""

from __future__ import annotations

from singlepass.pipeline.errors import did_you_mean


def test_the_nearest_name_is_named_and_all_names_are_listed() -> None:
    assert did_you_mean("AORW", ["AROW", "Perceptron"]) == "did you mean 'AROW'? (known: AROW, Perceptron)"
    assert did_you_mean("x", []) == "none are known"
