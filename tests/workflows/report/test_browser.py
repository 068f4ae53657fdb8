"""Test the page in a real browser: it fits a phone and a desktop and is readable in light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from singlepass.workflows.report import render_report

from ..synthetic_results import fail, make_results
from .chromium import Browser, browser, needs_chromium

pytestmark = needs_chromium

MEASURE = """(() => {
  document.querySelectorAll("details").forEach(d => d.open = true);
  const width = document.documentElement.clientWidth;
  const inScroll = e => e.parentElement && e.parentElement.closest(".scroll, pre, nav, .menu, .skip");
  const stray = [...document.body.querySelectorAll("*")].filter(e => !inScroll(e)
    && e.getBoundingClientRect().right > width + 1).map(e => e.tagName + e.className);
  const texts = [...document.querySelectorAll("figure svg text")].filter(e => e.textContent.trim());
  const style = e => getComputedStyle(e);
  // Whatever way the text is turned.
  const scale = matrix => Math.hypot(matrix.a, matrix.b);
  const size = e => parseFloat(style(e).fontSize) * scale(e.getScreenCTM());
  return {
    sideways: document.documentElement.scrollWidth - width, stray,
    smallest: Math.min(...texts.map(e => size(e))),
    ink: style(document.body).color, page: style(document.body).backgroundColor,
    figure: [...new Set(texts.map(e => style(e).fill))],
    series: [...document.querySelectorAll(".legend path")].map(e => style(e).stroke),
    collapsed: [...document.querySelectorAll("figure svg")].filter(e => e.clientHeight < 40).length,
  };
})()"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    results = make_results(
        datasets=("a name without any blank " * 3, "unbreakable" * 12, "c"),
        algorithms=("Perceptron", "PA", "AROW", "an algorithm with a long label indeed", "E" * 60),
        noise=(0.0, 0.1),
        tuned=("AROW",),
    )
    results = fail(results, ["0-0-0.0-1"], error="E" * 300)
    return render_report(results, tmp_path_factory.mktemp("page"))[0].as_uri()


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


