"""Make the tables and figures of the ramp-loss paper, and tables that explain why our Table I differs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from ....report.page.blocks import Block, Facts, Text
from ....report.page.table import TableCell
from ....report.plots.curve_plots import Axis
from ....report.sections import solutions
from ...evidence import Evidence, NotThere
from ...figures import compared, curves_figure, number, table_of
from ...paper import Show
from ...printed import table
from .measures import (
    FIVE,
    FOUR,
    GAUSS,
    LEARNERS,
    LIBSVM,
    PANELS,
    PAPER,
    RAMP,
    RETRAINED,
    SETS,
    THREE,
    Entry,
    Row,
    accuracy,
    all_rows,
    batch_curve,
    by_labels,
    forgetting_sets,
    printed_rows,
)

# --- Table I: accuracy and number of support vectors by data set


def show_table(evidence: Evidence) -> list[Block]:
    """Return Table I, accuracies and model sizes, with the paper's numbers in brackets after ours."""
    ours, printed = all_rows(evidence["table"]), printed_rows()
    shapes = {
        (row["task"], row["statistic"]): f"{float(row['value']):,.0f}"
        for row in table(PAPER, "table1_datasets")
    }
    rows: list[list[str | TableCell]] = []
    for name, own in ours.items():
        repetitions = {each.repetitions for each in own.values()} or {0}
        runs = "–".join(str(each) for each in sorted({min(repetitions), max(repetitions)}))
        pairs = [(own.get(learner), printed[name][learner]) for learner in LEARNERS]
        shape = f"{shapes[name, 'examples']} × {shapes[name, 'attributes']}"
        rows.append([name, "Acc", *(_accuracy_cell(*pair) for pair in pairs), runs])
        rows.append([shape, "#SV", *(_size_cell(*pair) for pair in pairs), ""])
    note = (
        "In brackets the printed number, over ten repetitions, and our deviation from it. ⚠: an accuracy "
        "further from it than a point and two of its standard deviations. *: at least some repetitions were "
        "stopped at the time limit and tested there."
    )
    header = ["set", "", *LEARNERS, "runs"]
    entries = [(name, learner, one) for name, row in ours.items() for learner, one in row.items()]
    near = [one.is_near(printed[name][learner]) for name, learner, one in entries]
    facts = Facts(
        [
            ("entries there", f"{len(near)} of {len(SETS) * len(LEARNERS)}"),
            ("within a point or two printed deviations", f"{sum(near)} of {len(near)}"),
        ]
    )
    stopped = [
        f"{learner} on {name}: {one.stopped} of {one.repetitions}, after {one.seen:,.0f} examples on average"
        for name, learner, one in entries
        if one.stopped
    ]
    title, data = "Accuracy and model size", _long(entries, printed)
    return [
        facts,
        table_of("table-1", title, header, rows, labels=2, note=note, data=data, wrap=True),
        *([Text(f"Stopped at the time limit: {'; '.join(stopped)}.", "note")] if stopped else []),
    ]


def _accuracy_cell(ours: Entry | None, printed: Entry) -> TableCell:
    if ours is None:
        return TableCell(f"– ({number(printed.accuracy)})")
    text = compared(ours.accuracy, printed.accuracy, sd=ours.accuracy_sd).text + "*" * bool(ours.stopped)
    return TableCell(text, flag=not ours.is_near(printed))


def _size_cell(ours: Entry | None, printed: Entry) -> TableCell:
    if ours is None:
        return TableCell(f"– ({number(printed.size, 0)})")
    text = compared(ours.size, printed.size, 0, sd=ours.size_sd).text + "*" * bool(ours.stopped)
    return TableCell(text)


def _long(entries: Iterable[tuple[str, str, Entry]], printed: Mapping[str, Row]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "set": name,
                "learner": learner,
                "accuracy": one.accuracy,
                "accuracy_sd": one.accuracy_sd,
                "accuracy_printed": printed[name][learner].accuracy,
                "support_vectors": one.size,
                "support_vectors_sd": one.size_sd,
                "support_vectors_printed": printed[name][learner].size,
                "repetitions": one.repetitions,
                "stopped": one.stopped,
                "seconds": one.seconds,
            }
            for name, learner, one in entries
        ]
    )


def show_grids(evidence: Evidence) -> list[Block]:
    """Return a table of LibSVM's results on Cover by the number of rows used to tune C and gamma."""
    study, printed = evidence["grids"], printed_rows()["Cover"][LIBSVM]
    rows = []
    for label in study.datasets():
        part = study.cells[study.cells["dataset"] == label]
        if len(part):
            judging = float(label.rpartition("[")[0].rpartition("-")[2] or 0)
            rows.append([number(judging, 0), *_point(part, printed)])
    header = ["training rows of the grid", "C", "gamma", "accuracy, %", "support vectors"]
    return [table_of("cover-grids", "LibSVM on Cover", header, rows)]


def _point(cells: pd.DataFrame, printed: Entry | None) -> list[str | TableCell]:
    """Return table cells: a learner's tuned C and gamma, and its accuracy and size next to the paper's."""
    right, size = 100 * cells["test_accuracy"].astype(float), cells["support_vectors"].astype(float)
    chosen, spread = json.loads(cells["params"].iloc[0]), float(np.nan_to_num(right.std()))
    return [
        f"{chosen['C']:g}",
        f"{chosen['gamma']:.3g}",
        compared(float(right.mean()), None if printed is None else printed.accuracy, sd=spread),
        compared(float(size.mean()), None if printed is None else printed.size, 0),
    ]


