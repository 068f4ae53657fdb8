"""Define a paper by its studies, exhibits and claims, and read the results of its studies.

The texts of a paper's page are in ``facts/<paper>/paper.toml``, those of its claims in ``claims.csv``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ...pipeline.analysis.design import evaluation_rows
from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError
from ...pipeline.store.store import Store
from ..report.page.blocks import Block
from .evidence import Evidence, StudyEvidence
from .printed import texts
from .verdicts import Check

# A function that returns the blocks of a table or figure; it may raise `NotThere`.
Show: TypeAlias = Callable[[Evidence], Sequence[Block]]


@dataclass(frozen=True)
class PaperStudy:
    """A shipped study and its small form, which runs in minutes; `small` is None if there is no such form."""

    full: str
    small: str | None = None


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper."""

    # Letters, digits and hyphens, such as "table-1".
    id: str
    # Such as "Table I: test accuracy and support vectors".
    heading: str
    # Returns blocks that show the exhibit in the paper's layout, with our numbers next to the printed ones.
    show: Show
    # A paragraph below the heading.
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: its studies, its exhibits, and the checks of its claims."""

    # The paper's name on the command line, and the name of its folder in `facts/`.
    name: str
    # Authors, title, year.
    title: str
    # The studies, by the names that exhibits and checks use, as in ``evidence["binary"]``.
    studies: Mapping[str, PaperStudy]
    # Every table and figure of the paper's experiments, in the paper's order.
    exhibits: Sequence[Exhibit]
    # The function that judges each claim, by the id of the claim.
    checks: Mapping[str, Check]
    # What a reader must know about how we repeated the paper: pairs (opening words, sentence).
    remarks: Sequence[tuple[str, str]] = ()
    # Whether these are our own studies: then the claims are ours and have no printed numbers to compare with.
    own: bool = False


def declared(name: str, exhibits: Mapping[str, Show], checks: Mapping[str, Check]) -> Paper:
    """Return a paper; its title, studies, remarks, headings and notes are read from its ``paper.toml``."""
    said = texts(name)
    return Paper(
        name,
        said["title"],
        {key: PaperStudy(**study) for key, study in said["studies"].items()},
        [Exhibit(id, said["headings"][id], show, said["notes"].get(id, "")) for id, show in exhibits.items()],
        checks,
        list(said["remarks"].items()),
        own=said.get("own", False),
    )


def study_names(paper: Paper, *, small: bool) -> list[str]:
    """Return the names of a paper's studies, or of their small forms, each once and in the paper's order."""
    names = (each.small if small else each.full for each in paper.studies.values())
    return list(dict.fromkeys(name for name in names if name is not None))


def study_folder(results: str, name: str) -> str:
    """Return the folder of a study's results, ``RESULTS/NAME``; `results` is a folder or URL."""
    return f"{results.rstrip('/')}/{name}"


def read_studies(paper: Paper, results: str, *, small: bool) -> Evidence:
    """Read the results of those studies of a paper that have been run.

    `results` is a folder or URL with one folder per study. Raise `InputError` if there is no study, or if one
    is damaged or belongs to another study.
    """
    by_name = {name: _read(name, study_folder(results, name)) for name in study_names(paper, small=small)}
    found: dict[str, StudyEvidence | str] = {}
    for key, study in paper.studies.items():
        name = study.small if small else study.full
        found[key] = f"{study.full}: has no small form" if name is None else by_name[name]
    evidence = Evidence(found)
    if not evidence.there:
        raise InputError(f"{results}: has no results of {', '.join(by_name)}")
    return evidence


def _read(name: str, where: str) -> StudyEvidence | str:
    if not Store(where).exists():
        return f"{name}: has not been run"
    results = read_results(where)
    if results.study["name"] != name:
        raise InputError(f"{where}: results of study {results.study['name']!r}, not of {name!r}")
    if not len(evaluation_rows(results.cells)):
        return f"{name}: no cell of it has run yet"
    return StudyEvidence(name, results)
