"""The page of a paper: its claims with verdicts, its exhibits, and what of its studies has been run."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ..report.document import Page, rare_collections
from ..report.page.blocks import Block, Facts, Listing, Section, Text
from ..report.page.table import TableBlock, TableCell
from .evidence import Evidence, NotThere, StudyEvidence
from .paper import Exhibit, Paper
from .printed import claims
from .verdicts import Judged, Outcome, judge

# The table of verdicts that README's is made of.
CLAIMS_FILE = "claims.csv"
CLAIMS_HEADER = ("id", "where", "claim", "verdict", "figures")


def write_page(paper: Paper, evidence: Evidence, out: Path) -> list[Path]:
    """Write a paper's page.

    Parameters
    ----------
    paper : Paper
    evidence : Evidence
    out : Path
        Folder of the page; made if need be.

    Returns
    -------
    list of Path
        The files written, ``report.html`` first.

    Raises
    ------
    InputError
        The folder cannot be written to.
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
            "The paper's experiments made again: what it prints, what comes out here, what of it holds.",
            "soft",
        ),
        Facts([("claims", str(len(judged))), *((str(each), str(counted[each])) for each in Outcome)]),
    ]
    if paper.remarks:
        blocks.append(Listing(list(paper.remarks)))
    return blocks


def _claims(judged: Sequence[Judged]) -> Section:
    rows = [
        [
            TableCell(each.claim.id),
            TableCell(each.claim.text),
            TableCell(str(each.verdict.outcome), best=each.verdict.outcome is Outcome.HOLDS),
            TableCell(each.verdict.figures),
            TableCell(each.claim.printed),
            TableCell(each.claim.where),
        ]
        for each in judged
    ]
    header = ["claim", "the paper says", "here", "what decides", "printed", "where"]
    note = "Verdicts are made by predicates over the results; thresholds that stand for vague words are ours."
    return Section(
        "claims",
        "The claims",
        [
            TableBlock(
                "claims", "Every claim and what becomes of it", header, rows, labels=6, note=note, wrap=True
            )
        ],
    )


def _claims_csv(judged: Sequence[Judged]) -> str:
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(CLAIMS_HEADER)
    writer.writerows(
        (each.claim.id, each.claim.where, each.claim.text, str(each.verdict.outcome), each.verdict.figures)
        for each in judged
    )
    return sink.getvalue()


def _exhibit(exhibit: Exhibit, evidence: Evidence) -> Section:
    try:
        blocks = list(exhibit.show(evidence))
    except NotThere as lack:
        blocks = [Text(f"Not here: {lack}.", "note")]
    return Section(exhibit.id, exhibit.heading, blocks)


def _studies(evidence: Evidence) -> Section:
    rows = []
    for study in evidence.there:
        coverage = study.view.coverage
        rows.append(
            [
                TableCell(study.name),
                TableCell(f"{coverage.planned - coverage.missing:,}"),
                TableCell(f"{coverage.planned:,}"),
                TableCell(f"{coverage.failed:,}"),
                TableCell(f"{coverage.stopped:,}"),
                TableCell(f"{study.design.repetitions}"),
                TableCell(_made_with(study)),
            ]
        )
    header = ["study", "cells there", "planned", "failed", "stopped", "repetitions", "made with"]
    table = TableBlock("studies", "The studies behind this page", header, rows, wrap=True)
    blocks: list[Block] = [table]
    unfinished = [
        f"{study.name}: {study.view.coverage.missing:,} of {study.view.coverage.planned:,} cells were not run"
        for study in evidence.there
        if study.view.coverage.missing
    ]
    if lacks := [*unfinished, *evidence.absent]:
        blocks.append(Listing([("Not run to the end", text) for text in lacks], warning=True))
    return Section("studies", "What was run", blocks)


def _made_with(study: StudyEvidence) -> str:
    made = study.view.results.provenance
    version = made.get("packages", {}).get("singlepass", "–")
    return f"singlepass {version}, {str(made.get('started', '–'))[:10]}, {made.get('cpu', '–')}"
