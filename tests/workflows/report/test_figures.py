"""The report's pictures: what is drawn, and which of many."""

from __future__ import annotations

import re

import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import study_design
from singlepass.pipeline.analysis.comparison import Comparison, compare
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.noise import Noise
from singlepass.workflows.report.plots.box_plot import box_plot
from singlepass.workflows.report.plots.critical_difference import critical_difference
from singlepass.workflows.report.plots.line_plots import ranks_by_noise, swatch
from singlepass.workflows.report.plots.pictures import MAX_PANELS, boxes, curve_groups
from singlepass.workflows.report.plots.styles import series_styles
from singlepass.workflows.report.words.phrases import percent

from ..synthetic_results import make_results


def texts(svg: str) -> list[str]:
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if text.strip()]


def compared(results: StudyResults, noise: float) -> Comparison:
    design = study_design(results.cells, results.meta)
    return compare(results.cells, METRICS["test_accuracy"], Noise(noise), design)


@pytest.fixture(scope="module")
def usual() -> StudyResults:
    return make_results(tuned=())


def test_diagram_shows_every_algorithm_and_every_clique(usual: StudyResults) -> None:
    comparison = compared(usual, 0.1)
    svg = critical_difference(comparison)
    written = texts(svg)
    for name, rank in comparison.mean_ranks.items():
        assert f"{name}  {rank:.2f}" in written
    assert [text for text in written if text.isdigit()] == list("1234567")
    assert f"Nemenyi CD = {comparison.critical_difference:.2f}" in written
    assert comparison.cliques
    assert len(re.findall(r"stroke-width: 4[;\"]", svg)) == len(comparison.cliques)


def test_bars_span_their_clique(usual: StudyResults) -> None:
    """Of seven algorithms on a linear scale, a bar reaches 3 px beyond the first and the last it joins."""
    comparison = compared(usual, 0.3)
    svg = critical_difference(comparison)
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
    drawn = [critical_difference(comparison, comparisons) for comparison in comparisons]
    assert len({re.search(r'viewBox="0 0 ([\d.]+)', svg)[1] for svg in drawn}) == 1  # type: ignore[index]


def test_a_difference_wider_than_the_scale_says_so() -> None:
    comparison = compared(
        make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=1, tuned=()), 0.0
    )
    assert "Nemenyi CD = 1.39 (beyond the scale)" in texts(critical_difference(comparison))


def test_pictures_are_the_same_every_time(usual: StudyResults) -> None:
    comparison = compared(usual, 0.0)
    assert critical_difference(comparison) == critical_difference(comparison)
    style, other = series_styles(["A", "B"]).values()
    assert swatch(style) == swatch(style)
    assert swatch(style) != swatch(other)


def test_dollars_and_missing_glyphs_are_plain_text() -> None:
    svg = box_plot([("a$_2$b", [1.0, 2.0, 3.0]), ("学", [2.0])], ["a$_2$b", "学"], "test error, %")
    assert {"a$_2$b", "学", "test error, %"} <= set(texts(svg))


def test_ranks_by_noise_with_a_level_that_could_not_be_ranked() -> None:
    table = pd.DataFrame(
        {Noise(0.0): [1.0, 2.0], Noise(0.1): [float("nan")] * 2, Noise(0.2): [2.0, 1.0]}, index=["A", "_B"]
    )
    alone = texts(ranks_by_noise(table, ["A", "_B"]))
    assert {"0%", "10%", "20%"} <= set(alone)
    assert "A" not in alone
    # Matplotlib hides labels that start with an underscore unless told otherwise.
    assert {"A", "\u200b_B"} <= set(texts(ranks_by_noise(table, ["A", "_B"], legend=True)))


def test_curves_are_limited_and_say_so() -> None:
    noise = tuple(i / 20 for i in range(8))
    results = make_results(algorithms=("A",), noise=noise, seeds=1, tuned=())
    design = study_design(results.cells, results.meta)
    groups, note = curve_groups(results.cells, results.curves, design)
    assert [group.name for group in groups] == ["digits[0-vs-rest]", "breast-cancer"]
    assert sum(len(group.panels) for group in groups) == 12 <= MAX_PANELS
    assert "the first task of the first 2 base sets; 2 of 11 data sets in all" in note
    assert "Noise levels shown: 0%, 5%, 15%, 20%, 30%, 35%." in note


def test_no_curves_no_panels() -> None:
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    groups, _ = curve_groups(
        results.cells, results.curves.iloc[:0], study_design(results.cells, results.meta)
    )
    assert groups == []


@pytest.mark.parametrize(
    ("datasets", "seeds", "panels"), [("a", 5, 1), ("abcd", 5, 4), ("abcde", 5, 0), ("a", 4, 0)]
)
def test_box_plots_for_few_data_sets_and_enough_seeds(datasets: str, seeds: int, panels: int) -> None:
    results = make_results(
        datasets=tuple(datasets), algorithms=("A", "B"), noise=(0.1,), seeds=seeds, tuned=()
    )
    assert len(boxes(results.cells, study_design(results.cells, results.meta))) == panels


def test_rates_as_percentages() -> None:
    assert [percent(rate) for rate in (0.0, 0.05, 0.125, 0.3)] == ["0%", "5%", "12.5%", "30%"]
