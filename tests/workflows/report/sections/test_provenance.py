"""Test the command to repeat a study."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from singlepass.pipeline.study.study_file import parse_study, read_study
from singlepass.workflows.report.page.blocks import Code
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections.provenance import as_toml, section
from singlepass.workflows.shipped import shipped_studies

from ...synthetic_results import make_results
from ..report_page import render


@pytest.mark.slow
def test_the_command_that_was_run_is_shown(tmp_path: Path) -> None:
    _, without = render(make_results(seeds=1), tmp_path / "without")
    assert (
        "was run in Python: singlepass.workflows.run(study, out=FOLDER)\nsinglepass report FOLDER\n```"
        in without
    )
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    command = "singlepass run 'my <study>.toml' --out '```' --threads 2"
    results.provenance["command"] = command
    page, markdown = render(results, tmp_path)
    assert command in page.text
    assert "singlepass report" not in "".join(page.text)
    # The command's own backticks do not end the block.
    assert f"````sh\n{command}\n````" in markdown
    assert markdown.count("my <study>") == 1


def test_the_commands_of_all_runs_are_shown_once() -> None:
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    results.provenance.update(command="run b", commands=["run a", None, "run b", "run a"], runs=4)
    code, table, _ = section(StudyView(results)).blocks
    assert isinstance(code, Code)
    first, python, _, last = code.text.splitlines()
    assert (first, last) == ("run a", "run b")
    assert python.startswith("# synthetic was run in Python")
    assert isinstance(table, TableBlock)
    assert {row[0].text for row in table.rows} == {
        "python",
        "packages.numpy",
        "packages.numba",
        "cpu",
        "runs",
    }


@pytest.mark.parametrize("name", ["quickstart", "streams", "arow-binary", "noise-models"])
def test_the_printed_study_is_a_study_file_of_the_same_study(name: str) -> None:
    study = read_study(shipped_studies()[name])
    text = as_toml(study.model_dump(mode="json"))
    assert "[[algorithms]]" in text
    assert parse_study(tomllib.loads(text)) == study


def test_a_missing_value_in_a_list_is_text() -> None:
    assert as_toml({"random_state": None, "r": [None, 1]}) == 'r = [\n    "None",\n    1,\n]\n'
