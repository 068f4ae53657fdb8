"""Test the files that a page writes and removes."""

from __future__ import annotations

from pathlib import Path

from singlepass.pipeline.noise import parse_noise
from singlepass.workflows.report.document import Page
from singlepass.workflows.report.page.blocks import Block, Picture, Section
from singlepass.workflows.report.page.table import TableBlock, TableCell

SVG = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 20"><g/></svg>'


def page(*blocks: Block) -> Page:
    return Page("P", [], [Section("s", "S", blocks)])


def table(name: str) -> TableBlock:
    return TableBlock(name, "T", ["x"], [[TableCell("a")]])


def test_files_of_every_noise_are_removed_and_no_others(tmp_path: Path) -> None:
    noises = [
        {"model": "class", "matrix": [[1.0, 0.0], [0.3, 0.7]]},
        {"model": "class", "rates": {"ja, ä": 0.3}},
        {"model": "uniform", "rate": 0.1, "level": "class"},
    ]
    stems = [parse_noise(noise).stem for noise in noises]
    pictures = [Picture("P", "P", SVG, f"figures/cd-{stem}.svg") for stem in stems]
    page(*map(table, stems), *pictures).write(tmp_path)
    own = tmp_path / "notes.csv"
    own.touch()
    with (tmp_path / "report-files.txt").open("a", encoding="utf-8") as manifest:
        manifest.write("notes.csv\ntables/../notes.csv\n")
    page().write(tmp_path)
    assert [*tmp_path.glob("tables/*"), *tmp_path.glob("figures/*")] == []
    assert own.exists()
