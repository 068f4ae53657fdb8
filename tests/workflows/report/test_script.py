"""Drive the page's script in a real browser, and compare what it computes with pipeline.analysis."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from singlepass.pipeline.analysis.comparison import Comparison
from singlepass.pipeline.analysis.friedman import friedman
from singlepass.pipeline.analysis.intervals import FEWEST, mean_intervals
from singlepass.pipeline.analysis.pairwise import wilcoxon_holm
from singlepass.pipeline.analysis.ranks import block_ranks
from singlepass.pipeline.analysis.subsets import among, within
from singlepass.workflows.report import render_report
from singlepass.workflows.report.document import SCRIPT
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.embedded import numbers

from ..synthetic_results import diverging_results, fail, make_results
from .chromium import Browser, browser, needs_chromium

pytestmark = needs_chromium

# The texts of the visible entries of a column of the first such table.
COLUMN = """[...document.querySelector('{} tbody').rows].filter(row => row.offsetHeight)
  .map(row => row.cells[{}].textContent)"""


# The algorithms of a ranking of the study.
CHOSEN = ["PA", "PA-I", "CW", "AROW"]


@dataclass
class Opened:
    """A page in a browser, and the view that it was made from."""

    browser: Browser
    url: str
    view: StudyView

    def open(self, fragment: str = "") -> None:
        """Load the page afresh."""
        self.browser.open(self.url + fragment)

    def run(self, script: str) -> Any:
        """Return the value of an expression."""
        return self.browser.run(script)

    def column(self, table: str, place: int) -> list[str]:
        """Return the visible entries of a column."""
        found: list[str] = self.run(COLUMN.format(table, place))
        return found

    def choose(self, name: str, text: str) -> None:
        """Choose an entry of one of the lists above the recomputed tables."""
        self.run(
            f"""(() => {{
              const list = document.querySelector('select[aria-label={json.dumps(name)}]');
              list.value = [...list.options].find(each => each.text === {json.dumps(text)}).value;
              list.dispatchEvent(new Event("change"));
            }})()"""
        )

    def tick(self, name: str) -> None:
        """Click the box of an algorithm or data set."""
        self.run(
            f"""[...document.querySelectorAll(".choice label")]
              .find(each => each.textContent.trim() === {json.dumps(name)}).querySelector("input").click()"""
        )


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    # Ten base sets, so that there are intervals and tests, and tasks cut from one of them.
    datasets = (*(f"set{i}" for i in range(9)), *(f"digits[{i}-vs-rest]" for i in range(6)))
    results = make_results(datasets=datasets, seeds=2)
    ranking = {
        "title": "Without Perceptrons",
        "algorithms": ["PA", "PA-I", "CW", "AROW"],
        "datasets": ["digits"],
    }
    results.study["rankings"] = [ranking]
    out = tmp_path_factory.mktemp("report")
    page = render_report(results, out)[0]
    with browser(tmp_path_factory.mktemp("profile")) as found:
        found.show(1280, 1000)
        yield Opened(found, page.as_uri(), StudyView(results))


def check(opened: Opened, comparison: Comparison) -> None:
    """Compare the table of the choice with what the analysis computes."""
    names = [str(name) for name in comparison.mean_ranks.index]
    assert opened.column("#explore table", 0) == names
    assert opened.column("#explore table", 1) == [f"{rank:.2f}" for rank in comparison.mean_ranks]
    means = 100 * comparison.scores.mean()[names]
    assert [float(text) for text in opened.column("#explore table", 3)] == pytest.approx(means, abs=0.0051)
    pairs = {frozenset({pair.first, pair.second}): pair.p_holm for pair in comparison.pairs}
    # One base set allows no test, and fewer than eight allow no interval.
    first, *others = opened.column("#explore table", 4)
    assert first == "–"
    if pairs:
        shown = [0.0 if text == "<0.001" else float(text) for text in others]
        assert shown == pytest.approx([pairs[frozenset({names[0], name})] for name in names[1:]], abs=0.00051)
    else:
        assert set(others) == {"–"}
    spans = opened.column("#explore table", 2)
    if comparison.rank_intervals is None:
        assert set(spans) == {"–"}
    else:
        # Of 10,000 samples, 17 are beyond each end, so ends differ between generators.
        found = [[float(end) for end in span.split(" to ")] for span in spans]
        assert np.array(found) == pytest.approx(comparison.rank_intervals.loc[names].to_numpy(), abs=0.3)


def test_choice_recomputes_what_the_analysis_computes(opened: Opened) -> None:
    view = opened.view
    opened.open()
    check(opened, view.comparisons[0])
    opened.choose("Noise", "30% label noise")
    check(opened, view.comparisons[2])
    opened.tick("Perceptron")
    opened.tick("set3")
    names = [name for name in view.design.algorithms if name != "Perceptron"]
    part = within(among(view.design, names), [name for name in view.design.datasets if name != "set3"])
    check(opened, view.compared(view.metric, part)[2])
    told = opened.run("document.querySelector('#explore .lead').textContent")
    part_told = "6 algorithms of 7 on 14 data sets of 15, 30% label noise, by test accuracy: "
    assert told.startswith(f"Recomputed in this page for {part_told}")
    [others, *_] = view.other_comparisons
    opened.choose("Metric", others[0].metric.label)
    check(opened, view.compared(others[0].metric, part)[2])
    opened.choose("Metric", view.metric.label)
    opened.choose("Ranking", "Without Perceptrons")
    digits = [name for name in view.design.datasets if name.startswith("digits")]
    part = within(among(view.design, CHOSEN), digits)
    check(opened, view.compared(view.metric, part)[2])


def test_address_reproduces_the_choice(opened: Opened) -> None:
    opened.open()
    opened.choose("Noise", "10% label noise")
    opened.choose("Ranking", "Without Perceptrons")
    opened.choose("First", "AROW")
    opened.run("document.querySelector('.legend button').click()")
    table = opened.run("document.querySelector('#explore').innerText")
    address = opened.run("location.hash")
    assert address == "#explore?a=PA&a=PA-I&a=CW&a=AROW&d=9-14&n=1&pair=5%2C1&hide=Perceptron"
    opened.open(address)
    assert opened.run("document.querySelector('#explore').innerText") == table
    assert opened.run("location.hash") == address
    # A link of the contents keeps the choice, and an address without one is left alone.
    opened.run("document.querySelector('nav a[href=\"#curves\"]').click()")
    opened.run("new Promise(done => setTimeout(done, 50))")
    assert opened.run("location.hash").startswith("#curves?a=PA&")
    opened.open("#curves")
    assert opened.run("location.hash") == "#curves"


def test_address_with_anything_else_is_harmless(opened: Opened) -> None:
    opened.browser.problems.clear()
    opened.open("#explore?a=none&d=99,x,5-2&n=7&m=-1&q=1.5&s=&pair=1&hide=%3Cb%3E")
    assert opened.browser.problems == []
    said = opened.run("document.querySelector('#explore .lead').textContent")
    assert said == "Choose at least one algorithm and one data set."


def test_a_choice_of_nothing_and_a_name_given_twice_survive_a_link(opened: Opened) -> None:
    opened.open("#explore?a=&d=")
    assert opened.run("document.querySelectorAll('#explore fieldset input:checked').length") == 0
    assert opened.run("location.hash") == "#explore?a=&d="
    opened.open("#explore?a=AROW&a=PA&a=AROW&d=2-3,3,0-2")
    assert opened.run("location.hash") == "#explore?a=PA&a=AROW&d=0-3"
    assert opened.column("#explore table", 0) == ["AROW", "PA"]


def test_headers_sort(opened: Opened) -> None:
    opened.open()
    table = "#ranks table"
    own = opened.column(table, 1)

    def mean(text: str) -> float:
        """Return the number before an interval in brackets."""
        return float(text.split()[0])

    opened.run(f"document.querySelector('{table}').closest('.scroll').scrollIntoView({{block: 'center'}})")
    box = opened.run(
        "(box => [box.x + 5, box.y + 5])"
        f"(document.querySelectorAll('{table} .sort')[1].getBoundingClientRect())"
    )
    opened.browser.point(*box, click=True)
    assert opened.column(table, 1) == sorted(own, key=mean)
    assert opened.run(f"document.querySelectorAll('{table} th')[1].ariaSort") == "ascending"
    opened.browser.point(*box, click=True)
    assert opened.column(table, 1) == sorted(own, key=mean, reverse=True)
    # The keyboard does the same, and a third time restores the table's own order.
    for kind in ("keyDown", "keyUp"):
        opened.browser.send("Input.dispatchKeyEvent", type=kind, key=" ", code="Space", text=" ")
    assert opened.column(table, 1) == own
    names = opened.column(table, 0)
    opened.run(f"document.querySelector('{table} .sort').click()")
    assert opened.column(table, 0) == sorted(names, key=str.lower)


def test_mean_ranks_come_sorted(opened: Opened) -> None:
    opened.open()
    last = [float(text) for text in opened.column("#ranks table", 4)]
    assert last == sorted(last)


def test_rows_are_filtered_and_columns_chosen(opened: Opened) -> None:
    opened.open()
    table = "#accuracy table"
    opened.run(
        """(input => { input.value = "-REST DIGITS[3"; input.dispatchEvent(new Event("input")); })
        (document.querySelector("#accuracy input[type=search]"))"""
    )
    assert opened.column(table, 0) == ["digits[3-vs-rest]"]
    assert opened.run("document.querySelector('#accuracy .tools [role=status]').textContent") == "1 row"
    opened.run("document.querySelector('#accuracy .menu summary').click()")
    opened.run("document.querySelectorAll('#accuracy .menu input')[1].click()")
    heads = f"[...document.querySelector('{table} thead tr').cells]"
    assert opened.run(f"{heads}.filter(e => e.offsetHeight).map(e => e.textContent)")[:4] == [
        "data set",
        "Perceptron",
        "PA-I",
        "SOP",
    ]


def test_pointing_tells_algorithm_and_value(opened: Opened) -> None:
    opened.open()
    opened.run("document.querySelector('#curves figure').scrollIntoView({block: 'center'})")
    place = opened.run(
        """(() => {
          const svg = document.querySelector("#curves figure svg");
          const path = svg.querySelector('[data-a="5"] > path'), matrix = svg.getScreenCTM();
          const numbers = path.getAttribute("d").match(/[\\d.]+/g).map(Number).slice(-2);
          return [numbers[0] * matrix.a + matrix.e, numbers[1] * matrix.d + matrix.f];
        })()"""
    )
    opened.browser.point(place[0] - 1, place[1])
    text = opened.run("document.getElementById('tip').textContent")
    curve = opened.view.curves.series("set0", opened.view.design.noise[0], "AROW", "mistakes_clean", "t")
    mistakes = np.mean([y[-1] for _, y in curve])
    name, _, said = text.partition(": mistakes (clean labels) ")
    assert name == "AROW"
    assert float(said.split()[0]) == pytest.approx(mistakes, rel=0.02)
    assert said.endswith(" at examples seen 1,000")
    opened.browser.point(2, 500)
    assert opened.run("document.getElementById('tip').hidden")


def tips(opened: Opened, section: str) -> list[list[str]]:
    """Return, for each figure of a section, what its page says at the marks and ends of lines."""
    found: list[list[str]] = opened.run(
        f"""[...document.querySelectorAll("{section} figure svg")].map(svg => {{
          const tip = document.getElementById("tip"), found = new Set();
          svg.scrollIntoView({{block: "center"}});
          const m = svg.getScreenCTM();
          const at = (x, y) => {{
            const place = {{clientX: x * m.a + m.e, clientY: y * m.d + m.f}};
            svg.dispatchEvent(new PointerEvent("pointermove", {{bubbles: true, ...place}}));
            if (!tip.hidden) found.add(tip.textContent);
          }};
          for (const mark of svg.querySelectorAll("[data-a] use"))
            at(+mark.getAttribute("x"), +mark.getAttribute("y"));
          return [...found];
        }})"""
    )
    return found


def test_pointing_at_mean_ranks_names_the_noise_level(opened: Opened) -> None:
    opened.open()
    ends = {text.rpartition(" at ")[2] for text in tips(opened, "#ranks")[0]}
    assert ends == {"label noise 0%", "label noise 10%", "label noise 30%"}


def test_pointing_at_a_corner_below_the_axes_says_nothing(opened: Opened) -> None:
    opened.open()
    opened.run("document.querySelector('#curves figure').scrollIntoView({block: 'center'})")
    box = "document.querySelector('#curves figure svg').getBoundingClientRect()"
    opened.browser.point(*opened.run(f"(b => [b.left + 3, b.bottom - 3])({box})"))
    assert opened.run("document.getElementById('tip').hidden")


def test_pointing_at_an_error_of_0_on_a_logarithmic_axis(opened: Opened, tmp_path: Path) -> None:
    results = make_results(datasets=("a",), algorithms=("PA", "trail "), noise=(0.0,), seeds=1, tuned=())
    right = results.curves["t"].map(lambda t: 1.0 if t == 1000 else 0.9)
    results = replace(results, curves=results.curves.assign(test_accuracy=right))
    opened.browser.open(render_report(results, tmp_path)[0].as_uri())
    [said] = tips(opened, "#along")
    assert "PA: test error, % 0 at examples seen 1,000" in said
    assert "PA: test error, % 10 at examples seen 200" in said
    # A name may end with a blank.
    assert (
        len(opened.run("[...document.querySelectorAll('#along .legend button')].map(e => e.textContent)"))
        == 2
    )


def test_pointing_at_a_pair_names_the_task(opened: Opened) -> None:
    opened.open()
    dot = "[...document.querySelectorAll('#explore .row svg')][0].querySelector('circle')"
    opened.run(f"{dot}.scrollIntoView({{block: 'center'}})")
    box = opened.run(f"(b => [b.x + b.width / 2, b.y + b.height / 2])({dot}.getBoundingClientRect())")
    opened.browser.point(*box)
    task = opened.run("document.getElementById('tip').textContent").partition(": ")[0]
    assert task in opened.view.design.datasets
    lost = [float(text) for text in opened.column("#explore .row table", 3)]
    assert lost == sorted(lost)


def test_legend_hides_and_highlights_everywhere(opened: Opened) -> None:
    opened.open()
    entry = "[...document.querySelectorAll('.legend button')].find(each => each.textContent.endsWith('AROW'))"
    parts = "[...document.querySelectorAll('figure [data-a=\"5\"]')]"
    seen = "getComputedStyle(each).display !== 'none'"
    assert opened.run(f"{parts}.length > 20 && {parts}.every(each => {seen})")
    opened.run(f"{entry}.dispatchEvent(new Event('pointerenter'))")
    assert opened.run("getComputedStyle(document.querySelector('#curves [data-a=\"1\"]')).opacity") == "0.12"
    assert opened.run(f"getComputedStyle({parts}[0]).opacity") == "1"
    opened.run(f"{entry}.dispatchEvent(new Event('pointerleave'))")
    opened.run(f"{entry}.click()")
    assert not opened.run(f"{parts}.some(each => {seen})")
    assert "AROW" not in opened.column("#ranks table", 0)
    assert not any(text.startswith("AROW:") for figure in tips(opened, "#curves") for text in figure)
    assert opened.run(f"{entry}.getAttribute('aria-pressed')") == "false"
    assert opened.run("document.getElementById('hidden-bar').innerText") == "Hidden: AROW Show all"
    opened.run("document.querySelector('#hidden-bar button').click()")
    assert opened.run(f"{parts}.every(each => {seen})")
    assert "AROW" in opened.column("#ranks table", 0)


def test_hiding_an_algorithm_leaves_a_data_set_of_its_name(opened: Opened, tmp_path: Path) -> None:
    results = make_results(datasets=("AROW", "b"), algorithms=("PA", "AROW"), noise=(0.0,), seeds=1, tuned=())
    opened.browser.open(f"{render_report(results, tmp_path)[0].as_uri()}#explore?hide=AROW")
    assert opened.column("#ranks table", 0) == ["PA"]
    assert opened.column("#explore table", 0) == ["PA"]
    assert opened.column("#accuracy table", 0) == ["AROW", "b"]
    assert sorted(opened.column("#explore .row table", 0)) == ["AROW", "b"]


def test_hiding_an_algorithm_hides_its_columns_and_rows_of_every_table(opened: Opened) -> None:
    opened.open("#explore?hide=AROW&pair=0,5")
    shown = opened.run(
        """[...document.querySelectorAll("table")].map(table => {
          const seen = (each) => getComputedStyle(each).display !== "none";
          const cells = [...table.rows].filter(seen).flatMap(row => [...row.cells].filter(seen));
          return [table.caption.textContent, cells.some(cell => (cell.title || cell.textContent) === "AROW")];
        })"""
    )
    assert any(title.startswith("Every pair by") for title, _ in shown)
    # The two algorithms to compare keep their names; learners of other algorithms may be called so.
    named = [title for title, named in shown if named]
    assert named == ["Perceptron minus AROW", "What each algorithm is"]
    button = "[...document.querySelectorAll('.legend button')].find(e => e.textContent.endsWith('AROW'))"
    opened.run(f"{button}.click()")
    heads = "[...document.querySelector('#accuracy table').rows[0].cells]"
    names = opened.view.design.algorithms
    assert opened.run(f"{heads}.filter(e => e.offsetHeight).map(e => e.textContent)") == ["data set", *names]


@pytest.mark.parametrize(
    ("head", "row", "columns", "about"),
    [
        (["first", "second", "p (Holm)"], ["PA", "p", "0.5"], [None] * 3, "0 1"),
        (["data set", "leader", "algorithm", "p (Holm)"], ["PA", "p", "k", "1"], [None] * 4, "1 2"),
        (["", "PA", "k"], ["k", "0.5", ""], [None, "0", "2"], "2"),
        (["noise", "k", "PA"], ["PA", "1", "2"], [None, "2", "0"], ""),
        (["algorithm", "points"], ["PA on a, b", "7"], [None] * 2, "0"),
    ],
)
def test_rows_and_columns_about_algorithms_are_marked(
    head: list[str], row: list[str], columns: list[str | None], about: str, opened: Opened
) -> None:
    source = re.sub("export |import .*", "", (SCRIPT / "tables.js").read_text(encoding="utf-8"))
    found = opened.run(
        f"""(() => {{ {source}
          const table = document.createElement("table"), parts = [table.createTHead(), table.createTBody()];
          const rows = [{json.dumps(head)}, {json.dumps(row)}].map((texts, i) => {{
            const made = parts[i].insertRow();
            for (const text of texts) made.insertCell().textContent = text;
            return made;
          }});
          mark(table, ["PA", "p", "k"]);
          const columns = rows.map(made => [...made.cells].map(cell => cell.dataset.a ?? null));
          return [...columns, rows[1].dataset.a];
        }})()"""
    )
    assert found == [columns, columns, about]


def test_a_filter_counts_rows_that_are_shown(opened: Opened) -> None:
    opened.open()
    tests = "document.querySelector('#explore details:has(> div > .tools)')"
    opened.run(
        f"""(input => {{ input.value = "SOP"; input.dispatchEvent(new Event("input")); }})
        ({tests}.querySelector("input[type=search]"))"""
    )
    count = f"{tests}.querySelector('[role=status]').textContent"
    assert opened.run(count) == "6 rows"
    button = "[...document.querySelectorAll('.legend button')].find(e => e.textContent.endsWith('AROW'))"
    opened.run(f"{button}.click()")
    assert opened.run(count) == "5 rows"
    opened.choose("Noise", "30% label noise")
    assert opened.run(count) == "5 rows"
    opened.run(f"{button}.click()")
    assert opened.run(count) == "6 rows"


def test_recomputed_tables_keep_columns_left_out_and_opened_tests(opened: Opened) -> None:
    opened.open()
    heads = "[...document.querySelector('#explore table').rows[0].cells]"
    shown = f"{heads}.filter(each => each.offsetHeight).map(each => each.textContent)"
    before = opened.run(shown)
    opened.run("document.querySelectorAll('#explore .menu input')[1].click()")
    opened.run("document.querySelector('#explore details:has(> div > .tools) summary').click()")
    opened.choose("Noise", "30% label noise")
    opened.choose("Metric", opened.view.other_comparisons[0][0].metric.label)
    assert opened.run(f"{shown}.length") == len(before) - 1
    assert before[2] not in opened.run(shown)
    assert not opened.run("document.querySelectorAll('#explore .menu input')[1].checked")
    assert opened.run("document.querySelector('#explore details:has(> div > .tools)').open")


def test_values_of_any_size_and_curves_of_one_point_are_shown(opened: Opened, tmp_path: Path) -> None:
    results = make_results(datasets=("a", "b"), algorithms=("PA", "CW"), noise=(0.0,), seeds=1, tuned=())
    study = {**results.study, "metrics": ["test_accuracy", "ram_hours", "model_kilobytes"]}
    cells = results.cells.assign(model_bytes=24, fit_seconds=0.01)
    results = replace(results, study=study, cells=cells, curves=results.curves[results.curves["t"] == 1000])
    page = render_report(results, tmp_path)[0].as_uri()
    opened.browser.open(f"{page}#explore?m=1")
    assert opened.column("#explore table", 3) == ["6.2e-14"] * 2
    assert (
        opened.run(
            "[...document.querySelectorAll('#explore .row svg')].at(-1).querySelectorAll('circle').length"
        )
        == 2
    )
    opened.browser.open(f"{page}#explore?m=2")
    assert opened.column("#explore table", 3) == ["0.024"] * 2
    lead = opened.run("document.querySelector('#explore .lead').textContent")
    assert lead.endswith("by model size, kB: PA and CW share the best mean rank, 1.50.")


def test_a_choice_without_results_says_that_seeds_of_all_algorithms_count(
    opened: Opened, tmp_path: Path
) -> None:
    results = make_results(datasets=("a",), algorithms=("PA", "CW", "AROW"), noise=(0.0,), seeds=2, tuned=())
    kept = (results.cells["algorithm"] == "AROW") == (results.cells["seed"] == 1)
    results = replace(results, cells=results.cells[kept])
    opened.browser.open(f"{render_report(results, tmp_path)[0].as_uri()}#explore?a=PA&a=CW")
    lead = opened.run("document.querySelector('#explore .lead').textContent")
    assert lead.startswith("No chosen data set has a complete value of all chosen algorithms (means are over")
    assert "seeds that all algorithms of the study have run" in lead


@pytest.mark.slow
def test_an_algorithm_without_a_complete_value_is_ranked_as_in_the_report(
    opened: Opened, tmp_path: Path
) -> None:
    results = make_results(
        datasets=("a", "b"), algorithms=("PA", "CW", "AROW"), noise=(0.0,), seeds=2, tuned=()
    )
    cells = results.cells
    results = fail(results, cells.loc[cells["algorithm"] == "CW", "key"].tolist())
    lead = "document.querySelector('#explore .lead').textContent"
    url = render_report(results, tmp_path)[0].as_uri()
    opened.browser.open(url)
    # The report leaves out CW, which has no value at all.
    assert opened.column("#explore table", 0) == [*StudyView(results).comparisons[0].mean_ranks.index]
    opened.browser.open(f"{url}#explore?a=CW")
    assert opened.run(lead) == "None of the algorithms to rank has a value of test accuracy: choose others."
    results = fail(results, cells.loc[(cells["algorithm"] == "AROW") & (cells["seed"] == 1), "key"].tolist())
    assert StudyView(results).comparisons[0].n == 0
    opened.browser.open(render_report(results, tmp_path)[0].as_uri())
    assert opened.run(lead).startswith("No chosen data set has a complete value of all chosen algorithms")


@pytest.mark.slow
def test_huge_losses_have_a_power_of_ten(opened: Opened, tmp_path: Path) -> None:
    results = diverging_results()
    loss = results.cells["algorithm"].map({"PA": 4e200, "CW": 0.5, "AROW": 0.6})
    results = replace(results, cells=results.cells.assign(hinge_loss_clean=loss))
    opened.browser.open(render_report(results, tmp_path)[0].as_uri())
    assert opened.column("#explore table", 3)[2] == "4.000e+200"
    texts = opened.run("[...document.querySelectorAll('#explore td, #explore text')].map(e => e.textContent)")
    assert max(map(len, texts)) < 30


def test_curves_of_every_task_are_there_on_demand(opened: Opened) -> None:
    opened.open()
    opened.choose("Data set", "digits[4-vs-rest]")
    title = "[...document.querySelectorAll('#explore figcaption')].at(-1).textContent"
    assert opened.run(title) == "mistakes (clean labels), digits[4-vs-rest], 0% label noise"
    assert (
        opened.run("[...document.querySelectorAll('#explore svg')].at(-1).querySelectorAll('path').length")
        == 7
    )


def statistics(chromium: Browser, call: str, module: str = "statistics") -> Any:
    """Evaluate an expression with the functions of a module of the script."""
    source = (SCRIPT / f"{module}.js").read_text(encoding="utf-8").replace("export ", "")
    return chromium.run(f"(() => {{ {source} return {call}; }})()")


@pytest.mark.parametrize(
    ("texts", "rising", "falling"),
    [
        (["∞", "2 of 4 stopped at 88 of 160", "–", "3.5", "−1"], [4, 3, 0, 1, 2], [0, 3, 4, 1, 2]),
        (["12.3 ± 0.4", "not in the text", "4 (2)", "– (8)"], [2, 0, 1, 3], [0, 2, 1, 3]),
        (["3 vs 4", "20news[b]", "digits", "20news[a]"], [0, 3, 1, 2], [2, 1, 3, 0]),
        (["3 vs 4", "3 vs 1"], [1, 0], [0, 1]),
        # Winners of grids: C may be 1e-05 or 0.55, and several repetitions choose several.
        (["C = 0.55", "C = 0.6 ▲", "C = 1e-05", "–", "C = 0.1"], [2, 4, 0, 1, 3], [1, 0, 4, 2, 3]),
        (["r = 1 (3); r = 0.5 (1)", "r = 1 (3); r = 0.25 (1)", "r = 0.1 (4)"], [2, 1, 0], [0, 1, 2]),
        (["coef0 = -1, r = 2", "coef0 = -2, r = 2", "coef0 = -1, r = 0.5"], [1, 2, 0], [0, 2, 1]),
        (["2011-06-10", "2011-06-09", "2011-05-30"], [2, 1, 0], [0, 1, 2]),
    ],
)
def test_columns_of_numbers_and_of_names_are_sorted(
    texts: list[str], rising: list[int], falling: list[int], opened: Opened
) -> None:
    source = re.sub("export |import .*", "", (SCRIPT / "tables.js").read_text(encoding="utf-8"))
    sort = "down => ordered(rows, 0, down).map(row => rows.indexOf(row))"
    rows = f"{json.dumps(texts)}.map(text => ({{ cells: [{{ textContent: text }}] }}))"
    found = opened.run(f"(() => {{ {source} const rows = {rows}; return [false, true].map({sort}); }})()")
    assert found == [rising, falling]


def test_a_logarithmic_axis_has_two_to_nine_ticks(opened: Opened) -> None:
    source = re.sub("export |import .*", "", (SCRIPT / "figures.js").read_text(encoding="utf-8"))
    found = opened.run(
        f"""(() => {{ {source}
          const lows = Array.from({{ length: 400 }}, (_, i) => 10 ** (i / 100 - 3));
          return [1, 1.2, 2, 5, 10, 100, 1e4, 1e6].flatMap(factor => lows.map(low => {{
            const [, , first, last] = axisOf([low, low * factor], 0, 1, {{ log: true }});
            return [first, last, ticks(first, last, true)];
          }}));
        }})()"""
    )
    for first, last, ticks in found:
        assert 2 <= len(ticks) <= 9
        assert first <= ticks[0]
        assert ticks[-1] <= last
        assert ticks == sorted({*ticks})


@pytest.mark.parametrize("digits", range(4))
def test_numbers_are_rounded_as_in_the_report(digits: int, opened: Opened) -> None:
    # Halves, and decimals that the nearest float is a little above or below.
    values = [*(i / 16 for i in range(160)), *(i / 200 for i in range(2000)), 2.675, 1234.5, 98765.4321]
    found = statistics(opened.browser, f"{values}.map(value => fixed(value, {digits}))", "elements")
    assert found == [f"{value:,.{digits}f}" for value in values]
    assert statistics(opened.browser, f"fixed(-0.4 / 10 ** {digits}, {digits})", "elements")[0] == "0"


@pytest.mark.parametrize("n", [2, 5, 12, 60, 140, 230])
def test_statistics_equal_those_of_the_analysis(n: int, opened: Opened) -> None:
    rng = np.random.RandomState(n)
    # Few distinct values, so that there are ties; a trend, so that p-values range widely.
    scores: NDArray[np.int64] = rng.randint(0, 40, (n, 4)) + np.array([0, 0, 5, 12])
    found = statistics(opened.browser, f"compare({scores.tolist()}, {[*range(n)]})")
    frame = pd.DataFrame(scores, columns=[*"abcd"], dtype="float64")
    ranks = block_ranks(frame, "lower")
    assert np.array_equal(found["ranks"], ranks)
    outcome = friedman(ranks)
    assert found["p"] == pytest.approx(outcome.p, rel=1e-6)
    assert found["test"] == ("Friedman (Iman–Davenport)" if np.isfinite(outcome.f) else "Friedman")
    expected = wilcoxon_holm(frame, [*"abcd"], "lower")
    pairs = itertools.combinations(range(4), 2)
    assert [pair["wins"] for pair in found["pairs"]] == [pair.wins for pair in expected]
    favored = [
        None if pair.effect == 0 else names[pair.effect > 0]
        for pair, names in zip(expected, pairs, strict=True)
    ]
    assert [pair["favored"] for pair in found["pairs"]] == favored
    # Beyond 200 base sets the page takes the normal approximation, the analysis beyond 1,000.
    near = {"rel": 1e-6} if n <= 200 else {"abs": 1e-3}
    assert [pair["p"] for pair in found["pairs"]] == pytest.approx([pair.p for pair in expected], **near)
    assert [pair["holm"] for pair in found["pairs"]] == pytest.approx([e.p_holm for e in expected], **near)


@pytest.mark.parametrize(("gains", "favored"), [([1, 2, -3], 0), ([-1, -2, 3], 1), ([1, -1], None)])
def test_the_estimate_says_whom_a_pair_favors(gains: list[int], favored: int, opened: Opened) -> None:
    # Positive and negative ranks have the same sum.
    found = statistics(opened.browser, f"compare({[[0, gain] for gain in gains]}, {[*range(len(gains))]})")
    assert found["pairs"][0]["favored"] == favored
    [pair] = wilcoxon_holm([[0, gain] for gain in gains], [*"ab"], "lower")
    assert np.sign(pair.effect) == {0: -1, 1: 1, None: 0}[favored]


def test_an_estimate_of_rounding_errors_favors_neither(opened: Opened) -> None:
    rows = [[0.1, 0.3], [0.8, 0.6]]
    assert statistics(opened.browser, f"compare({rows}, [0, 1])")["pairs"][0]["favored"] is None
    assert wilcoxon_holm(rows, [*"ab"], "lower")[0].effect == 0


def test_rows_that_all_agree_are_tested_by_chi_square(opened: Opened) -> None:
    found = statistics(opened.browser, "compare([[10, 20, 30], [20, 40, 60], [10, 50, 70]], [0, 1, 2])")
    assert (found["test"], found["p"]) == ("Friedman", pytest.approx(friedman([[1, 2, 3]] * 3).p, rel=1e-6))


def test_statistics_of_scores_of_any_size_equal_those_of_the_analysis(opened: Opened) -> None:
    rng = np.random.RandomState(3)
    # Thirds, so that equal scores and differences differ by rounding errors.
    scores: NDArray[np.float64] = rng.randint(0, 40, (60, 4)) / 3 * 10.0 ** rng.randint(-3, 11, (60, 1))
    # Single algorithms diverge.
    scores *= np.where(rng.random_sample((60, 4)) < 0.05, 1e14, 1.0)
    bases = [i // 3 for i in range(60)]
    found = statistics(opened.browser, f"compare({scores.tolist()}, {bases})")
    frame = pd.DataFrame(scores, columns=[*"abcd"])
    assert np.array_equal(found["ranks"], block_ranks(frame, "lower"))
    blocks = frame.groupby(bases).mean()
    assert found["p"] == pytest.approx(friedman(block_ranks(blocks, "lower")).p, rel=1e-6)
    expected = wilcoxon_holm(blocks, [*"abcd"], "lower")
    assert [(pair["wins"], pair["losses"]) for pair in found["pairs"]] == [
        (e.wins, e.losses) for e in expected
    ]
    assert [pair["p"] for pair in found["pairs"]] == pytest.approx([e.p for e in expected], rel=1e-6)


def test_statistics_of_embedded_accuracies_equal_those_of_the_report(opened: Opened) -> None:
    # Means of seven seeds of 150 rows, and of two tasks: equal differences differ by rounding errors.
    datasets = tuple(f"set{i}[{task}-vs-rest]" for i in range(30) for task in range(2))
    results = make_results(datasets=datasets, algorithms=CHOSEN, noise=(0.0,), seeds=7, tuned=())
    accuracies = np.random.RandomState(4).randint(120, 130, len(results.cells)) / 150
    view = StudyView(replace(results, cells=results.cells.assign(test_accuracy=accuracies)))
    embedded = numbers(view)
    rows = (-np.array(embedded["metrics"][0]["values"][0])).tolist()
    found = statistics(opened.browser, f"compare({rows}, {embedded['bases']})")
    comparison = view.comparisons[0]
    assert np.array_equal(found["ranks"], comparison.ranks)
    assert comparison.friedman is not None
    assert found["p"] == pytest.approx(comparison.friedman.p, rel=1e-6)
    assert [pair["p"] for pair in found["pairs"]] == pytest.approx([e.p for e in comparison.pairs], rel=1e-6)


def test_rounding_errors_tie_next_to_powers_of_ten_and_half_digits(opened: Opened) -> None:
    for row in ([1.00000000000007, 1], [0.8000927734375001, 0.8000927734374998]):
        found = statistics(opened.browser, f"compare([{row}], [0])")
        assert (found["ranks"], found["pairs"][0]["wins"]) == ([[1.5, 1.5]], 0)


@pytest.mark.slow
def test_an_infinite_loss_is_the_worst_of_its_data_set(opened: Opened, tmp_path: Path) -> None:
    results = diverging_results()
    infinite = results.cells["dataset"] + results.cells["algorithm"]
    infinite = infinite.isin(["aPA", "bPA", "bCW"])
    cells = results.cells.assign(hinge_loss_clean=results.cells["hinge_loss_clean"].mask(infinite, np.inf))
    results = replace(results, cells=cells)
    opened.browser.problems.clear()
    opened.browser.open(f"{render_report(results, tmp_path)[0].as_uri()}#explore")
    assert opened.browser.problems == []
    comparison = StudyView(results).comparisons[0]
    assert comparison.n == 4
    assert opened.column("#explore table", 0) == [*comparison.mean_ranks.index]
    assert opened.column("#explore table", 1) == [f"{rank:.2f}" for rank in comparison.mean_ranks]
    means = dict(zip(opened.column("#explore table", 0), opened.column("#explore table", 3), strict=True))
    assert means["PA"] == "∞"
    # The pair of PA and CW: PA loses most where only its loss is infinite.
    pair = [opened.column("#explore .row table", place) for place in range(4)]
    rows = {name: values for name, *values in zip(*pair, strict=True)}
    assert pair[0][0] == "a"
    assert (rows["a"][0], rows["a"][2]) == ("∞", "∞")
    assert rows["b"] == ["∞", "∞", "0.0000"]


@pytest.mark.slow
def test_a_diverging_loss_leaves_other_data_sets_their_digits(opened: Opened, tmp_path: Path) -> None:
    results = diverging_results()
    page = render_report(results, tmp_path)[0]
    opened.browser.open(f"{page.as_uri()}#explore?d=1-3")
    view = StudyView(results)
    comparison = view.compared(view.metric, within(view.design, ["a", "b", "c"]))[0]
    assert opened.column("#explore table", 0) == [*comparison.mean_ranks.index]
    assert opened.column("#explore table", 1) == [f"{rank:.2f}" for rank in comparison.mean_ranks]
    wins = [f"{pair.wins}" for pair in comparison.pairs]
    assert (
        opened.run(
            "[...document.querySelectorAll('#explore details tbody tr')].map(row => row.cells[2].textContent)"
        )
        == wins
    )


@pytest.mark.slow
def test_intervals_equal_those_of_the_analysis(opened: Opened) -> None:
    rng = np.random.RandomState(1)
    bases = [int(base) for base in rng.randint(0, 12, 60)]
    ranks = pd.DataFrame(rng.normal(3, 1, (60, 3)) + rng.normal(0, 1, (12, 1))[bases])
    found = statistics(opened.browser, f"intervals({ranks.to_numpy().tolist()}, {bases})")
    expected = mean_intervals(ranks, [str(base) for base in bases])
    assert expected is not None
    width = (expected["high"] - expected["low"]).to_numpy()[:, np.newaxis]
    # Both draw 10,000 samples, with different generators.
    assert np.array(found) / width == pytest.approx(expected.to_numpy() / width, abs=0.05)
    few = [i % (FEWEST - 1) for i in range(60)]
    assert statistics(opened.browser, f"intervals({ranks.to_numpy().tolist()}, {few})") is None


@pytest.mark.slow
def test_page_of_a_single_data_set_and_algorithm_works(opened: Opened, tmp_path: Path) -> None:
    page = render_report(
        make_results(datasets=("one",), algorithms=("AROW",), noise=(0.0,), tuned=()), tmp_path
    )[0]
    opened.browser.problems.clear()
    opened.browser.open(page.as_uri())
    assert opened.browser.problems == []
    assert opened.column("#explore table", 0) == ["AROW"]
