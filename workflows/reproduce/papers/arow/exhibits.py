"""Make the tables and figures of the AROW paper from our results."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ....report.page.blocks import Block, Heading, Panels, Picture
from ....report.page.table import TableBlock, TableCell
from ....report.plots.curve_plots import Axis, values_by_noise
from ....report.plots.head_to_head_plots import box_plot, error_reductions, scatter
from ....report.words.markup import slug
from ....report.words.wording import percent
from ...evidence import Evidence, StudyEvidence, row_of
from ...figures import ABSENT, compared, curves_figure, number, numbers_file, table_of
from ...paper import Show
from ...printed import number as printed
from ...printed import table
from .measures import (
    LEVELS,
    NOISE,
    PAS,
    READINGS,
    SYNTHETIC,
    TEXT,
    binary_groups,
    difficulty,
    error_rise,
    every_task,
    fewer,
    four,
    mean_accuracy,
    run_errors,
    slope,
    text_tasks,
    with_one,
)

# The table of mistakes shows these numbers of examples; the paper mentions the first and the last of them.
_POINTS = (500, 1000, 2000, 5000)
_MISTAKES = Axis(y="mistakes against clean labels")


# --- exhibits of the binary tasks


def mean_ranks(evidence: Evidence) -> list[Block]:
    """Return the paper's Table 1, mean ranks, twice: with PA without slack, and with PA-I in its place."""
    return [_ranked(evidence["binary"], pa) for pa in PAS]


def _ranked(study: StudyEvidence, pa: str) -> TableBlock:
    said = {(row["algorithm"], float(row["noise"])): float(row["value"]) for row in table("arow", "table1")}
    rows: list[list[str | TableCell]] = []
    data = []
    for group, tasks in binary_groups(study).items():
        ranks = pd.DataFrame({q: study.ranks(four(pa), q, datasets=tasks) for q in study.rates})
        # The paper prints mean ranks over all tasks, none by group.
        theirs = said if group == "all" else {}
        for name in map(str, ranks.index):
            both = [(q, ranks[q][name], theirs.get((name, q))) for q in study.rates]
            entries = [compared(rank, given, 2) for _, rank, given in both]
            rows.append([f"{group}, {len(tasks)} tasks", name, *entries])
            data += [(group, len(tasks), name, *each) for each in both]
        for name in four("PA") if theirs else ():
            shown = [number(said[name, q], 2) if (name, q) in said else ABSENT for q in study.rates]
            rows.append(["the paper, 130 tasks", name, *shown])
    return table_of(
        f"table-1-{slug(pa)}",
        f"Mean rank by test accuracy, {'PA without slack' if pa == 'PA' else pa}",
        ["tasks", "algorithm", *map(percent, study.rates)],
        rows,
        labels=2,
        note="Rank 1 is best, 4 worst; columns are rates of label noise. In brackets the printed number and "
        "our deviation from it. The paper does not say which PA it takes.",
        data=pd.DataFrame(data, columns=["tasks", "number", "algorithm", "noise", "mean_rank", "printed"]),
    )


def task_by_task(evidence: Evidence) -> list[Block]:
    """Return Fig. 8, AROW's accuracy against a baseline's by task, and added plots with PA-I as baseline."""
    study, baselines = evidence["binary"], ("PA", "SOP", "CW")
    groups = binary_groups(study)
    blocks: list[Block] = []
    parts = []
    for group in ("text", "digits"):
        blocks.append(Heading(f"{group.capitalize()}, {len(groups[group])} tasks"))
        further = []
        for q in (0.0, 0.1, 0.3):
            accuracy = study.table("test_accuracy", q, datasets=groups[group])
            blocks.append(Panels([_panel(study, accuracy, group, q, each) for each in baselines], roomy=True))
            further.append(_panel(study, accuracy, group, q, "PA-I"))
            long = accuracy[["AROW", *baselines, "PA-I"]].rename_axis("task").reset_index()
            parts.append(long.assign(group=group, noise=q))
        blocks.append(Panels(further, roomy=True))
    return [
        *blocks,
        numbers_file("fig-8", "Test accuracy of every task", pd.concat(parts, ignore_index=True)),
    ]


