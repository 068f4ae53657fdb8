"""Test the formats of a table, and where it is shown."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from singlepass.workflows.report.page.table import LONG, Show, TableBlock, TableCell, tabulate


def test_table_in_three_forms() -> None:
    table = TableBlock(
        "t", "A & B", ["x_1", "y"], [[TableCell("a|b"), TableCell("1.0", best=True, flag=True)]]
    )
    assert table.to_markdown() == "| x\\_1 | y |\n| :-- | --: |\n| a\\|b | **1.0 ⚠** |"
    assert "\\caption{A \\& B}" in table.to_latex()
    assert "x\\_1 & y \\\\\n\\midrule\na\\textbar{}b & \\textbf{1.0$^{*}$} \\\\" in table.to_latex()
    assert table.to_csv() == "x_1,y\na|b,1.0\n"


@pytest.mark.parametrize(
    ("show", "rows", "folds", "elsewhere"),
    [
        ("open", LONG + 1, False, False),
        ("long", LONG, False, False),
        ("long", LONG + 1, True, True),
        ("folded", 1, True, False),
        ("folded", LONG + 1, True, True),
        ("opened", LONG + 1, True, False),
        ("file", 1, False, True),
    ],
)
def test_long_tables_are_folded(show: Show, rows: int, folds: bool, elsewhere: bool) -> None:
    table = TableBlock("t", "T", ["x"], [[TableCell("a")]] * rows, show=show)
    assert (table.folds, table.elsewhere) == (folds, elsewhere)


def test_a_table_without_a_file_is_never_elsewhere() -> None:
    assert not TableBlock("", "T", ["x"], [[TableCell("a")]] * 99, show="folded").elsewhere


def test_a_frame_becomes_a_table() -> None:
    frame = pd.DataFrame([["a", 1.25, None], ["b", np.nan, 3]], columns=["name", "x", "x"])
    table = tabulate(
        frame,
        "t",
        "T",
        write=["{:.1f}".format, "{:.0f}".format],
        bold=[[True], [False]],
        flags=[[False, False], [False, True]],
        marks={"b": "<svg/>"},
        note="n",
    )
    assert table.header == ["name", "x", "x"]
    assert table.rows == [
        [TableCell("a"), TableCell("1.2"), TableCell("–", best=True)],
        [TableCell("b", mark="<svg/>"), TableCell("–"), TableCell("3", flag=True)],
    ]
    assert (table.labels, table.note) == (1, "n")
