"""The report's pictures of two-dimensional solutions: what is drawn, and what is said of what is not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import registry
from singlepass.pipeline.analysis.averages import study_design
from singlepass.pipeline.analysis.study_results import StudyResults, read_results
from singlepass.pipeline.run.replay import learn_again
from singlepass.pipeline.study.study import parse_study
from singlepass.workflows.report.plots.solution_plots import Solution, solution_panel
from singlepass.workflows.report.plots.svg import inline
from singlepass.workflows.report.sections import solutions
from singlepass.workflows.report.sections.solutions import Solutions, solutions_section
from singlepass.workflows.run import run_study

from ..conftest import Silent
from ..synthetic_results import make_results
from .report_page import headings, render

TABLE = {
    "name": "flat",
    "protocol": "holdout",
    "noise": [0.1, 0.0],
    "seeds": [3, 1],
    "solutions": ["SVC", "KernelPerceptron", "asked", "Perceptron"],
    "datasets": [
        {"name": "gauss", "n_train": 700, "n_test": 40},
        {"name": "checkerboard", "n_train": 60, "n_test": 40, "dtype": "float64"},
        {"name": "breast-cancer"},
    ],
    "algorithms": [
        {"name": "KernelPerceptron", "gamma": 0.5},
        {"name": "KernelPerceptron", "gamma": 0.5, "label": "asked", "query": "greedy"},
        {"name": "SVC", "gamma": [0.5, 1.0]},
        {"name": "Perceptron"},
    ],
}
# Line widths and dashes by which the parts of a panel are known.
POINTS, BOUNDARY, MARGIN = r"stroke-width: 3(?:\.4)?;", r"stroke-width: 1.8;", r"stroke-dasharray"


def paths(svg: str, style: str) -> list[str]:
    return [d for d, rest in re.findall(r'<path d="([^"]*)"([^>]*)>', svg) if re.search(style, rest)]


def panel(scores: Any, n: int = 0, m: int = 0) -> str:
    """A solution on the unit square: n points, and m support vectors."""
    x = np.linspace(0.0, 1.0, 101)
    across, up = np.meshgrid(x, x)
    draws = np.random.RandomState(0)
    points, support = draws.random_sample((n, 2)), draws.random_sample((m, 2))
    codes, own = (np.arange(k, dtype=np.int32) % 2 for k in (n, m))
    return solution_panel(Solution("A", points, codes, support, own, x, x, scores(across, up)))


def test_lines_are_where_the_scores_say() -> None:
    """f = 4x - 1: zero at a quarter of the side, 1 at half of it, and -1 at the edge, where no line is."""
    svg = panel(lambda x, y: 4 * x - 1.0)
    [boundary] = paths(svg, BOUNDARY)
    [margin] = paths(svg, MARGIN)
    frame = [
        float(value) for d in paths(svg, "stroke-linecap: square") for value in re.findall(r"[ML] (\S+)", d)
    ]
    left, right = min(frame), max(frame)
    for line, share in ((boundary, 0.25), (margin, 0.5)):
        [where] = {float(value) for value in re.findall(r"[ML] (\S+)", line)}
        assert where == pytest.approx(left + share * (right - left), abs=0.02)


def test_scores_without_a_boundary_have_none() -> None:
    for svg in (
        panel(lambda x, y: 0 * x),
        panel(lambda x, y: np.full_like(x, np.nan)),
        panel(lambda x, y: x + 2),
    ):
        assert paths(svg, BOUNDARY) == paths(svg, MARGIN) == []


def test_every_point_and_support_vector_has_a_mark() -> None:
    svg = panel(lambda x, y: x - y, n=40, m=31)
    assert [d.count("h0") for d in paths(svg, POINTS)] == [20, 20]
    assert [d.count("a2.9") for d in paths(svg, "stroke-width: 1.31;")] == [16]
    assert [d.count("h5v5h-5z") for d in paths(svg, "stroke-width: 1.32;")] == [15]


def test_a_full_panel_is_small_and_the_same_every_time() -> None:
    def tiles(x: Any, y: Any) -> Any:
        return 1.5 * np.sin(13 * x) * np.sin(13 * y)

    svg = panel(tiles, n=600, m=600)
    assert len(inline(svg, "f1", "A")) < 60_000
    assert svg == panel(tiles, n=600, m=600)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    folder = str(tmp_path_factory.mktemp("flat"))
    run_study(parse_study(TABLE), folder, progress=Silent(), threads=1)
    return read_results(folder)


def section(results: StudyResults) -> Solutions:
    found = solutions_section(results, study_design(results.cells, results.meta))
    assert found is not None
    return found


def asking(results: StudyResults, *names: str) -> StudyResults:
    return replace(results, meta={**results.meta, "study": {**results.meta["study"], "solutions": [*names]}})


def test_a_study_without_the_key_has_no_section(tmp_path: Path) -> None:
    made = make_results(datasets=("gauss",), noise=(0.0,), seeds=2)
    assert solutions_section(made, study_design(made.cells, made.meta)) is None
    _, markdown = render(made, tmp_path)
    assert "Solutions" not in headings(markdown)


def test_the_section_is_in_every_form_of_the_report(finished: StudyResults, tmp_path: Path) -> None:
    page, markdown = render(finished, tmp_path)
    assert "solutions" in page.ids
    assert "Solutions" in headings(markdown)
    names = sorted(path.name for path in tmp_path.glob("figures/solutions-*.svg"))
    assert names == ["solutions-1-gauss.svg", "solutions-2-checkerboard.svg"]
    assert "![Solutions on gauss, 10% label noise, seed 3](figures/solutions-1-gauss.svg)" in markdown
    # Of two data sets four panels each, whose headings count the support vectors of the cells.
    cells = finished.cells
    rows = cells[(cells["stage"] == "run") & (cells["noise"] == "0.1") & (cells["seed"] == 3)]
    sizes = rows.set_index(["dataset", "algorithm"])["support_vectors"]
    for dataset in ("gauss", "checkerboard"):
        for name in ("SVC", "KernelPerceptron", "asked"):
            assert f"{name}: {sizes[dataset, name]:.0f} support vectors" in page.text


def test_what_is_drawn_is_what_was_learnt(finished: StudyResults) -> None:
    gauss, checkerboard = section(finished).groups
    for group, n in ((gauss, 600), (checkerboard, 60)):
        svc, _, _, linear = group.panels
        # Without support vectors all of the first 600 points are points.
        assert sum(d.count("h0") for d in paths(linear.svg, POINTS)) == n
        assert paths(linear.svg, r"stroke-width: 1.3[12];") == []
        rings = svc.svg.count("a2.9") + svc.svg.count("h5v5h-5z")
        heading = re.fullmatch(r"SVC: (\d+) support vectors", svc.heading)
        assert heading is not None
        assert rings == int(heading[1]) < 600
        assert paths(svc.svg, BOUNDARY)
    assert [name for name, _ in gauss.legend][::2] == ["class -1", "class 1", "f = 0"]
    found = section(finished)
    assert "At most 600 points are drawn" in found.note
    assert found.left_out == ""
    assert [group.sheet.content for group in found.groups] == [
        gauss.sheet.content,
        checkerboard.sheet.content,
    ]


def test_of_many_support_vectors_some_of_each_class_are_drawn(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch solver sorts them by class: the first would all be of one."""
    cells = finished.cells
    chosen = (cells["algorithm"] == "SVC") & (cells["dataset"] == "gauss") & (cells["stage"] == "run")
    row = cells[chosen & (cells["noise"] == "0.1") & (cells["seed"] == 3)].to_dict("records")[0]
    sizes = learn_again(parse_study(TABLE), row).learner.n_support_
    for most, shown in ((600, sizes), (40, 40 * sizes / sizes.sum())):
        monkeypatch.setattr(solutions, "_MOST_POINTS", most)
        drawn = section(asking(finished, "SVC")).groups[0].panels[0].svg
        assert (drawn.count("a2.9"), drawn.count("h5v5h-5z")) == pytest.approx(shown, abs=1.0)


