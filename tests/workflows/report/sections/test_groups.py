"""Test ranks within groups of tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from ...synthetic_results import DATASETS, make_results
from ..report_page import csv_rows, render


@pytest.mark.slow
def test_groups_of_tasks_are_ranked(tmp_path: Path) -> None:
    out = tmp_path / "usual"
    _, markdown = render(make_results(), out)
    assert "| digits one-vs-rest (8) | 10% |" in markdown
    assert "| breast-cancer (1) | 30% |" in markdown
    head, *rows = csv_rows(out / "tables" / "mean-ranks-by-task-group.csv")
    assert head == ["group", "noise", "datasets", "algorithm", "mean_rank"]
    assert len(rows) == 4 * 3 * 7
    ranks = {(row[0], row[1], row[3]): float(row[4]) for row in rows}
    cells = make_results().cells
    cells = cells[(cells["noise"] == "0.1") & (cells["source"] == "digits")]
    means = cells.groupby(["dataset", "algorithm"])["test_accuracy"].mean().round(12).unstack()
    by_hand = means.rank(axis=1, ascending=False).mean()
    for name, rank in by_hand.items():
        assert ranks["digits one-vs-rest", "0.1", str(name)] == pytest.approx(rank)
    # With one group, or one data set per group, the groups would repeat another table.
    for place, names in enumerate((DATASETS[:3], ("a", "b"))):
        render(make_results(datasets=names, noise=(0.1,), seeds=1, tuned=()), tmp_path / str(place))
        assert not (tmp_path / str(place) / "tables" / "mean-ranks-by-task-group.csv").exists()