# The data sets of the study "differences", whose runs explain deviations from the paper's Table I: each with
# its name in the paper and what is done otherwise than in our Table I.
DIFFERENT_SETS: Mapping[str, tuple[str, str]] = {
    "usps-scaled": ("USPS", "features scaled"),
    "usps-unscaled": ("USPS", "features not scaled"),
    "covtype": ("Cover", "another point of the grid"),
    "covtype-part": ("Cover", "as many rows as IDSVM learns within its time"),
    "gauss": ("Gauss", "another point of the grid"),
    "checkerboard-noisy": ("NCheckerboard", "PA's longest step, C"),
}


def show_differences(evidence: Evidence) -> list[Block]:
    """Return a table of runs made otherwise than in our Table I, to explain deviations from the paper's."""
    study, rows = evidence["differences"], []
    cells = study.cells
    labels = [entry["label"] for entry in study.view.results.study["algorithms"]]
    for name, (printed_name, difference) in DIFFERENT_SETS.items():
        for label in labels:
            part = cells[(cells["parent"] == name) & (cells["algorithm"] == label)]
            if len(part):
                # The paper prints no results of runs with as few training rows as covtype-part has.
                printed = (
                    None if name == "covtype-part" else printed_rows()[printed_name][label.partition(",")[0]]
                )
                where = [printed_name, difference, label.partition(", C =")[0]]
                rows.append([*where, *_point(part, printed), str(len(part))])
    header = ["set", "difference", "learner", "C", "gamma", "accuracy, %", "support vectors", "runs"]
    title = "Runs that differ from Table I"
    return [table_of("differences", title, header, rows, labels=3, wrap=True)]


# --- learning along the stream of the data set Gauss, and the effect of forgetting rows


def show_solutions(evidence: Evidence) -> list[Block]:
    """Return Fig. 2, plots of each learner's decision boundary and support vectors on Gauss."""
    section = solutions.section(evidence["cost"].view)
    if section is None:
        raise NotThere("the study does not request solutions")
    return list(section.blocks)


def show_stream(evidence: Evidence) -> list[Block]:
    """Return Fig. 3 of the paper: accuracy and size of the model along the stream of Gauss."""
    study, on = evidence["cost"], "on Gauss along the stream"
    styles, sizes = study.view.styles, study.curves("support_vectors", THREE, GAUSS)
    right = [("(a) Accuracy", accuracy(study, THREE, GAUSS))]
    axis = Axis(y="test accuracy, %", zero=False, log_x=True)
    return [
        *curves_figure(styles, "fig-3a", f"Accuracy {on}", right, axis),
        *curves_figure(
            styles, "fig-3b", f"Model size {on}", [("(b) Sparsity", sizes)], Axis(y="support vectors")
        ),
    ]


def show_cost(evidence: Evidence) -> list[Block]:
    """Return Fig. 4 of the paper: kernel evaluations and seconds along the stream of Gauss."""
    study, on = evidence["cost"], "on Gauss along the stream"
    styles, seconds = study.view.styles, study.curves("fit_seconds", THREE, GAUSS)
    evaluations = study.curves("kernel_evaluations", [RETRAINED, RAMP], GAUSS, stopped=True)
    first = [("(a) OnlineSVMR and SVMR", [batch_curve(evidence), *evaluations])]
    second = [("(b) OnlineSVMR, OnlineASVMR and IDSVM", seconds)]
    return [
        *curves_figure(
            styles, "fig-4a", f"Kernel evaluations {on}", first, Axis(y="kernel evaluations", log=True)
        ),
        *curves_figure(styles, "fig-4b", f"Seconds of learning {on}", second, Axis(y="seconds", log=True)),
    ]


def show_forgetting(evidence: Evidence) -> list[Block]:
    """Return Fig. 5: kernel evaluations and accuracy of learners that forget rows or keep all rows."""
    study, along = evidence["removal"], "along the stream"
    sets, styles = forgetting_sets(study), study.view.styles
    costs = [(name, study.curves("kernel_evaluations", FOUR, label)) for name, label in sets.items()]
    tests = [(name, accuracy(study, FOUR, label)) for name, label in sets.items()]
    cost, right = Axis(y="kernel evaluations", log=True), Axis(y="test accuracy, %", zero=False, log_x=True)
    return [
        *curves_figure(styles, "fig-5ac", f"Kernel evaluations {along}", costs, cost),
        *curves_figure(styles, "fig-5bd", f"Accuracy {along}", tests, right),
    ]


# --- active learning


def show_queries(evidence: Evidence) -> list[Block]:
    """Return Fig. 6, accuracy by number of queried labels, and a table of it at three numbers."""
    study = evidence["queries"]
    panels, axis = by_labels(study), Axis("labels asked for", "test accuracy, %", zero=False)
    missing = [name for name in PANELS if name not in panels]
    rows: list[list[str | TableCell]] = []
    for name, curves in panels.items():
        for labels in curves[0].t[-1] * np.array([0.25, 0.5, 1.0]):
            values = [float(np.interp(labels, curve.t, curve.mean)) for curve in curves]
            rows.append([name, number(labels, 0), *map(number, values)])
    title = "Accuracy in percent after a quarter, half and all of a panel's labels"
    return [
        *curves_figure(
            study.view.styles, "fig-6", "Accuracy by labels asked for", list(panels.items()), axis
        ),
        *([Text(f"Not run: {', '.join(missing)}.", "note")] if missing else []),
        table_of("fig-6-values", title, ["set", "labels", *FIVE], rows),
    ]


EXHIBITS: Mapping[str, Show] = {
    "table-1": show_table,
    "cover-grids": show_grids,
    "differences": show_differences,
    "fig-2": show_solutions,
    "fig-3": show_stream,
    "fig-4": show_cost,
    "fig-5": show_forgetting,
    "fig-6": show_queries,
}
