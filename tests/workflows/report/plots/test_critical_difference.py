"""Test that the critical difference diagram has every algorithm, every clique and one scale."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import Averages
from singlepass.pipeline.analysis.comparison import Comparison, compare
from singlepass.pipeline.analysis.design import study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.noise import Noise
from singlepass.workflows.report.plots.critical_difference import critical_difference
from singlepass.workflows.report.plots.svg import styles_of

from ...synthetic_results import ALGORITHMS, make_results
from ..report_page import texts

STYLES = styles_of(ALGORITHMS)


def compared(results: StudyResults, noise: float) -> Comparison:
    design = study_design(results.cells, results.study)
    return compare(Averages(results.cells), METRICS["test_accuracy"], Noise(noise), design)


@pytest.fixture(scope="module")
def usual() -> StudyResults:
    return make_results(tuned=())


def test_diagram_shows_every_algorithm_and_every_clique(usual: StudyResults) -> None:
    comparison = compared(usual, 0.1)
    svg = critical_difference(comparison, STYLES)
    written = texts(svg)
    for name, rank in comparison.mean_ranks.items():
        assert f"{name}  {rank:.2f}" in written
    assert [text for text in written if text.isdigit()] == list("1234567")
    assert f"Nemenyi CD = {comparison.critical_difference:.2f}" in written
    assert comparison.cliques
    assert len(re.findall(r"stroke-width: 4[;\"]", svg)) == len(comparison.cliques)


@pytest.mark.slow
@pytest.mark.parametrize(("k", "numbered"), [(99, [*range(1, 100)]), (101, [1, *range(2, 101, 2)])])
def test_numbers_of_ranks_do_not_overlap(usual: StudyResults, k: int, numbered: list[int]) -> None:
    ranks = pd.DataFrame([range(1, k + 1)], columns=[f"A{i}" for i in range(k)], dtype=float)
    comparison = replace(compared(usual, 0.1), scores=ranks, ranks=ranks, mean_ranks=ranks.iloc[0])
    written = texts(critical_difference(comparison, styles_of(list(ranks))))
    assert [text for text in written if text.isdigit()] == [str(rank) for rank in numbered]


def test_bars_span_their_clique(usual: StudyResults) -> None:
    """Check that bars extend 3 px beyond the first and last of the algorithms that they join."""
    comparison = compared(usual, 0.3)
    svg = critical_difference(comparison, STYLES)
    lines = re.findall(
        r'<path d="M ([\d.]+) [\d.]+ \nL ([\d.]+) [\d.]+ \n"[^>]*stroke-width: (4|1\.2)[;"]', svg
    )
    [(start, stop)] = [(float(a), float(b)) for a, b, width in lines if width == "1.2"]
    unit = (stop - start) / 6
    bars = [(float(a), float(b)) for a, b, width in lines if width == "4"]
    for (left, right), group in zip(bars, comparison.cliques, strict=True):
        ranks = [comparison.mean_ranks[name] for name in group]
        assert left == pytest.approx(start + unit * (min(ranks) - 1) - 1, abs=0.01)
        assert right == pytest.approx(start + unit * (max(ranks) - 1) + 1, abs=0.01)


def test_diagrams_side_by_side_share_a_scale(usual: StudyResults) -> None:
    comparisons = [compared(usual, noise) for noise in (0.0, 0.1, 0.3)]
    drawn = [critical_difference(comparison, STYLES, comparisons) for comparison in comparisons]
    assert len({re.search(r'viewBox="0 0 ([\d.]+)', svg)[1] for svg in drawn}) == 1  # type: ignore[index]


def test_a_difference_wider_than_the_scale_says_so() -> None:
    comparison = compared(
        make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=1, tuned=()), 0.0
    )
    svg = critical_difference(comparison, styles_of(["A", "B"]))
    assert "Nemenyi CD = 1.39 (beyond the scale)" in texts(svg)


def test_the_same_every_time(usual: StudyResults) -> None:
    comparison = compared(usual, 0.0)
    assert critical_difference(comparison, STYLES) == critical_difference(comparison, STYLES)
