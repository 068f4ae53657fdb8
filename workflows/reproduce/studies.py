"""The studies of a paper, as far as they have been run."""

from __future__ import annotations

from ...pipeline.analysis.design import evaluation_rows
from ...pipeline.analysis.study_results import read_results
from ...pipeline.errors import InputError
from ...pipeline.store.store import Store
from .evidence import Evidence, StudyEvidence
from .paper import Paper


def study_names(paper: Paper, *, small: bool) -> list[str]:
    """Return the names of a paper's studies, or of their small forms.

    Parameters
    ----------
    paper : Paper
    small : bool

    Returns
    -------
    list of str
        Each once, in the order of the paper.
    """
    names = (each.small if small else each.full for each in paper.studies.values())
    return list(dict.fromkeys(name for name in names if name is not None))


def read_studies(paper: Paper, results: str, *, small: bool) -> Evidence:
    """Read the results of a paper's studies, as far as they are there.

    Parameters
    ----------
    paper : Paper
    results : str
        Folder or URL with a folder a study.
    small : bool
        Whether to read the small ones.

    Returns
    -------
    Evidence

    Raises
    ------
    InputError
        None is there, or one is damaged or another study's.
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
    """Return where a study's results are: below a folder or URL, under its name."""
    return f"{results.rstrip('/')}/{name}"
