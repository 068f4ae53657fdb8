"""Test escapes for LaTeX and Markdown."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.workflows.report.words.markup import fence, latex, markdown, slug, with_block

NAMES = st.text(st.sampled_from("ab <>&%$#_{}~^\\|\"'`*[]()!-–\n±é"), max_size=12)


@given(NAMES)
def test_latex_leaves_no_special_character_bare(name: str) -> None:
    escaped = latex(name)
    bare = re.sub(r"\\(?:text\w+\{\}|[&%$#_{}])|(?<=-)\{\}|\$\\pm\$|\{\[\}|\{\]\}|^ *\{\*\}", "", escaped)
    assert not set(bare) & set('&%$#_{}~^\\<>|"[]\n')
    assert re.findall("-{2,}", escaped) == ["--"] * name.count("–")


@given(NAMES)
def test_markdown_leaves_no_special_character_bare(name: str) -> None:
    bare = re.sub(r"\\[\\`*_\[\]<>|~$&]", "", markdown(name))
    assert not set(bare) & set("\\`*_[]<>|~$&\n")


@given(NAMES)
def test_slugs_are_file_names(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", slug(name))


def test_escapes_keep_the_text() -> None:
    assert latex("50% of R&D_x") == r"50\% of R\&D\_x"
    # A line break of LaTeX takes a "*" that follows it.
    assert (latex("* a*"), latex("a*")) == ("{*} a*", "a*")
    assert latex('--x "y" –') == "-{}-x ''y'' --"
    assert markdown("a|b <i>") == r"a\|b \<i\>"
    assert slug("digits[3-vs-rest] & co/../x") == "digits-3-vs-rest-co-x"


def test_letters_of_reports_are_in_the_default_fonts_of_latex() -> None:
    letters = "".join(metric.label for metric in METRICS.values()) + "αηλ∞×·√≥≤²χ±−…"
    assert latex(letters).isascii()


def test_a_fence_is_longer_than_any_run_of_backticks() -> None:
    assert fence("ls") == "```sh\nls\n```"
    assert fence("a ```` b") == "`````sh\na ```` b\n`````"


def test_a_block_is_replaced() -> None:
    found = with_block("<!-- a -->\nold\n<!-- end of a -->\n", "a", "new\n")
    assert found == "<!-- a -->\nnew\n<!-- end of a -->\n"


def test_a_slug_fits_a_file_name() -> None:
    assert slug(f"{'a' * 79} {'b' * 300}") == "a" * 79
