"""Test that the report is complete, self-contained, escaped, and correct with few inputs."""

from __future__ import annotations

import base64
import gc
import hashlib
import html
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.workflows.report import render_report, write_report
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.embedded import numbers

from ..synthetic_results import DATASETS, diverging_results, fail, make_results
from .report_page import Page, csv_rows, headings, render

EVIL = ("A<b>&_$^{%}", "_under\\score", '"quoted" ~tilde # é', "long " * 12)


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Page, str]:
    out = tmp_path_factory.mktemp("usual")
    return (out, *render(make_results(), out))


def test_every_section_is_there(usual: tuple[Path, Page, str]) -> None:
    _, page, markdown = usual
    assert headings(markdown) == [
        "Mean ranks",
        "Significance",
        "Groups of tasks",
        "Test accuracy",
        "Online mistakes",
        "Learning curves",
        "Updates and speed",
        "Data sets and algorithms",
        "Tuning",
        "Provenance and how to reproduce",
    ]
    sections = {
        "ranks",
        "significance",
        "groups",
        "accuracy",
        "mistakes",
        "curves",
        "cost",
        "data",
        "tuning",
        "provenance",
    }
    assert sections <= set(page.ids)
    # One panel of ranks, three diagrams, learning curves of four base sets at three noise levels, and two
    # legends of seven lines.
    assert page.tags["figure"] == 1 + 3 + 4 * 3
    assert page.tags["svg"] == page.tags["figure"] + 2 * 7


def test_page_needs_nothing_from_outside(usual: tuple[Path, Page, str]) -> None:
    out, page, _ = usual
    text = (out / "report.html").read_text(encoding="utf-8")
    # The numbers and the script, whose hash and that of the style sheet are all that the policy allows.
    assert page.tags["script"] == 2
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    found = re.search(r"<style>(.*?)</style>.*<script type=\"module\">(.*?)</script>", text, flags=re.DOTALL)
    assert found is not None
    style, script = (
        base64.b64encode(hashlib.sha256(each.encode()).digest()).decode() for each in found.groups()
    )
    assert html.unescape(policy[1]) == (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert " style=" not in text
    assert "link" not in page.tags
    assert "@import" not in text
    # The script names the namespace of SVG, which nothing fetches.
    assert not re.findall(r"\b(?:https?|ftp|file):(?!//www.w3.org/2000/svg)", text)


def test_embedded_numbers_of_151_data_sets_are_small_and_exact() -> None:
    results = make_results(
        datasets=tuple(f"set{i}" for i in range(151)),
        algorithms=tuple(f"algorithm {i}" for i in range(20)),
        noise=(0.0,),
        seeds=1,
        tuned=(),
    )
    view = StudyView(results)
    found = numbers(view)["metrics"][0]
    assert len(json.dumps(found, separators=(",", ":"))) < 50_000
    scores = view.comparisons[0].scores
    assert np.array(found["values"][0]) == pytest.approx(scores.to_numpy(), rel=1e-14)


def test_embedded_numbers_of_a_diverging_loss_are_exact() -> None:
    view = StudyView(diverging_results())
    found = numbers(view)["metrics"][0]
    assert found["name"] == "hinge_loss"
    assert np.array(found["values"][0]) == pytest.approx(view.comparisons[0].scores.to_numpy(), rel=1e-14)


def test_mean_rank_table_is_the_ranking(usual: tuple[Path, Page, str]) -> None:
    out, _, _ = usual
    head, *rows = csv_rows(out / "tables" / "mean-ranks-test-accuracy.csv")
    assert head == ["algorithm", "noise 0", "noise 0.1", "noise 0.3", "overall"]
    names = [row[0] for row in rows]
    ranks = np.array([[float(value) for value in row[1:]] for row in rows])
    assert ranks.sum(axis=0) == pytest.approx(28)
    head, *rows = csv_rows(out / "tables" / "test-accuracy-noise-0.1.csv")
    assert head == ["dataset", "noise", "algorithm", "seeds", "mean", "sd", "se_to_best"]
    scores = {(row[0], row[2]): float(row[4]) for row in rows}
    by_hand = []
    for dataset in DATASETS:
        line = [scores[dataset, name] for name in names]
        by_hand.append([sum(b > a for b in line) + (sum(b == a for b in line) + 1) / 2 for a in line])
    assert np.mean(by_hand, axis=0) == pytest.approx(ranks[:, 1])


def test_headline_says_who_leads(usual: tuple[Path, Page, str]) -> None:
    _, page, markdown = usual
    text = " ".join(page.text)
    headline = (
        "Algorithms are judged by test accuracy. At 0% and 10% label noise AROW-H has the best mean rank "
        "(between 1.55 and 1.73); the Friedman test finds differences, but 11 data sets from 4 base sets "
        "are too few to tell any one pair apart. At 30% label noise AROW has the best mean rank, 1.73, "
        "followed by AROW-H (1.91); the Friedman test finds differences, but 11 data sets from 4 base "
        "sets are too few to tell any one pair apart."
    )
    assert headline in text
    assert "11 data sets are tasks cut from 4 base sets" in text
    assert headline in markdown
    assert "tests and ranks alike" not in text


@pytest.mark.slow
def test_headline_names_differences_of_independent_data_sets(tmp_path: Path) -> None:
    results = make_results(datasets=tuple("abcdefghijk"), noise=(0.0,), tuned=())
    _, markdown = render(results, tmp_path)
    assert "; by tests and ranks alike better than all others but" in markdown


@pytest.mark.slow
def test_a_shared_rank_has_no_interval(tmp_path: Path) -> None:
    """Check that the headline does not give the interval of the first of two leaders to both."""
    results = make_results(
        datasets=tuple("abcdefgh"), algorithms=("A", "B", "C"), noise=(0.0,), seeds=1, tuned=()
    )
    cells = results.cells
    first = cells["dataset"].isin([*"abcd"]) == (cells["algorithm"] == "A")
    cells["test_accuracy"] = 0.9 - 0.1 * first - 0.4 * (cells["algorithm"] == "C")
    _, markdown = render(results, tmp_path)
    assert "A and B share the best mean rank, 1.50; the Friedman test finds differences." in markdown
    assert "1.50 (1." in markdown


def test_latex_is_balanced(usual: tuple[Path, Page, str]) -> None:
    out, _, _ = usual
    files = sorted((out / "tables").glob("*.tex"))
    assert len(files) == len(list((out / "tables").glob("*.csv")))
    for file in files:
        check_latex(file.read_text(encoding="utf-8"))


def check_latex(text: str) -> None:
    body = re.sub(r"^%.*$", "", text, flags=re.MULTILINE)
    bare = re.sub(r"\\[\\{}&%$#_]", "", body)
    assert bare.count("{") == bare.count("}")
    assert bare.count("$") % 2 == 0
    assert "%" not in bare
    assert "#" not in bare
    opened = re.findall(r"\\begin\{(\w+)\}", body)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+)\}", body))
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", body)
    assert columns is not None
    rows = re.sub(r"\\&", "", body).split(r"\toprule")[1].split(r"\bottomrule")[0].split("\n")
    for row in rows:
        if row.endswith(r"\\"):
            assert row.count("&") == len(columns[1]) - 1


