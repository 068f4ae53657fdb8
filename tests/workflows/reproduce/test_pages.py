"""Test the pages of papers: verdicts follow the results, and missing parts are reported."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import click
import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows import paper_commands
from singlepass.workflows.paper_commands import paper_names, reproduce
from singlepass.workflows.report.page.blocks import Text, files
from singlepass.workflows.report.plots.curve_plots import Axis
from singlepass.workflows.report.words.markup import markdown, with_block
from singlepass.workflows.reproduce import printed
from singlepass.workflows.reproduce.evidence import Evidence, NotThere, StudyEvidence, half_width
from singlepass.workflows.reproduce.figures import compared, curves_figure
from singlepass.workflows.reproduce.page import (
    CLAIMS_FILE,
    claims_table,
    papers_table,
    write_page,
    write_summary,
)
from singlepass.workflows.reproduce.paper import (
    Exhibit,
    Paper,
    declared,
    read_studies,
    small_form,
)
from singlepass.workflows.reproduce.papers import OWN, PAPERS
from singlepass.workflows.reproduce.verdicts import Check, Outcome, Verdict, holds_if, judge
from singlepass.workflows.running.progress import RunProgress
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

from ..synthetic_results import make_results

ROOT = Path(__file__).parents[3]
NAME = "budget-mira"


def _better(evidence: Evidence) -> Verdict:
    ranks = evidence["toy"].ranks(["AROW", "PA"], 0.1)
    return holds_if(ranks["AROW"] < ranks["PA"], f"mean ranks {ranks['AROW']:.2f} and {ranks['PA']:.2f}")


def _absent(evidence: Evidence) -> Verdict:
    return holds_if(evidence["other"].value("test_accuracy", "PA", "gauss") > 0, "")


def _silent(evidence: Evidence) -> Verdict:
    return Verdict(Outcome.UNTESTED, "the text says nothing of it")


CHECKS: dict[str, Check] = {
    "budget-1": _better,
    "budget-2": _absent,
    **dict.fromkeys((f"budget-{i}" for i in (3, 4, 5, 6)), _silent),
}


def _exhibit(evidence: Evidence) -> list[Text]:
    return [Text(f"{evidence['toy'].value('test_accuracy', 'PA', 'gauss'):.3f}")]


PAPER = Paper(
    NAME,
    "A <toy> paper",
    {"toy": {"full": "toy"}, "other": {"full": "other-large"}},
    [
        Exhibit("table-1", "Table 1", _exhibit),
        Exhibit("fig-1", "Fig. 1", lambda e: _exhibit(Evidence({"toy": "x"}))),
    ],
    CHECKS,
    [("Beware", "a toy.")],
)


def _evidence(results: StudyResults) -> Evidence:
    return Evidence({"toy": StudyEvidence("toy", results), "other": "other-large: has not been run"})


@pytest.fixture(scope="module")
def results() -> StudyResults:
    return make_results()


def _with_accuracy(results: StudyResults, algorithm: str, value: float) -> StudyResults:
    cells = results.cells.copy()
    cells.loc[cells["algorithm"] == algorithm, "test_accuracy"] = value
    return replace(results, cells=cells)


def test_a_verdict_follows_the_results(results: StudyResults) -> None:
    claims = printed.claims(NAME)
    before = [verdict for _, verdict in judge(claims, CHECKS, _evidence(results))]
    _, after = judge(claims, CHECKS, _evidence(_with_accuracy(results, "PA", 1.0)))[0]
    assert before[0].outcome is Outcome.HOLDS
    assert after.outcome is Outcome.DOES_NOT
    assert before[0].figures != after.figures
    assert before[1] == Verdict(Outcome.UNTESTED, "other-large: has not been run")
    assert before[2] == Verdict(Outcome.UNTESTED, "the text says nothing of it")


def test_no_claim_is_judged_by_an_unfinished_study(results: StudyResults) -> None:
    def first(given: StudyResults, *, repetitions: bool = False) -> Verdict:
        claims = printed.claims(NAME)[:1]
        return judge(claims, CHECKS, _evidence(given), repetitions=repetitions)[0][1]

    n, cells = len(results.cells), results.cells
    # The claim needs neither the data set nor the repetition that lack.
    part = replace(results, cells=cells[cells["dataset"] != "gauss"])
    lacking = Verdict(Outcome.UNTESTED, f"toy: {n - len(part.cells):,} of {n:,} cells were not run")
    assert first(part) == first(part, repetitions=True) == lacking
    short = replace(results, cells=cells[cells["seed"] < 3])
    assert first(short).outcome is Outcome.UNTESTED
    evidence = Evidence({"toy": StudyEvidence("toy", short)})
    assert evidence.judgeable(repetitions=True)["toy"].name == "toy"
    # A cell of a grid is missing too.
    evidence = Evidence({"toy": StudyEvidence("toy", replace(short, planned=n + 1))})
    with pytest.raises(NotThere, match="cells were not run"):
        evidence.judgeable(repetitions=True)["toy"]


def test_the_width_of_an_interval_counts_only_known_values() -> None:
    known = [1.0, 2.0, 3.0]
    assert half_width(pd.Series([*known, np.nan, np.nan])) == half_width(pd.Series(known)) > 2.4
    with pytest.raises(NotThere, match="needs two values, but the results have 1"):
        half_width(pd.Series([1.0, np.nan]))


def test_results_that_decide_nothing_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=f"^{tmp_path}: slack: has not been run$"):
        read_studies(OWN["slack"], str(tmp_path), small=False)


def test_a_page(results: StudyResults, tmp_path: Path) -> None:
    written = write_page(PAPER, _evidence(results), tmp_path)
    assert written[0] == tmp_path / "report.html"
    text = written[0].read_text("utf-8")
    assert "A &lt;toy&gt; paper" in text
    assert "Not here: x." in text
    assert "other-large: has not been run" in text
    with (tmp_path / CLAIMS_FILE).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert [row["verdict"] for row in rows] == ["holds", *["cannot be decided"] * 5]
    assert "mean ranks 1." in rows[0]["figures"]


def test_a_page_names_the_results_that_its_cells_come_from(results: StudyResults, tmp_path: Path) -> None:
    def page(base: list[str | None]) -> str:
        made = replace(results, cells=results.cells.assign(base=base), provenance={"cpu": "Abacus"})
        write_page(PAPER, _evidence(made), tmp_path)
        return (tmp_path / "report.md").read_text("utf-8")

    n = len(results.cells)
    assert f"| {n:,} cells of reference-1 |" in page(["reference-1"] * n)
    assert f"| {n - 1:,} cells of reference-1; singlepass –, –, Abacus |" in page(
        [*["reference-1"] * (n - 1), None]
    )
    assert "| singlepass –, –, Abacus |" in page([None] * n)


def test_figures_that_are_not_there(results: StudyResults) -> None:
    cells = results.cells.copy()
    gone = (cells["dataset"] == "gauss") & (cells["algorithm"] == "PA") & (cells["seed"] == 0)
    study = StudyEvidence("toy", replace(results, cells=cells[~gone]))
    with pytest.raises(NotThere, match="toy: cannot average test accuracy: PA on gauss is not complete"):
        study.value("test_accuracy", "PA", "gauss")
    assert study.table("test_accuracy", gaps=True).loc["gauss"].isna()["PA"]
    assert study.table("test_accuracy", datasets=["gauss"], least_seeds=3).notna().all(axis=None)
    with pytest.raises(NotThere, match="toy: has not been run with 7% label noise"):
        study.table("test_accuracy", 0.07)
    with pytest.raises(NotThere, match="no curve of mistakes of Nobody on gauss"):
        study.curve("mistakes", "Nobody", "gauss")
    with pytest.raises(NotThere, match="not known at 1,000,000"):
        study.at("mistakes", "PA", "gauss", 1e6)


def test_the_numbers_behind_a_figure_are_a_file(results: StudyResults) -> None:
    study = StudyEvidence("toy", results)
    curves = study.curves("mistakes", ["PA", "AROW"], "gauss", 0.1)
    blocks = curves_figure(study.view.styles, "fig-5", "Fig. 5", [("gauss", curves)], Axis(y="mistakes"))
    found = dict(files(blocks))
    assert {"tables/fig-5.csv", "figures/fig-5.svg"} <= set(found)
    assert "tables/fig-5.tex" not in found
    header, first, *rest = found["tables/fig-5.csv"].splitlines()
    assert header == "panel,algorithm,examples seen,mean,sd,seeds"
    assert first.startswith("gauss,PA,1.0,")
    assert len(rest) + 1 == 2 * curves[0].t.size


def test_curves_end_at_the_figures_of_the_cells(results: StudyResults) -> None:
    study = StudyEvidence("toy", results)
    curve = study.curve("mistakes", "PA", "gauss", 0.1)
    assert study.at("mistakes", "PA", "gauss", curve.t[-1], 0.1) == curve.mean[-1]


@pytest.mark.parametrize(
    ("ours", "theirs", "text"),
    [
        (81.14, 81.9, "81.1 (81.9, −0.8)"),
        (81.94, 81.9, "81.9 (81.9, ±0.0)"),
        (82.0, 81.9, "82.0 (81.9, +0.1)"),
        (float("nan"), 81.9, "– (81.9)"),
    ],
)
def test_ours_beside_the_printed(ours: float, theirs: float, text: str) -> None:
    assert compared(ours, theirs).text == text


def test_summary_in_readmes(results: StudyResults, tmp_path: Path) -> None:
    pages, readme = tmp_path / "pages", tmp_path / "README.md"
    write_page(PAPER, _evidence(results), pages / NAME)
    readme.write_text("before\n<!-- papers -->\nstale\n<!-- end of papers -->\nafter\n", encoding="utf-8")
    (pages / "README.md").write_text("<!-- claims -->\nstale\n<!-- end of claims -->\n", encoding="utf-8")
    write_summary(readme, pages, {NAME: PAPER})
    text = readme.read_text("utf-8")
    assert "| 6 | 3 | 1 | 0 | 0 | 0 | 0 | 2 |" in text
    assert f"(pages/{NAME}/report.md)" in text
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    claims = (pages / "README.md").read_text("utf-8")
    assert claims.count("\n| ") == 1 + 6
    assert "stale" not in text + claims
    readme.write_text("nothing", encoding="utf-8")
    with pytest.raises(InputError, match="no place for the table"):
        write_summary(readme, pages, {NAME: PAPER})


def test_a_summary_that_would_lose_a_paper_is_refused(results: StudyResults, tmp_path: Path) -> None:
    pages, readme = tmp_path / "reproduced", tmp_path / "README.md"
    write_page(PAPER, _evidence(results), pages / NAME)
    # The table has a paper whose page is in another folder.
    row = "| [Orabona](results/reference/projectron/report.md) | 11 |\n"
    readme.write_text(f"<!-- papers -->\n{row}<!-- end of papers -->\n", encoding="utf-8")
    papers = {NAME: PAPER, "projectron": PAPERS["projectron"]}
    with pytest.raises(InputError, match=r"reproduced/README.md: cannot be read .* verdicts are written"):
        write_summary(readme, pages, papers)
    (pages / "README.md").write_text("<!-- claims -->\n<!-- end of claims -->\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"table of papers has projectron, which has no page in .*: give --out"
    ):
        write_summary(readme, pages, papers)
    assert row in readme.read_text("utf-8")
    # Nothing is written if the second file lacks a mark.
    readme.write_text("<!-- papers -->\n<!-- end of papers -->\n", encoding="utf-8")
    with pytest.raises(InputError, match="no place for the table: add the lines <!-- own claims -->"):
        write_summary(readme, pages, {NAME: PAPER}, {NAME: PAPER})
    assert readme.read_text("utf-8") == "<!-- papers -->\n<!-- end of papers -->\n"


def test_the_file_of_a_paper_needs_no_remarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "paper.toml").write_text('title = "Mine"\n[studies]\n')
    monkeypatch.setattr(printed, "_FOLDER", tmp_path)
    assert declared("mine", {}, {}) == Paper("mine", "Mine", {}, [], {}, [])


def test_a_page_of_small_studies_says_so() -> None:
    paper = small_form(PAPERS["ramp-loss"])
    assert paper.title == f"{PAPERS['ramp-loss'].title} (small studies)"
    assert paper.remarks[0][0] == "Small studies"
    assert paper.remarks[0][1].endswith(" Whole: ramp-offline.")
    assert "Whole" not in small_form(PAPERS["projectron"]).remarks[0][1]


@pytest.mark.parametrize("name", OWN)
def test_a_paper_without_small_studies_is_refused_with_small(name: str) -> None:
    with pytest.raises(InputError, match=f"^--small: no study of '{name}' has a small form: leave"):
        reproduce.main([name, "--small"], standalone_mode=False)


def test_studies_that_run_whole_with_small_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(paper_commands, "_run", lambda *_: None)
    with pytest.raises(InputError, match="has not been run"):
        reproduce.main(["budget-mira", "--small", "--results", str(tmp_path)], standalone_mode=False)
    first = capsys.readouterr().err.splitlines()[0]
    assert first == "without a small form, run whole: budget-mira-noise, budget-mira-removal"


def test_the_help_of_reproduce_lists_all_papers() -> None:
    assert paper_names() == sorted([*PAPERS, *OWN])
    assert f"{', '.join(paper_names()[:-1])} or {paper_names()[-1]}" in str(reproduce.help)


def test_a_page_is_not_written_to_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"^s3://mine/page: is a URL, but only a local path works here"):
        reproduce.main(["slack", "--finished", "--out", "s3://mine/page"], standalone_mode=False)
    assert not list(tmp_path.iterdir())


def test_verdicts_of_small_studies_do_not_go_into_readmes(tmp_path: Path) -> None:
    given = [
        "slack",
        "--small",
        "--finished",
        "--results",
        str(tmp_path),
        "--readme",
        str(tmp_path / "README.md"),
    ]
    with pytest.raises(click.UsageError, match="--readme takes verdicts of full studies, but --small"):
        reproduce.main(given, standalone_mode=False)


@pytest.mark.parametrize("name", PAPERS)
def test_every_claim_of_a_paper_has_a_check(name: str) -> None:
    assert set(PAPERS[name].checks) == {claim.id for claim in printed.claims(name)}
    assert PAPERS[name].name == name


def test_readmes_have_the_verdicts_of_the_reference_pages() -> None:
    pages = ROOT / "results" / "reference"
    text = (ROOT / "README.md").read_text("utf-8")
    assert text == with_block(text, "papers", papers_table(pages, PAPERS, "results/reference"))
    text = (pages / "README.md").read_text("utf-8")
    assert text == with_block(text, "claims", claims_table(pages, PAPERS))
    assert text == with_block(text, "own claims", claims_table(pages, OWN, "said"))


@pytest.mark.parametrize("name", [*PAPERS, *OWN])
def test_the_reference_pages_have_the_remarks_of_the_code(name: str) -> None:
    folder, remarks = ROOT / "results" / "reference" / name, list({**PAPERS, **OWN}[name].remarks)
    lines = "".join(f"- **{markdown(key)}.** {markdown(text)}\n" for key, text in remarks)
    assert f"\n\n{lines}\n" in (folder / "report.md").read_text("utf-8")
    items = "".join(f"<li><b>{escape(key)}.</b> {escape(text)}</li>" for key, text in remarks)
    assert f"<ul>{items}</ul>" in (folder / "report.html").read_text("utf-8")


def test_results_of_another_study_are_not_taken_for_a_papers(tmp_path: Path) -> None:
    table = {
        "name": "mine",
        "datasets": [{"name": "gauss", "n_train": 20}],
        "algorithms": [{"name": "AROW"}],
    }
    folder = tmp_path / "budget-mira-noise"
    run_study(parse_study(table), str(folder), progress=RunProgress(), options=WorkerOptions(threads=1))
    with pytest.raises(InputError, match=f"^{folder}: results of study 'mine', not of 'budget-mira-noise'$"):
        read_studies(PAPERS["budget-mira"], str(tmp_path), small=False)
