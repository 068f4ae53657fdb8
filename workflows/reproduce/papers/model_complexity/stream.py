"""Figs. 3 and 4: the complexity that OMS-LASVM uses along the stream, and its error next to fixed ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from .....pipeline.analysis.curves import Curve
from ....report.page.blocks import Block, Heading
from ....report.page.table import TableBlock, TableCell
from ....report.plots.curve_plots import Axis
from ....report.words.markup import slug
from ...evidence import Evidence, StudyEvidence
from ...figures import beside, curves_figure, number
from ...printed import number as printed
from .outcomes import (
    ALL,
    DATASET,
    KERNELS,
    PAPER,
    POLY,
    POLY_OURS,
    PRINTED,
    RBF,
    WELCH,
    Kernel,
    best,
    drawn,
    end,
    error,
    order_errors,
    runs,
    sizes,
    the_study,
)

_FIRST_SWITCH = int(printed(PAPER, "mc-n18"))
# Complexities in use according to the running text, by kernel and number of examples.
REACHED = {
    (RBF.name, _FIRST_SWITCH): printed(PAPER, "mc-n17"),
    (RBF.name, 4000): printed(PAPER, "mc-n19"),
    (RBF.name, ALL): printed(PAPER, "mc-n20"),
    (POLY.name, 1000): printed(PAPER, "mc-n21"),
    (POLY.name, ALL): printed(PAPER, "mc-n22"),
}
# Printed errors after all examples, in percent, by label.
ERRORS = {
    RBF.oms(PRINTED): printed(PAPER, "mc-n29"),
    RBF.high: printed(PAPER, "mc-n30"),
    POLY.oms(PRINTED): printed(PAPER, "mc-n31"),
    POLY.high: printed(PAPER, "mc-n32"),
}
TESTS = {PRINTED: "the test as printed", WELCH: "Welch's test"}
# Numbers of examples in the table of Fig. 4, in addition to the last.
_SHOWN = (200, 600, 1000, 2000, 4000, 10_000, 20_000)
_ERROR = Axis(y="test error, %", log=True)


def complexities(evidence: Evidence) -> list[Block]:
    """Return Fig. 3: errors of each order with marked switches, the complexities in use, and a table."""
    study = the_study(evidence)
    return [
        *(block for kernel in KERNELS for block in _by_order(study, kernel)),
        Heading("The complexity in use"),
        *(block for kernel in KERNELS for block in _levels(study, kernel)),
        *(_switches(study, kernel) for kernel in (*KERNELS, POLY_OURS)),
    ]


def _by_order(study: StudyEvidence, kernel: Kernel) -> list[Block]:
    panels = [
        (f"{kernel.name} kernel, {what}", _with_switches(study, kernel.oms(test)))
        for test, what in TESTS.items()
    ]
    title = "Test error along the stream, circles where the complexity rises"
    return drawn(f"fig-3-errors-{slug(kernel.short)}", title, panels, _ERROR)


def _with_switches(study: StudyEvidence, label: str) -> list[Curve]:
    curves = order_errors(study, label)
    return [
        # A curve has no value to mark before its first point.
        replace(curve, marks=tuple(each for each in run.switches if each >= curve.t[0]))
        for curve, run in zip(curves, runs(study, label), strict=True)
    ]


def _levels(study: StudyEvidence, kernel: Kernel) -> list[Block]:
    last = end(study)
    at = np.array([*sizes(study)], float)
    # The best fixed complexities are known only at these numbers of examples.
    fixed = Curve(
        "best fixed complexity", at, np.array([best(study, kernel, t) for t in at]), 0 * at, len(at)
    )
    panels = []
    for test, what in TESTS.items():
        curves = []
        for place, run in enumerate(runs(study, kernel.oms(test)), start=1):
            t = np.array([at[0] / 20, *run.switches, last], float)
            curves.append(
                Curve(f"order {place}", t, np.array([run.complexity(each) for each in t]), 0 * t, 1)
            )
        panels.append((f"{kernel.name} kernel, {what}: {kernel.parameter}", [*curves, fixed]))
    title = f"The {kernel.parameter} in use along the stream"
    axis = Axis(y=kernel.parameter, log=True, steps=True)
    return drawn(f"fig-3-{slug(kernel.parameter)}", title, panels, axis)


def _points(study: StudyEvidence) -> list[int]:
    """Return the numbers of examples at which the paper's text states the complexity in use."""
    last = end(study)
    return [*(t for t in (1000, _FIRST_SWITCH, 4000) if t < last), last]