def _panel(study: StudyEvidence, accuracy: pd.DataFrame, group: str, q: float, baseline: str) -> Picture:
    # Round, so that tasks with equal accuracies lie exactly on the diagonal and do not count as above it.
    ours, theirs = ((100 * accuracy[name]).round(10) for name in ("AROW", baseline))
    at, style = f"{percent(q)} noise", study.view.styles[baseline]
    return Picture(
        f"Test accuracy of AROW against {baseline}, {at} ({group})",
        f"{baseline}, {at}: {int((ours > theirs).sum())} of {len(accuracy)} above the line",
        scatter(theirs.to_numpy(), ours.to_numpy(), style, f"{baseline}, %", "AROW, %"),
        f"figures/fig-8-{group}-{slug(baseline)}-{round(100 * q)}.svg",
    )


# --- exhibits of the streams


def synthetic_curves(evidence: Evidence) -> list[Block]:
    """Return Fig. 5, mistakes along the synthetic stream, and a table of them after 500 to 5,000 examples."""
    study = evidence["synthetic"]
    names = study.design.algorithms
    curves = study.curves("mistakes_clean", names, SYNTHETIC, NOISE)
    said = {5000: printed("arow", "arow-n15")}
    rows: list[list[str | TableCell]] = [
        [name, *(compared(study.at("mistakes_clean", name, SYNTHETIC, t, NOISE), None) for t in _POINTS)]
        for name in names
    ]
    rows += [
        ["each of them in the paper", *[ABSENT] * len(_POINTS)],
        [
            "AROW full against CW diagonal: fewer by, %",
            *(compared(fewer(study, "CW diagonal", t), said.get(t)) for t in _POINTS),
        ],
    ]
    note = (
        f"Mistakes against clean labels, mean of {len(study.design.seeds)} runs. The paper: about 75% fewer "
        "than the next best (CW) after 5,000 examples, and much the same after 500."
    )
    head = ["algorithm", *(f"{t:,} examples" for t in _POINTS)]
    title = f"Mistakes along the synthetic stream, {percent(NOISE)} of labels flipped"
    return [
        *curves_figure(study.view.styles, "fig-5", "Fig. 5", [("synthetic data", curves)], _MISTAKES),
        table_of("fig-5-mistakes", title, head, rows, note=note),
    ]


def synthetic_test_errors(evidence: Evidence) -> list[Block]:
    """Return Fig. 6, box plots of test errors over runs: with one pass, and with a tuned number of passes."""
    pictures, parts, columns = [], [], []
    for reading, key in READINGS.items():
        study = evidence[key]
        errors = run_errors(study)
        title = f"Test error over {len(errors)} runs, {reading}"
        svg = box_plot(
            [(str(name), errors[name].tolist()) for name in errors], study.view.styles, "test error, %"
        )
        pictures.append(Picture(f"{title}, in percent", title, svg, f"figures/fig-6-{slug(reading)}.svg"))
        parts.append(errors.melt(var_name="algorithm", value_name="test_error").assign(passes=reading))
        spread = zip(errors.mean(), errors.std(ddof=1), strict=True)
        columns.append([compared(mean, None, 2, sd=sd) for mean, sd in spread])
    rows = [[str(name), *cells, ABSENT] for name, *cells in zip(errors, *columns, strict=True)]
    title = "Test error on 10,000 clean examples, in percent: mean ± standard deviation over runs"
    note = "One pass: tuned by mistakes along it. Passes tuned: up to ten, by a held-out fifth."
    return [
        Panels(pictures, roomy=True),
        numbers_file("fig-6", "Test error of every run", pd.concat(parts)),
        table_of("fig-6-errors", title, ["algorithm", *READINGS, "printed"], rows, note=note),
    ]


