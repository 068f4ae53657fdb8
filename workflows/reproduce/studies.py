"""Read the results of a paper's studies."""

from __future__ import annotations

from ...pipeline.analysis.design import evaluation_rows
from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError
from ...pipeline.store.store import Store
from .evidence import Evidence, StudyEvidence
from .paper import Paper


def study_names(paper: Paper, *, small: bool) -> list[str]:
    """Return the names of a paper's studies, or of their small forms, each once and in the paper's order."""
    names = (each.small if small else each.full for each in paper.studies.values())
    return list(dict.fromkeys(name for name in names if name is not None))


def read_studies(paper: Paper, results: str, *, small: bool) -> Evidence:
    """Read the results of those of a paper's studies that have been run.

    `results` is a folder or URL with one folder per study. Raise `InputError` if there is no study, or if one
    is damaged or belongs to another study.
    """
    found: dict[str, StudyEvidence | str] = {}
    by_name: dict[str, StudyEvidence | str] = {}
    for key, study in paper.studies.items():
        name = study.small if small else study.full
        if name is None:
            found[key] = f"{study.full}: has no small form"
            continue
        if name not in by_name:
            by_name[name] = _read(name, study_folder(results, name))
        found[key] = by_name[name]
    evidence = Evidence(found)
    if not evidence.there:
        raise InputError(f"{results}: has no results of {', '.join(study_names(paper, small=small))}")
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


def study_folder(results: str, name: str) -> str:
    """Return the folder of a study's results: its name below a folder or URL."""
    return f"{results.rstrip('/')}/{name}"
