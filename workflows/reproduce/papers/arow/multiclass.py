"""Tables 2 to 9 and Figs. 9 and 10: multi-class tasks under label noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from ....report.page.blocks import Block, Heading, Panels, Picture, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.head_to_head_plots import error_reductions
from ....report.plots.noise_plots import values_by_noise
from ....report.words.markup import slug
from ...beside import ABSENT, number
from ...evidence import Evidence, NotThere
from ...figures import numbers_file
from ...printed import number as printed
from ...printed import table
from .measures import LEVELS, difficulty, error_rise, mean_accuracy, slope
from .parts import PAS, TEXT, every_task, multiclass_groups, percent, row, with_one


@dataclass(frozen=True)
class Task:
    """A task of Table 2, or one of ours beyond it.

    Attributes
    ----------
    name : str
        In the paper.
    labels : int
        Classes, of ours.
    label : str
        Of our data set; empty of a task that takes a copy of one's own.
    balanced : bool
        Whether ours has no class of less than half the rows of another.
    printed : str
        The printed number of classes, by its id.
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
# By number of the table.
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
                # Of one of ten folds both parts.
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
    """Return what shows one of Tables 3 to 8: test accuracy by task at one rate of label noise."""

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
    """Return Fig. 10: by how much AROW reduces the error, by the difficulty of the task."""
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
    """Return Table 9: what the algorithms are said to have."""
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
