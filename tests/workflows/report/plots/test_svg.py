"""Test SVG for a page and for a file."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from singlepass.workflows.report.plots.svg import inline, shorten, shortened, size, standalone

SVG = (
    '<svg viewBox="0 0 100 50" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="http://www.w3.org/2000/svg">'
    '<metadata>made today</metadata><g id="p1"><path style="fill: #268bfc; stroke: #010203"/></g>\n'
    '<g id="p2"><use xlink:href="#p1" clip-path="url(#p1)"/></g><text>#268bfc</text></svg>'
)


def as_given(style: str) -> str:
    """Take style declarations as the name of their class."""
    return style


def test_inline_svg_has_its_own_ids_and_the_page_s_colours() -> None:
    text = inline(SVG, "f1", 'a "b" <c>', as_given)
    assert 'id="f1-p1"' in text
    assert 'href="#f1-p1"' in text
    assert "url(#f1-p1)" in text
    assert 'class="fill: var(--s0); stroke: currentColor"' in text
    # A name that looks like a color stays a name.
    assert "<text>#268bfc</text>" in text
    # Ids without references and line breaks are removed.
    assert "p2" not in text
    assert "\n" not in text
    assert '<title>a "b" &lt;c&gt;</title>' in text
    assert 'aria-label="a &quot;b&quot; &lt;c&gt;"' in text
    assert "xmlns" not in text
    assert "xlink" not in text


def test_parts_of_an_algorithm_are_marked_on_pages_only() -> None:
    svg = SVG.replace('id="p2"', 'id="algorithm-3"').replace("<svg ", '<svg data-axes="[]" ')
    text = inline(svg, "f1", "t", as_given)
    assert '<g data-a="3">' in text
    assert 'data-axes="[]"' in text
    # An algorithm has several parts, and ids of a file must differ.
    assert "algorithm" not in standalone(svg, "t")
    assert "data-" not in standalone(svg, "t")


def test_standalone_svg_has_fixed_colours_on_white() -> None:
    text = standalone(SVG, "t")
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<svg ')
    assert 'width="100" height="50"' in text
    assert "made today" not in text
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert '<rect width="100%" height="100%" fill="#ffffff" />' in text
    assert "fill: #268bfc; stroke: #1b1f24" in text
    assert "var(" not in text


def test_long_names_are_cut_in_pictures() -> None:
    assert shorten("x" * 40) == "x" * 25 + "…"
    assert shorten("a\nb") == "a b"
    # XML does not allow control characters.
    assert shorten("a\x00b\x1b") == "a b"


def test_marks_of_one_kind_share_their_style() -> None:
    mark = '<use xlink:href="#p1" x="1.0" style="fill: #040506"/>'
    text = inline(
        SVG.replace("<text>", mark * 3 + '<use xlink:href="#p1" style="fill: none"/><text>'),
        "f1",
        "t",
        as_given,
    )
    assert text.count('class="fill: var(--rule)"') == 1
    assert " style=" not in text
    assert text.count("<use") == 5
    assert '<g class="fill: var(--rule)"><use x="1"' in text


def test_size_is_read_off_the_root() -> None:
    assert size(SVG) == (100.0, 50.0)


def test_numbers_of_a_path_are_rounded() -> None:
    assert shortened("M 1.234567 20.0 \nL 3 4.5") == "M 1.2346 20 L 3 4.5"


def test_titles_are_xml() -> None:
    text = standalone(SVG, "d[\x1b[31mz-vs-rest]\uffff")
    assert ET.fromstring(text)[0].text == r"d[\x1b[31mz-vs-rest]\uffff"