def test_every_grid_is_printed_and_edges_are_flagged(usual: tuple[Path, Page, str]) -> None:
    out, page, markdown = usual
    assert re.search(r"\| AROW \| 4 \| r \| 0.01, 0.1, 1, 10 \| online mistakes \| 15 of 33 ⚠ \|", markdown)
    assert re.search(r"\| digits\\\[0-vs-rest\\\] \| r = 0.01 ⚠ \| r = 0.01 ⚠ \|", markdown)
    head, *rows = csv_rows(out / "tables" / "tuning-noise-0.3.csv")
    assert len(rows) == len(DATASETS) * 2
    assert {row[head.index("at_edge")] for row in rows} == {"r", ""}
    assert "0.01, 0.1, 1, 10" in page.text


@pytest.mark.slow
def test_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    small = make_results(datasets=("a", "b"), algorithms=("A", "B", "C"), noise=(0.0, 0.1), tuned=())
    cells, curves = small.cells.sample(frac=1, random_state=1), small.curves.sample(frac=1, random_state=2)
    shuffled = replace(small, cells=cells, curves=curves)
    first, second = (render_report(r, tmp_path / n) for r, n in ((small, "1"), (shuffled, "2")))
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_names_are_escaped_everywhere(tmp_path: Path) -> None:
    names = ("<script>alert(1)</script>", "a_b & $x$ %|`c`", "[x](y)\nz", 'd" onload="x', "</style>")
    results = make_results(datasets=names, algorithms=EVIL, seeds=3, tuned=(EVIL[1],), title="<i>T</i> & $5$")
    results = fail(results, ["0-0-0.0-1"], error="<img src=x> | 5 % & `x`")
    page, markdown = render(results, tmp_path)
    # The numbers and the page's own script.
    assert page.tags["script"] == 2
    assert "img" not in page.tags
    assert page.tags["h1"] == 1
    assert "<i>T</i> & $5$" in page.text
    assert "<script>alert(1)</script>" in page.text
    assert "<img src=x> | 5 % & `x`" in page.text
    assert not re.search(r"(?<!\\)<(?:script|i|img|b)\b", markdown)
    # A name must not split a row: all rows of a table have the same number of bars.
    for block in re.findall(r"(?:^\|.*\n)+", markdown, flags=re.MULTILINE):
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
        assert len(counts) == 1
    for file in (tmp_path / "tables").glob("*.tex"):
        check_latex(file.read_text(encoding="utf-8"))
    for file in (tmp_path / "tables").glob("*.csv"):
        assert len({len(row) for row in csv_rows(file)}) == 1
    figures = [file.read_text(encoding="utf-8") for file in (tmp_path / "figures").glob("*.svg")]
    assert any("A&lt;b&gt;&amp;_$^{%}" in text for text in figures)