def test_what_cannot_be_drawn_is_said(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cells = finished.cells.copy()
    first = (cells["noise"] == "0.1") & (cells["seed"] == 3) & (cells["stage"] == "run")
    cells.loc[first & (cells["algorithm"] == "KernelPerceptron"), "status"] = "stopped"
    cells.loc[first & (cells["algorithm"] == "Perceptron"), "status"] = "failed"
    cells = cells[~(first & (cells["algorithm"] == "asked"))]
    known = {name: learner for name, learner in registry.available().items() if name != "SVC"}
    monkeypatch.setattr(registry, "available", lambda: known)
    found = section(replace(finished, cells=cells))
    assert found.groups == []
    for reason in (
        "SVC on gauss (learner 'SVC' is not there: your own ones need --plugin FILE)",
        "KernelPerceptron on gauss (it was stopped at its time limit)",
        "asked on checkerboard (its cell has not run yet)",
        "Perceptron on checkerboard (its cell failed)",
    ):
        assert reason in found.left_out
    _, markdown = render(replace(finished, cells=cells), tmp_path)
    assert "Left out: SVC on gauss" in markdown


def test_a_learner_of_the_users_own_may_have_anything(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    perceptron = registry.available()["Perceptron"]

    class Odd(perceptron):  # type: ignore[misc, valid-type]
        support_vectors_ = property(lambda self: 1 / 0)

    class Wide(perceptron):  # type: ignore[misc, valid-type]
        def decision_function(self, X: Any) -> Any:
            return np.zeros((X.shape[0], 2))

    # As if they had been it from the start.
    for learner, reason in (
        (Odd, "Perceptron on gauss (ZeroDivisionError: division by zero)"),
        (Wide, "Perceptron on gauss (its decision_function does not return one score a row)"),
    ):
        known = {**registry.available(), "Perceptron": learner}
        with monkeypatch.context() as patched:
            patched.setattr(registry, "available", lambda known=known: known)
            found = section(asking(finished, "Perceptron", "SVC"))
        assert reason in found.left_out
        assert [len(group.panels) for group in found.groups] == [1, 1]


@pytest.mark.parametrize(
    ("change", "line"),
    [({}, "no data set of the study has two features"), ({"folds": 0}, "study: folds: 0 should be")],
)
def test_nothing_to_draw_is_said(change: dict[str, Any], line: str) -> None:
    made = make_results(datasets=("gauss",), algorithms=("AROW",), noise=(0.0,), seeds=2)
    study = {**made.meta["study"], "solutions": ["AROW"], **change}
    found = section(replace(made, meta={**made.meta, "study": study}))
    assert found.groups == []
    assert line in found.left_out
