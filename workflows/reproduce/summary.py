"""Tables of the verdicts on the papers' claims, made from the files that the papers' pages have."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ...pipeline.errors import InputError
from ..report.words.markup import markdown, with_block
from .page import CLAIMS_FILE
from .paper import Paper
from .verdicts import Outcome


def papers_table(pages: Path, papers: Mapping[str, Paper], link: str) -> str:
    """Return a table of verdicts, a row per paper and one for all, in Markdown.

    Parameters
    ----------
    pages : Path
        Folder with a folder per paper, as `write_page` writes it; papers without one are left out.
    papers : mapping of str to Paper
        By the name of their folder.
    link : str
        Path of `pages` as seen from the file that the table goes into.

    Returns
    -------
    str
    """
    outcomes = [str(each) for each in Outcome]
    lines = [f"| paper | claims | {' | '.join(outcomes)} |", f"|---|--:|{'--:|' * len(outcomes)}"]
    total: Counter[str] = Counter()
    for name, rows in _verdicts(pages, papers).items():
        counted = Counter(row["verdict"] for row in rows)
        total += counted
        lines.append(_line(f"[{markdown(papers[name].title)}]({link}/{name}/report.md)", counted))
    return "\n".join([*lines, _line("all", total), ""])


def claims_table(pages: Path, papers: Mapping[str, Paper]) -> str:
    """Return a table of every claim with its verdict, in Markdown; see `papers_table`."""
    lines = ["| claim | the paper says | here |", "|---|---|---|"]
    lines += [
        f"| {row['id']} | {markdown(row['claim'])} | {row['verdict']} |"
        for rows in _verdicts(pages, papers).values()
        for row in rows
    ]
    return "\n".join([*lines, ""])


def write_summary(readme: Path, pages: Path, papers: Mapping[str, Paper]) -> None:
    """Write the table of papers into a README, and that of claims into the README of the pages.

    Parameters
    ----------
    readme : Path
        Has lines ``<!-- papers -->`` and ``<!-- end of papers -->`` around the table; the file
        ``README.md`` in `pages` has ``<!-- claims -->`` and ``<!-- end of claims -->``.
    pages : Path
        Must be below the folder of `readme`.
    papers : mapping of str to Paper

    Raises
    ------
    InputError
        A file cannot be read, or lacks its lines.
    """
    try:
        where = pages.resolve().relative_to(readme.resolve().parent)
    except ValueError:
        raise InputError(f"{pages}: must be below the folder of {readme}, which links to it") from None
    _write_block(readme, "papers", papers_table(pages, papers, where.as_posix()))
    _write_block(pages / "README.md", "claims", claims_table(pages, papers))


def _write_block(file: Path, name: str, table: str) -> None:
    try:
        text = with_block(file.read_text(encoding="utf-8"), name, table)
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise InputError(f"{file}: {error}") from None
    file.write_text(text, encoding="utf-8", newline="\n")


def _line(name: str, counted: Counter[str]) -> str:
    return f"| {name} | {counted.total()} | {' | '.join(str(counted[str(each)]) for each in Outcome)} |"


def _verdicts(pages: Path, papers: Mapping[str, Paper]) -> dict[str, list[dict[str, str]]]:
    """Return the rows of each paper's file of claims; papers without one are left out."""
    found = {}
    for name in papers:
        path = pages / name / CLAIMS_FILE
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as lines:
                found[name] = list(csv.DictReader(lines))
    return found
