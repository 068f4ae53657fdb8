"""README's table of all claims, made from the verdicts that pages have written."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from ...pipeline.errors import InputError
from ..report.words.markup import markdown
from .page import CLAIMS_FILE
from .paper import Paper
from .verdicts import Outcome

_BEGIN, _END = "<!-- claims -->\n", "<!-- end of claims -->\n"


def summary_table(pages: Path, papers: Mapping[str, Paper], link: str) -> str:
    """Return what has become of the papers' claims, in Markdown.

    Parameters
    ----------
    pages : Path
        Folder with a page's folder a paper; those without are left out.
    papers : mapping of str to Paper
    link : str
        How the reader's file calls that folder.

    Returns
    -------
    str
    """
    found = {name: _verdicts(pages / name / CLAIMS_FILE) for name in papers}
    outcomes = [str(each) for each in Outcome]
    lines = [
        f"| paper | claims | {' | '.join(outcomes)} |",
        f"|---|--:|{'--:|' * len(outcomes)}",
    ]
    total: Counter[str] = Counter()
    for name, rows in found.items():
        if rows:
            counted = Counter(row["verdict"] for row in rows)
            total += counted
            lines.append(_line(f"[{markdown(papers[name].title)}]({link}/{name}/report.md)", counted))
    lines += [_line("all", total), "", "<details><summary>Every claim</summary>", ""]
    lines += ["| claim | the paper says | here |", "|---|---|---|"]
    lines += [
        f"| {row['id']} | {markdown(row['claim'])} | {row['verdict']} |"
        for rows in found.values()
        for row in rows
    ]
    return "\n".join([*lines, "", "</details>", ""])


def write_summary(readme: Path, pages: Path, papers: Mapping[str, Paper]) -> None:
    """Write the table between its two markers in a README anew.

    Parameters
    ----------
    readme, pages : Path
    papers : mapping of str to Paper

    Raises
    ------
    InputError
        The file cannot be read, or has no markers.
    """
    try:
        text = readme.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{readme}: cannot be read ({error.strerror})") from None
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not (begin and end):
        raise InputError(
            f"{readme}: no place for the table: it goes between lines {_BEGIN.strip()} and {_END.strip()}"
        )
    try:
        where = pages.resolve().relative_to(readme.resolve().parent)
    except ValueError:
        raise InputError(f"{pages}: must be below the folder of {readme}, which links to it") from None
    table = summary_table(pages, papers, where.as_posix())
    readme.write_text(before + begin + table + end + after, encoding="utf-8", newline="\n")


def _line(name: str, counted: Counter[str]) -> str:
    return f"| {name} | {counted.total()} | {' | '.join(str(counted[str(each)]) for each in Outcome)} |"


def _verdicts(path: Path) -> list[dict[str, str]]:
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
