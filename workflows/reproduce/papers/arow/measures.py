"""Measures of the AROW paper, which its claims and its exhibits share."""

from __future__ import annotations

import functools
import json
import math
from collections.abc import Sequence

import pandas as pd
from scipy import stats

from ....report.words.wording import percent
from ...evidence import NotThere, StudyEvidence

# The paper does not say which variant of PA it uses, so claims about PA are checked for both variants.
PAS = ("PA", "PA-I")
# The study's multi-class tasks on text; the paper's multi-class tasks are all on text.
TEXT = ("amazon7", "amazon3", "20newsgroups", "reuters21578-r8")
# Rates of label noise of Fig. 10.
LEVELS = (0.0, 0.1, 0.25)
SYNTHETIC, NOISE = "arow-synthetic", 0.1
# Two interpretations of Fig. 6, and their studies. Its caption refers to the learners of Fig. 5, which make
# one pass; Sec. 5.1 says that all experiments tune the number of passes.
READINGS = {"one pass": "synthetic", "passes tuned": "synthetic-batch"}
# Numbers of the paper's binary tasks, by group. A larger share of the study's tasks is text, on which CW does
# better.
PAPER_TASKS = {"text": 30, "digits": 100}
MIX = "the paper's mix"
# Claims on binary tasks are checked for each of these groups, because a learner that leads only on digits
# leads over all tasks.
STRATA = (*PAPER_TASKS, MIX)


def four(pa: str) -> list[str]:
    """Return the algorithms that the paper ranks, with one of the two variants of PA."""
    return ["AROW", "CW", pa, "SOP"]


def with_one(pa: str) -> list[str]:
    """Return AROW with one constraint per example, and its baselines, with one of the two variants of PA."""
    return ["AROW 1", "CW", pa, "Perceptron"]


def rates(study: StudyEvidence) -> str:
    """Return the study's rates of label noise as a text such as "0%, 10%, 50%"."""
    return ", ".join(map(percent, study.rates))


def every_task(study: StudyEvidence) -> list[str]:
    """Return all tasks of a study; raise `NotThere` if it has not been run to its end.

    The results do not list tasks without a finished cell, so a statement about all tasks would cover only
    some.
    """
    coverage = study.view.coverage
    if coverage.missing:
        raise NotThere(
            f"{study.name}: {coverage.missing:,} of {coverage.planned:,} cells were not run, but the claim "
            "is about all tasks"
        )
    return study.datasets()


def binary_groups(study: StudyEvidence) -> dict[str, list[str]]:
    """Return the binary tasks by group, all tasks first; groups without tasks are left out."""
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
    """Return the multi-class text tasks, the only kind of the paper, as a group."""
    return {"text": [name for name in every_task(study) if name in TEXT]}


def tasks_of(study: StudyEvidence, group: str) -> list[str]:
    """Return the tasks of one group of `binary_groups`, or raise `NotThere`."""
    tasks = binary_groups(study).get(group)
    if tasks is None:
        raise NotThere(f"{study.name}: has no tasks of {group}")
    return tasks


@functools.lru_cache(maxsize=512)
def mean_ranks(study: StudyEvidence, pa: str, q: float, group: str = "all") -> pd.Series[float]:
    """Return mean ranks of the four algorithms at noise rate `q` over the tasks of a group.

    The group `MIX` weights text and digits as in the paper.
    """
    if group == MIX:
        total = sum(PAPER_TASKS.values())
        text, digits = (n / total * mean_ranks(study, pa, q, part) for part, n in PAPER_TASKS.items())
        return text + digits
    return study.ranks(four(pa), q, datasets=tasks_of(study, group))


def lead_over_cw(study: StudyEvidence, q: float, group: str = "all") -> pd.Series[float]:
    """Return AROW's accuracy minus CW's, by task; exactly 0 if both accuracies are equal."""
    accuracy = study.table("test_accuracy", q, datasets=tasks_of(study, group), algorithms=["AROW", "CW"])
    return (accuracy["AROW"] - accuracy["CW"]).round(12)


