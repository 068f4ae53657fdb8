"""What Figs. 9 and 10 and the claims on multi-class tasks measure."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...evidence import NotThere, StudyEvidence
from .parts import with_one

# Rates of label noise of Fig. 10.
LEVELS = (0.0, 0.1, 0.25)


def mean_accuracy(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return mean test accuracy over tasks in percent, shape (algorithms, noise).

    Raises
    ------
    NotThere
    """
    return pd.DataFrame(
        {q: 100 * study.table("test_accuracy", q, datasets=tasks).mean() for q in study.rates}
    )


def error_rise(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return the mean over tasks of the rise in error, in percent of the error without noise.

    Returns
    -------
    DataFrame of float, shape (algorithms, noise)

    Raises
    ------
    NotThere
    """
    errors = {q: 1 - study.table("test_accuracy", q, datasets=tasks) for q in study.rates}
    if 0.0 not in errors:
        raise NotThere(f"{study.name}: has not been run without label noise")
    # An error of 0 has no rise in percent.
    clean = errors[0.0].where(errors[0.0] > 0)
    return pd.DataFrame({q: 100 * (each / clean - 1).mean() for q, each in errors.items()})


def difficulty(study: StudyEvidence, pa: str, tasks: Sequence[str], q: float) -> pd.DataFrame:
    """Return how easy tasks are, and by how much AROW with one constraint reduces the error there.

    Parameters
    ----------
    study : StudyEvidence
    pa : str
        Which PA is among the baselines.
    tasks : sequence of str
    q : float
        Rate of label noise.

    Returns
    -------
    DataFrame of float, shape (tasks, 2)
        Columns accuracy (mean of the baselines, in percent) and reduction (of their mean error, in percent).

    Raises
    ------
    NotThere
    """
    ours, *baselines = with_one(pa)
    accuracy = study.table("test_accuracy", q, datasets=tasks)
    mean = accuracy[baselines].mean(axis=1)
    # An error of 0 cannot be reduced.
    errors = (1 - mean).where(mean < 1)
    reduction = 1 - (1 - accuracy[ours]) / errors
    return pd.DataFrame({"accuracy": 100 * mean, "reduction": 100 * reduction}).dropna()


def slope(points: pd.DataFrame) -> float:
    """Return the slope of the least-squares line through what `difficulty` returns.

    Raises
    ------
    NotThere
        Two tasks lie on any line.
    """
    if points["accuracy"].nunique() < 3:
        raise NotThere("too few tasks for a fitted line")
    return float(np.polyfit(points["accuracy"], points["reduction"], 1)[0])


def passes(study: StudyEvidence) -> pd.DataFrame:
    """Return tuned passes and the seconds that a pass takes an example, a row a cell.

    Parameters
    ----------
    study : StudyEvidence

    Returns
    -------
    DataFrame
        Columns dataset, algorithm, noise, passes, seconds.
    """
    cells = study.cells
    tuned = cells["params"].map(lambda text: json.loads(text).get("epochs", 1)).astype("float64")
    seconds = cells["fit_seconds"].astype("float64") / cells["n_examples"].astype("float64") / tuned
    return cells[["dataset", "algorithm", "noise"]].assign(passes=tuned, seconds=seconds)
