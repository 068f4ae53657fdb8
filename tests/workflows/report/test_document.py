"""Test the files that a page writes and removes."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.pipeline.errors import InputError
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


@pytest.mark.parametrize("folder", ["tables", "figures"])
def test_a_link_in_the_folder_is_not_followed(tmp_path: Path, folder: str) -> None:
    out, other = tmp_path / "out", tmp_path / "other"
    for each in (out, other):
        each.mkdir()
    own = other / "notes.csv"
    own.write_text("mine")
    (out / "report.html").symlink_to(own)
    page(table("t")).write(out)
    assert not (out / "report.html").is_symlink()
    (out / "report-files.txt").write_text("tables/notes.csv\n")
    (out / "report.html").write_text("before")
    (out / "tables").rename(out / "moved")
    (out / folder).symlink_to(other)
    with pytest.raises(InputError, match=f"{folder} in it is a link: remove it"):
        page(table("t")).write(out)
    assert (own.read_text(), (out / "report.html").read_text()) == ("mine", "before")


@pytest.mark.parametrize("n_written", [0, 2])
def test_an_earlier_report_stays_if_its_successor_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, n_written: int
) -> None:
    page(table("earlier")).write(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    write, n_left = Path.write_bytes, iter(range(n_written))

    def full(path: Path, content: bytes) -> int:
        if next(n_left, None) is not None:
            return write(path, content)
        path.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(InputError, match="No space left on device"):
        page(table("t")).write(tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_a_file_that_cannot_be_removed_does_not_block_the_new_report(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    page(*map(table, names)).write(tmp_path)
    for name in names[:2]:
        (tmp_path / f"tables/{name}.csv").unlink()
        (tmp_path / f"tables/{name}.csv").mkdir()
    message = r"the report is written, but .* cannot be removed: .*a\.csv .*, .*b\.csv .*; remove them$"
    with pytest.raises(InputError, match=message):
        page(table("t")).write(tmp_path)
    assert {path.name for path in tmp_path.glob("tables/*")} == {"a.csv", "b.csv", "t.csv", "t.tex"}


@pytest.mark.parametrize("ignores_case", [False, True])
def test_names_that_differ_in_case_from_earlier_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ignores_case: bool
) -> None:
    page(table("t")).write(tmp_path)
    unlink = Path.unlink

    def unlink_any_case(path: Path, missing_ok: bool = False) -> None:
        for each in [*path.parent.iterdir()]:
            if each.name.casefold() == path.name.casefold():
                unlink(each)

    if ignores_case:
        monkeypatch.setattr(Path, "unlink", unlink_any_case)
    page(table("T")).write(tmp_path)
    assert {path.name for path in tmp_path.glob("tables/*")} == {"T.csv", "T.tex"}
