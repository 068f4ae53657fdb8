"""Test rankings of chosen algorithms and data sets, and one algorithm against the others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.subsets import among
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts import head_to_head
from singlepass.workflows.report.sections import rankings

from ...synthetic_results import fail, make_results
from ..report_page import csv_rows, render


@pytest.mark.slow
def test_some_algorithms_are_ranked_among_themselves(tmp_path: Path) -> None:
    results = make_results(tuned=())
    chosen = ["PA-I", "AROW", "CW"]
    results.study["rankings"] = [
        {"title": "As in the <paper>", "algorithms": chosen},
        {"title": "Two", "algorithms": ["PA", "SOP"]},
    ]
    page, markdown = render(results, tmp_path)
    assert "rankings" in page.ids
    assert "As in the <paper>" in page.text
    assert "### As in the \\<paper\\>" in markdown
    head, *rows = csv_rows(tmp_path / "tables" / "ranking-1-mean-ranks-test-accuracy.csv")
    assert {row[0] for row in rows} == set(chosen)
    overall = [float(row[-1]) for row in rows]
    assert overall == sorted(overall)
    assert head == ["algorithm", "noise 0", "noise 0.1", "noise 0.3", "overall"]
    cells = results.cells[(results.cells["noise"] == "0.1") & results.cells["algorithm"].isin(chosen)]
    means = cells.groupby(["dataset", "algorithm"])["test_accuracy"].mean().round(12).unstack()
    by_hand = means.rank(axis=1, ascending=False).mean()
    assert {row[0]: float(row[2]) for row in rows} == pytest.approx(by_hand.to_dict())
    # Holm's correction covers the pairs of the ranking, not those of the whole study.
    whole, part = (
        {tuple(row[:3]): row for row in csv_rows(tmp_path / "tables" / f"{name}pairs-noise-0.1.csv")}
        for name in ("", "ranking-1-")
    )
    assert len(part) == 1 + 3
    pair = part["0.1", "PA-I", "AROW"], whole["0.1", "PA-I", "AROW"]
    place = part["noise", "first", "second"].index("p_holm")
    assert float(pair[0][place - 1]) == float(pair[1][place - 1])
    assert float(pair[0][place]) < float(pair[1][place])
    assert csv_rows(tmp_path / "tables" / "ranking-1-friedman.csv")[1][2:5] == ["11", "4", "3"]
    # Two algorithms have no Friedman test and so no table of it, but they have a diagram.
    assert not (tmp_path / "tables" / "ranking-2-friedman.csv").exists()
    assert len(list((tmp_path / "figures").glob("ranking-?-critical-difference-*.svg"))) == 2 * 3
    caption = (tmp_path / "tables" / "ranking-2-pairs-noise-0.tex").read_text(encoding="utf-8")
    assert "(Two)}" in caption


def test_a_ranking_of_some_data_sets(tmp_path: Path) -> None:
    results = make_results(algorithms=("AROW", "CW", "PA", "PA-I"), noise=(0.1,), seeds=2, tuned=())
    chosen = ["PA-I", "AROW", "CW"]
    results.study["rankings"] = [{"title": "Digits", "algorithms": chosen, "datasets": ["digits"]}]
    render(results, tmp_path)
    _, *rows = csv_rows(tmp_path / "tables" / "ranking-1-mean-ranks-test-accuracy.csv")
    cells = results.cells[results.cells["algorithm"].isin(chosen) & (results.cells["source"] == "digits")]
    means = cells[cells["noise"] == "0.1"].groupby(["dataset", "algorithm"])["test_accuracy"].mean()
    by_hand = means.round(12).unstack().rank(axis=1, ascending=False)
    assert len(by_hand) == 8
    assert {row[0]: float(row[1]) for row in rows} == pytest.approx(by_hand.mean().to_dict())


@pytest.mark.slow
def test_focus_draws_one_algorithm_against_the_others(tmp_path: Path) -> None:
    results = make_results(algorithms=("AROW", "CW", "PA-I"), seeds=2, tuned=())
    ranking = {"title": "Focus", "algorithms": ["PA-I", "AROW", "CW"], "focus": "AROW"}
    results.study["rankings"] = [ranking]
    page, markdown = render(results, tmp_path)
    cells = results.cells[results.cells["noise"] == "0.3"]
    means = cells.groupby(["dataset", "algorithm"])["test_accuracy"].mean().unstack()
    wins = int((means["AROW"] > means["CW"]).sum())
    assert f"CW, 30% label noise: {wins} of 11 tasks above the line" in page.text
    files = {path.name for path in (tmp_path / "figures").glob("ranking-1-*.svg")}
    scatters = {
        f"ranking-1-AROW-against-{name}-{p}.svg" for name in ("1-PA-I", "2-CW") for p in ("0", "0.1", "0.3")
    }
    others = {f"ranking-1-{name}.svg" for name in ("mean-by-noise", "increase-in-error", "error-reduction")}
    assert scatters | others == {name for name in files if "critical" not in name}
    assert all(f"(figures/{name})" in markdown for name in scatters | others)
    # Fewer noise levels if requested.
    ranking["focus_noise"] = [0.3]
    render(results, tmp_path / "one")
    drawn = (tmp_path / "one" / "figures").glob("ranking-1-AROW-against-*.svg")
    assert sorted(path.name[-7:] for path in drawn) == ["0.3.svg"] * 2


@pytest.mark.slow
def test_similar_labels_have_figures_of_their_own(tmp_path: Path) -> None:
    names = ("AROW", "PA (C=1)", "PA [C=1]", "感知机", "平均感知机")
    results = make_results(datasets=("a", "b"), algorithms=names, noise=(0.0,), seeds=1, tuned=())
    results.study["rankings"] = [{"title": "All", "algorithms": [*names], "focus": "AROW"}]
    render(results, tmp_path)
    figures = sorted((tmp_path / "figures").glob("ranking-1-AROW-against-*.svg"))
    assert len(figures) == 4
    for name, file in zip(names[1:], figures, strict=True):
        assert f"of AROW against {name}, 0% label noise" in file.read_text(encoding="utf-8")


def test_pictures_of_focus_show_the_numbers() -> None:
    results = make_results(tuned=())
    view = StudyView(results)
    comparisons = view.compared(METRICS["test_accuracy"], among(view.design, ["AROW", "CW", "PA"]))
    shown: list[tuple[str, NDArray[np.float64]]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            head_to_head,
            "error_reductions",
            lambda points, *rest: shown.extend((name, np.stack([x, y])) for name, x, y in points) or "<svg/>",
        )
        head_to_head.head_to_head(comparisons, "AROW", view.styles)
    errors = 1 - comparisons[1].scores
    others = (errors["CW"] + errors["PA"]) / 2
    by_hand = np.stack([100 * (1 - others), 100 * (others - errors["AROW"]) / others])
    assert [name for name, _ in shown] == ["0% noise", "10% noise", "30% noise"]
    np.testing.assert_allclose(shown[1][1], by_hand)


def test_a_level_of_focus_without_results_draws_nothing() -> None:
    made = make_results(datasets=("a", "b", "c"), algorithms=("PA", "AROW"), noise=(0.0, 0.1), tuned=())
    failed = made.cells[(made.cells["algorithm"] == "AROW") & (made.cells["noise"] == "0.1")]
    made = fail(made, failed["key"].tolist())
    made.study["rankings"] = [
        {"title": "Two", "algorithms": ["PA", "AROW"], "focus": "AROW", "focus_noise": [0.1]}
    ]
    found = rankings.section(StudyView(made))
    assert found is not None
    assert not any("against each of the others" in str(block) for block in found.blocks)


@pytest.mark.slow
@pytest.mark.parametrize("datasets", [("a",), ("a", "b")])
def test_rankings_of_few_data_sets(datasets: tuple[str, ...], tmp_path: Path) -> None:
    results = make_results(datasets=datasets, noise=(0.0,), seeds=1, tuned=())
    results.study["rankings"] = [{"title": "Two", "algorithms": ["PA", "SOP"], "focus": "PA"}]
    _, markdown = render(results, tmp_path)
    assert "### Two" in markdown
    assert (tmp_path / "tables" / "ranking-1-pairs-noise-0.csv").exists() == (len(datasets) > 1)
