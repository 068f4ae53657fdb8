"""Test that equal failures become one line."""

from __future__ import annotations

import pandas as pd

from singlepass.pipeline.analysis.failures import failures


def test_equal_failures_are_one() -> None:
    """Numbers in the messages may differ; the most frequent comes first, and successes do not count."""
    rows = [(f"d{n}", "AROW", "failed", f"ValueError: row {n} is odd\nmore") for n in range(5)]
    rows += [("d0", "Perceptron", "crashed", "never ended"), ("d0", "AROW", "ok", None)]
    rows += [("d1", "Mine", "failed", "algorithm 'Mine': learn() raised KeyError: 3 (mine.py, line 7)")]
    cells = pd.DataFrame(rows[::-1], columns=["dataset", "algorithm", "status", "error"])
    assert [str(failure) for failure in failures(cells)] == [
        "AROW failed in 5 cells (d0, d1, d2 and 2 more): ValueError: row 4 is odd",
        "Mine failed in 1 cell (d1): learn() raised KeyError: 3 (mine.py, line 7)",
        "Perceptron crashed in 1 cell (d0): never ended",
    ]