def test_one_of_everything(tmp_path: Path) -> None:
    results = make_results(
        datasets=("a",), algorithms=("AROW",), noise=(0.0,), seeds=1, protocol="prequential", tuned=()
    )
    page, markdown = render(results, tmp_path)
    assert "AROW is the only algorithm ranked, so there is nothing to compare." in markdown
    assert "no significance test is made over data sets" in markdown
    assert "seeds are repetitions" not in markdown
    assert "judged by online error against the clean labels" in markdown
    assert "accuracy" not in page.ids
    assert "tuning" not in page.ids
    assert "failed" not in page.ids
    # Without noise the given labels are the clean ones: one table, not two.
    assert not list((tmp_path / "tables").glob("mistakes-noise-*"))
    assert not re.search(r"\bnan\b", markdown.lower())


@pytest.mark.slow
def test_one_data_set_has_a_leader_and_no_test(tmp_path: Path) -> None:
    results = make_results(datasets=("arow-synthetic",), noise=(0.1,), seeds=6, tuned=())
    page, markdown = render(results, tmp_path)
    assert re.search(r"has the best test accuracy \(\d\d\.\d%\), followed by", markdown)
    assert "with one data set no test over data sets is possible" in markdown
    assert "no significance test is made over data sets" in markdown
    assert "The 6 seeds are repetitions on the same data set" in markdown
    assert headings(markdown)[:2] == ["Ranks", "Test accuracy"]
    assert "significance" not in page.ids
    # Ranks of one data set are whole, and its scores form a column.
    [first] = set(re.findall(r"^\| (\S+) \| \*\*1\*\* \|$", markdown, flags=re.MULTILINE))
    assert re.search(rf"^\| {first} \| \*\*\d\d\.\d\*\* \|$", markdown, flags=re.MULTILINE)
    # The table next to the only panel gives the curves' final values, the highest first.
    curves = results.curves.merge(results.cells[["key", "algorithm"]], on="key")
    ends = curves[curves["t"] == 1000].groupby("algorithm")["mistakes_clean"].mean()
    key = page.text[page.text.index("Mistakes at the end") :]
    shown = [text for text in key if text in set(ends.index)]
    assert shown[:7] == ends.sort_values(ascending=False).index.tolist()
    # One box plot and one panel of learning curves; no critical difference diagram.
    assert page.tags["figure"] == 2
    assert len(list((tmp_path / "figures").iterdir())) == 2


@pytest.mark.slow
def test_too_few_data_sets_to_tell_pairs_apart(tmp_path: Path) -> None:
    results = make_results(datasets=tuple("abcdefgh"), noise=(0.0,), seeds=2, tuned=())
    _, markdown = render(results, tmp_path)
    assert "8 data sets are too few to tell any one pair apart" in markdown
    assert "with 21 pairs the smallest possible adjusted p-value is 0.164" in markdown


def test_two_algorithms_that_always_tie(tmp_path: Path) -> None:
    results = make_results(datasets=tuple("abc"), algorithms=("A", "B"), noise=(0.0,), seeds=2, tuned=())
    results.cells["test_accuracy"] = 0.5
    _, markdown = render(results, tmp_path)
    assert "both algorithms tie on 3 data sets" in markdown
    assert "there is nothing to test" in markdown


def test_all_algorithms_that_share_the_second_rank_are_named(tmp_path: Path) -> None:
    results = make_results(datasets=tuple("abc"), algorithms=("A", "B", "C"), noise=(0.0,), seeds=2, tuned=())
    results.cells["test_accuracy"] = 0.5 + 0.1 * (results.cells["algorithm"] == "A")
    _, markdown = render(results, tmp_path)
    assert "A has the best mean rank, 1.00, followed by B and C (2.50)" in markdown


