"""Orabona, Keshet, Caputo (2008): the Projectron."""

from __future__ import annotations

from ...report.page.blocks import Block, Text
from ...report.page.table import TableBlock, TableCell
from ...report.plots.curve_plots import Axis
from ..beside import ABSENT, number
from ..evidence import Evidence
from ..figures import curves_figure
from ..paper import Exhibit, Paper, PaperStudy, Show
from .projectron_claims import BUDGETS, CHECKS, ETAS, bound_names, by_set, norm_bound, tasks_by_set

_DRAWN = ["Perceptron", "Projectron 0.3", "Projectron++ 0.3", "Forgetron = 0.3", "RBP = 0.3"]
_AT_EQUAL_SIZES = (
    "Forgetron",
    "RBP",
    "Shifting Perceptron",
    "DistillCache Perceptron",
    "DistillCache MIRA",
)
_NOTE = (
    f"Online mistakes, mean over orders and over the tasks of a set. Printed: {ABSENT}, which ends before "
    "the experiments."
)


def _equal_sizes(evidence: Evidence) -> list[Block]:
    study = evidence["sizes"]
    rows = [("", "Perceptron, no budget", "mistakes", "Perceptron")]
    for eta in map(str, ETAS):
        rows.append((eta, "support vectors", "support_vectors", f"Projectron {eta}"))
        rows += [(eta, who, "mistakes", f"{who} {eta}") for who in ("Projectron", "Projectron++")]
        rows += [(eta, who, "mistakes", f"{who} = {eta}") for who in _AT_EQUAL_SIZES]
    names = list(dict.fromkeys(label for *_, label in rows))
    tables = {metric: by_set(study, metric, names) for metric in ("mistakes", "support_vectors")}
    sets = list(tables["mistakes"])
    body = [
        [
            TableCell(eta),
            TableCell(what),
            *(TableCell(number(tables[metric][name][label])) for name in sets),
        ]
        for eta, what, metric, label in rows
    ]
    note = (
        f"{_NOTE} Learners with a budget have the support size that the Projectron ends with, cell by cell."
    )
    return [
        TableBlock(
            "equal-sizes", "Mistakes at equal support sizes", ["η", "", *sets], body, labels=2, note=note
        )
    ]


def _equal_bounds(evidence: Evidence) -> list[Block]:
    study = evidence["sizes"]
    names = [name for budget in BUDGETS for name in bound_names(budget)]
    mistakes, support = (by_set(study, metric, names) for metric in ("mistakes", "support_vectors"))
    sets = list(mistakes)
    body = [
        [
            TableCell(f"{budget:,}"),
            TableCell(f"{norm_bound(budget):.2f}"),
            TableCell(label.partition(",")[0]),
            *(
                TableCell(f"{number(mistakes[name][label])} ({number(support[name][label], 0)})")
                for name in sets
            ),
        ]
        for budget in BUDGETS
        for label in bound_names(budget)
    ]
    note = (
        f"{_NOTE} In brackets support vectors. A Forgetron with budget B competes with functions of norm "
        "U = √((B + 1)/ln(B + 1))/4 at most (Dekel, Shalev-Shwartz, Singer 2008); the Projectrons' η follows "
        "from U by Eq. 13."
    )
    header = ["B", "U", "", *sets]
    return [
        TableBlock("equal-bounds", "Mistakes with the same norm bound", header, body, labels=3, note=note)
    ]


def _along_the_stream(column: str, name: str, title: str, y: str) -> Show:
    def show(evidence: Evidence) -> list[Block]:
        study = evidence["sizes"]
        # Of a set with many tasks the first stands for all.
        panels = [
            (tasks[0], study.curves(column, _DRAWN, tasks[0])) for tasks in tasks_by_set(study).values()
        ]
        return [
            Text(f"Printed: {ABSENT}.", "soft"),
            *curves_figure(study.view, name, title, panels, Axis(y=y)),
        ]

    return show


PAPER = Paper(
    "projectron",
    "Orabona, Keshet, Caputo (2008), The Projectron: a bounded kernel-based Perceptron",
    {"sizes": PaperStudy("projectron", "projectron-small")},
    [
        Exhibit("equal-sizes", "Mistakes at equal support sizes", _equal_sizes),
        Exhibit("equal-bounds", "Mistakes with the norm bound of the Forgetron", _equal_bounds),
        Exhibit(
            "mistakes",
            "Mistakes along the stream",
            _along_the_stream("mistakes", "mistakes", "Mistakes along the stream", "mistakes"),
        ),
        Exhibit(
            "support",
            "Support vectors along the stream",
            _along_the_stream(
                "support_vectors", "support", "Support vectors along the stream", "support vectors"
            ),
        ),
    ],
    CHECKS,
    [
        (
            "The experiments are not in the text",
            "It ends in Sec. 4.1: data sets, kernels, tables and figures are not known here, and nothing is "
            "filled in from elsewhere. Data sets, widths and budgets are ours.",
        ),
        (
            "The kernel's width",
            "rbf; of each data set the best of a grid for the kernel Perceptron, the same for all learners.",
        ),
        (
            "Projectron++ with U",
            "The text ends before it says how: on margin errors U stands for 1/η, with which every update "
            "makes progress towards any function of norm U or less.",
        ),
    ],
)
