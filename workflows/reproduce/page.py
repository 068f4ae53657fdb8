"""Write a paper's page (verdicts on claims, tables, figures), and tables of the verdicts of all papers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from ...pipeline.errors import InputError
from ..report.document import Page
from ..report.page.blocks import Block, Facts, Listing, Section, Text
from ..report.page.table import TableCell
from ..report.words.markup import markdown, with_block
from ..report.words.wording import count
from .evidence import Evidence, NotThere, StudyEvidence
from .figures import table_of
from .paper import Exhibit, Paper
from .printed import Claim, claims, read_rows
from .verdicts import Outcome, Verdict, judge

# Each page's folder has a file of this name with its verdicts; README's table is made from these files.
CLAIMS_FILE = "claims.csv"
CLAIMS_HEADER = ("id", "where", "claim", "kind", "verdict", "met", "asked", "figures")


def write_page(paper: Paper, evidence: Evidence, out: Path) -> list[Path]:
    """Write a paper's page into the folder `out` and return the files written, ``report.html`` first.

    The folder is created if needed. Raise `InputError` if files cannot be written there.
    """
    judged = judge(claims(paper.name), paper.checks, evidence, repetitions=paper.repetitions)
    sections = [
        _claims(paper, judged),
        *(_exhibit(each, evidence) for each in paper.exhibits),
        _studies(evidence),
    ]
    provenance = {study.name: study.view.results.provenance for study in evidence.there}
    further = {
        CLAIMS_FILE: _claims_csv(judged),
        "provenance.json": json.dumps(provenance, indent=2, ensure_ascii=False) + "\n",
    }
    return Page(paper.title, _opening(paper, judged), sections).write(out, further)


def _opening(paper: Paper, judged: Sequence[tuple[Claim, Verdict]]) -> list[Block]:
    findings = [verdict for claim, verdict in judged if not claim.kind]
    counted = Counter(verdict.outcome for verdict in findings)
    said = (
        "A study of ours: what we say of it, and a verdict on each sentence."
        if paper.own
        else "The paper's experiments repeated: printed numbers, our numbers, and a verdict on each claim."
    )
    blocks: list[Block] = [
        Text(said, "soft"),
        Facts(
            [
                ("claims", str(len(judged))),
                ("findings", str(len(findings))),
                *((str(each), str(counted[each])) for each in Outcome),
            ]
        ),
    ]
    if paper.remarks:
        blocks.append(Listing(list(paper.remarks)))
    return blocks


def _claims(paper: Paper, judged: Sequence[tuple[Claim, Verdict]]) -> Section:
    rows: list[list[str | TableCell]] = [
        [
            claim.id,
            claim.text,
            claim.kind or "finding",
            TableCell(verdict.text, best=verdict.outcome is Outcome.HOLDS),
            verdict.figures,
            claim.printed,
            claim.where,
        ]
        for claim, verdict in judged
    ]
    header = ["claim", "the paper says", "kind", "here", "what decides", "printed", "where"]
    if paper.own:
        header, rows = ["claim", "said", *header[2:5]], [row[:5] for row in rows]
    note = (
        "Predicates over the results decide; thresholds that stand for vague words are ours. In brackets: "
        "the cases in which a claim holds, of those asked. From three quarters of them on it mostly holds, "
        "from half on it is mixed, below it mostly fails. A claim with clauses holds only if all do. The "
        "tiles count findings: claims whose numbers decide no other claim, without theorems, what holds by "
        "construction or of any learner, and conjectures."
    )
    title = "Every claim with its verdict"
    table = table_of("claims", title, header, rows, labels=len(header), note=note, wrap=True)
    return Section("claims", "The claims", [table])


def _claims_csv(judged: Sequence[tuple[Claim, Verdict]]) -> str:
    rows = [(c.id, c.where, c.text, c.kind, str(v.outcome), v.met, v.asked, v.figures) for c, v in judged]
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
        if study.lacking:
            lacks.append(study.lacking)
    header = ["study", "cells there", "planned", "failed", "stopped", "repetitions", "made with"]
    blocks: list[Block] = [table_of("studies", "The studies behind this page", header, rows, wrap=True)]
    if lacks := [*lacks, *evidence.absent]:
        blocks.append(Listing([("Not run to the end", text) for text in lacks], warning=True))
    return Section("studies", "What was run", blocks)


def _made_with(study: StudyEvidence) -> str:
    cells, made = study.view.cells, study.view.results.provenance
    bases = cells["base"].value_counts().to_dict() if "base" in cells else {}
    texts = [f"{count(n, 'cell')} of {name}" for name, n in bases.items()]
    if sum(bases.values()) < len(cells):
        version = made.get("packages", {}).get("singlepass", "–")
        texts.append(f"singlepass {version}, {str(made.get('started', '–'))[:10]}, {made.get('cpu', '–')}")
    return "; ".join(texts)


def papers_table(pages: Path, papers: Mapping[str, Paper], link: str) -> str:
    """Return a Markdown table that counts verdicts on findings: one row per paper, then one for all.

    Findings are claims with an empty `kind`; theorems, for example, do not count. `pages` has one folder per
    paper, written by `write_page`; papers without a folder are left out. `link` is the path of `pages`
    relative to the file that the table is written into.
    """
    outcomes = [str(each) for each in Outcome]
    lines = [
        f"| paper | claims | findings | {' | '.join(outcomes)} |",
        f"|---|--:|--:|{'--:|' * len(outcomes)}",
    ]
    total, claims = Counter[str](), 0
    for name, rows in _verdicts(pages, papers).items():
        counted = Counter(row["verdict"] for row in rows if not row["kind"])
        total, claims = total + counted, claims + len(rows)
        lines.append(_line(f"[{markdown(papers[name].title)}]({link}/{name}/report.md)", len(rows), counted))
    return "\n".join([*lines, _line("all", claims, total), ""])


def claims_table(pages: Path, papers: Mapping[str, Paper], said: str = "the paper says") -> str:
    """Return a Markdown table of all claims with their verdicts.

    `pages` has one folder per paper, written by `write_page`. `said` is the heading of the column of claims.
    """
    lines = [f"| claim | {said} | kind | here |", "|---|---|---|---|"]
    lines += [
        f"| {row['id']} | {markdown(row['claim'])} | {row['kind'] or 'finding'} | {_told(row)} |"
        for rows in _verdicts(pages, papers).values()
        for row in rows
    ]
    return "\n".join([*lines, ""])


def write_summary(
    readme: Path, pages: Path, papers: Mapping[str, Paper], own: Mapping[str, Paper] | None = None
) -> None:
    """Write the table of papers into `readme`, and tables of claims into ``README.md`` in `pages`.

    A table replaces the text between two marks: ``<!-- papers -->`` and ``<!-- end of papers -->`` for the
    table of papers, marks with "claims" for the papers' claims, and with "own claims" for the claims of our
    own studies. Raise `InputError` and write nothing if `pages` is not below the folder of `readme`, if a
    file cannot be read or lacks these marks, or if a table has a paper that has no page in `pages`.
    """
    try:
        where = pages.resolve().relative_to(readme.resolve().parent)
    except ValueError:
        raise InputError(f"{pages}: must be below the folder of {readme}, which links to it") from None
    every = pages / "README.md"
    texts = {file.resolve(): _read(file) for file in (readme, every)}
    tables = [
        (readme, "papers", papers_table(pages, papers, where.as_posix()), papers),
        (every, "claims", claims_table(pages, papers), papers),
    ]
    if own:
        tables.append((every, "own claims", claims_table(pages, own, "said"), own))
    for file, name, table, listed in tables:
        try:
            before = texts[file.resolve()]
            after = with_block(before, name, table)
        except ValueError as error:
            raise InputError(f"{file}: {error}") from None
        for lost in (each for each in listed if each not in _verdicts(pages, listed)):
            rows = [f"/{lost}/report.md)", *(f"\n| {claim.id} |" for claim in claims(lost))]
            if any(row in before and row not in after for row in rows):
                raise InputError(
                    f"{file}: its table of {name} has {lost}, which has no page in {pages}: "
                    "give --out a folder next to the other pages, such as results/reference/NAME"
                )
        texts[file.resolve()] = after
    for file, text in texts.items():
        try:
            file.write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise InputError(f"{file}: cannot be written ({error.strerror})") from None


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(
            f"{file}: cannot be read ({getattr(error, 'strerror', 'not UTF-8')}), but verdicts are written "
            "into it: check --readme, and give --out a folder next to the other pages"
        ) from None


def _line(name: str, claims: int, counted: Counter[str]) -> str:
    cells = [claims, counted.total(), *(counted[str(each)] for each in Outcome)]
    return f"| {name} | {' | '.join(map(str, cells))} |"


def _told(row: dict[str, str]) -> str:
    return Verdict(Outcome(row["verdict"]), "", int(row["met"]), int(row["asked"])).text


def _verdicts(pages: Path, papers: Mapping[str, Paper]) -> dict[str, list[dict[str, str]]]:
    """Return the rows of the file of verdicts of each paper's page; papers without a page are left out."""
    found = {}
    for name in papers:
        path = pages / name / CLAIMS_FILE
        if path.is_file():
            found[name] = read_rows(path)
    return found
