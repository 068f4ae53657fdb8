"""Test the notebook of the docs: it runs in a kernel, is short, and gives the cells of a study file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from singlepass.workflows import load

PAGE = Path(__file__).parents[3] / "docs" / "notebook.ipynb"


@pytest.fixture(scope="module")
def page() -> Any:
    return nbformat.read(PAGE, as_version=4)


def code(page: Any) -> list[Any]:
    return [cell for cell in page.cells if cell.cell_type == "code"]


def test_the_notebook_has_no_outputs_and_a_short_first_cell(page: Any) -> None:
    assert not any(cell.outputs or cell.execution_count for cell in code(page))
    assert len([line for line in code(page)[0].source.splitlines() if line]) < 15


def test_links_exist(page: Any) -> None:
    links = re.findall(r"\]\(([^)]+)\)", "".join(cell.source for cell in page.cells))
    assert links
    assert all((PAGE.parent / link.partition("#")[0]).exists() for link in links)


# Ignore warnings about Jupyter's own packages.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_the_notebook_runs(page: Any, tmp_path: Path) -> None:
    page = nbformat.from_dict(page.copy())
    kept = f'run(study, out=r"{tmp_path / "out"}")'
    source = code(page)[0].source.replace("run(study)", kept)
    # One seed and 300 rows show the same: a guest learns digits row by row for seconds.
    code(page)[0].source = source.replace("seeds=3", "seeds=1").replace(
        "(scale(X), y)", "(scale(X)[:300], y[:300])"
    )
    assert "[:300]" in code(page)[0].source
    NotebookClient(
        page, timeout=300, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    first, second, third = code(page)
    shown = [data for output in first.outputs if (data := output.get("data"))]
    # The progress bar, the mean ranks and the diagram.
    assert "36 of 36 cells" in shown[0]["text/html"]
    [table] = [data["text/html"] for data in shown[1:] if "text/html" in data]
    assert "Mean ranks by online error" in table
    assert any("image/png" in data for data in shown)
    assert any("image/png" in output.get("data", {}) for output in second.outputs)
    assert [line.partition("}")[0] for line in third.outputs[0].text.splitlines()] == [
        "{'C': 0.01",
        "{'C': 0.1",
        "{'C': 1.0",
    ]
    cells = load(tmp_path / "out").cells
    assert len(cells) == 36
    assert {"SGDClassifier", "GaussianNB"} <= {name.split(":")[-1] for name in cells["algorithm"]}
    assert (cells["status"] == "ok").all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_bad_input_is_one_line_in_a_notebook(tmp_path: Path) -> None:
    page = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(
                "from singlepass.workflows import compare\ncompare(([[1.0], [2.0]], [0]), 'AROW')"
            )
        ]
    )
    NotebookClient(page, timeout=300, kernel_name="python3", allow_errors=True).execute()
    [error] = [output for output in page.cells[0].outputs if output.output_type == "error"]
    assert error.traceback == ["InputError: data set 'data': X has 2 rows and y 1 labels"]