def _switches(study: StudyEvidence, kernel: Kernel) -> TableBlock:
    points = _points(study)
    rows, data = [], []
    reached = [REACHED.get((kernel.name, t)) for t in points]
    if any(reached):
        shown = ["–" if each is None else f"{each:g}" for each in reached]
        theirs = _percent(ERRORS.get(kernel.oms(PRINTED)), points[-1])
        # The paper prints no other switch.
        rises = f"{_FIRST_SWITCH:,}, …" if kernel is RBF else "–"
        rows.append(_row(["the paper", "1", rises, *shown, theirs]))
    for start in kernel.starts:
        for test, what in TESTS.items():
            label = kernel.oms(test, start)
            for place, (run, curve) in enumerate(
                zip(runs(study, label), order_errors(study, label), strict=True), start=1
            ):
                switches = ", ".join(f"{each:,}" for each in run.switches) or "never"
                final = float(curve.mean[-1])
                head = [what + start.replace(", ", ", start "), f"{place}", switches]
                rows.append(_row([*head, *(run.text(t) for t in points), number(final, 2)]))
                data += [(label, run.order, t, run.complexity(t), run.start, final) for t in points]
    columns = ["algorithm", "seed", "examples", "complexity", "start", "test_error_at_end"]
    return TableBlock(
        f"fig-3-{slug(kernel.short)}",
        f"Where OMS-LASVM goes over to the next complexity, {kernel.name} kernel",
        [
            "test",
            "order",
            "rises after",
            *(f"{kernel.parameter} at {t:,}" for t in points),
            "test error at the end, %",
        ],
        rows,
        labels=3,
        note="A row an order of the examples; the paper has one. Of a cross-validated start the store has "
        "not the value, so its multiple is given."
        if len(kernel.starts) > 1
        else "",
        data=pd.DataFrame(data, columns=columns),
        wrap=True,
    )


def _percent(value: float | None, last: int) -> str:
    return "–" if value is None or last != ALL else number(value, 2)


def _row(texts: Sequence[str]) -> list[TableCell]:
    return [TableCell(text) for text in texts]


def against_fixed(evidence: Evidence) -> list[Block]:
    """Return Fig. 4, and its tables."""
    study = the_study(evidence)
    panels = [
        (f"{kernel.name} kernel", study.curves("test_error", _drawn(kernel), DATASET)) for kernel in KERNELS
    ]
    title = "OMS-LASVM beside a low and a high fixed complexity"
    return [
        *curves_figure(study.view, "fig-4", title, panels, _ERROR),
        *(_beside(study, kernel) for kernel in (*KERNELS, POLY_OURS)),
    ]


def _drawn(kernel: Kernel) -> list[str]:
    return [*(kernel.oms(test, start) for start in kernel.starts for test in TESTS), kernel.low, kernel.high]


def _beside(study: StudyEvidence, kernel: Kernel) -> TableBlock:
    last = end(study)
    points = [*(t for t in _SHOWN if t < last), last]
    names = _drawn(kernel)
    found = {(name, t): error(study, name, t) for name in names for t in points}
    lowest = {t: min(found[name, t] for name in names) for t in points}
    rows = []
    for name in names:
        entries = [TableCell(name)]
        for t in points:
            entry = beside(found[name, t], ERRORS.get(name) if t == ALL else None, 2)
            entries.append(replace(entry, best=found[name, t] == lowest[t]))
        rows.append(entries)
    return TableBlock(
        f"fig-4-{slug(kernel.short)}",
        f"Test error in percent along the stream, {kernel.name} kernel",
        ["", *(f"{t:,}" for t in points)],
        rows,
        note="Means over orders; in brackets the printed number and our deviation from it.",
    )
