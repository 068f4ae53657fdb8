"""Escapes, wording and SVG handling of the report, piece by piece."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.workflows.report.plots.styles import MARKERS, PALETTE, series_styles
from singlepass.workflows.report.plots.svg import inline, shorten, standalone
from singlepass.workflows.report.table import TableBlock, TableCell
from singlepass.workflows.report.words.markup import latex, markdown, slug
from singlepass.workflows.report.words.phrases import count, enumerate_names, p_value

NAMES = st.text(st.sampled_from("ab <>&%$#_{}~^\\|\"'`*[]()!\n±é"), max_size=12)


@given(NAMES)
def test_latex_leaves_no_special_character_bare(name: str) -> None:
    escaped = latex(name)
    bare = re.sub(r"\\(?:text\w+\{\}|[&%$#_{}])|\$\\pm\$|\{\[\}|\{\]\}", "", escaped)
    assert not set(bare) & set('&%$#_{}~^\\<>|"[]\n')


@given(NAMES)
def test_markdown_leaves_no_special_character_bare(name: str) -> None:
    bare = re.sub(r"\\[\\`*_\[\]<>|~$&]", "", markdown(name))
    assert not set(bare) & set("\\`*_[]<>|~$&\n")


@given(NAMES)
def test_slugs_are_file_names(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", slug(name))


def test_table_in_three_forms() -> None:
    table = TableBlock(
        "t", "A & B", ["x_1", "y"], [[TableCell("a|b"), TableCell("1.0", best=True, flag=True)]]
    )
    assert table.to_markdown() == "| x\\_1 | y |\n| :-- | --: |\n| a\\|b | **1.0 ⚠** |"
    assert "\\caption{A \\& B}" in table.to_latex()
    assert "x\\_1 & y \\\\\n\\midrule\na\\textbar{}b & \\textbf{1.0$^{*}$} \\\\" in table.to_latex()
    assert table.to_csv() == "x_1,y\na|b,1.0\n"


def test_styles_differ_for_as_many_algorithms_as_a_study_has() -> None:
    styles = list(series_styles([str(index) for index in range(24)]).values())
    assert len(set(styles)) == 24
    assert len({(marker, dash) for _, marker, dash in styles}) == 24
    assert len(PALETTE) < len(MARKERS)


def test_full_and_diagonal_versions_share_a_colour() -> None:
    names = ["PA", "SOP full", "SOP diagonal", "AROW-full", "AROW-diag", "CW full", "a full"]
    styles = series_styles(names)
    assert list(styles) == names
    for full, diagonal in (names[1:3], names[3:5]):
        assert styles[full][:2] == styles[diagonal][:2]
        assert (styles[full].dash, styles[diagonal].dash) == ("--", "-")
    # A version without its counterpart is an algorithm like others.
    assert [styles[name].dash for name in ("PA", "CW full", "a full")] == ["-"] * 3
    assert len({style.colour for style in styles.values()}) == 5
    assert len(set(styles.values())) == len(names)


SVG = (
    '<svg viewBox="0 0 100 50" xmlns:xlink="x" xmlns="y"><g id="p1"><path style="fill: #268bfc; '
    'stroke: #010203"/></g><use xlink:href="#p1" clip-path="url(#p1)"/><text>#268bfc</text></svg>'
)


def test_inline_svg_has_its_own_ids_and_the_page_s_colours() -> None:
    text = inline(SVG, "f1", 'a "b" <c>')
    assert 'id="f1-p1"' in text
    assert 'href="#f1-p1"' in text
    assert "url(#f1-p1)" in text
    assert "fill: var(--s0); stroke: currentColor" in text
    # A name that looks like a colour stays a name.
    assert "<text>#268bfc</text>" in text
    assert "<title>a &#34;b&#34; &lt;c&gt;</title>" in text
    assert "xmlns" not in text
    assert "xlink" not in text


def test_standalone_svg_has_fixed_colours_on_white() -> None:
    text = standalone(SVG, "t")
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n<svg width="100" height="50"')
    assert '<rect width="100%" height="100%" fill="#ffffff"/>' in text
    assert "fill: #268bfc; stroke: #1b1f24" in text
    assert "var(" not in text


def test_long_names_are_cut_in_pictures() -> None:
    assert shorten("x" * 40) == "x" * 25 + "…"
    assert shorten("a\nb") == "a b"


@pytest.mark.parametrize(("names", "text"), [([], ""), (["A"], "A"), (["A", "B"], "A and B")])
def test_lists_of_names(names: list[str], text: str) -> None:
    assert enumerate_names(names) == text


def test_numbers_in_words() -> None:
    assert (count(1, "seed"), count(0, "seed")) == ("1 seed", "0 seeds")
    assert (p_value(0.0), p_value(0.0005), p_value(1.0)) == ("<0.001", "0.001", "1.000")
