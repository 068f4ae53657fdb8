"""Test the page in a real browser: it fits a phone and a desktop and is readable in light and dark."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from singlepass.workflows.report import render_report

from ..synthetic_results import fail, make_results

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
WIDTHS = (390, 1280)

# The page is shown in frames of the wanted widths, because a headless window is at least 500 px wide. The
# frames get their text from this page, so that it may inspect them.
HARNESS = """<!DOCTYPE html><meta name="color-scheme" content="light dark"><body><script>
const page = PAGE, widths = WIDTHS, out = {};
function measure(frame) {
  const doc = frame.contentDocument, view = frame.contentWindow;
  doc.querySelectorAll("details").forEach(d => d.open = true);
  const width = doc.documentElement.clientWidth;
  const inScroll = e => e.parentElement && e.parentElement.closest(".scroll, pre");
  const stray = [...doc.body.querySelectorAll("*")].filter(e => !inScroll(e)
    && e.getBoundingClientRect().right > width + 1).map(e => e.tagName + e.className);
  const texts = [...doc.querySelectorAll("figure svg text")].filter(e => e.textContent.trim());
  const style = e => view.getComputedStyle(e);
  // Whatever way the text is turned.
  const scale = matrix => Math.hypot(matrix.a, matrix.b);
  const size = e => parseFloat(style(e).fontSize) * scale(e.getScreenCTM());
  return {
    sideways: doc.documentElement.scrollWidth - width, stray,
    smallest: Math.min(...texts.map(e => size(e))),
    ink: style(doc.body).color, page: style(doc.body).backgroundColor,
    figure: [...new Set(texts.map(e => style(e).fill))],
    series: [...doc.querySelectorAll(".legend path")].map(e => style(e).stroke),
    svgs: [...doc.querySelectorAll("figure svg")].filter(e => e.getBoundingClientRect().height < 40).length,
    resources: view.performance.getEntriesByType("resource").length,
  };
}
for (const w of widths) {
  const frame = document.createElement("iframe");
  frame.style = `width:${w}px;height:2000px;border:0`;
  frame.onload = () => {
    out[w] = measure(frame);
    if (Object.keys(out).length == widths.length) {
      const done = document.createElement("output");
      done.textContent = JSON.stringify(out);
      document.body.replaceChildren(done);
    }
  };
  frame.srcdoc = page;
  document.body.append(frame);
}
</script>"""


def look(page: Path, folder: Path, scheme: str) -> dict[str, Any]:
    assert CHROMIUM is not None
    text = json.dumps(page.read_text(encoding="utf-8")).replace("</", "<\\/")
    harness = folder / f"harness-{scheme}.html"
    source = HARNESS.replace("WIDTHS", json.dumps(WIDTHS), 1).replace("PAGE", text, 1)
    harness.write_text('<meta charset="utf-8">' + source, encoding="utf-8")
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={folder / scheme}",
        f"--blink-settings=preferredColorScheme={0 if scheme == 'dark' else 1}",
        "--window-size=1400,2000",
        "--virtual-time-budget=10000",
        "--dump-dom",
        harness.as_uri(),
    ]
    shown = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = re.search(r"<output>(.*?)</output>", shown, flags=re.DOTALL)
    assert found is not None, "the page did not load in its frames"
    measured: dict[str, Any] = json.loads(html.unescape(found[1]))
    return measured


def luminance(colour: str) -> float:
    """Return the relative luminance of a computed color (WCAG 2)."""
    channels = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.skipif(CHROMIUM is None, reason="needs a Chromium binary on the PATH")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_page_fits_and_reads(scheme: str, tmp_path: Path) -> None:
    results = make_results(
        datasets=("a name without any blank " * 3, "unbreakable" * 12, "c"),
        algorithms=("Perceptron", "PA", "AROW", "an algorithm with a long label indeed", "E" * 60),
        noise=(0.0, 0.1),
        tuned=("AROW",),
    )
    results = fail(results, ["0-0-0.0-1"], error="E" * 300)
    page = render_report(results, tmp_path)[0]
    measured = look(page, tmp_path, scheme)
    assert set(measured) == {str(width) for width in WIDTHS}
    for found in measured.values():
        assert found["stray"] == []
        assert found["sideways"] <= 0
        assert found["resources"] == 0
        assert found["svgs"] == 0, "a figure has collapsed"
        # 10 px lettering, shrunk by at most 15%.
        assert found["smallest"] >= 8.4
        assert contrast(found["ink"], found["page"]) >= 7
        assert (luminance(found["page"]) < 0.1) == (scheme == "dark")
        assert all(contrast(fill, found["page"]) >= 7 for fill in found["figure"])
        strokes = [colour for colour in found["series"] if colour != "none"]
        assert strokes
        assert min(contrast(colour, found["page"]) for colour in strokes) >= 3
