"""What the paper of DistillCache claims, as predicates over the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..again import learn_again, removals
from ..beside import number
from ..evidence import Evidence, NotThere, StudyEvidence
from ..verdicts import Check, Outcome, Verdict, holds_for

# "Competitive": within a percentage point of test error.
_COMPETITIVE = 0.01
# "Sparse": at most half of the patterns; "generalises well": at most half a point more test error.
_SPARSE, _AS_GOOD = 0.5, 0.005
# "Clearly": at most this share of the time.
_CLEARLY = 0.9
CACHED = ("MIRA", "MIRA, budget 2000", "MIRA, budget 1000", "MIRA, budget 500")
# The learners of the paper with deletion, and the same ones without.
_PAIRS = {"MIRA": "MIRA, no deletion", "Cache Perceptron": "Perceptron, margin 0.1"}
# Row by row, in Python: a stream as long as MNIST's takes minutes.
_MOST_ROWS = 20_000


def _percent(error: float) -> str:
    return f"{100 * error:.2f}%"


def means(
    study: StudyEvidence, metric: str, algorithms: Sequence[str], noise: float = 0.0, *, gaps: bool = False
) -> dict[str, dict[str, float]]:
    """Return means over seeds, by data set and algorithm; with `gaps` NaN where there is none.

    Raises
    ------
    NotThere
    """
    table = study.table(metric, noise, algorithms=algorithms, gaps=gaps)
    rows = zip(study.datasets(), table.to_numpy(np.float64).tolist(), strict=True)
    return {name: dict(zip(algorithms, row, strict=True)) for name, row in rows}


def mean_errors(
    study: StudyEvidence, algorithms: Sequence[str], noise: float = 0.0, *, gaps: bool = False
) -> dict[str, dict[str, float]]:
    """Return mean test errors as `means` does."""
    accuracy = means(study, "test_accuracy", algorithms, noise, gaps=gaps)
    return {name: {who: 1.0 - value for who, value in row.items()} for name, row in accuracy.items()}


def _competitive(evidence: Evidence) -> Verdict:
    cases, parts = {}, []
    for name, error in mean_errors(evidence["epoch"], ["MIRA", "batch SVM"]).items():
        cases[name] = error["MIRA"] <= error["batch SVM"] + _COMPETITIVE
        parts.append(f"{name} {_percent(error['MIRA'])} and {_percent(error['batch SVM'])}")
    return holds_for(
        cases,
        f"test errors of MIRA with a variable cache and of the SVM: {'; '.join(parts)} (a point more counts)",
    )


def _sparse_and_good(evidence: Evidence) -> Verdict:
    study, plain = evidence["epoch"], "MIRA, no deletion"
    errors = mean_errors(study, [*CACHED, plain])
    sizes = means(study, "support_vectors", [*CACHED, plain])
    cases, parts = {}, []
    for name, error in errors.items():
        share = {who: sizes[name][who] / sizes[name][plain] for who in CACHED}
        cases[name] = any(share[who] <= _SPARSE and error[who] <= error[plain] + _AS_GOOD for who in CACHED)
        each = ", ".join(f"{100 * share[who]:.0f}% with {_percent(error[who])}" for who in CACHED)
        parts.append(f"{name} {each}, without deletion {_percent(error[plain])}")
    return holds_for(
        cases,
        "patterns of those without deletion, with test error, for the variable cache and budgets of 2,000, "
        f"1,000 and 500: {'; '.join(parts)} (half of them within half a point counts)",
    )


def _grows_with_errors(evidence: Evidence) -> Verdict:
    study = evidence["epoch"]
    cases, parts = {}, []
    for name in study.datasets():
        same = []
        for who, column in (("Perceptron", "mistakes"), ("MIRA, no deletion", "updates")):
            kept, counted = (study.curve(each, who, name).mean for each in ("support_vectors", column))
            same.append(bool((kept == counted).all()))
        who = "MIRA, no deletion"
        size, wrong = (study.curve(each, who, name) for each in ("support_vectors", "mistakes"))
        half = size.t[-1] / 2
        early = study.at("support_vectors", who, name, half) / study.at("mistakes", who, name, half)
        late = size.mean[-1] / wrong.mean[-1]
        cases[name] = all(same)
        parts.append(f"{name} {number(early)} and {number(late)}")
    return holds_for(
        cases,
        "at every checkpoint the Perceptron has as many patterns as mistakes and MIRA without deletion as "
        f"updates; MIRA's patterns a mistake, halfway and at the end: {'; '.join(parts)}",
    )


def _bounded(evidence: Evidence) -> Verdict:
    study = evidence["epoch"]
    parts = []
    for name in study.datasets():
        size = study.curve("support_vectors", "MIRA", name)
        half = study.at("support_vectors", "MIRA", name, size.t[-1] / 2)
        parts.append(f"{name} {number(half, 0)} and {number(size.mean[-1], 0)}")
    return Verdict(
        Outcome.UNTESTED,
        "the bound of Sec. 3 is not in the text; the variable cache halfway and at the end of the stream: "
        f"{'; '.join(parts)}",
    )


def _faster(evidence: Evidence) -> Verdict:
    study = evidence["epoch"]
    names = [*_PAIRS, *_PAIRS.values()]
    evaluations, sizes, speed = (
        means(study, metric, names)
        for metric in ("evaluation_rate", "support_vectors", "examples_per_second")
    )
    cases, parts = {}, []
    for name in study.datasets():
        for who, plain in _PAIRS.items():
            evaluated = evaluations[name][who] / evaluations[name][plain]
            predicted = sizes[name][who] / sizes[name][plain]
            seconds = speed[name][plain] / speed[name][who]
            cases[f"training of {who} on {name}"] = bool(seconds <= _CLEARLY)
            cases[f"prediction of {who} on {name}"] = bool(predicted <= _CLEARLY)
            parts.append(f"{who} on {name} {seconds:.2f}, {predicted:.2f}, {evaluated:.2f}")
    return holds_for(
        cases,
        "cost with deletion over cost without, of training in seconds, of a prediction in patterns, of "
        f"training in kernel evaluations: {'; '.join(parts)} ({_CLEARLY} or less of the first two counts)",
    )


def _old_ones_go(evidence: Evidence) -> Verdict:
    study = evidence["epoch"]
    cases, parts = {}, []
    for name in study.datasets():
        if study.curve("mistakes", "MIRA", name).t[-1] > _MOST_ROWS:
            continue
        again = learn_again(study, "MIRA", name)
        gone = removals(again)
        n = len(again.learnt.material.noisy)
        tenths = np.bincount(np.minimum(10 * (gone.when - 1) // n, 9), minlength=10)
        age, mean = gone.age.mean(), gone.mean_age.mean()
        cases[name] = bool(age > mean and tenths.min() > 0)
        parts.append(
            f"{name} {number(age, 0)} rows against {number(mean, 0)}, {number(len(gone.when), 0)} deletions "
            f"({100 * np.mean(gone.age == 0):.0f}% of the row just come), at least "
            f"{number(tenths.min(), 0)} in every tenth of the stream"
        )
    if not cases:
        raise NotThere(f"{study.name}: streams are too long to be followed row by row")
    return holds_for(
        cases, f"mean age of the deleted and, at the same moments, of all in the cache: {'; '.join(parts)}"
    )


CHECKS: Mapping[str, Check] = {
    "budget-1": _competitive,
    "budget-2": _sparse_and_good,
    "budget-3": _grows_with_errors,
    "budget-4": _bounded,
    "budget-5": _faster,
    "budget-6": _old_ones_go,
}
