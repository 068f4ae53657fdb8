"""Test mean ranks and mean scores."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.figures import rank_diagram
from singlepass.workflows.report.parts.rank_tables import comparison_matrices, mean_rank_table
from singlepass.workflows.report.parts.score_tables import score_tables
from singlepass.workflows.report.words.wording import verdict

from ...synthetic_results import DATASETS, fail, make_results
from ..report_page import csv_rows, render


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("parts")
    return out, render(make_results(), out)[1]


@pytest.mark.slow
def test_mean_scores_are_over_the_data_sets_ranked(usual: tuple[Path, str], tmp_path: Path) -> None:
    out, markdown = usual
    head, *rows = csv_rows(out / "tables" / "mean-test-accuracy.csv")
    assert head == ["algorithm", "noise 0", "noise 0.1", "noise 0.3"]
    cells = make_results().cells
    cells = cells[cells["noise"] == "0.3"]
    by_hand = cells.groupby(["algorithm", "dataset"])["test_accuracy"].mean().groupby("algorithm").mean()
    assert {row[0]: float(row[3]) for row in rows} == pytest.approx(by_hand.to_dict())
    [line] = re.findall(r"^\| PA \| \d\d\.\d \| \d\d\.\d \| (\d\d\.\d) \|$", markdown, flags=re.MULTILINE)
    assert line == f"{100 * by_hand['PA']:.1f}"
    # A data set with a gap counts in neither table, and few data sets need no summary.
    render(fail(make_results(noise=(0.3,), tuned=()), ["10-0-0.3-1"]), tmp_path / "gap")
    _, first, *_ = csv_rows(tmp_path / "gap" / "tables" / "mean-test-accuracy.csv")
    alone = make_results(noise=(0.3,), tuned=()).cells
    alone = alone[(alone["algorithm"] == "Perceptron") & (alone["dataset"] != DATASETS[10])]
    assert float(first[1]) == pytest.approx(alone["test_accuracy"].mean())
    render(make_results(datasets=tuple("abcd"), noise=(0.3,), seeds=1, tuned=()), tmp_path / "few")
    assert not (tmp_path / "few" / "tables" / "mean-test-accuracy.csv").exists()


def test_data_sets_on_which_some_algorithms_do_not_run(tmp_path: Path) -> None:
    made = make_results(datasets=("a", "b"), algorithms=("A", "B", "C"), noise=(0.0,), seeds=2, tuned=())
    bound, own = {"A": "a", "B": "b"}, made.cells["dataset"]
    cells = made.cells[made.cells["algorithm"].map(bound).fillna(own) == own]
    algorithms = [
        entry | {"datasets": list(bound.get(entry["label"], ""))} for entry in made.study["algorithms"]
    ]
    study = {**made.study, "algorithms": algorithms}
    _, markdown = render(replace(made, cells=cells, planned=len(cells), study=study), tmp_path)
    assert "Without label noise no data set has a complete result of every algorithm" in markdown
    assert "Run on some of the data sets only: A and B. Fewer than two algorithms run on all" in markdown
    assert "| 0% | a | B: does not run there |" in markdown


def test_a_metric_that_is_undefined_at_some_seeds(tmp_path: Path) -> None:
    made = make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=2, tuned=())
    cells = made.cells.assign(auc_clean=0.75).astype({"auc_clean": "float64"})
    cells.loc[(cells["dataset"] == "a") & (cells["seed"] == 1), "auc_clean"] = float("nan")
    study = {**made.study, "metrics": ["auc"]}
    _, markdown = render(replace(made, cells=cells, study=study), tmp_path)
    assert "| 0% | a | A: undefined at seed 1; B: undefined at seed 1 |" in markdown
    assert "Flagged: the metric is undefined at some seeds." in markdown
    assert "not all seeds have a result" not in markdown


def test_algorithms_without_a_value_of_a_further_metric_are_named() -> None:
    made = make_results(datasets=("a", "b"), algorithms=("A", "B", "C"), noise=(0.0,), seeds=2, tuned=())
    cells = made.cells.assign(log_loss_clean=made.cells["algorithm"].map({"A": np.nan, "B": 0.5, "C": 0.6}))
    view = StudyView(replace(made, cells=cells, study=made.study | {"metrics": ["clean_error", "log_loss"]}))
    [other] = view.other_comparisons
    assert "Not ranked, without a value: A." in mean_rank_table(other, view.design).note
    assert "Not ranked" not in mean_rank_table(view.comparisons, view.design).note


def test_a_metric_without_a_value_of_any_algorithm() -> None:
    made = make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=2, tuned=())
    cells = made.cells.assign(log_loss_clean=np.nan)
    view = StudyView(replace(made, cells=cells, study=made.study | {"metrics": ["log_loss"]}))
    [comparison] = view.comparisons
    assert verdict(comparison) == "no algorithm has a value of online log loss, so nothing is ranked."
    with pytest.raises(InputError, match=r"ranks by online log loss need .* a value of it"):
        rank_diagram(comparison, view.styles, None, None)
    # The study names log loss, and every cell measures updates.
    view = StudyView(replace(made, cells=cells, study=made.study | {"metrics": ["clean_error", "log_loss"]}))
    for name in ("log_loss", "support_vectors"):
        with pytest.raises(InputError, match=f"metric '{name}': no finished cell has a value of it"):
            view.comparisons_of(name, None)
    with pytest.raises(InputError, match="metric 'auc' was not measured: name it in the study"):
        view.comparisons_of("auc", None)


def test_a_metric_that_is_undefined_on_every_data_set(tmp_path: Path) -> None:
    made = make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=2, tuned=())
    cells = made.cells.assign(auc_clean=0.75).astype({"auc_clean": "float64"})
    cells.loc[cells["seed"] == 1, "auc_clean"] = float("nan")
    study = {**made.study, "metrics": ["auc"]}
    _, markdown = render(replace(made, cells=cells, study=study), tmp_path)
    text = (
        "Without label noise online AUC is undefined at some seeds of every data set, so nothing is ranked."
    )
    assert text in markdown


@pytest.mark.slow
def test_ranks_by_model_of_noise(tmp_path: Path) -> None:
    long = {f"a class with a long name {i}": 0.1 for i in range(5)}
    levels = (
        0.0,
        0.1,
        {"model": "pair", "rate": 0.1},
        {"model": "pair", "rate": 0.3},
        {"model": "class", "rates": long},
    )
    made = make_results(noise=levels, algorithms=("A", "B", "C"), tuned=("A",), seeds=2)
    _, markdown = render(made, tmp_path)
    head, *rows = csv_rows(tmp_path / "tables" / "mean-ranks-test-accuracy-by-model.csv")
    assert head == ["algorithm", "uniform", "by class", "pair"]
    _, *every = csv_rows(tmp_path / "tables" / "mean-ranks-test-accuracy.csv")
    for ours, all_levels in zip(rows, every, strict=True):
        # Columns of all levels: none, 10%, by class, two of pairs.
        assert float(ours[1]) == pytest.approx(float(all_levels[2]))
        assert float(ours[3]) == pytest.approx((float(all_levels[4]) + float(all_levels[5])) / 2)
    assert "5 levels of 3 models" in markdown
    # File names stay short, and every file that the report mentions exists.
    assert (tmp_path / "figures" / "critical-difference-pair_0.1.svg").exists()
    for path in tmp_path.rglob("*"):
        assert len(path.name) < 120
    for name in re.findall(r"\((?:figures|tables)/([^)]*)\)", markdown):
        assert list(tmp_path.rglob(name)), name
    # With one noise model there is no such table.
    render(make_results(algorithms=("A", "B"), tuned=(), seeds=2), tmp_path / "one")
    assert not list(tmp_path.glob("one/tables/*by-model*"))


@pytest.mark.slow
def test_an_infinite_statistic_has_no_p_value(tmp_path: Path) -> None:
    results = make_results(datasets=("a", "b", "c"), algorithms=("A", "B", "C"), noise=(0.0,), tuned=())
    results.cells["test_accuracy"] = results.cells["algorithm"].map({"A": 0.7, "B": 0.8, "C": 0.9})
    _, markdown = render(results, tmp_path)
    assert "| 6.00 | 0.050 | ∞ | – |" in markdown
    head, row, *_ = csv_rows(tmp_path / "tables" / "friedman.csv")
    found = dict(zip(head, row, strict=True))
    assert (found["F"], found["F_p"]) == ("inf", "")
    assert float(found["chi2_p"]) == pytest.approx(0.0498, abs=1e-4)


def test_infinite_losses_are_shown() -> None:
    names = tuple("abcdef")
    made = make_results(datasets=names, algorithms=("A", "B", "C"), noise=(0.0,), seeds=2, tuned=())
    made = replace(made, study={**made.study, "metrics": ["hinge_loss"]})
    finite, cells = made.cells["mistakes_clean"] / 1000, made.cells
    everywhere = cells["algorithm"] == "A"
    once = everywhere & (cells["dataset"] == "a")
    wide, narrow = (
        replace(made, cells=cells.assign(hinge_loss_clean=finite.mask(infinite, np.inf)))
        for infinite in (everywhere, once)
    )
    matrices = [comparison_matrices(StudyView(results).comparisons)[0] for results in (wide, narrow)]
    assert [matrix.rows[0][-1].text for matrix in matrices] == ["−∞", "−0.042 (−∞ to +0.014)"]
    # One seed of A is missing on the first data set.
    view = StudyView(fail(wide, ["0-0-0.0-1"]))
    [table] = score_tables(view.averages, view.metric, view.design)
    assert [(row[1].text, row[1].flag) for row in table.rows] == [("∞", name == "a") for name in names]


def test_the_matrix_of_pairs_has_effects_and_tests(tmp_path: Path) -> None:
    made = make_results(datasets=tuple("abcdefghij"), algorithms=("A", "B", "C"), noise=(0.1,), tuned=())
    _, markdown = render(made, tmp_path)
    view = StudyView(made)
    [comparison] = view.comparisons
    best, second, _ = comparison.mean_ranks.index
    found = {frozenset({p.first, p.second}): p for p in comparison.pairs}
    pair = found[frozenset({best, second})]
    effect = 100 * abs(pair.effect)
    table = markdown[markdown.index("Every pair by test accuracy") :]
    assert re.search(rf"\| {best} \|  ?\| \**\+{effect:.1f} \([+−]?\d+\.\d to \+\d+\.\d\)", table)
    head, *rows = csv_rows(tmp_path / "tables" / "pairs-noise-0.1.csv")
    assert len(rows) == 3
    for row in rows:
        values = dict(zip(head, row, strict=True))
        assert sum(float(values[name]) for name in ("p_better", "p_equal", "p_worse")) == pytest.approx(1)
        assert float(values["low"]) <= float(values["effect"]) <= float(values["high"])
    assert (tmp_path / "tables" / "posterior-noise-0.1.csv").exists()
    # With ten base sets the table of mean ranks has intervals.
    assert re.search(rf"\| {best} \| \**\d\.\d\d \(\d\.\d\d to \d\.\d\d\)", markdown)


@pytest.mark.parametrize(
    ("sizes", "effects"),
    [
        ((24, 64, 1204), ["−0.040 (−0.040 to −0.040)", "−1.180 (−1.180 to −1.180)"]),
        # A rounding error does not choose the decimals.
        ((1000, 1000 + 1e-9, 6000), ["0.0 (0.0 to 0.0)", "−5.0 (−5.0 to −5.0)"]),
    ],
)
def test_effects_below_1_of_a_metric_without_decimals_are_shown(
    sizes: tuple[float, ...], effects: list[str]
) -> None:
    made = make_results(datasets=tuple("abcdef"), algorithms=("A", "B", "C"), noise=(0.0,), tuned=())
    sizes_of = made.cells["algorithm"].map(dict(zip("ABC", sizes, strict=True)))
    view = StudyView(
        replace(
            made,
            cells=made.cells.assign(model_bytes=sizes_of),
            study=made.study | {"metrics": ["model_kilobytes"]},
        )
    )
    [matrix] = comparison_matrices(view.comparisons)
    assert [entry.text for entry in matrix.rows[0][2:]] == effects


@pytest.mark.parametrize(
    ("datasets", "told"),
    [
        ("abcde", "without an interval, which needs six base sets."),
        ("abcdef", "with its uncorrected 95% interval."),
    ],
)
def test_the_note_of_the_matrix_promises_intervals_only_if_there_are_any(datasets: str, told: str) -> None:
    made = make_results(datasets=tuple(datasets), algorithms=("A", "B"), noise=(0.0,), seeds=1, tuned=())
    [matrix] = comparison_matrices(StudyView(made).comparisons)
    assert told in matrix.note
    assert (" to " in matrix.rows[0][2].text) == (len(datasets) == 6)
