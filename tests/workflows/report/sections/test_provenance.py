"""Test the command to repeat a study."""

from __future__ import annotations

from pathlib import Path

from ...synthetic_results import make_results
from ..report_page import render


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