def mnist_curves(evidence: Evidence) -> list[Block]:
    """Return Fig. 7, mistakes along the stream of MNIST, and a table of the mistakes at its end."""
    study = evidence["mnist"]
    (task,) = study.datasets()
    names, at = study.design.algorithms, [f"{percent(q)} noise" for q in study.rates]
    curves = [study.curves("mistakes_clean", names, task, q) for q in study.rates]
    means = [row_of(study.table("mistakes_clean", q), task) for q in study.rates]
    spread = [row_of(study.table("mistakes_clean", q, spread=True), task) for q in study.rates]
    rows: list[list[str | TableCell]] = [
        [
            name,
            *(compared(mean[name], None, sd=sd[name]) for mean, sd in zip(means, spread, strict=True)),
            *(compared(mean[name] - mean["AROW"], None) for mean in means),
            ABSENT,
        ]
        for name in names
    ]
    head = ["algorithm", *at, *(f"more than AROW, {each}" for each in at), "printed"]
    title = "Mistakes over the whole stream of MNIST 3 against 5, mean ± standard deviation"
    panels = list(zip(at, curves, strict=True))
    return [
        *curves_figure(study.view.styles, "fig-7", "Fig. 7", panels, _MISTAKES),
        table_of("fig-7-mistakes", title, head, rows, note=f"{len(study.design.seeds)} orders."),
    ]


# --- exhibits of the multi-class tasks

# The rate of label noise of each of the paper's Tables 3 to 8, by the number of the table.
RATES = {3: 0.0, 4: 0.1, 5: 0.15, 6: 0.2, 7: 0.25, 8: 0.5}


def tasks(evidence: Evidence) -> list[Block]:
    """Return Table 2: the paper's multi-class tasks and those that we added, with their sizes and classes."""
    cells = evidence["multiclass"].cells.drop_duplicates("dataset").set_index("dataset")
    rows = []
    for task in table("arow", "tasks"):
        entries = ["–"] * 4
        if task["label"] in cells.index:
            seen, tested, features = (
                float(cells[column][task["label"]])
                for column in ("n_examples", "test_examples", "n_features")
            )
            # The number of instances is the sum of a fold's training and test parts.
            entries = [f"{seen + tested:,.0f}", f"{features:,.0f}", task["classes"], task["balanced"]]
        # The id, in `facts`, of the number of classes that the paper prints; "" if it prints none.
        said = task["printed_number"]
        rows.append([task["task"], *entries, f"{printed('arow', said):.0f}" if said else ABSENT])
    head = ["task", "instances", "features", "labels", "balanced", "printed: labels"]
    note = (
        "Ours; balanced: no class has less than half the rows of another. Printed instances, features and "
        "balance are not in the text. A dash: the task needs the user's own copy and was not run."
    )
    return [table_of("table-2", "The multi-class tasks", head, rows, note=note)]


def accuracies(place: int) -> Show:
    """Return the function that makes Table `place` (3 to 8) of the paper: accuracies at one noise rate."""

    def show(evidence: Evidence) -> list[Block]:
        study, q = evidence["multiclass"], RATES[place]
        every = every_task(study)
        means = 100 * study.table("test_accuracy", q, datasets=every)
        spread = 100 * study.table("test_accuracy", q, datasets=every, spread=True)
        names = {
            task["label"]: task["task"].removeprefix("beyond the paper: ") for task in table("arow", "tasks")
        }
        text = means.index.isin(TEXT)
        lines = [
            *means[text].rename(index=names).iterrows(),
            ("mean of these", means[text].mean()),
            *means[~text].rename(index=names).iterrows(),
            (f"mean of all {len(means)}", means.mean()),
        ]
        long = [
            frame.rename_axis("task").reset_index().melt("task", var_name="algorithm", value_name=value)
            for frame, value in ((means, "test_accuracy"), (spread, "sd"))
        ]
        return [
            table_of(
                f"table-{place}",
                f"Test accuracy in percent, {percent(q)} label noise",
                ["task", *map(str, means.columns)],
                [[str(name), *map(number, line)] for name, line in lines],
                note=f"Mean of {len(study.design.seeds)} folds. Printed numbers: {ABSENT}.",
                data=long[0].merge(long[1]),
            )
        ]

    return show


