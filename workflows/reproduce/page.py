"""Write the page of a paper (claims with verdicts, exhibits, coverage) and tables of all verdicts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ...pipeline.errors import InputError
from ..report.document import Page, rare_collections
from ..report.page.blocks import Block, Facts, Listing, Section, Text
from ..report.page.table import TableCell
from ..report.words.markup import markdown, with_block
from .evidence import Evidence, NotThere, StudyEvidence
from .figures import table_of
from .paper import Exhibit, Paper
from .printed import claims, read_rows
from .verdicts import Judged, Outcome, judge

# The table of verdicts from which README's table is made.
CLAIMS_FILE = "claims.csv"
CLAIMS_HEADER = ("id", "where", "claim", "verdict", "figures")


def write_page(paper: Paper, evidence: Evidence, out: Path) -> list[Path]:
    """Write a paper's page into the folder `out` and return its files, ``report.html`` first.

    The folder is created if needed. Raise `InputError` if it cannot be written to.
    """
    with rare_collections():
        judged = judge(claims(paper.name), paper.checks, evidence)
        sections = [
            _claims(judged),
            *(_exhibit(each, evidence) for each in paper.exhibits),
            _studies(evidence),
        ]
        provenance = {study.name: study.view.results.provenance for study in evidence.there}
        further = {
            CLAIMS_FILE: _claims_csv(judged),
            "provenance.json": json.dumps(provenance, indent=2, ensure_ascii=False) + "\n",
        }
        return Page(paper.title, _opening(paper, judged), sections).write(out, further)


def _opening(paper: Paper, judged: Sequence[Judged]) -> list[Block]:
    counted = Counter(each.verdict.outcome for each in judged)
    blocks: list[Block] = [
        Text(
            "The paper's experiments repeated: printed numbers, our numbers, and a verdict on each claim.",
            "soft",
        ),
        Facts([("claims", str(len(judged))), *((str(each), str(counted[each])) for each in Outcome)]),
    ]
    if paper.remarks:
        blocks.append(Listing(list(paper.remarks)))
    return blocks


def _claims(judged: Sequence[Judged]) -> Section:
    rows: list[list[str | TableCell]] = [
        [
            each.claim.id,
            each.claim.text,
            TableCell(str(each.verdict.outcome), best=each.verdict.outcome is Outcome.HOLDS),
            each.verdict.figures,
            each.claim.printed,
            each.claim.where,
        ]
        for each in judged
    ]
    header = ["claim", "the paper says", "here", "what decides", "printed", "where"]
    note = "Predicates over the results decide; thresholds that stand for vague words are ours."
    title = "Every claim with its verdict"
    table = table_of("claims", title, header, rows, labels=6, note=note, wrap=True)
    return Section("claims", "The claims", [table])


def _claims_csv(judged: Sequence[Judged]) -> str:
    rows = [
        (each.claim.id, each.claim.where, each.claim.text, str(each.verdict.outcome), each.verdict.figures)
        for each in judged
    ]
    return pd.DataFrame(rows, columns=CLAIMS_HEADER).to_csv(index=False, lineterminator="\n")


def _exhibit(exhibit: Exhibit, evidence: Evidence) -> Section:
    try:
        note = [Text(exhibit.note, "soft")] if exhibit.note else []
        blocks = [*note, *exhibit.show(evidence)]
    except NotThere as lack:
        blocks = [Text(f"Not here: {lack}.", "note")]
    return Section(exhibit.id, exhibit.heading, blocks)


def _studies(evidence: Evidence) -> Section:
    rows, lacks = [], []
    for study in evidence.there:
        coverage = study.view.coverage
        counts = coverage.planned - coverage.missing, coverage.planned, coverage.failed, coverage.stopped
        repetitions = f"{study.design.repetitions}"
        rows.append([study.name, *(f"{each:,}" for each in counts), repetitions, _made_with(study)])
        if coverage.missing:
            lacks.append(f"{study.name}: {coverage.missing:,} of {coverage.planned:,} cells were not run")
    header = ["study", "cells there", "planned", "failed", "stopped", "repetitions", "made with"]
    blocks: list[Block] = [table_of("studies", "The studies behind this page", header, rows, wrap=True)]
    if lacks := [*lacks, *evidence.absent]:
        blocks.append(Listing([("Not run to the end", text) for text in lacks], warning=True))
    return Section("studies", "What was run", blocks)


def _made_with(study: StudyEvidence) -> str:
    made = study.view.results.provenance
    version = made.get("packages", {}).get("singlepass", "–")
    return f"singlepass {version}, {str(made.get('started', '–'))[:10]}, {made.get('cpu', '–')}"


def papers_table(pages: Path, papers: Mapping[str, Paper], link: str) -> str:
    """Return a Markdown table of verdicts, one row per paper and one for all.

    `pages` has one folder per paper, written by `write_page`; papers without one are left out. `link` is the
    path of `pages` as seen from the file that the table goes into.
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
    """Return a Markdown table of every claim with its verdict; see `papers_table`."""
    lines = ["| claim | the paper says | here |", "|---|---|---|"]
    lines += [
        f"| {row['id']} | {markdown(row['claim'])} | {row['verdict']} |"
        for rows in _verdicts(pages, papers).values()
        for row in rows
    ]
    return "\n".join([*lines, ""])


def write_summary(readme: Path, pages: Path, papers: Mapping[str, Paper]) -> None:
    """Write the table of papers into `readme`, and that of claims into ``README.md`` in `pages`.

    Lines ``<!-- papers -->`` and ``<!-- end of papers -->`` enclose the first table, ``<!-- claims -->`` and
    ``<!-- end of claims -->`` the second. Raise `InputError` if `pages` is not below the folder of `readme`,
    or if a file cannot be read or lacks these lines.
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
            found[name] = read_rows(path)
    return found
