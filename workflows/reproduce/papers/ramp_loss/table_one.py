"""Table I of the ramp-loss paper: accuracy and support vectors of five learners on nine sets."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pandas as pd

from ....report.page.blocks import Block, Facts, Text
from ....report.page.table import TableBlock, TableCell
from ...beside import beside, number
from ...evidence import Evidence
from ...printed import table
from .outcomes import LEARNERS, PAPER, SETS, Entry, Row, all_rows, printed_rows

STUDY = "table"


def show(evidence: Evidence) -> list[Block]:
    """Return Table I, ours before what is printed."""
    study = evidence[STUDY]
    ours, printed = all_rows(study), printed_rows()
    sizes = {
        (row["task"], row["statistic"]): f"{float(row['value']):,.0f}"
        for row in table(PAPER, "table1_datasets")
    }
    rows = []
    for name in SETS:
        shape = f"{sizes[name, 'examples']} × {sizes[name, 'attributes']}"
        repetitions = {each.repetitions for each in ours[name].values()} or {0}
        runs = "–".join(str(each) for each in sorted({min(repetitions), max(repetitions)}))
        highest = max((round(each.accuracy, 1) for each in ours[name].values()), default=math.nan)
        smallest = min((round(each.size) for each in ours[name].values()), default=math.nan)
        first, second = [], []
        for learner in LEARNERS:
            one, other = ours[name].get(learner), printed[name][learner]
            first.append(_accuracy_cell(one, other, highest))
            second.append(_size_cell(one, other, smallest))
        rows.append([TableCell(name), TableCell("Acc"), *first, TableCell(runs)])
        rows.append([TableCell(shape), TableCell("#SV"), *second, TableCell("")])
    note = (
        "In brackets what the paper prints, over ten repetitions, and the deviation from it. ⚠: an accuracy "
        "further from it than a point and two of its standard deviations. *: stopped at the time limit, in "
        "some repetitions at least, and tested where it ended."
    )
    header = ["set", "", *LEARNERS, "runs"]
    block = TableBlock(
        "table-1", "Accuracy and model size", header, rows, labels=2, note=note, data=_long(ours), wrap=True
    )
    return [_near(ours, printed), block, *_stopped(ours)]


def _accuracy_cell(ours: Entry | None, printed: Entry, highest: float) -> TableCell:
    if ours is None:
        return TableCell(f"– ({number(printed.accuracy)})")
    text = beside(ours.accuracy, printed.accuracy, sd=ours.accuracy_sd).text + "*" * bool(ours.stopped)
    return TableCell(text, best=round(ours.accuracy, 1) == highest, flag=not ours.is_near(printed))


def _size_cell(ours: Entry | None, printed: Entry, smallest: float) -> TableCell:
    if ours is None:
        return TableCell(f"– ({number(printed.size, 0)})")
    text = beside(ours.size, printed.size, 0, sd=ours.size_sd).text + "*" * bool(ours.stopped)
    return TableCell(text, best=round(ours.size) == smallest)


def _near(ours: Mapping[str, Row], printed: Mapping[str, Row]) -> Facts:
    near = [one.is_near(printed[name][learner]) for name, row in ours.items() for learner, one in row.items()]
    return Facts(
        [
            ("entries there", f"{len(near)} of {len(SETS) * len(LEARNERS)}"),
            ("within a point or two printed deviations", f"{sum(near)} of {len(near)}"),
        ]
    )


def _stopped(ours: Mapping[str, Row]) -> list[Block]:
    texts = [
        f"{learner} on {name}: {one.stopped} of {one.repetitions}, after {one.seen:,.0f} examples on average"
        for name, row in ours.items()
        for learner, one in row.items()
        if one.stopped
    ]
    return [Text(f"Stopped at the time limit: {'; '.join(texts)}.", "note")] if texts else []


def _long(ours: Mapping[str, Row]) -> pd.DataFrame:
    printed = printed_rows()
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
            for name, row in ours.items()
            for learner, one in row.items()
        ]
    )
