"""Cells that failed or were stopped at their time limit, with the reason."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ....pipeline.noise import noise_of
from ..page.blocks import Block, Code, Folded, Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView

_TRACEBACKS = 5


def section(view: StudyView) -> Section | None:
    """List cells without a result; None when there are none."""
    bad = view.cells[view.cells["status"] != "ok"]
    if bad.empty:
        return None
    blocks: list[Block] = [_failed_table(bad)]
    raised = bad[(bad["status"] == "failed") & bad["traceback"].notna()]
    blocks += [
        Folded(
            f"Traceback: {row['dataset']}, {row['algorithm']}", [Code(str(row["traceback"]))], page_only=True
        )
        for row in raised.drop_duplicates("traceback").head(_TRACEBACKS).to_dict("records")
    ]
    return Section("failed", "Failed and stopped cells", blocks)


def _sortable(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return what a column is sorted by: noise as such, since its text would put 1e-05 after 0.9."""
    return column.map(noise_of) if column.name == "noise" else column


def _failed_table(bad: pd.DataFrame) -> TableBlock:
    order = ["stage", "dataset", "algorithm", "noise", "seed"]
    rows = [
        [
            TableCell(str(row["dataset"])),
            TableCell(str(row["algorithm"])),
            TableCell(noise_of(row["noise"]).short),
            TableCell("tuning" if row["stage"] == "tune" else str(row["seed"])),
            TableCell(str(row["status"])),
            TableCell(str(row["error"]) if isinstance(row["error"], str) else ""),
        ]
        for row in bad.sort_values(order, key=_sortable).to_dict("records")
    ]
    return TableBlock(
        name="failed",
        title="Cells that failed or were stopped at their time limit",
        header=["data set", "algorithm", "noise", "seed", "status", "error"],
        rows=rows,
        labels=6,
        wrap=True,
    )
