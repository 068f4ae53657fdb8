"""Why LibSVM differs on Cover from Table I of the ramp-loss paper: the rows that its grid is judged on."""

from __future__ import annotations

import json

import numpy as np

from .....pipeline.analysis.design import evaluation_rows
from ....report.page.blocks import Block, Text
from ....report.page.table import TableBlock, TableCell
from ...beside import beside, number
from ...evidence import Evidence
from .outcomes import LIBSVM, printed_rows

STUDY = "grids"


def show(evidence: Evidence) -> list[Block]:
    """Return what LibSVM comes to on Cover by the number of rows that its grid is judged on."""
    study, printed = evidence[STUDY], printed_rows()["Cover"][LIBSVM]
    cells = evaluation_rows(study.view.cells, status="ok")
    rows = []
    for label in study.datasets():
        part = cells[cells["dataset"] == label]
        if not len(part):
            continue
        accuracy = 100 * part["test_accuracy"].astype(float)
        chosen = json.loads(part["params"].iloc[0])
        rows.append(
            [
                TableCell(number(float(label.rpartition("[")[0].rpartition("-")[2] or 0), 0)),
                TableCell(f"{chosen['C']:g}"),
                TableCell(f"{chosen['gamma']:g}"),
                beside(float(accuracy.mean()), printed.accuracy, sd=float(np.nan_to_num(accuracy.std()))),
                beside(float(part["support_vectors"].astype(float).mean()), printed.size, 0),
            ]
        )
    header = ["training rows of the grid", "C", "gamma", "accuracy, %", "support vectors"]
    return [
        Text(
            "All with 10,000 training rows in the end. The paper judges its grids by cross-validation and "
            "says not on how many rows.",
            "soft",
        ),
        TableBlock("cover-grids", "LibSVM on Cover", header, rows),
    ]
