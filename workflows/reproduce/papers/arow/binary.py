"""Table 1 and Fig. 8: mean ranks on binary tasks, and AROW against the others task by task."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ....report.page.blocks import Block, Heading, Panels, Picture, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.head_to_head_plots import scatter
from ....report.words.markup import slug
from ...beside import ABSENT, beside, number
from ...evidence import Evidence, StudyEvidence
from ...figures import numbers_file
from ...printed import table
from .parts import PAS, binary_groups, four, percent, row

# The columns of Fig. 8 in the paper's order, and its rows.
BASELINES = ("PA", "SOP", "CW")
LEVELS = (0.0, 0.1, 0.3)


def mean_ranks(evidence: Evidence) -> list[Block]:
    """Return Table 1, with either PA."""
    study = evidence["binary"]
    return [_ranked(study, pa) for pa in PAS]


def _ranked(study: StudyEvidence, pa: str) -> TableBlock:
    printed = {
        (row["algorithm"], float(row["noise"])): float(row["value"]) for row in table("arow", "table1")
    }
    rows, data = [], []
    for group, tasks in binary_groups(study).items():
        ranks = pd.DataFrame({q: study.ranks(four(pa), q, datasets=tasks) for q in study.rates})
        for name in ranks.index:
            entries = [TableCell(f"{group}, {len(tasks)} tasks"), TableCell(str(name))]
            for q, rank in zip(study.rates, row(ranks, str(name)), strict=True):
                # What is printed is over all tasks.
                found = printed.get((str(name), q)) if group == "all" else None
                entry = beside(rank, found, 2)
                entries.append(TableCell(entry.text, best=rank <= ranks[q].min()))
                data.append((group, len(tasks), name, q, rank, found))
            rows.append(entries)
        if group == "all":
            rows += [
                [TableCell("the paper, 130 tasks"), TableCell(name), *_printed(printed, name, study.rates)]
                for name in four("PA")
            ]
    columns = ["tasks", "number", "algorithm", "noise", "mean_rank", "printed"]
    return TableBlock(
        f"table-1-{slug(pa)}",
        f"Mean rank by test accuracy, {'PA without slack' if pa == 'PA' else pa}",
        ["tasks", "algorithm", *map(percent, study.rates)],
        rows,
        labels=2,
        note="Rank 1 is best, 4 worst; columns are rates of label noise. In brackets the printed number and "
        "our deviation from it. Which PA the paper takes it does not say.",
        data=pd.DataFrame(data, columns=columns),
    )


def _printed(found: dict[tuple[str, float], float], name: str, rates: Sequence[float]) -> list[TableCell]:
    return [TableCell(number(found[name, q], 2) if (name, q) in found else ABSENT) for q in rates]


def task_by_task(evidence: Evidence) -> list[Block]:
    """Return Fig. 8, and PA-I below it."""
    study = evidence["binary"]
    groups = binary_groups(study)
    blocks: list[Block] = [
        Text(
            "Every point is a task: test accuracy of AROW (y) against that of a baseline (x), in percent.",
            "soft",
        )
    ]
    parts = []
    for group in ("text", "digits"):
        blocks.append(Heading(f"{group.capitalize()}, {len(groups[group])} tasks"))
        further = []
        for q in LEVELS:
            accuracy = study.table("test_accuracy", q, datasets=groups[group])
            blocks.append(Panels([_panel(study, accuracy, group, q, name) for name in BASELINES], roomy=True))
            further.append(_panel(study, accuracy, group, q, "PA-I"))
            long = accuracy[["AROW", *BASELINES, "PA-I"]].rename_axis("task").reset_index()
            parts.append(long.assign(group=group, noise=q))
        blocks.append(Panels(further, roomy=True))
    blocks.append(numbers_file("fig-8", "Test accuracy of every task", pd.concat(parts, ignore_index=True)))
    return blocks


def _panel(study: StudyEvidence, accuracy: pd.DataFrame, group: str, q: float, baseline: str) -> Picture:
    ours, theirs = accuracy["AROW"], accuracy[baseline]
    at = f"{percent(q)} noise"
    return Picture(
        f"Test accuracy of AROW against {baseline}, {at} ({group})",
        f"{baseline}, {at}: {int((ours > theirs).sum())} of {len(accuracy)} above the line",
        scatter(
            100 * theirs.to_numpy(),
            100 * ours.to_numpy(),
            study.view.styles[baseline],
            f"{baseline}, %",
            "AROW, %",
        ),
        f"figures/fig-8-{group}-{slug(baseline)}-{round(100 * q)}.svg",
    )
