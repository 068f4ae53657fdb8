"""Test reports of studies with stopped or missing cells, and of studies that run once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.opening import opening
from singlepass.workflows.report.words import wording

from ..synthetic_results import fail, make_results, results_with_sizes, stop
from .report_page import render


def keys_of(results: StudyResults, algorithm: str, seeds: int = 99) -> list[str]:
    cells = results.cells
    return cells.loc[(cells["algorithm"] == algorithm) & (cells["seed"] < seeds), "key"].tolist()


def line(markdown: str, heading: str, name: str) -> str:
    """Return the row of a name in the first table below a heading."""
    part = markdown[markdown.index(heading) :]
    return next(row for row in part.splitlines() if row.startswith(f"| {name} |"))


@pytest.mark.slow
def test_a_stopped_algorithm_is_no_winner_and_says_how_far_it_came(tmp_path: Path) -> None:
    results = make_results(datasets=("breast-cancer",), noise=(0.0,), seeds=3, tuned=())
    _, markdown = render(stop(results, keys_of(results, "PA")), tmp_path)
    far = "stopped at 10 of 1,000"
    assert line(markdown, "## Test accuracy", "PA") == f"| PA | {far} |"
    assert line(markdown, "## Online mistakes", "PA") == f"| PA | {far} |"
    assert line(markdown, "Mistakes at the end", "PA") == f"| PA | {far} |"
    assert line(markdown, "## Updates and speed", "PA") == "| PA | – | – |"
    assert f"Not drawn: PA on breast-cancer, 0% label noise ({far})." in markdown
    assert "Left out of the ranks, without a value of test accuracy: PA." in markdown
    for table in (tmp_path / "tables").glob("*.csv"):
        # The table of algorithms has no results.
        if table.stem not in ("failed", "algorithms"):
            assert "PA" not in pd.read_csv(table).get("algorithm", pd.Series(dtype=str)).tolist(), table.name
    # The other rows equal those of a report without the algorithm.
    alone = results.cells[results.cells["algorithm"] != "PA"]
    _, without = render(replace(results, cells=alone), tmp_path / "without")
    for name in ("AROW", "CW"):
        for heading in ("## Test accuracy", "## Online mistakes", "## Updates and speed"):
            assert line(markdown, heading, name) == line(without, heading, name)


@pytest.mark.slow
def test_a_mean_without_its_stopped_seed_is_flagged_and_never_bold(tmp_path: Path) -> None:
    results = make_results(datasets=("breast-cancer",), noise=(0.0,), seeds=3, tuned=())
    # The best algorithm by far.
    _, whole = render(results, tmp_path / "whole")
    assert "**" in line(whole, "## Test accuracy", "AROW-H")
    _, markdown = render(stop(results, keys_of(results, "AROW-H", seeds=1)), tmp_path)
    assert re.fullmatch(r"\| AROW-H \| \d\d\.\d ⚠ \|", line(markdown, "## Test accuracy", "AROW-H"))
    assert (
        "Means without all of their seeds, never bold: AROW-H on breast-cancer (1 of 3 stopped at 10 of "
        "1,000)." in markdown
    )
    assert "Flagged: not all seeds have a result." in markdown
    assert "**" in line(markdown, "## Test accuracy", "CW")
    assert "nothing is ranked" in markdown


def test_the_opening_says_how_few_data_sets_are_ranked() -> None:
    whole = make_results(datasets=("a", "b", "c"), noise=(0.0, 0.1), seeds=2, tuned=())
    lost = whole.cells["dataset"].isin(["a", "c"]) & (whole.cells["noise"] == "0")
    view = StudyView(fail(whole, whole.cells.loc[lost & (whole.cells["algorithm"] == "PA"), "key"].tolist()))
    said = wording.headline(view.comparisons)
    assert ", on b, the only one of 3 data sets with a complete value of every algorithm; with one" in said
    [caution] = wording.cautions(view.design, view.coverage, view.comparisons)
    assert caution == (
        "Not all 3 data sets are ranked (1 at 0%): on the others some algorithm has no complete value of "
        "test accuracy."
    )


def test_a_finished_study_of_algorithms_bound_to_data_sets_lacks_nothing() -> None:
    whole = make_results(datasets=("a", "b", "c"), algorithms=("PA", "CW"), noise=(0.0, 0.1), tuned=())
    algorithms = [{"label": "PA", "datasets": ["b", "c"]}, {"label": "CW"}]
    cells = whole.cells[(whole.cells["algorithm"] != "PA") | (whole.cells["dataset"] != "a")]
    results = replace(whole, cells=cells, planned=len(cells), study=whole.study | {"algorithms": algorithms})
    view = StudyView(results)
    [caution] = wording.cautions(view.design, view.coverage, view.comparisons)
    assert caution.startswith("Run on some of the data sets only: PA. Fewer than two algorithms run on all")
    # A failed cell of the others is missing.
    lost = cells.loc[(cells["dataset"] == "c") & (cells["algorithm"] == "PA"), "key"].tolist()
    view = StudyView(fail(results, lost))
    *_, caution = wording.cautions(view.design, view.coverage, view.comparisons)
    assert caution.startswith("Not all 2 of these data sets are ranked (1 at 0%, 1 at 10%): on the others")
    algorithms[0]["datasets"] = ["b"]
    cells = cells[(cells["algorithm"] != "PA") | (cells["dataset"] == "b")]
    view = StudyView(replace(results, cells=cells, planned=len(cells)))
    assert len(wording.cautions(view.design, view.coverage, view.comparisons)) == 1
    assert ", on b, the only data set on which all algorithms run; with" in wording.headline(view.comparisons)


@pytest.mark.slow
def test_no_table_or_curve_has_figures_of_stopped_cells(tmp_path: Path) -> None:
    results = results_with_sizes(datasets=("breast-cancer", "gauss"), noise=(0.0,))
    stopped = stop(results, keys_of(results, "Forgetron"))
    render(stopped, tmp_path)
    named = {
        table.stem
        for table in (tmp_path / "tables").glob("*.csv")
        if "Forgetron" in pd.read_csv(table).get("algorithm", pd.Series(dtype=str)).tolist()
    }
    # The table of algorithms has no results.
    assert named == {"algorithms", "failed"}
    view = StudyView(stopped)
    for column in ("mistakes_clean", "support_vectors", "kernel_evaluations"):
        assert view.curves.series("gauss", view.design.noise[0], "Forgetron", column, "t") == []
        assert len(view.curves.series("gauss", view.design.noise[0], "AROW", "mistakes_clean", "t")) == 2


def test_an_unfinished_study_ranks_the_seeds_that_all_have(tmp_path: Path) -> None:
    """Check ranks when the third seed has finished one data set and part of the second."""
    whole = make_results(datasets=("breast-cancer", "gauss", "checkerboard"), noise=(0.0,), seeds=5, tuned=())
    cells = whole.cells
    first = (cells["seed"] == 2) & (cells["dataset"] == "breast-cancer")
    part = (cells["seed"] == 2) & (cells["dataset"] == "gauss") & (cells["algorithm"] < "C")
    view = StudyView(replace(whole, cells=cells[(cells["seed"] < 2) | first | part]))
    [comparison] = view.comparisons
    assert comparison.dropped == []
    seeds = {"breast-cancer": 3, "gauss": 2, "checkerboard": 2}
    for dataset, n in seeds.items():
        own = cells[(cells["dataset"] == dataset) & (cells["seed"] < n)]
        means = own.groupby("algorithm")["test_accuracy"].mean()
        assert comparison.scores.loc[dataset].to_dict() == pytest.approx(means.to_dict())
    _, markdown = render(view.results, tmp_path)
    missing = 5 * 21 - len(view.cells)
    assert f"not finished: {missing} cells of 105 not yet run. These are: seed 2 on gauss" in markdown
    assert "; seeds 3 to 4 (42 cells)." in markdown
    curves = view.curves.series("gauss", view.design.noise[0], "AROW", "mistakes_clean", "t")
    assert len(curves) == 2


def test_data_sets_without_a_cell_are_named(tmp_path: Path) -> None:
    whole = make_results(datasets=("breast-cancer", "gauss"), noise=(0.0,), seeds=2, tuned=())
    part = replace(whole, cells=whole.cells[whole.cells["dataset"] == "gauss"])
    _, markdown = render(part, tmp_path)
    assert "14 cells of 28 not yet run. These are: all of breast-cancer." in markdown
    assert "So far one data set has results, so these are its ranks" in markdown
    # Cells of grids alone are no results of a data set.
    first = whole.cells[whole.cells["dataset"] == "breast-cancer"].head(1)
    tuned = replace(part, cells=pd.concat([part.cells, first.assign(stage="tune")]))
    assert "These are: all of breast-cancer." in render(tuned, tmp_path)[1]


def test_cells_that_a_comparison_left_out_are_not_listed_as_not_run() -> None:
    whole = make_results(datasets=("a", "b"), algorithms=("PA", "CW"), noise=(0.0,), seeds=2, tuned=())
    failed = (whole.cells["algorithm"] == "PA") & (whole.cells["dataset"] == "a")
    cells = whole.cells[~failed].iloc[:-1]
    view = StudyView(replace(whole, cells=cells, planned=len(cells) + 1))
    assert "1 cell of 6 not yet run. Means and ranks" in str(opening(view))


@pytest.mark.slow
def test_one_run_has_no_deviations_and_whole_counts(tmp_path: Path) -> None:
    whole = make_results(datasets=("breast-cancer", "gauss"), noise=(0.0,), seeds=1, tuned=())
    once = replace(
        whole,
        cells=whole.cells.assign(order="given", repetitions=1),
        study=whole.study | {"seeds": [0, 1, 2, 3, 4], "order": "given", "metrics": ["mistakes_clean"]},
    )
    view = StudyView(once)
    assert view.design.repetitions == 1
    _, markdown = render(once, tmp_path)
    assert "±" not in markdown
    assert "deviation" not in markdown
    assert "5 seeds" not in markdown
    assert "mean over seeds" not in markdown.lower()
    row = line(markdown, "## Online mistakes", "gauss")
    assert re.fullmatch(r"\| gauss( \| \*{0,2}[\d,]+\*{0,2}){7} \|", row)
    assert "| 2 | 7 | 0% | 1 | 14 |" in markdown


def test_the_best_count_of_a_single_run_is_whole(tmp_path: Path) -> None:
    whole = make_results(datasets=("gauss",), noise=(0.0,), seeds=1, tuned=())
    cells = whole.cells.assign(mistakes_clean=whole.cells["mistakes_clean"] + 10_000)
    ranked = replace(whole, cells=cells, study=whole.study | {"metrics": ["mistakes_clean"]})
    _, markdown = render(ranked, tmp_path)
    best = int(cells["mistakes_clean"].min())
    assert f"has the lowest online mistakes against the clean labels ({best:,})" in markdown
