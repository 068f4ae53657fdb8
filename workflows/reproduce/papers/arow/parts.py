"""What exhibits and checks of this paper share: groups of tasks, which PA, how figures are written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pandas as pd

from ...evidence import NotThere, StudyEvidence

# The paper does not say which PA it takes, so whatever it says of PA is asked of both.
PAS = ("PA", "PA-I")
# The multi-class tasks of text, as the paper's are.
TEXT = ("amazon7", "amazon3", "20newsgroups", "reuters21578-r8")


def four(pa: str) -> list[str]:
    """Return the algorithms that the paper ranks, with one of the two PAs."""
    return ["AROW", "CW", pa, "SOP"]


def with_one(pa: str) -> list[str]:
    """Return the multi-class algorithms with one constraint, with one of the two PAs."""
    return ["AROW 1", "CW", pa, "Perceptron"]


def binary_groups(study: StudyEvidence) -> dict[str, list[str]]:
    """Return the binary tasks by what they are of, and all together first.

    Parameters
    ----------
    study : StudyEvidence

    Returns
    -------
    dict of str to list of str
        Groups without tasks are left out.

    Raises
    ------
    NotThere
        The study has not been run to its end.
    """
    names = every_task(study)
    digits = [name for name in names if name.startswith(("mnist", "usps"))]
    groups = {
        "all": names,
        "text": [name for name in names if name not in digits],
        "digits": digits,
        "Blitzer's features": study.datasets("amazon-acl"),
    }
    return {name: tasks for name, tasks in groups.items() if tasks}


def multiclass_groups(study: StudyEvidence) -> dict[str, list[str]]:
    """Return the multi-class tasks of text, and all together.

    Parameters
    ----------
    study : StudyEvidence

    Returns
    -------
    dict of str to list of str

    Raises
    ------
    NotThere
        The study has not been run to its end.
    """
    names = every_task(study)
    return {"text": [name for name in names if name in TEXT], f"all {len(names)}": names}


def every_task(study: StudyEvidence) -> list[str]:
    """Return all tasks of a study.

    Tasks of which no cell has run are unknown: what is said of all tasks would be said of some.

    Raises
    ------
    NotThere
        The study has not been run to its end.
    """
    coverage = study.view.coverage
    if coverage.missing:
        raise NotThere(
            f"{study.name}: {coverage.missing:,} of {coverage.planned:,} cells were not run, and this is "
            "said of all its tasks"
        )
    return study.datasets()


def percent(rate: float) -> str:
    """Return a share as a percentage.

    Examples
    --------
    >>> percent(0.15)
    '15%'
    """
    return f"{100 * rate:g}%"


def listed(values: Iterable[float], digits: int = 2) -> str:
    """Return numbers one after the other.

    Examples
    --------
    >>> listed([1.451, 1.2])
    '1.45, 1.20'
    """
    # Without the sign of a zero.
    return ", ".join(f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−") for value in values)


def row(frame: pd.DataFrame, name: str) -> list[float]:
    """Return a row of a table as plain numbers.

    Parameters
    ----------
    frame : DataFrame of float
    name : str

    Returns
    -------
    list of float
    """
    return [float(value) for value in frame.loc[name].to_numpy(dtype="float64")]


def rises(values: Sequence[float]) -> bool:
    """Return whether every value is above the one before it.

    Examples
    --------
    >>> rises([1, 2, 3]), rises([1, 3, 2])
    (True, False)
    """
    return all(later > earlier for earlier, later in pairwise(values))