def luminance(colour: str) -> float:
    """Return the relative luminance of a computed color (WCAG 2)."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "width", [390, *(pytest.param(each, marks=pytest.mark.slow) for each in (1280, 1920))]
)
def test_page_fits_and_reads(width: int, scheme: str, page: str, chromium: Browser) -> None:
    chromium.show(width, scheme=scheme)
    chromium.open(page)
    found = chromium.run(MEASURE)
    assert found["stray"] == []
    assert found["sideways"] <= 0
    assert found["collapsed"] == 0
    # 10 px lettering, shrunk by at most 15%.
    assert found["smallest"] >= 8.4
    assert contrast(found["ink"], found["page"]) >= 7
    assert (luminance(found["page"]) < 0.1) == (scheme == "dark")
    assert all(contrast(fill, found["page"]) >= 7 for fill in found["figure"])
    strokes = [colour for colour in found["series"] if colour != "none"]
    assert strokes
    assert min(contrast(colour, found["page"]) for colour in strokes) >= 3


@pytest.mark.parametrize("width", [360, 1280])
def test_menus_of_columns_fit_the_page_and_close_by_escape(page: str, chromium: Browser, width: int) -> None:
    chromium.show(width)
    chromium.open(page)
    found = chromium.run("""(() => {
      document.querySelectorAll("details:not(.menu)").forEach(each => each.open = true);
      const page = document.documentElement, width = page.clientWidth;
      return [...document.querySelectorAll("#explore .menu, #ranks .menu")].map(menu => {
        menu.open = true;
        const { left, right } = menu.lastChild.getBoundingClientRect();
        const below = width < 720 || left === menu.firstChild.getBoundingClientRect().left;
        const fits = below && left >= 0 && right <= width && page.scrollWidth <= width;
        const press = new KeyboardEvent("keydown", { key: "Escape", bubbles: true });
        menu.querySelector("input").dispatchEvent(press);
        return [fits, menu.open, document.activeElement === menu.firstChild];
      });
    })()""")
    assert len(found) > 3
    assert found == [[True, False, True]] * len(found)


def test_recomputed_figures_show_long_labels_within_their_frame(page: str, chromium: Browser) -> None:
    chromium.show(1280)
    chromium.open(f"{page}#explore?pair=3,4")
    cut = chromium.run("""[...document.querySelectorAll("#explore figure svg")].flatMap(svg => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll("text")].filter(each => {
        const box = each.getBoundingClientRect();
        return box.left < frame.left || box.right > frame.right || box.top < frame.top;
      }).map(each => each.textContent);
    })""")
    assert cut == []
    pair = "document.querySelector('#explore .row figure')"
    title = f"an algorithm with a long label indeed against {'E' * 60}, 0% label noise: test accuracy, %"
    assert chromium.run(f"{pair}.querySelector('figcaption').textContent") == title
    labels = chromium.run(f"[...{pair}.querySelectorAll('text')].map(each => each.textContent)")
    assert labels[-1] == "an algorithm with a long label indeed"
    assert re.fullmatch("E{20,59}…", labels[-2])


def test_page_asks_for_nothing_and_its_policy_lets_it_work(page: str, chromium: Browser) -> None:
    chromium.requests.clear()
    chromium.problems.clear()
    chromium.show(1280)
    chromium.open(page)
    chromium.run("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert [each for each in chromium.requests if each != "about:blank"] == [page]
    assert chromium.problems == []
    # The policy works: an added script and an added style do nothing, and say so in the log.
    chromium.run("""(() => {
      const script = document.createElement("script");
      script.textContent = "window.foreign = true";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", '<p id="styled" style="color: rgb(1, 2, 3)">text</p>');
    })()""")
    assert chromium.run("window.foreign === undefined")
    assert chromium.run("getComputedStyle(document.getElementById('styled')).color") != "rgb(1, 2, 3)"
    assert len(chromium.problems) >= 2
    chromium.problems.clear()


@pytest.mark.slow
@pytest.mark.skipif(find_spec("axe_core_python") is None, reason="needs axe-core-python")
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1920, "dark")])
def test_axe_finds_no_violation(width: int, scheme: str, page: str, chromium: Browser) -> None:
    spec = find_spec("axe_core_python")
    assert spec is not None
    assert spec.origin is not None
    chromium.show(width, scheme=scheme)
    chromium.open(page)
    chromium.run((Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8"))
    found = chromium.run(
        "axe.run().then(found => found.violations.map(({id, nodes}) => [id, nodes.map(each => each.html)]))"
    )
    assert found == []


@pytest.mark.parametrize("clipboard", ["undefined", "{ writeText: async (text) => (window.copied = text) }"])
def test_text_is_copied_with_and_without_a_clipboard(clipboard: str, page: str, chromium: Browser) -> None:
    chromium.show(1280)
    chromium.open(page)
    # A page by plain HTTP has no clipboard.
    chromium.run(f"Object.defineProperty(navigator, 'clipboard', {{ value: {clipboard} }})")
    chromium.run("document.addEventListener('copy', () => { window.copied = getSelection().toString(); })")
    found = chromium.run("""(async () => {
      document.querySelectorAll("details").forEach(each => each.open = true);
      const code = document.querySelector("pre.copy"), button = code.previousSibling;
      button.click();
      await new Promise(done => setTimeout(done, 50));
      return [window.copied, code.textContent, button.textContent];
    })()""")
    assert found[0].strip() == found[1].strip()
    assert found[2] == "Copied"


def test_page_without_script_shows_tables_and_figures(page: str, chromium: Browser) -> None:
    chromium.show(1280)
    chromium.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        chromium.open(page)
    finally:
        chromium.send("Emulation.setScriptExecutionDisabled", value=False)
    assert chromium.run("document.getElementById('explore').offsetHeight") == 0
    assert chromium.run("document.querySelectorAll('button').length") == 0
    assert chromium.run("document.querySelector('#ranks table').offsetHeight") > 50
    assert chromium.run("document.querySelector('#curves figure svg').getBoundingClientRect().height") > 100


@pytest.mark.slow
def test_printed_page_is_an_appendix(page: str, chromium: Browser) -> None:
    chromium.show(794, scheme="dark", media="print")
    chromium.open(page)
    chromium.run("dispatchEvent(new Event('beforeprint'))")
    folds = "[...document.querySelectorAll('main details:not(.menu, .choice details)')]"
    assert chromium.run(f"{folds}.every(each => each.open)")
    assert luminance(chromium.run("getComputedStyle(document.body).backgroundColor")) == 1
    assert contrast(chromium.run("getComputedStyle(document.body).color"), "rgb(255, 255, 255)") == 21
    assert chromium.run("document.querySelector('nav').offsetHeight") == 0
    assert chromium.run("[...document.querySelectorAll('.choice, .tools')].every(e => !e.offsetHeight)")
    chromium.run("dispatchEvent(new Event('afterprint'))")
    assert not chromium.run(f"{folds}.every(each => each.open)")
    chromium.open(f"{page}#explore?hide=PA")
    bar = "document.getElementById('hidden-bar')"
    assert chromium.run(f"{bar}.innerText").strip() == "Hidden: PA"
    assert chromium.run(f"getComputedStyle({bar}).position") == "static"
    chromium.show(1280)
