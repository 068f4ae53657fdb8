"""Claims of Sec. 5.4: multi-class tasks under label noise (Tables 3 to 8, Figs. 9 and 10)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import pandas as pd

from ...evidence import Evidence, NotThere, StudyEvidence
from ...verdicts import Check, Verdict, holds_for, holds_if
from .measures import LEVELS, difficulty, error_rise, mean_accuracy, passes, slope
from .parts import PAS, every_task, four, listed, multiclass_groups, percent, rises, row, with_one

_SETS = ("AROW 1", "AROW 5", "AROW all")
# Thresholds for words of the paper, all of them ours: accuracies that are "similar", in points; a trend
# downwards may rise by so many points at a step; "much faster"; "most".
_SIMILAR, _RIPPLE, _MUCH_FASTER, _MOST = 1.0, 0.5, 1.5, 0.5


def _means(study: StudyEvidence) -> dict[str, pd.DataFrame]:
    """Return mean accuracies by group of tasks, shape (algorithms, noise) each."""
    return {group: mean_accuracy(study, tasks) for group, tasks in multiclass_groups(study).items()}


def _named(values: pd.Series[float] | Mapping[str, float], digits: int = 1) -> str:
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in dict(values).items())


def _best_on_clean(evidence: Evidence) -> Verdict:
    names = ["AROW 1", "CW", *PAS, "Perceptron"]
    cases, said = {}, []
    for group, means in _means(evidence["multiclass"]).items():
        clean = means.loc[names, 0.0]
        cases[f"{group} tasks"] = bool(clean["AROW 1"] >= clean.max())
        said.append(f"{group} tasks {_named(clean)}")
    return holds_for(cases, "; ".join(said))


def _best_throughout(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    cases: dict[str, bool] = {}
    said = []
    for group, means in _means(study).items():
        ours, best = row(means, "AROW 1"), means.loc[["CW", *PAS, "Perceptron"]]
        cases |= {
            f"{group} tasks at {percent(q)} (ahead: {best[q].idxmax()})": own >= best[q].max()
            for q, own in zip(study.rates, ours, strict=True)
        }
        others = listed((best[q].max() for q in study.rates), 1)
        said.append(f"{group} tasks AROW {listed(ours, 1)}, best of the others {others}")
    return holds_for(cases, f"at {', '.join(map(percent, study.rates))}: {'; '.join(said)}")


def _all_fall(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    cases, said = {}, []
    for group, means in _means(study).items():
        for name in ("AROW 1", "CW", *PAS, "Perceptron"):
            values = row(means, name)
            falls = all(later <= earlier + _RIPPLE for earlier, later in pairwise(values))
            cases[f"{name} on {group} tasks"] = falls and values[-1] < values[0]
            said.append(f"{name} {listed([values[0], values[-1]], 1)} ({group} tasks)")
    ends = f"without noise and with {percent(study.rates[-1])}"
    return holds_for(cases, f"{ends}: {', '.join(said)}")


def _fall_faster(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    cases, said = {}, []
    for group, tasks in multiclass_groups(study).items():
        names = ["AROW 1", *PAS, "CW", "Perceptron"]
        means = mean_accuracy(study, tasks).loc[names]
        ends = {name: row(means, name) for name in names}
        lost = {name: values[0] - values[-1] for name, values in ends.items()}
        rise = {name: row(error_rise(study, tasks), name)[-1] for name in names}
        for pa in PAS:
            for what, values in (("points", lost), ("percent", rise)):
                slower = max(values["AROW 1"], values[pa])
                faster = min(values["Perceptron"], values["CW"])
                cases[f"{pa} in {what} on {group} tasks"] = faster > slower
        said.append(f"{group} tasks lose {_named(lost)} points, errors rise by {_named(rise, 0)}%")
    return holds_for(cases, f"at {percent(study.rates[-1])}: {'; '.join(said)}")


def _pa_passes_cw(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    cases, said = {}, []
    for group, means in _means(study).items():
        for pa in PAS:
            ahead = [a - b for a, b in zip(row(means, pa), row(means, "CW"), strict=True)]
            cases[f"{pa} on {group} tasks"] = ahead[0] < 0 < ahead[-1]
            said.append(f"{pa} on {group} tasks {listed(ahead, 1)}")
    return holds_for(
        cases, f"points ahead of CW at {', '.join(map(percent, study.rates))}: {'; '.join(said)}"
    )


def _constraints_matter_little(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    apart = []
    for q in study.rates:
        accuracy = 100 * study.table("test_accuracy", q, datasets=every_task(study), algorithms=_SETS)
        apart.append(accuracy.max(axis=1) - accuracy.min(axis=1))
    every = pd.concat(apart)
    near = int((every <= _SIMILAR).sum())
    largest = listed((float(each.max()) for each in apart), 1)
    return holds_if(
        near == len(every),
        f"within {_SIMILAR:g} point on {near} of {len(every)} tasks and rates; the largest distance at "
        f"{', '.join(map(percent, study.rates))}: {largest} points",
        in_part=near > _MOST * len(every),
    )


def _seconds(study: StudyEvidence) -> pd.DataFrame:
    """Return the median seconds that a pass takes an example, shape (tasks, algorithms)."""
    found = passes(study).groupby(["dataset", "algorithm"])["seconds"].median().unstack()
    missing = [name for name in _SETS if name not in found]
    if missing:
        raise NotThere(f"{study.name}: no seconds of {missing[0]}")
    return found


def _one_is_faster(evidence: Evidence) -> Verdict:
    seconds = _seconds(evidence["multiclass"])
    five, every = (seconds[name] / seconds["AROW 1"] for name in ("AROW 5", "AROW all"))
    typical = [float(each.median()) for each in (five, every)]
    return holds_if(
        min(typical) >= _MUCH_FASTER,
        f"an example of a pass takes, with five and with all, {listed(typical, 1)} times as long as with one "
        f"(median of {len(seconds)} tasks; from {min(five.min(), every.min()):.1f} to "
        f"{max(five.max(), every.max()):.1f})",
        in_part=bool((five > 1).all() and (every > 1).all()),
    )


def _rounds(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    seconds = _seconds(study).median()[[*_SETS]]
    tuned = passes(study).groupby("algorithm")["passes"].mean()[[*_SETS]]
    faster, more = seconds["AROW 1"] < seconds["AROW all"], tuned["AROW 1"] >= tuned["AROW all"]
    return holds_if(
        bool(faster and more),
        f"with one, five and all constraints: passes that tuning chose, in the mean, {listed(tuned, 1)}; "
        f"microseconds an example of a pass {listed(1e6 * seconds, 1)}",
        in_part=bool(faster or more),
    )


def _adagrad_falls_short(evidence: Evidence) -> Verdict:
    study = evidence["multiclass"]
    on_most, on_some, said = [], [], []
    for group, tasks in multiclass_groups(study).items():
        ahead, below, count = 0, 0, 0
        for q in study.rates:
            accuracy = study.table("test_accuracy", q, datasets=tasks)
            ahead += int((accuracy["AdaGrad"] < accuracy["AROW 1"]).sum())
            others = accuracy[["CW", *PAS, "Perceptron"]].max(axis=1)
            below += int((accuracy["AdaGrad"] < others).sum())
            count += len(accuracy)
        on_most.append(ahead > _MOST * count)
        on_some.append(below > 0)
        said.append(f"of {count} on {group} tasks: AROW on {ahead}, another baseline on {below}")
    # That it falls short of AROW is the claim; being behind another baseline somewhere adds to it.
    return holds_if(
        all(on_most) and all(on_some),
        f"tasks and rates on which AdaGrad is behind, {'; '.join(said)}",
        in_part=any(on_most),
    )


def _slopes(study: StudyEvidence) -> dict[str, list[float]]:
    return {
        f"{group} tasks with {pa}": [slope(difficulty(study, pa, tasks, q)) for q in LEVELS]
        for group, tasks in multiclass_groups(study).items()
        for pa in PAS
    }


def _gains_on_easy_tasks(evidence: Evidence) -> Verdict:
    found = _slopes(evidence["multiclass"])
    cases = {
        f"{name} at {percent(q)}": value > 0
        for name, values in found.items()
        for q, value in zip(LEVELS, values, strict=True)
    }
    return holds_for(cases, _said(found))


def _steeper_with_noise(evidence: Evidence) -> Verdict:
    found = _slopes(evidence["multiclass"])
    return holds_for({name: rises(values) for name, values in found.items()}, _said(found))


def _said(slopes: Mapping[str, list[float]]) -> str:
    each = "; ".join(f"{name} {listed(values)}" for name, values in slopes.items())
    return f"slopes at {', '.join(map(percent, LEVELS))}: {each}"


def _cw_is_best_baseline(evidence: Evidence) -> Verdict:
    cases, said = {}, []
    binary = evidence["binary"]
    for pa in PAS:
        ranks = binary.ranks(four(pa), 0.0, datasets=every_task(binary))
        cases[f"binary tasks with {pa}"] = bool(ranks["CW"] < min(ranks[pa], ranks["SOP"]))
        said.append(f"mean ranks on binary tasks: {_named(ranks, 2)}")
    for group, means in _means(evidence["multiclass"]).items():
        clean = means[0.0]
        for pa in PAS:
            others = with_one(pa)[2:]
            cases[f"{group} multi-class tasks with {pa}"] = bool(clean["CW"] > clean[others].max())
        said.append(f"accuracy on {group} multi-class tasks: {_named(clean[['CW', *PAS, 'Perceptron']])}")
    return holds_for(cases, "; ".join(said))


def _matches_cw(evidence: Evidence) -> Verdict:
    binary, multiclass = evidence["binary"], evidence["multiclass"]
    ahead: dict[str, dict[float, float]] = {"binary tasks": {}}
    for q in binary.rates:
        accuracy = binary.table("test_accuracy", q, datasets=every_task(binary), algorithms=["AROW", "CW"])
        means = accuracy.mean()
        ahead["binary tasks"][q] = 100 * float(means["AROW"] - means["CW"])
    for group, by_noise in _means(multiclass).items():
        pairs = zip(multiclass.rates, row(by_noise, "AROW 1"), row(by_noise, "CW"), strict=True)
        ahead[f"{group} multi-class tasks"] = {q: ours - theirs for q, ours, theirs in pairs}
    cases: dict[str, bool] = {}
    said = []
    for name, values in ahead.items():
        cases |= {
            f"{name} at {percent(q)}": abs(value) <= _SIMILAR if q == 0 else value > 0
            for q, value in values.items()
        }
        said.append(f"{name} {listed(values.values(), 1)} (at {', '.join(map(percent, values))})")
    return holds_for(cases, f"AROW ahead of CW by points of mean accuracy: {'; '.join(said)}")


def _projections_are_level(evidence: Evidence) -> Verdict:
    accuracy = 100 * evidence["variants"].table("test_accuracy", 0.0)
    cases, said = {}, []
    for name in ("AROW", "CW"):
        apart = float(accuracy[name].mean() - accuracy[f"{name} precision"].mean())
        cases[name] = abs(apart) <= _SIMILAR
        said.append(f"{name} {listed([accuracy[name].mean(), accuracy[f'{name} precision'].mean()], 1)}")
    return holds_for(
        cases,
        f"mean accuracy of {len(accuracy)} text tasks, covariance and precision projected: {', '.join(said)}",
    )


CHECKS: Mapping[str, Check] = {
    "arow-23": _best_on_clean,
    "arow-24": _best_throughout,
    "arow-25": _all_fall,
    "arow-26": _fall_faster,
    "arow-27": _pa_passes_cw,
    "arow-28": _constraints_matter_little,
    "arow-29": _one_is_faster,
    "arow-30": _rounds,
    "arow-31": _adagrad_falls_short,
    "arow-32": _gains_on_easy_tasks,
    "arow-33": _steeper_with_noise,
    "arow-34": _cw_is_best_baseline,
    "arow-35": _matches_cw,
    "arow-36": _projections_are_level,
}