def mistakes(study: StudyEvidence, t: float = 5000) -> pd.Series[float]:
    """Return mistakes against clean labels after `t` examples of the synthetic stream, by algorithm."""
    names = study.design.algorithms
    return pd.Series({name: study.at("mistakes_clean", name, SYNTHETIC, t, NOISE) for name in names})


def fewer(study: StudyEvidence, other: str, t: float) -> float:
    """Return how many percent fewer mistakes full AROW has made than `other` after `t` examples."""
    found = mistakes(study, t)
    return 100 * (1 - found["AROW full"] / found[other]) if found[other] else math.nan


def run_errors(study: StudyEvidence) -> pd.DataFrame:
    """Return test errors of the synthetic runs in percent, shape (runs, algorithms)."""
    # Raises `NotThere` if a run is missing.
    study.table("test_accuracy", NOISE, datasets=[SYNTHETIC])
    cells = study.cells[study.cells["dataset"] == SYNTHETIC]
    wide = cells.pivot_table(index="seed", columns="algorithm", values="test_accuracy")
    return 100 * (1 - wide[study.design.algorithms].astype("float64"))


def mean_accuracy(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return mean test accuracy over tasks in percent, shape (algorithms, noise rates)."""
    return pd.DataFrame(
        {q: 100 * study.table("test_accuracy", q, datasets=tasks).mean() for q in study.rates}
    )


def error_rise(study: StudyEvidence, tasks: Sequence[str]) -> pd.DataFrame:
    """Return the mean over tasks of the rise in error, in percent of the error without noise.

    The shape is (algorithms, noise rates).
    """
    errors = {q: 1 - study.table("test_accuracy", q, datasets=tasks) for q in study.rates}
    if 0.0 not in errors:
        raise NotThere(f"{study.name}: has not been run without label noise")
    # A rise from an error of 0 has no percentage.
    clean = errors[0.0].where(errors[0.0] > 0)
    return pd.DataFrame({q: 100 * (each / clean - 1).mean() for q, each in errors.items()})


def difficulty(study: StudyEvidence, pa: str, tasks: Sequence[str], q: float) -> pd.DataFrame:
    """Return how easy each task is, and by how much AROW reduces the error on it, at noise rate `q`.

    Column accuracy is the mean accuracy of the baselines CW, `pa` and Perceptron in percent. Column reduction
    is their mean error minus that of AROW with one constraint, in percent of the mean error. Tasks on which
    the mean error is 0 are left out.
    """
    ours, *baselines = with_one(pa)
    accuracy = study.table("test_accuracy", q, datasets=tasks)
    mean = accuracy[baselines].mean(axis=1)
    # An error of 0 cannot be reduced.
    errors = (1 - mean).where(mean < 1)
    reduction = 1 - (1 - accuracy[ours]) / errors
    return pd.DataFrame({"accuracy": 100 * mean, "reduction": 100 * reduction}).dropna()


def slope(points: pd.DataFrame) -> tuple[float, float]:
    """Fit a line to the points of `difficulty` by least squares; return its slope.

    The second number is half the width of the slope's 95% interval. Raise `NotThere` if there are fewer than
    three different accuracies, because a line then always fits.
    """
    if points["accuracy"].nunique() < 3:
        raise NotThere("too few tasks for a fitted line")
    line = stats.linregress(points["accuracy"], points["reduction"])
    return float(line.slope), float(stats.t.ppf(0.975, len(points) - 2) * line.stderr)


def passes(study: StudyEvidence) -> pd.DataFrame:
    """Return, for each cell, the tuned number of passes, and the seconds of learning per example and pass."""
    cells = study.cells
    tuned = cells["params"].map(lambda text: json.loads(text).get("epochs", 1)).astype("float64")
    seconds = cells["fit_seconds"].astype("float64") / cells["n_examples"].astype("float64") / tuned
    return cells[["dataset", "algorithm", "noise"]].assign(passes=tuned, seconds=seconds)
