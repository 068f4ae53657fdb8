"""Compute the numbers that both the claims and the exhibits of the AROW paper use."""

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
# The study's multi-class tasks on text. Claims on accuracy cover only these: the paper has no others.
TEXT = ("amazon7", "amazon3", "20newsgroups", "reuters21578-r8")
# The rates of label noise in the paper's Fig. 10.
LEVELS = (0.0, 0.1, 0.25)
SYNTHETIC, NOISE = "arow-synthetic", 0.1
# Two ways to understand the paper's Fig. 6, each with the study that follows it. The figure's caption
# refers to Fig. 5, whose learners make one pass; Sec. 5.1 says that all experiments tune the passes.
READINGS = {"one pass": "synthetic", "passes tuned": "synthetic-batch"}
# How many binary tasks the paper has, by group. The study has a larger share of text, on which CW does
# better, so a mean over both groups is weighted by these numbers.
PAPER_TASKS = {"text": 30, "digits": 100}
MIX = "the paper's mix"
# Claims on binary tasks are checked for each of these groups: in a mean over all tasks, a learner that leads
# on digits only would seem to lead in general.
STRATA = (*PAPER_TASKS, MIX)


def four(pa: str) -> list[str]:
    """Return the four algorithms that the paper ranks, with the variant `pa` of PA as one of them."""
    return ["AROW", "CW", pa, "SOP"]


def with_one(pa: str) -> list[str]:
    """Return AROW with one constraint per example, then its baselines with the variant `pa` of PA."""
    return ["AROW 1", "CW", pa, "Perceptron"]


def rates(study: StudyEvidence) -> str:
    """Return the study's rates of label noise as a text such as "0%, 10%, 50%"."""
    return ", ".join(map(percent, study.rates))


def every_task(study: StudyEvidence) -> list[str]:
    """Return all tasks of a study; raise `NotThere` if it has not been run to its end.

    The results omit tasks without any finished run, so before the end a mean over all tasks would be one over
    some of them.
    """
    if study.lacking:
        raise NotThere(study.lacking)
    return study.datasets()


def binary_groups(study: StudyEvidence) -> dict[str, list[str]]:
    """Return the study's binary tasks by group, first the group of all tasks; empty groups are left out."""
    names = every_task(study)
    digits = [name for name in names if name.startswith(("mnist", "usps"))]
    groups = {
        "all": names,
        "text": [name for name in names if name not in digits],
        "digits": digits,
        "Blitzer's features": study.datasets("amazon-acl"),
    }
    return {name: tasks for name, tasks in groups.items() if tasks}


def text_tasks(study: StudyEvidence) -> list[str]:
    """Return the study's multi-class tasks on text; the paper has no others."""
    return [name for name in every_task(study) if name in TEXT]


def tasks_of(study: StudyEvidence, group: str) -> list[str]:
    """Return the tasks of a group of binary tasks; raise `NotThere` if the study has no such group."""
    tasks = binary_groups(study).get(group)
    if tasks is None:
        raise NotThere(f"{study.name}: has no tasks of {group}")
    return tasks


@functools.lru_cache(maxsize=512)
def mean_ranks(study: StudyEvidence, pa: str, q: float, group: str) -> pd.Series[float]:
    """Return mean ranks of the paper's four algorithms at noise rate `q` over the tasks of a group.

    For the group `MIX`, the ranks on text and on digits are weighted by the paper's numbers of such tasks.
    """
    if group == MIX:
        total = sum(PAPER_TASKS.values())
        text, digits = (n / total * mean_ranks(study, pa, q, part) for part, n in PAPER_TASKS.items())
        return text + digits
    return study.ranks(four(pa), q, datasets=tasks_of(study, group))


def lead_over_cw(study: StudyEvidence, q: float, group: str = "all") -> pd.Series[float]:
    """Return AROW's accuracy minus CW's, by task; rounded, so that equal accuracies give exactly 0."""
    accuracy = study.table("test_accuracy", q, datasets=tasks_of(study, group), algorithms=["AROW", "CW"])
    return (accuracy["AROW"] - accuracy["CW"]).round(12)


def mistakes(study: StudyEvidence, t: float = 5000) -> pd.Series[float]:
    """Return mistakes against clean labels after `t` examples of the synthetic stream, by algorithm."""
    names = study.design.algorithms
    return pd.Series({name: study.at("mistakes_clean", name, SYNTHETIC, t, NOISE) for name in names})


def fewer(study: StudyEvidence, other: str, t: float) -> float:
    """Return how many percent fewer mistakes full-matrix AROW has made than `other` after `t` examples."""
    found = mistakes(study, t)
    return 100 * (1 - found["AROW full"] / found[other]) if found[other] else math.nan


def run_errors(study: StudyEvidence) -> pd.DataFrame:
    """Return test errors on the synthetic data in percent, shape (runs, algorithms)."""
    # Called only for its check: it raises `NotThere` if a run is missing.
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
    """Return by how many percent label noise raises the test error, as a mean over tasks.

    The shape is (algorithms, noise rates); 100 means twice the error without noise.
    """
    errors = {q: 1 - study.table("test_accuracy", q, datasets=tasks) for q in (0.0, *study.rates)}
    # If the error without noise is 0, a rise in percent is undefined; leave the task out of the mean.
    clean = errors[0.0].where(errors[0.0] > 0)
    return pd.DataFrame({q: 100 * (errors[q] / clean - 1).mean() for q in study.rates})


def difficulty(study: StudyEvidence, pa: str, tasks: Sequence[str], q: float) -> pd.DataFrame:
    """Return how easy each task is, and by how much AROW reduces the error on it, at noise rate `q`.

    Column accuracy is the mean accuracy of the baselines CW, `pa` and Perceptron in percent. Column reduction
    says by how many percent the error of AROW (with one constraint) is below the baselines' mean error. Tasks
    on which this mean error is 0 are left out.
    """
    ours, *baselines = with_one(pa)
    accuracy = study.table("test_accuracy", q, datasets=tasks)
    mean = accuracy[baselines].mean(axis=1)
    # A mean error of 0 cannot be reduced: make it NaN, so that the task is dropped.
    errors = (1 - mean).where(mean < 1)
    reduction = 1 - (1 - accuracy[ours]) / errors
    return pd.DataFrame({"accuracy": 100 * mean, "reduction": 100 * reduction}).dropna()


def slope(points: pd.DataFrame) -> tuple[float, float]:
    """Fit a least-squares line of error reduction by accuracy, as from `difficulty`; return its slope.

    The second number is half the width of the slope's 95% interval. Raise `NotThere` if there are fewer than
    three different accuracies, because a line always fits two.
    """
    if points["accuracy"].nunique() < 3:
        raise NotThere("too few tasks for a fitted line")
    line = stats.linregress(points["accuracy"], points["reduction"])
    return float(line.slope), float(stats.t.ppf(0.975, len(points) - 2) * line.stderr)


def passes(study: StudyEvidence) -> pd.DataFrame:
    """Return, for each run of a learner, its tuned number of passes and its seconds per example and pass."""
    cells = study.cells
    tuned = cells["params"].map(lambda text: json.loads(text).get("epochs", 1)).astype("float64")
    seconds = cells["fit_seconds"].astype("float64") / cells["n_examples"].astype("float64") / tuned
    return cells[["dataset", "algorithm", "noise"]].assign(passes=tuned, seconds=seconds)
