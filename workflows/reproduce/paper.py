"""Define a paper by its studies, its exhibits (tables and figures) and its claims; read its studies' results.

The file ``facts/<paper>/paper.toml`` has the texts of the paper's page, and ``claims.csv`` there the claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...pipeline.analysis.design import evaluation_rows
from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError
from ...pipeline.store.store import Store
from ..report.page.blocks import Block
from .evidence import Evidence, StudyEvidence
from .printed import texts
from .verdicts import Check

# A function that makes a table or figure from results; it raises `NotThere` if results are missing.
Show: TypeAlias = Callable[[Evidence], Sequence[Block]]


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper, which our page of the paper repeats with our results."""

    # The id of its section on the page: letters, digits and hyphens, such as "table-1".
    id: str
    # The heading on the page, such as "Table I: test accuracy and support vectors".
    heading: str
    # Makes the exhibit from results, in the paper's layout and with our numbers next to the printed ones.
    show: Show
    # A paragraph of explanation below the heading, or "".
    note: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper: the studies that repeat it, its tables and figures, and functions that judge its claims."""

    # The paper's name on the command line, and the name of its folder in `facts/`.
    name: str
    # The paper's authors, year and title, as the heading of its page.
    title: str
    # The studies that repeat the paper, by the names that the code uses, as in ``evidence["binary"]``: the
    # name of each ("full"), and of its small version that runs in minutes ("small"), if there is one.
    studies: Mapping[str, Mapping[str, str]]
    # The tables and figures of the paper's experiments, in the paper's order.
    exhibits: Sequence[Exhibit]
    # For each claim, by its id, the function that judges it by the results.
    checks: Mapping[str, Check]
    # Notes on how we repeated the paper: pairs of a keyword and its explanation.
    remarks: Sequence[tuple[str, str]] = ()
    # True if this is a study of ours, not a paper: its claims are ours, so there are no printed numbers.
    own: bool = False
    # True if its claims may be judged by fewer repetitions than planned; see `judge`.
    repetitions: bool = False


def declared(name: str, exhibits: Mapping[str, Show], checks: Mapping[str, Check]) -> Paper:
    """Return the paper called `name`; its title, studies and texts come from its file ``paper.toml``."""
    said = texts(name)
    return Paper(
        name,
        said["title"],
        said["studies"],
        [Exhibit(id, said["headings"][id], show, said["notes"].get(id, "")) for id, show in exhibits.items()],
        checks,
        list(said["remarks"].items()),
        own=said.get("own", False),
        repetitions=said.get("repetitions", False),
    )


def study_names(paper: Paper, *, small: bool) -> list[str]:
    """Return the names of a paper's studies, or of their small versions, each once, in the paper's order."""
    names = (study.get("small" if small else "full") for study in paper.studies.values())
    return list(dict.fromkeys(name for name in names if name is not None))


def whole_studies(paper: Paper) -> list[str]:
    """Return the names of the studies that run whole among a paper's small ones."""
    return [name for name in study_names(paper, small=True) if name in study_names(paper, small=False)]


def small_form(paper: Paper) -> Paper:
    """Return the paper as its page on small studies shows it; raise `InputError` if none has a small form."""
    whole = whole_studies(paper)
    if whole == study_names(paper, small=True):
        full = ", ".join(study_names(paper, small=False))
        raise InputError(
            f"--small: no study of {paper.name!r} has a small form: leave --small out to run {full} whole "
            "(`singlepass plan` estimates the time)"
        )
    said = (
        "Studies whose names end in -small have fewer examples, data sets, grid points or repetitions than "
        "the full ones, so verdicts can differ from those of the full page."
    )
    if whole:
        said += f" Whole: {', '.join(whole)}."
    remarks = [("Small studies", said), *paper.remarks]
    return replace(paper, title=f"{paper.title} (small studies)", remarks=remarks)


def study_folder(results: str, name: str) -> str:
    """Return the folder or URL of a study's results, ``RESULTS/NAME``, below the folder or URL `results`."""
    return f"{results.rstrip('/')}/{name}"


def read_studies(paper: Paper, results: str, *, small: bool) -> Evidence:
    """Read the results of those studies of a paper that have been run.

    `results` is a folder or URL with one folder per study. Raise `InputError` if no study has results there,
    or if a folder is damaged or has the results of another study.
    """
    by_name = {name: _read(name, study_folder(results, name)) for name in study_names(paper, small=small)}
    found: dict[str, StudyEvidence | str] = {}
    for key, study in paper.studies.items():
        name = study.get("small" if small else "full")
        found[key] = f"{study['full']}: has no small form" if name is None else by_name[name]
    evidence = Evidence(found)
    if not evidence.there:
        raise InputError(f"{results}: {'; '.join(evidence.absent)}")
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
