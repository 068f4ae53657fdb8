"""Measures of the AROW paper, and what its exhibits and checks share."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ...evidence import NotThere, StudyEvidence

# Rates of label noise of Fig. 10.
LEVELS = (0.0, 0.1, 0.25)


def mean_accuracy(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return mean test accuracy over tasks in percent, shape (algorithms, noise)."""
    return pd.DataFrame(
        {q: 100 * study.table("test_accuracy", q, datasets=tasks).mean() for q in study.rates}
    )


def error_rise(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return the mean over tasks of the rise in error, in percent of the error without noise.

    The shape is (algorithms, noise). Raise `NotThere` if the study has not been run without noise.
    """
    errors = {q: 1 - study.table("test_accuracy", q, datasets=tasks) for q in study.rates}
    if 0.0 not in errors:
        raise NotThere(f"{study.name}: has not been run without label noise")
    # A rise from an error of 0 has no percentage.
    clean = errors[0.0].where(errors[0.0] > 0)
    return pd.DataFrame({q: 100 * (each / clean - 1).mean() for q, each in errors.items()})


def difficulty(study: StudyEvidence, pa: str, tasks: Sequence[str], q: float) -> pd.DataFrame:
    """Return the ease of tasks, and the error reduction of AROW with one constraint, at noise rate `q`.

    Column accuracy is the mean of the baselines, which include `pa`, in percent; column reduction is in
    percent of their mean error. Tasks on which that error is 0 are left out.
    """
    ours, *baselines = with_one(pa)
    accuracy = study.table("test_accuracy", q, datasets=tasks)
    mean = accuracy[baselines].mean(axis=1)
    # An error of 0 cannot be reduced.
    errors = (1 - mean).where(mean < 1)
    reduction = 1 - (1 - accuracy[ours]) / errors
    return pd.DataFrame({"accuracy": 100 * mean, "reduction": 100 * reduction}).dropna()


def slope(points: pd.DataFrame) -> float:
    """Return the slope of the least-squares line through the points of `difficulty`.

    Raise `NotThere` if there are fewer than three different accuracies, which always lie on a line.
    """
    if points["accuracy"].nunique() < 3:
        raise NotThere("too few tasks for a fitted line")
    return float(np.polyfit(points["accuracy"], points["reduction"], 1)[0])


def passes(study: StudyEvidence) -> pd.DataFrame:
    """Return tuned passes and the seconds of one pass per example, one row per cell.

    Columns are dataset, algorithm, noise, passes and seconds.
    """
    cells = study.cells
    tuned = cells["params"].map(lambda text: json.loads(text).get("epochs", 1)).astype("float64")
    seconds = cells["fit_seconds"].astype("float64") / cells["n_examples"].astype("float64") / tuned
    return cells[["dataset", "algorithm", "noise"]].assign(passes=tuned, seconds=seconds)


# The paper does not say which PA it uses, so claims about PA are checked for both.
PAS = ("PA", "PA-I")
# The multi-class text tasks; the paper's are all text.
TEXT = ("amazon7", "amazon3", "20newsgroups", "reuters21578-r8")


def four(pa: str) -> list[str]:
    """Return the algorithms that the paper ranks, with one of the two PAs."""
    return ["AROW", "CW", pa, "SOP"]


def with_one(pa: str) -> list[str]:
    """Return the multi-class algorithms with one constraint, and one of the two PAs."""
    return ["AROW 1", "CW", pa, "Perceptron"]


def binary_groups(study: StudyEvidence) -> dict[str, list[str]]:
    """Return the binary tasks by group, all tasks first; groups without tasks are left out.

    Raise `NotThere` if the study has not been run to its end.
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
    """Return the multi-class text tasks, and all multi-class tasks.

    Raise `NotThere` if the study has not been run to its end.
    """
    names = every_task(study)
    return {"text": [name for name in names if name in TEXT], f"all {len(names)}": names}


def every_task(study: StudyEvidence) -> list[str]:
    """Return all tasks of a study; raise `NotThere` if it has not been run to its end.

    The results do not know tasks without any finished cell, so a statement about all tasks would cover only
    some.
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
    """Return numbers as a list separated by commas.

    Examples
    --------
    >>> listed([1.451, 1.2])
    '1.45, 1.20'
    """
    # Adding 0.0 removes the sign of a negative zero.
    return ", ".join(f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−") for value in values)


def row(frame: pd.DataFrame, name: str) -> list[float]:
    """Return a row of a table as floats."""
    return [float(value) for value in frame.loc[name].to_numpy(dtype="float64")]


def rises(values: Sequence[float]) -> bool:
    """Return whether every value is above the one before it.

    Examples
    --------
    >>> rises([1, 2, 3]), rises([1, 3, 2])
    (True, False)
    """
    return all(later > earlier for earlier, later in pairwise(values))
