"""Why LibSVM on Cover differs from Table I of the ramp-loss paper: the number of rows that judge its grid."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from .....pipeline.analysis.design import evaluation_rows
from ....report.page.blocks import Block, Text
from ....report.page.table import TableBlock, TableCell
from ...evidence import Evidence
from ...figures import beside, number
from .outcomes import LIBSVM, Entry, printed_rows

STUDY = "grids"


def show(evidence: Evidence) -> list[Block]:
    """Return LibSVM's results on Cover by the number of rows that judge its grid."""
    study, printed = evidence[STUDY], printed_rows()["Cover"][LIBSVM]
    cells = evaluation_rows(study.view.cells, status="ok")
    rows = []
    for label in study.datasets():
        part = cells[cells["dataset"] == label]
        if not len(part):
            continue
        rows_judging = float(label.rpartition("[")[0].rpartition("-")[2] or 0)
        rows.append([TableCell(number(rows_judging, 0)), *point(part, printed)])
    header = ["training rows of the grid", "C", "gamma", "accuracy, %", "support vectors"]
    return [
        Text(
            "All with 10,000 training rows in the end. The paper judges its grids by cross-validation and "
            "says not on how many rows.",
            "soft",
        ),
        TableBlock("cover-grids", "LibSVM on Cover", header, rows),
    ]


def point(cells: pd.DataFrame, printed: Entry | None) -> list[TableCell]:
    """Return the chosen point of a learner's grid, and its accuracy and size next to the printed ones."""
    accuracy, size = 100 * cells["test_accuracy"].astype(float), cells["support_vectors"].astype(float)
    chosen, spread = json.loads(cells["params"].iloc[0]), float(np.nan_to_num(accuracy.std()))
    return [
        TableCell(f"{chosen['C']:g}"),
        TableCell(f"{chosen['gamma']:.3g}"),
        beside(float(accuracy.mean()), None if printed is None else printed.accuracy, sd=spread),
        beside(float(size.mean()), None if printed is None else printed.size, 0),
    ]
