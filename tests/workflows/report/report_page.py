"""Parse a report: the page's structure, its references, its tables."""

from __future__ import annotations

import csv
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.workflows.report import render_report
from singlepass.workflows.report.plots.svg import parse

VOID = {"meta", "br", "hr", "img", "input", "link", "rect", "path", "use", "line"}


class Page(HTMLParser):
    """Check nesting; collect ids, references, text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: dict[str, int] = {}
        self.text: list[str] = []
        self.captions: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def _see(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        for name, value in attributes:
            assert not name.startswith("on"), f"event handler {name}"
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href", "action", "data", "srcset"):
                self.references.append(value or "")
            self.references += re.findall(r"url\(([^)]*)\)", value or "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._see(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
        if "caption" in self.open:
            self.captions.append(data)


def render(results: StudyResults, out: Path) -> tuple[Page, str]:
    written = render_report(results, out)
    assert written[0] == out / "report.html"
    assert len(set(written)) == len(written)
    page = Page((out / "report.html").read_text(encoding="utf-8"))
    assert len(set(page.ids)) == len(page.ids), "an id is used twice"
    for reference in page.references:
        # Links lead to a place of the page, or to a table's files; nothing is loaded.
        if reference.startswith("tables/"):
            assert (out / reference).is_file()
        else:
            assert reference.startswith("#"), f"the page asks for {reference}"
            assert reference[1:] in page.ids, f"{reference} leads nowhere"
    markdown = (out / "report.md").read_text(encoding="utf-8")
    for name in re.findall(r"\]\(([^)]+\.(?:svg|csv))\)", markdown):
        assert (out / name).is_file()
    for figure in out.glob("figures/*.svg"):
        ET.fromstring(figure.read_text(encoding="utf-8"))
    return page, markdown


def csv_rows(file: Path) -> list[list[str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines))


def headings(markdown: str) -> list[str]:
    return re.findall(r"^## (.*)$", markdown, flags=re.MULTILINE)


def texts(svg: str) -> list[str]:
    """Return the texts in a drawing."""
    return [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if text.strip()]


def paths(svg: str, name: str) -> list[str]:
    """Return the paths in a drawing under ids that begin with a name."""
    groups = [each for each in parse(svg).iter("g") if each.get("id", "").startswith(f"{name}")]
    return [path.attrib["d"] for group in groups for path in group.iter("path")]
