"""Test on a few simulated studies that intervals cover and that headlines claim no false lead."""

from __future__ import annotations

import pytest

from .coverage import Kind, measure


@pytest.mark.slow
def test_intervals_cover_and_headlines_are_careful() -> None:
    """120 studies have 600 intervals; `coverage.py` itself measures thousands."""
    [found] = measure(120, [Kind(12, 10, 0.5)]).to_dict("records")
    assert found["covered"] > 0.9
    assert found["false leads"] < 0.11
