"""Test escapes for LaTeX and Markdown."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from singlepass.workflows.report.words.markup import latex, markdown, slug

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
