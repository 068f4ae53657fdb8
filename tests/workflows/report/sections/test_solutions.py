"""Test the report's plots of two-dimensional solutions, and the notes on those not drawn."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.learners import registry
from singlepass.pipeline.analysis.study_results import StudyResults, read_results
from singlepass.pipeline.run.replay import learn_again
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report.page.blocks import Legend, Panels, Section, Text
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import solutions
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

from ...conftest import Silent
from ...synthetic_results import make_results
from ..report_page import headings, paths, render

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


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    folder = str(tmp_path_factory.mktemp("flat"))
    run_study(parse_study(TABLE), folder, progress=Silent(), options=WorkerOptions(threads=1))
    return read_results(folder)


def section(results: StudyResults) -> Section:
    found = solutions.section(StudyView(results))
    assert found is not None
    return found


def groups(section: Section) -> list[Panels]:
    return [block for block in section.blocks if isinstance(block, Panels)]


def left_out(section: Section) -> str:
    """Return the note below the drawings."""
    last = section.blocks[-1]
    return last.text if isinstance(last, Text) and last.role == "note" else ""


def asking(results: StudyResults, *names: str) -> StudyResults:
    return replace(results, study={**results.study, "solutions": [*names]})


def test_a_study_without_the_key_has_no_section(tmp_path: Path) -> None:
    made = make_results(datasets=("gauss",), noise=(0.0,), seeds=2)
    assert solutions.section(StudyView(made)) is None
    _, markdown = render(made, tmp_path)
    assert "Solutions" not in headings(markdown)


@pytest.mark.slow
def test_the_section_is_in_every_form_of_the_report(finished: StudyResults, tmp_path: Path) -> None:
    page, markdown = render(finished, tmp_path)
    assert "solutions" in page.ids
    assert "Solutions" in headings(markdown)
    names = sorted(path.name for path in tmp_path.glob("figures/solutions-*.svg"))
    assert names == ["solutions-1-gauss.svg", "solutions-2-checkerboard.svg"]
    assert "![Solutions on gauss, 10% label noise, seed 3](figures/solutions-1-gauss.svg)" in markdown
    # Four panels for each of two data sets; the headings count the support vectors of the cells.
    cells = finished.cells
    rows = cells[(cells["stage"] == "run") & (cells["noise"] == "0.1") & (cells["seed"] == 3)]
    sizes = rows.set_index(["dataset", "algorithm"])["support_vectors"]
    for dataset in ("gauss", "checkerboard"):
        for name in ("SVC", "KernelPerceptron", "asked"):
            assert f"{name}: {sizes[dataset, name]:.0f} support vectors" in page.text


@pytest.mark.slow
def test_what_is_drawn_is_what_was_learnt(finished: StudyResults) -> None:
    found = section(finished)
    gauss, checkerboard = groups(found)
    for group, n in ((gauss, 600), (checkerboard, 60)):
        svc, _, _, linear = group.pictures
        # Without support vectors all of the first 600 points are drawn as points.
        assert sum(d.count("h0") for d in paths(linear.svg, "points")) == n
        assert paths(linear.svg, "support") == []
        heading = re.fullmatch(r"SVC: (\d+) support vectors", svc.heading)
        assert heading is not None
        assert rings(svc.svg) == int(heading[1]) < 600
        assert paths(svc.svg, "boundary")
    legend = next(block for block in found.blocks if isinstance(block, Legend))
    assert [name for name, _ in legend.entries][::2] == ["class -1", "class 1", "f = 0"]
    assert isinstance(found.blocks[0], Text)
    assert "At most 600 points are drawn" in found.blocks[0].text
    assert left_out(found) == ""
    assert groups(section(finished)) == [gauss, checkerboard]


def rings(svg: str) -> int:
    return sum(d.count("a2.9") + d.count("h5v5h-5z") for d in paths(svg, "support"))


@pytest.mark.slow
def test_of_many_support_vectors_some_of_each_class_are_drawn(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that both classes appear: a batch solver sorts support vectors by class."""
    cells = finished.cells
    chosen = (cells["algorithm"] == "SVC") & (cells["dataset"] == "gauss") & (cells["stage"] == "run")
    row = cells[chosen & (cells["noise"] == "0.1") & (cells["seed"] == 3)].to_dict("records")[0]
    sizes = learn_again(parse_study(TABLE), row).learner.n_support_
    for most, shown in ((600, sizes), (40, 40 * sizes / sizes.sum())):
        monkeypatch.setattr(solutions, "_MOST_POINTS", most)
        drawn = groups(section(asking(finished, "SVC")))[0].pictures[0].svg
        marks = [paths(drawn, "support-0")[0].count("a2.9"), paths(drawn, "support-1")[0].count("h5v5h-5z")]
        assert marks == pytest.approx(shown, abs=1.0)


@pytest.mark.slow
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
    monkeypatch.setattr(registry, "built_in", known.get)
    found = section(replace(finished, cells=cells))
    assert groups(found) == []
    for reason in (
        "SVC on gauss (learner 'SVC' is unknown: your own learners need --plugin FILE)",
        "KernelPerceptron on gauss (it was stopped at its time limit)",
        "asked on checkerboard (its cell has not run yet)",
        "Perceptron on checkerboard (its cell failed)",
    ):
        assert reason in left_out(found)
    _, markdown = render(replace(finished, cells=cells), tmp_path)
    assert "Left out: SVC on gauss" in markdown


@pytest.mark.slow
def test_a_learner_of_the_users_own_may_have_anything(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    perceptron = registry.available()["Perceptron"]

    class Odd(perceptron):  # type: ignore[misc, valid-type]
        support_vectors_ = property(lambda self: 1 / 0)

    class Wide(perceptron):  # type: ignore[misc, valid-type]
        def decision_function(self, X: Any) -> Any:
            return np.zeros((X.shape[0], 2))

    # Replace the learner as if it had been this class from the start.
    for learner, reason in (
        (Odd, "Perceptron on gauss (ZeroDivisionError: division by zero)"),
        (Wide, "Perceptron on gauss (the learner's decision_function does not return one score per row)"),
    ):
        learner.__module__ = perceptron.__module__
        known = {**registry.available(), "Perceptron": learner}
        with monkeypatch.context() as patched:
            patched.setattr(registry, "available", lambda known=known: known)
            patched.setattr(registry, "built_in", known.get)
            found = section(asking(finished, "Perceptron", "SVC"))
        assert reason in left_out(found)
        assert [len(group.pictures) for group in groups(found)] == [1, 1]


@pytest.mark.parametrize(
    ("change", "line"),
    [({}, "no data set of the study has two features"), ({"folds": 0}, "study: folds: 0 should be")],
)
def test_nothing_to_draw_is_said(change: dict[str, Any], line: str) -> None:
    made = make_results(datasets=("gauss",), algorithms=("AROW",), noise=(0.0,), seeds=2)
    found = section(replace(made, study={**made.study, "solutions": ["AROW"], **change}))
    assert groups(found) == []
    assert line in left_out(found)
