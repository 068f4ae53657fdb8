"""Test which blocks a walk finds, and the least width of panels."""

from __future__ import annotations

import pytest

from singlepass.workflows.report.page.blocks import (
    Block,
    Column,
    Columns,
    Folded,
    Panels,
    Picture,
    Text,
    files,
    walk,
)
from singlepass.workflows.report.page.table import TableBlock, TableCell

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} 20"><g/></svg>'


def picture(name: str, width: int = 10) -> Picture:
    return Picture(name, name, SVG.format(width), f"figures/{name}.svg" if name else "")


def test_files_are_found_wherever_a_block_is() -> None:
    table = TableBlock("t", "T", ["x"], [[TableCell("a")]])
    unnamed = TableBlock("", "U", ["x"], [[TableCell("a")]])
    blocks: list[Block] = [
        Text("a"),
        Columns([Column([table, unnamed]), Column([picture("beside")], wide=True)]),
        Folded("more", [Folded("still more", [Panels([picture("deep"), picture("")])])]),
        Panels([picture("")], sheet=picture("sheet")),
    ]
    assert [name for name, _ in files(blocks)] == [
        "tables/t.csv",
        "tables/t.tex",
        "figures/beside.svg",
        "figures/deep.svg",
        "figures/sheet.svg",
    ]
    assert sum(isinstance(block, TableBlock) for block in walk(blocks)) == 2


def test_a_file_may_differ_from_the_page() -> None:
    both = Picture("T", "T", SVG.format(10), "figures/x.svg", SVG.format(99))
    assert both.width == 10
    assert 'width="99"' in both.content


@pytest.mark.parametrize(("roomy", "least"), [(False, 440), (True, 550)])
def test_panels_are_as_wide_as_their_widest(roomy: bool, least: int) -> None:
    assert Panels([picture("a"), picture("b", 500)], roomy=roomy).least_width == least
    assert Panels([picture("a")], roomy=roomy).least_width == 320
