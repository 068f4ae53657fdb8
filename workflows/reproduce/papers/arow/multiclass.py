"""Sec. 5.4 of the AROW paper: multi-class tasks under label noise (Tables 2 to 9, Figs. 9 and 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise

import pandas as pd

from ....report.page.blocks import Block, Heading, Panels, Picture, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.curve_plots import values_by_noise
from ....report.plots.head_to_head_plots import error_reductions
from ....report.words.markup import slug
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import ABSENT, number, numbers_file
from ...printed import number as printed
from ...printed import table
from ...verdicts import Check, Verdict, holds_for, holds_if
from .measures import (
    LEVELS,
    PAS,
    TEXT,
    difficulty,
    error_rise,
    every_task,
    four,
    listed,
    mean_accuracy,
    multiclass_groups,
    passes,
    percent,
    rises,
    row,
    slope,
    with_one,
)


@dataclass(frozen=True)
class Task:
    """A task of Table 2, or one that we added.

    Attributes
    ----------
    name : str
        Its name in the paper.
    labels : int
        Number of classes of our data set.
    label : str
        Label of our data set; empty if the task needs the user's own copy.
    balanced : bool
        Whether no class of our data set has less than half the rows of another.
    printed : str
        Id of the printed number of classes.
    """

    name: str
    labels: int = 0
    label: str = ""
    balanced: bool = False
    printed: str = ""


TASKS = (
    Task("Amazon 7", 7, "amazon7", True, "arow-n47"),
    Task("Amazon 3", 3, "amazon3", True, "arow-n48"),
    Task("20 Newsgroups", 20, "20newsgroups", True, "arow-n49"),
    Task("Enron A", printed="arow-n50"),
    Task("Enron B", printed="arow-n50"),
    Task("NYTD"),
    Task("NYTO"),
    Task("NYTS"),
    Task("Reuters (ours: Reuters-21578)", 8, "reuters21578-r8", False, "arow-n55"),
    Task("beyond the paper: USPS", 10, "usps"),
    Task("beyond the paper: Letter", 26, "letter", True),
    Task("beyond the paper: Satimage", 6, "satimage"),
    Task("beyond the paper: DNA", 3, "dna"),
    Task("beyond the paper: Waveform", 3, "waveform", True),
)
_NAMES = {task.label: task.name.removeprefix("beyond the paper: ") for task in TASKS if task.label}
# Rates of label noise by number of the table.
RATES = {3: 0.0, 4: 0.1, 5: 0.15, 6: 0.2, 7: 0.25, 8: 0.5}


def tasks(evidence: Evidence) -> list[Block]:
    """Return Table 2: the tasks."""
    cells = evidence["multiclass"].cells.drop_duplicates("dataset").set_index("dataset")
    rows = []
    for task in TASKS:
        entries = ["–"] * 4
        if task.label in cells.index:
            seen, tested, features = row(
                cells[["n_examples", "test_examples", "n_features"]].astype("float64"), task.label
            )
            entries = [
                # Training and test part of a fold together are the whole data set.
                f"{seen + tested:,.0f}",
                f"{features:,.0f}",
                str(task.labels),
                "yes" if task.balanced else "no",
            ]
        said = f"{printed('arow', task.printed):.0f}" if task.printed else ABSENT
        rows.append([TableCell(each) for each in (task.name, *entries, said)])
    head = ["task", "instances", "features", "labels", "balanced", "printed: labels"]
    note = (
        "Ours; balanced: no class has less than half the rows of another. Printed instances, features and "
        "balance are not in the text. A dash: the task takes a copy of one's own and was not run."
    )
    return [TableBlock("table-2", "The multi-class tasks", head, rows, note=note)]


def accuracies(place: int) -> Callable[[Evidence], list[Block]]:
    """Return the function that shows one of Tables 3 to 8: test accuracy by task at one noise rate."""

    def show(evidence: Evidence) -> list[Block]:
        study, q = evidence["multiclass"], RATES[place]
        means = 100 * study.table("test_accuracy", q, datasets=every_task(study))
        spread = 100 * study.spread("test_accuracy", q, datasets=every_task(study))
        rows = [_row(_NAMES.get(name, name), means.loc[name]) for name in means.index if name in TEXT]
        rows.append(_row("mean of these", means.loc[means.index.isin(TEXT)].mean()))
        rows += [_row(_NAMES.get(name, name), means.loc[name]) for name in means.index if name not in TEXT]
        rows.append(_row(f"mean of all {len(means)}", means.mean()))
        long = [
            frame.rename_axis("task").reset_index().melt("task", var_name="algorithm", value_name=value)
            for frame, value in ((means, "test_accuracy"), (spread, "sd"))
        ]
        return [
            TableBlock(
                f"table-{place}",
                f"Test accuracy in percent, {percent(q)} label noise",
                ["task", *map(str, means.columns)],
                rows,
                note=f"Mean of {len(study.design.seeds)} folds. Printed numbers: {ABSENT}.",
                data=long[0].merge(long[1]),
            )
        ]

    return show


def _row(name: str, means: pd.Series[float]) -> list[TableCell]:
    shown = [number(value, 1) for value in means]
    best = number(means.max(), 1)
    return [TableCell(name), *(TableCell(text, best=text == best) for text in shown)]


def by_noise(evidence: Evidence) -> list[Block]:
    """Return Fig. 9: mean accuracy, and percentage rise in error, by label noise."""
    study = evidence["multiclass"]
    names = ["AROW 1", "CW", *PAS, "Perceptron"]
    blocks: list[Block] = []
    parts = []
    for group, members in multiclass_groups(study).items():
        drawn = {
            "mean test accuracy, %": mean_accuracy(study, members).loc[names],
            "rise in error, %": error_rise(study, members).loc[names],
        }
        pictures = []
        for what, values in drawn.items():
            title = f"{what.removesuffix(', %')}, {group} tasks"
            svg = values_by_noise(
                values.set_axis(study.design.noise, axis=1), study.design.noise, study.view.styles, what
            )
            pictures.append(
                Picture(f"{title}, by label noise", title, svg, f"figures/fig-9-{slug(title)}.svg")
            )
            long = values.rename_axis("algorithm").reset_index().melt("algorithm", var_name="noise")
            parts.append(long.assign(tasks=group, what=what))
        blocks += [Heading(f"{group.capitalize()} ({len(members)} tasks)"), Panels(pictures, roomy=True)]
    note = (
        "Left the mean over tasks; right the mean over tasks of the rise in error in percent of the error "
        "without noise. The paper draws seven tasks and one PA; of its curves the text has no number."
    )
    return [Text(note, "soft"), *blocks, numbers_file("fig-9", "Numbers behind Fig. 9", pd.concat(parts))]


def by_difficulty(evidence: Evidence) -> list[Block]:
    """Return Fig. 10: the error reduction of AROW by the difficulty of the task."""
    study = evidence["multiclass"]
    pictures, rows, parts = [], [], []
    for group, members in multiclass_groups(study).items():
        for pa in PAS:
            points = {q: difficulty(study, pa, members, q) for q in LEVELS}
            title = f"{group} tasks, {pa}"
            svg = error_reductions(
                [(f"{percent(q)} noise", *each.to_numpy().T) for q, each in points.items()],
                study.view.styles["AROW 1"],
                "mean accuracy of the baselines, %",
                "error reduction of AROW, %",
            )
            file = f"figures/fig-10-{slug(title)}.svg"
            pictures.append(Picture(f"Error reduction of AROW by difficulty, {title}", title, svg, file))
            slopes = [number(slope(each), 2) for each in points.values()]
            rows.append([TableCell(each) for each in (group, ", ".join(with_one(pa)[1:]), *slopes, ABSENT)])
            parts += [
                each.rename_axis("task").reset_index().assign(tasks=group, pa=pa, noise=q)
                for q, each in points.items()
            ]
    head = ["tasks", "baselines", *(f"slope, {percent(q)} noise" for q in LEVELS), "printed"]
    title = "Slopes of the fitted lines: points of error reduction a point of accuracy"
    return [
        Text("Every point is a task; lines are least-squares fits.", "soft"),
        Panels(pictures, roomy=True),
        TableBlock("fig-10-slopes", title, head, rows, labels=2),
        numbers_file("fig-10", "Numbers behind Fig. 10", pd.concat(parts)),
    ]


def properties(evidence: Evidence) -> list[Block]:
    """Return Table 9: the properties that the paper attributes to the algorithms."""
    entries = table("arow", "table9_properties")
    if not entries:
        raise NotThere("the text has none of it")
    kinds = list(dict.fromkeys(row["property"] for row in entries))
    said = {(row["algorithm"], row["property"]): row["value"] for row in entries}
    names = ["PA", "SOP", "CW", "AROW", "AROW-H", "AdaGrad"]
    rows = [
        [TableCell(name), *(TableCell(said.get((name, kind), ABSENT)) for kind in kinds)] for name in names
    ]
    head = ["algorithm", *(kind.replace("_", " ") for kind in kinds)]
    note = (
        "As printed; of the others the text says only that AROW-H and AdaGrad are similar to AROW. Nothing "
        "is measured here: what there is to test of it is among the claims of Sec. 5.5."
    )
    return [TableBlock("table-9", "Properties of the algorithms", head, rows, note=note)]


_SETS = ("AROW 1", "AROW 5", "AROW all")
# Our thresholds for words of the paper: "similar" accuracies, in points; the rise in points at one step that
# a downward trend may have; "much faster", as a ratio; "most", as a share.
_SIMILAR, _RIPPLE, _MUCH_FASTER, _MOST = 1.0, 0.5, 1.5, 0.5


def _means(study: StudyEvidence) -> dict[str, pd.DataFrame]:
    """Return mean accuracies, shape (algorithms, noise), for each group of tasks."""
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
    """Return the median seconds of one pass per example, shape (tasks, algorithms)."""
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
    # The claim is that AdaGrad is behind AROW; in addition it is behind another baseline somewhere.
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
