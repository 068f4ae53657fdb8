"""Test the page of the Projectron: verdicts follow the results, bounds follow the models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults, read_results
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.reproduce.again import Competitor, competitor, learn_again
from singlepass.workflows.reproduce.evidence import Evidence, NotThere, StudyEvidence
from singlepass.workflows.reproduce.page import write_page
from singlepass.workflows.reproduce.papers import PAPERS, projectron
from singlepass.workflows.reproduce.papers.projectron import BUDGETS, ETAS, bound_names, norm_bound
from singlepass.workflows.reproduce.verdicts import Outcome, Verdict
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study

from ..conftest import Silent
from .made_results import Figures, results_of, verdicts_on, with_figures

pytestmark = pytest.mark.slow

PAPER = PAPERS["projectron"]
OTHERS = ("Forgetron", "RBP", "Shifting Perceptron", "DistillCache Perceptron", "DistillCache MIRA")
FIGURES: Figures = {
    "Perceptron": {"mistakes": 1000, "support_vectors": 1000},
    "Perceptron, margin 1": {"mistakes": 800, "support_vectors": 2000},
    "Projectron 0": {"mistakes": 1000, "support_vectors": 1000, "seconds": 9, "power": 3.0},
    **{
        f"Projectron {eta}": {"mistakes": 1000 + 50 * eta, "support_vectors": 100 / eta, "level": 0.3}
        for eta in ETAS
    },
    **{f"Projectron++ {eta}": {"mistakes": 900, "support_vectors": 90} for eta in ETAS},
    **{f"{who} = {eta}": {"mistakes": 1300, "support_vectors": 100 / eta} for who in OTHERS for eta in ETAS},
    **{
        label: {"mistakes": mistakes, "support_vectors": size}
        for budget in BUDGETS
        for label, mistakes, size in zip(
            bound_names(budget), (1300, 1000, 900), (budget, 50, 50), strict=True
        )
    },
}
ALTERED = {
    "proj-1": ("Forgetron = 0.3", {"mistakes": 10.0}),
    "proj-2": ("Perceptron", {"mistakes": 10.0}),
    "proj-3": ("Projectron, U of B = 300", {"support_vectors": 400.0}),
    "proj-4": ("RBP = 0.8", {"mistakes": 999.0}),
    "proj-6": ("Projectron 0", {"mistakes": 1002.0}),
    "proj-7": ("Projectron 0.8", {"mistakes": 500.0}),
    "proj-10": ("Perceptron, margin 1", {"support_vectors": 900.0}),
    "proj-11": ("Projectron 0", {"power": 2.0}),
}


def verdicts(results: StudyResults, *ids: str) -> dict[str, Verdict]:
    evidence = Evidence({"sizes": StudyEvidence("projectron", results)})
    return verdicts_on(PAPER, evidence, *ids)


@pytest.fixture(scope="module")
def before() -> dict[str, Verdict]:
    return verdicts(results_of(FIGURES))


@pytest.mark.parametrize("claim", ALTERED)
def test_a_verdict_follows_the_results(claim: str, before: dict[str, Verdict]) -> None:
    algorithm, columns = ALTERED[claim]
    after = verdicts(results_of(with_figures(FIGURES, algorithm, **columns)), claim)[claim]
    assert before[claim].outcome is Outcome.HOLDS, before[claim].figures
    # The other budgets still support part of the third claim.
    assert after.outcome.partly if claim == "proj-3" else after.outcome is Outcome.DOES_NOT
    assert after.figures != before[claim].figures


def test_a_claim_holds_in_part_where_one_data_set_is_against_it(before: dict[str, Verdict]) -> None:
    results = results_of(FIGURES)
    cells = results.cells
    cells.loc[(cells["dataset"] == "gauss") & (cells["algorithm"] == "Forgetron = 0.5"), "mistakes"] = 10
    verdict = verdicts(results, "proj-1")["proj-1"]
    assert verdict.outcome.partly
    assert verdict.figures.endswith("; not for gauss")
    assert "usps 1,005 and 1,300" in verdict.figures


def test_earlier_budget_learners_are_also_those_of_distill_cache() -> None:
    found = verdicts(results_of(with_figures(FIGURES, "DistillCache Perceptron = 0.1", mistakes=900.0)))
    assert found["proj-4"].outcome is Outcome.DOES_NOT
    assert "gauss 900 and 1,000 (DistillCache Perceptron)" in found["proj-4"].figures


def test_what_was_not_run_cannot_be_tested() -> None:
    found = verdicts(results_of({name: FIGURES[name] for name in FIGURES if name != "Projectron 0.5"}))
    assert found["proj-1"].outcome is Outcome.UNTESTED
    assert "Projectron 0.5" in found["proj-1"].figures
    assert found["proj-10"].outcome is Outcome.HOLDS
    assert not any("  " in verdict.figures for verdict in found.values())


def test_the_page(tmp_path: Path) -> None:
    sized = {name: {**columns, "model_bytes": 2500 + 9} for name, columns in FIGURES.items()}
    evidence = Evidence({"sizes": StudyEvidence("projectron", results_of(sized))})
    text = write_page(PAPER, evidence, tmp_path)[0].read_text("utf-8")
    assert "not in the text" in text
    assert "1,300.0 (100)" in text
    # The model's size in kilobytes.
    assert "2.5" in (tmp_path / "tables" / "memory.csv").read_text("utf-8")
    assert "Not here" not in text
    for name in ("equal-sizes", "memory", "equal-bounds", "mistakes", "support"):
        assert (tmp_path / "tables" / f"{name}.csv").is_file()


@pytest.mark.parametrize("name", ["projectron", "projectron-small"])
def test_norm_bounds_of_the_studies_are_those_of_the_budgets(name: str) -> None:
    study, _ = find_study(name)
    given = {entry.label: entry.fixed for entry in study.algorithms}
    for budget in BUDGETS:
        forgetron, *projectrons = bound_names(budget)
        assert given[forgetron] == {"budget": budget}
        assert [given[each] for each in projectrons] == [{"U": round(norm_bound(budget), 4)}] * 2


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StudyResults:
    study, _ = find_study("projectron-small")
    needed = {"Projectron 0", *(f"Projectron {eta}" for eta in ETAS), "Projectron++, U of B = 1000"}
    needed |= {bound_names(budget)[1] for budget in BUDGETS}
    entries = [entry.model_dump(exclude_none=True) for entry in study.algorithms if entry.label in needed]
    table = {
        "name": "projectron",
        "seeds": 2,
        "datasets": [{"name": "breast-cancer", "parameters": {"gamma": 0.01}}],
        "algorithms": entries,
    }
    folder = str(tmp_path_factory.mktemp("finished"))
    run_study(parse_study(table), folder, progress=Silent(), options=WorkerOptions(threads=1))
    return read_results(folder)


def _with_mistakes(results: StudyResults, algorithm: str, mistakes: int) -> StudyResults:
    cells = results.cells.copy()
    cells.loc[cells["algorithm"] == algorithm, "mistakes"] = mistakes
    return replace(results, cells=cells)


def test_mistake_bounds_are_relative_to_models_learnt_again(finished: StudyResults) -> None:
    before = verdicts(finished, "proj-9")["proj-9"]
    after = verdicts(_with_mistakes(finished, "Projectron 0", 500), "proj-9")["proj-9"]
    assert before.outcome is Outcome.HOLDS, before.figures
    assert after.outcome is Outcome.DOES_NOT
    assert "500 of" in after.figures


def test_a_bound_that_exceeds_the_length_of_the_stream_tests_nothing(
    finished: StudyResults, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdicts(finished, "proj-8")["proj-8"]
    assert found.outcome is Outcome.UNTESTED
    assert found.figures.startswith("every bound exceeds the length of its stream; ")
    assert "; 569 examples)" in found.figures
    # The bound of the largest norm is 246 mistakes here; the other bounds exceed 569.
    easy = Competitor(np.full(569, 0.3))
    monkeypatch.setattr(projectron, "competitor", lambda *_: easy)
    assert verdicts(finished, "proj-8")["proj-8"].outcome is Outcome.HOLDS
    worse = _with_mistakes(finished, bound_names(1000)[1], 300)
    assert verdicts(worse, "proj-8")["proj-8"].outcome is Outcome.DOES_NOT


def test_nothing_is_said_of_a_model_that_comes_out_otherwise(finished: StudyResults) -> None:
    cells = finished.cells.copy()
    cells.loc[cells["algorithm"] == "Projectron++, U of B = 1000", "mistakes"] += 1
    found = verdicts(replace(finished, cells=cells), "proj-8")["proj-8"]
    assert found.outcome is Outcome.UNTESTED
    assert "training it again gives mistakes" in found.figures
    with pytest.raises(NotThere, match="Nobody on breast-cancer with seed 0 has no finished cell"):
        learn_again(StudyEvidence("projectron", finished), "Nobody", "breast-cancer")


def test_a_competitor_has_norm_one(finished: StudyResults) -> None:
    study = StudyEvidence("projectron", finished)
    g = competitor(study, "Projectron++, U of B = 1000", "breast-cancer")
    assert abs(g.margins).max() <= 1.0 + 1e-9
    # The zero function has a loss of 1 on every row.
    assert g.corollary_1(1e-9) == pytest.approx(4 * 569)
    assert g.corollary_1(2.0) <= g.corollary_1(1.0) * 1.01 < 4 * 569
    assert g.theorem_2(0.5) > g.theorem_2(0.0)