def by_noise(evidence: Evidence) -> list[Block]:
    """Return Fig. 9: mean accuracy by label noise, and by how many percent noise raises the error."""
    study = evidence["multiclass"]
    names, noise, members = ["AROW 1", "CW", *PAS, "Perceptron"], study.design.noise, text_tasks(study)
    drawn = {
        "mean test accuracy, %": mean_accuracy(study, members).loc[names],
        "rise in error, %": error_rise(study, members).loc[names],
    }
    pictures, parts = [], []
    for what, values in drawn.items():
        title = f"{what.removesuffix(', %')}, text tasks"
        svg = values_by_noise(values.set_axis(noise, axis=1), noise, study.view.styles, what)
        file = f"figures/fig-9-{slug(title)}.svg"
        pictures.append(Picture(f"{title}, by label noise", title, svg, file))
        long = values.rename_axis("algorithm").reset_index().melt("algorithm", var_name="noise")
        parts.append(long.assign(tasks="text", what=what))
    return [
        Heading(f"Text ({len(members)} tasks)"),
        Panels(pictures, roomy=True),
        numbers_file("fig-9", "Numbers behind Fig. 9", pd.concat(parts)),
    ]


def by_difficulty(evidence: Evidence) -> list[Block]:
    """Return Fig. 10: by how many percent AROW reduces the baselines' error, by difficulty of the task."""
    study = evidence["multiclass"]
    pictures, rows, parts = [], [], []
    for pa in PAS:
        points = {q: difficulty(study, pa, text_tasks(study), q) for q in LEVELS}
        title = f"text tasks, {pa}"
        svg = error_reductions(
            [(f"{percent(q)} noise", *each.to_numpy().T) for q, each in points.items()],
            study.view.styles["AROW 1"],
            "mean accuracy of the baselines, %",
            "error reduction of AROW, %",
        )
        file = f"figures/fig-10-{slug(title)}.svg"
        pictures.append(Picture(f"Error reduction of AROW by difficulty, {title}", title, svg, file))
        slopes = [number(slope(each)[0], 2) for each in points.values()]
        rows.append(["text", ", ".join(with_one(pa)[1:]), *slopes, ABSENT])
        parts += [
            each.rename_axis("task").reset_index().assign(tasks="text", pa=pa, noise=q)
            for q, each in points.items()
        ]
    head = ["tasks", "baselines", *(f"slope, {percent(q)} noise" for q in LEVELS), "printed"]
    title = "Slopes of the fitted lines: points of error reduction per point of accuracy"
    return [
        Panels(pictures, roomy=True),
        table_of("fig-10-slopes", title, head, rows, labels=2),
        numbers_file("fig-10", "Numbers behind Fig. 10", pd.concat(parts)),
    ]


def properties(evidence: Evidence) -> list[Block]:
    """Return Table 9, properties of the algorithms, as the paper prints it; we measure none of them."""
    entries = table("arow", "table9_properties")
    kinds = list(dict.fromkeys(row["property"] for row in entries))
    said = {(row["algorithm"], row["property"]): row["value"] for row in entries}
    names = ["PA", "SOP", "CW", "AROW", "AROW-H", "AdaGrad"]
    rows = [[name, *(said.get((name, kind), ABSENT) for kind in kinds)] for name in names]
    head = ["algorithm", *(kind.replace("_", " ") for kind in kinds)]
    note = (
        "As printed; of the others the text says only that AROW-H and AdaGrad are similar to AROW. Nothing "
        "is measured here; the claims of Sec. 5.5 test these properties."
    )
    return [table_of("table-9", "Properties of the algorithms", head, rows, note=note)]


EXHIBITS: Mapping[str, Show] = {
    "fig-5": synthetic_curves,
    "fig-6": synthetic_test_errors,
    "table-1": mean_ranks,
    "fig-7": mnist_curves,
    "fig-8": task_by_task,
    "table-2": tasks,
    **{f"table-{place}": accuracies(place) for place in RATES},
    "fig-9": by_noise,
    "fig-10": by_difficulty,
    "table-9": properties,
}
