"""Test the pages of docs with generated tables, and what they say about the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from singlepass.learners import registry
from singlepass.learners.table import TABLE
from singlepass.pipeline.scoring import ALWAYS, SCORINGS
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


def test_the_page_of_metrics_names_every_metric() -> None:
    text = (DOCS / "metrics.md").read_text("utf-8")
    names = {*ALWAYS, *(re.sub("^(given|test)_", "", name) for name in SCORINGS)}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_the_page_of_metrics_names_the_learners_that_count_weights() -> None:
    text = (DOCS / "metrics.md").read_text("utf-8")
    said = re.search(r"exactly 0: (.+?)\.", text, re.DOTALL)
    counting = [name for name, kind in registry.available().items() if getattr(kind, "is_sparse", False)]
    assert said is not None
    assert sorted(set(re.findall(r"`([A-Z]\w+)`", said[1]))) == sorted(counting)


@pytest.mark.parametrize("name", shipped_studies())
def test_a_shipped_study_has_the_name_of_its_file(name: str) -> None:
    assert tomllib.loads(shipped_studies()[name].read_text("utf-8"))["name"] == name


def test_the_architecture_names_every_folder_and_existing_files() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    rooms = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("learners", "pipeline", "workflows")
        for path in (ROOT / top).rglob("*.py")
    }
    table = text.partition("## Folders")[2].partition("\n## ")[0]
    # One row describes the folders of all papers.
    papers = {room for room in rooms if room.startswith("workflows/reproduce/papers/")}
    assert rooms - papers - set(re.findall(r"`([\w/]+)`", table)) == set()
    text += (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = re.findall(r"`((?:learners|pipeline|workflows|tests|docs)/[\w/.]+)`", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_architecture_says_where_things_are() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    table = text.partition("## Where is …?")[2].partition("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) > 20
    for _, places, *names in rows:
        files = re.findall(r"`([\w/]+\.py)`", places)
        sources = "\n".join((ROOT / file).read_text("utf-8") for file in files)
        for name in re.findall(r"`(\w+)`", " ".join(names)):
            assert re.search(rf"^(?:def |class )?{name}\b", sources, re.MULTILINE), f"{files}: no {name}"


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").split()) <= 900
