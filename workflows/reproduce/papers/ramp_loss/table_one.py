"""Table I of the ramp-loss paper: accuracy and support vectors of five learners on nine sets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from ....report.page.blocks import Block, Facts, Text
from ....report.page.table import TableBlock, TableCell
from ...evidence import Evidence, NotThere
from ...figures import beside, number
from ...printed import table
from ...verdicts import Check, Outcome, Verdict, holds_for, holds_if
from .outcomes import (
    ACTIVE,
    IDSVM,
    LEARNERS,
    LIBSVM,
    PA,
    PAPER,
    RAMP,
    SETS,
    Entry,
    Row,
    all_rows,
    our_rows,
    printed_rows,
)

STUDY = "table"


def show(evidence: Evidence) -> list[Block]:
    """Return Table I, with our numbers before the printed ones."""
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


def _as_often(what: Callable[[Row], bool], learners: Sequence[str] = LEARNERS) -> Check:
    """Return the check of a claim "on so many sets".

    It holds if `what` is true on at least as many data sets here as in the printed rows of the same data
    sets.
    """

    def check(evidence: Evidence) -> Verdict:
        ours = our_rows(evidence[STUDY], learners)
        printed = {name: printed_rows()[name] for name in ours}
        found = [name for name, row in ours.items() if what(row)]
        wanted = sum(what(row) for row in printed.values())
        if not wanted:
            raise NotThere(f"none of the {len(ours)} sets that are there is one that it speaks of")
        figures = f"on {len(found)} of {len(ours)} sets{_names(found)}, on {wanted} of these as printed"
        return holds_if(len(found) >= wanted, figures, in_part=2 * len(found) >= wanted)

    return check


def _names(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _largest_gains(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (LIBSVM, RAMP))
    gains = {name: row[RAMP].accuracy - row[LIBSVM].accuracy for name, row in rows.items()}
    if not {"NCheckerboard", "Cover"} <= gains.keys() or len(gains) < 4:
        raise NotThere("needs NCheckerboard, Cover and two further sets")
    order = sorted(gains, key=lambda name: -gains[name])
    figures = "gains over LibSVM in points: " + ", ".join(f"{name} {gains[name]:+.1f}" for name in order)
    # The printed values behind "up to two points" are 2.1 and 2.0.
    sizes = all(1.0 <= gains[name] <= 3.0 for name in ("NCheckerboard", "Cover"))
    both = set(order[:2]) == {"NCheckerboard", "Cover"}
    return holds_if(both and sizes, figures, in_part=both or order[0] in ("NCheckerboard", "Cover"))


def _active_keeps_up(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (LIBSVM, IDSVM, RAMP, ACTIVE))
    behind = {
        name: max(row[each].accuracy for each in (LIBSVM, IDSVM, RAMP)) - row[ACTIVE].accuracy
        for name, row in rows.items()
    }
    near = [name for name, points in behind.items() if round(points, 1) <= 1.0]
    figures = f"within a point of the best of the three on {len(near)} of {len(behind)} sets; " + ", ".join(
        f"{name} {points:.1f}" for name, points in behind.items()
    )
    return holds_if(2 * len(near) > len(behind), figures, in_part=bool(near))


def _pa_is_last(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    others = [each for each in LEARNERS if each != PA]
    last = [n for n, row in rows.items() if all(row[PA].accuracy < row[each].accuracy for each in others)]
    clearly = [n for n in last if all(rows[n][each].clearly_above(rows[n][PA]) for each in others)]
    printed = printed_rows()
    wanted = sum(
        all(printed[name][PA].accuracy < printed[name][each].accuracy for each in others) for name in rows
    )
    figures = (
        f"lowest on {len(last)} of {len(rows)} sets{_names(last)}, clearly on {len(clearly)}; lowest on "
        f"{wanted} of these as printed"
    )
    return holds_if(len(clearly) >= wanted, figures, in_part=2 * len(last) >= wanted)


def _is_sparsest(learner: str) -> Callable[[Row], bool]:
    return lambda row: row[learner].size == min(row[each].size for each in LEARNERS)


def _full_is_sparse(evidence: Evidence) -> Verdict:
    often = _as_often(_is_sparsest(RAMP))(evidence)
    rows = our_rows(evidence[STUDY])
    ratios = {name: row[RAMP].size / max(1.0, row[ACTIVE].size) for name, row in rows.items()}
    # "As sparse": the threshold is ours; the printed values meet it on six sets of nine.
    like = [name for name, ratio in ratios.items() if ratio <= 1.15]
    figures = (
        f"sparsest {often.figures}; no more than 1.15 times the active one's on {len(like)}{_names(like)}"
    )
    matches = 2 * len(like) > len(rows)
    return holds_if(
        matches and often.outcome is Outcome.HOLDS, figures, in_part=matches or "(" in often.figures
    )


def _ramp_is_sparser(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    cases = {
        name: max(row[RAMP].size, row[ACTIVE].size) < min(row[each].size for each in (LIBSVM, IDSVM, PA))
        for name, row in rows.items()
    }
    figures = "the larger of both against the smallest of the three: " + ", ".join(
        f"{name} {max(row[RAMP].size, row[ACTIVE].size):,.0f} and "
        f"{min(row[each].size for each in (LIBSVM, IDSVM, PA)):,.0f}"
        for name, row in rows.items()
    )
    return holds_for(cases, figures)


def _ten_times(evidence: Evidence) -> Verdict:
    row = our_rows(evidence[STUDY], (LIBSVM, RAMP, ACTIVE)).get("Gauss")
    if row is None:
        raise NotThere("Gauss is not complete")
    ratios = {each: row[LIBSVM].size / max(1.0, row[each].size) for each in (RAMP, ACTIVE)}
    # The printed values behind "about ten" are 9.0 and 13.8, so a factor of two is allowed.
    return holds_for(
        {name: 5 <= ratio <= 20 for name, ratio in ratios.items()},
        ", ".join(f"{name} {ratio:.1f} times" for name, ratio in ratios.items()),
    )


def _pa_is_densest(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY])
    cases = {name: row[PA].size == max(one.size for one in row.values()) for name, row in rows.items()}
    figures = f"densest on {sum(cases.values())} of {len(cases)} sets"
    if "Cover" in rows:
        one = rows["Cover"][PA]
        cases["all examples of Cover"] = round(one.size) >= round(one.seen)
        figures += f"; keeps {one.size:,.0f} of {one.seen:,.0f} examples of Cover"
    return holds_for(cases, figures)


def _overall(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (IDSVM, RAMP))
    better = {
        "accuracy": [name for name, row in rows.items() if row[RAMP].accuracy > row[IDSVM].accuracy],
        "size": [name for name, row in rows.items() if row[RAMP].size < row[IDSVM].size],
        # The time of a stopped run is a lower bound.
        "seconds": [name for name, row in rows.items() if row[RAMP].seconds < row[IDSVM].seconds],
    }
    figures = f"of {len(rows)} sets ahead in " + "; ".join(
        f"{what} on {len(names)}{_names(names)}" for what, names in better.items()
    )
    most = {what: 2 * len(names) > len(rows) for what, names in better.items()}
    return holds_for(most, figures)


def _active_is_faster(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence[STUDY], (RAMP, ACTIVE))
    return holds_for(
        {name: row[ACTIVE].seconds < row[RAMP].seconds for name, row in rows.items()},
        "seconds at best: "
        + ", ".join(
            f"{name} {row[ACTIVE].seconds:.1f} and {row[RAMP].seconds:.1f}" for name, row in rows.items()
        ),
    )


CHECKS: Mapping[str, Check] = {
    "ramp-1": _as_often(lambda row: row[RAMP].clearly_above(row[LIBSVM]), (RAMP, LIBSVM)),
    "ramp-2": _as_often(lambda row: row[RAMP].clearly_above(row[IDSVM]), (RAMP, IDSVM)),
    "ramp-3": _largest_gains,
    "ramp-4": _active_keeps_up,
    "ramp-5": _pa_is_last,
    "ramp-6": _as_often(_is_sparsest(ACTIVE)),
    "ramp-7": _full_is_sparse,
    "ramp-8": _ramp_is_sparser,
    "ramp-9": _ten_times,
    "ramp-10": _pa_is_densest,
    "ramp-22": _active_is_faster,
    "ramp-28": _overall,
}
