"""List cells that failed or were stopped at their time limit, with the reason."""

from __future__ import annotations

import pandas as pd

from ....pipeline.analysis.failures import failures
from ..page.blocks import Block, Code, Folded, Section
from ..page.table import TableBlock, TableCell
from ..page.view import StudyView

_TRACEBACKS = 5


def section(view: StudyView) -> Section | None:
    """List cells without a result; return None if there are none."""
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


def _failed_table(bad: pd.DataFrame) -> TableBlock:
    rows = [
        [TableCell(text) for text in (each.algorithm, each.status, f"{each.cells:,}", each.where, each.error)]
        for each in failures(bad)
    ]
    return TableBlock(
        name="failed",
        title="Cells that failed or were stopped at their time limit",
        header=["algorithm", "status", "cells", "data sets", "error of the first"],
        rows=rows,
        labels=5,
        wrap=True,
    )