def test_failed_cells_are_listed_and_drop_their_block(tmp_path: Path) -> None:
    results = fail(make_results(noise=(0.0,), seeds=3, tuned=()), ["0-0-0.0-1", "2-3-0.0-0"])
    page, markdown = render(results, tmp_path)
    assert headings(markdown)[-2] == "Failed and stopped cells"
    assert markdown.count("ValueError: no \\<good\\>") == 2
    assert "Data sets ranked: 9." in markdown
    assert "Perceptron: seed 1" in markdown
    assert any("boom & bust" in text for text in page.text)
    # The mean over the seeds that ran is printed and flagged.
    assert re.search(r"digits\\\[0-vs-rest\\\] \| \d\d\.\d ⚠ \|", markdown)


@pytest.mark.slow
def test_an_algorithm_that_always_fails_is_named(tmp_path: Path) -> None:
    results = make_results(noise=(0.0,), seeds=2, tuned=())
    keys = results.cells.loc[results.cells["algorithm"] == "CW", "key"].tolist()
    _, markdown = render(fail(results, keys), tmp_path)
    assert "Left out of the ranks, without a value of test accuracy: CW." in markdown
    assert "Data sets ranked: 11." in markdown


@pytest.mark.slow
def test_an_unfinished_study_says_how_much_is_missing(tmp_path: Path) -> None:
    whole = make_results(noise=(0.0, 0.1), seeds=3, tuned=())
    part = replace(whole, cells=whole.cells.iloc[:240])
    _, markdown = render(part, tmp_path)
    assert "The study is not finished: 222 cells of 462 not yet run." in markdown
    assert "Cells not yet run" in markdown


def test_many_data_sets_are_folded(tmp_path: Path) -> None:
    pairs = tuple(f"usps[{i}-vs-{j}]" for i in range(9) for j in range(i))
    results = make_results(datasets=pairs, algorithms=("A", "B"), noise=(0.1,), seeds=1, tuned=("A",))
    page, markdown = render(results, tmp_path)
    assert "36 rows, see [tables/test-accuracy-noise-0.1.csv](tables/test-accuracy-noise-0.1.csv)" in markdown
    assert "the first task of each base set; 1 of 36 data sets in all" in markdown
    assert any("(36 rows)" in text for text in page.text)


def test_garbage_is_collected_as_before_once_a_report_is_written(tmp_path: Path) -> None:
    before = gc.get_threshold()
    with pytest.raises(InputError):
        write_report(tmp_path)
    assert gc.get_threshold() == before


@pytest.mark.slow
def test_parameters_of_data_sets_and_of_another_algorithm_are_printed(tmp_path: Path) -> None:
    results = make_results(datasets=("a", "b"), algorithms=("A", "B"), noise=(0.0,), seeds=1, tuned=())
    _, markdown = render(results, tmp_path / "plain")
    assert "Parameters that are not listed have the learner's defaults." in markdown
    results.study["datasets"][0]["parameters"] = {"budget": 10, "gamma": [0.1, 1.0], "A": {"r": 2.0}}
    results.study["algorithms"][1]["tuned_as"] = "A"
    _, markdown = render(results, tmp_path)
    assert re.search(
        r"^\| a \| .* \| budget = 10; gamma = 0.1, 1.0; A: r = 2 \|$", markdown, flags=re.MULTILINE
    )
    assert "| B | AROW | tuned as A |" in markdown
    # Another entry of this label has another task.
    results.study["datasets"].append({"label": "a", "task": "round", "parameters": {"budget": 20}})
    _, markdown = render(results, tmp_path / "twice")
    assert "A: r = 2 or budget = 20 |" in markdown
    assert "defaults, unless the data set sets them (table above)." in markdown


def test_nothing_to_report(tmp_path: Path) -> None:
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    with pytest.raises(InputError, match="no cell of the study has run yet"):
        render_report(replace(results, cells=results.cells.iloc[:0]), tmp_path)
    with pytest.raises(InputError, match="no results here"):
        write_report(tmp_path / "nowhere")


def test_a_report_that_cannot_be_written(tmp_path: Path) -> None:
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    taken = tmp_path / "file"
    taken.write_text("in the way")
    with pytest.raises(InputError, match="cannot be written") as raised:
        render_report(results, taken)
    assert "\n" not in str(raised.value)


def test_regret_has_values_and_no_ranks(tmp_path: Path) -> None:
    results = make_results(datasets=("gauss",), noise=(0.0,), seeds=2, tuned=())
    results.cells["regret_clean"] = 3.5
    # A study of an earlier version may have this.
    results.study.update(metrics=["regret", "clean_error"], rank_by="regret")
    _, markdown = render(results, tmp_path)
    assert "Algorithms are judged by online error against the clean labels." in markdown
    assert " 3.5 ± 0.0 " in markdown
    assert "**3.5" not in markdown
    assert not list((tmp_path / "tables").glob("mean-ranks-regret*"))
