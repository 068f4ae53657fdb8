"""When box plots are drawn."""

from __future__ import annotations

import pytest

from singlepass.workflows.report.page.blocks import Picture, walk
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import accuracy

from ...synthetic_results import make_results


@pytest.mark.parametrize(
    ("datasets", "seeds", "panels"), [("a", 5, 1), ("abcd", 5, 4), ("abcde", 5, 0), ("a", 4, 0)]
)
def test_box_plots_for_few_data_sets_and_enough_seeds(datasets: str, seeds: int, panels: int) -> None:
    results = make_results(
        datasets=tuple(datasets), algorithms=("A", "B"), noise=(0.1,), seeds=seeds, tuned=()
    )
    found = accuracy.section(StudyView(results))
    assert found is not None
    assert sum(isinstance(block, Picture) for block in walk(found.blocks)) == panels
