"""Test the pages of docs with generated tables, and README's example."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from singlepass.learners.table import TABLE
from singlepass.workflows.pages import PAGES, learners_table, studies_table, written
from singlepass.workflows.shipped import shipped_studies

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_up_to_date(page: str) -> None:
    text = (DOCS / f"{page}.md").read_text("utf-8")
    assert text == written(DOCS, page), "run: python -m singlepass.workflows.pages docs"


def test_every_learner_and_every_study_has_a_row() -> None:
    for table, names in (
        (learners_table(), [row.name for row in TABLE]),
        (studies_table(), shipped_studies()),
    ):
        assert re.findall(r"^\| `([\w-]+)` \|", table, re.MULTILINE) == list(names)


@pytest.mark.parametrize("page", ["README.md", "docs/learners.md"])
def test_examples_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    examples = re.findall(
        r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    assert len(examples) == 1
    exec(compile(examples[0], page, "exec"), {})
    assert capsys.readouterr().out


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900
