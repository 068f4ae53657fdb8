"""Fig. 6 of the ramp-loss paper: accuracy by number of labels, on nine data sets, and its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from .....pipeline.analysis.curves import Curve, mean_curves
from .....pipeline.noise import CLEAN
from ....report.page.blocks import Block, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.curve_plots import Axis
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import curves_figure, number
from ...verdicts import Check, Verdict, holds_for, holds_if
from .outcomes import SETS

STUDY = "queries"
_RAMP_ALL, _RAMP_GREEDY = "OnlineSVMR, all labels", "OnlineSVMR, greedy"
_HINGE_ALL, _HINGE_GREEDY = "IDSVM, all labels", "IDSVM, greedy"
_ACTIVE = "OnlineASVMR"
_FIVE = (_HINGE_ALL, _HINGE_GREEDY, _RAMP_ALL, _RAMP_GREEDY, _ACTIVE)
# In the order of the figure's panels.
_PANELS = (
    "Checkerboard", "DNA", "Waveform", "Adult", "Banana", "NCheckerboard", "Gauss", "Cover", "USPS",
)  # fmt: skip
# Largest mean difference over a panel, in points, that counts as level; the paper gives no measure.
_LEVEL = 0.25


def by_labels(study: StudyEvidence) -> dict[str, list[Curve]]:
    """Return test accuracy by labels asked for, on every data set on which all five learners have a curve.

    As in the paper, a panel ends at the smallest number of labels that one of the five has asked for by the
    end of its stream or its time limit. Raise `NotThere` if there is no such set.
    """
    found = {}
    for name in _PANELS:
        for label in study.datasets(SETS[name]):
            curves = mean_curves(
                study.curves_so_far,
                dataset=label,
                noise=CLEAN,
                algorithms=list(_FIVE),
                column="test_error",
                against="queried",
                from_zero=False,
            )
            # "checkerboard" is a prefix of "checkerboard-noisy".
            if len(curves) == len(_FIVE) and label.partition("[")[0] == SETS[name]:
                end = min(curve.t[-1] for curve in curves)
                found[name] = [_until(replace(curve, mean=100 - curve.mean), end) for curve in curves]
    if not found:
        raise NotThere(f"{study.name}: no set has curves of all five")
    return found


def _until(curve: Curve, end: float) -> Curve:
    t = np.append(curve.t[curve.t < end], end)
    mean, sd = (np.interp(t, curve.t, values) for values in (curve.mean, curve.sd))
    return replace(curve, t=t, mean=mean, sd=sd)


def at(curve: Curve, labels: float) -> float:
    """Return accuracy after a number of labels."""
    return float(np.interp(labels, curve.t, curve.mean))


def ahead(curves: Sequence[Curve], one: str, other: str) -> float:
    """Return the lead of `one` over `other` in points, averaged evenly over a panel's labels."""
    named = {curve.algorithm: curve for curve in curves}
    first, second = named[one], named[other]
    end = first.t[-1]
    # Leave out the first tenth, where luck decides more than the method.
    labels = np.linspace(max(0.1 * end, first.t[0], second.t[0]), end, 50)
    gaps = np.interp(labels, first.t, first.mean) - np.interp(labels, second.t, second.mean)
    return float(gaps.mean())


# --- the figure


def show(evidence: Evidence) -> list[Block]:
    """Return Fig. 6, and a table of its accuracies."""
    study = evidence[STUDY]
    panels = by_labels(study)
    drawn = curves_figure(
        study.view,
        "fig-6",
        "Accuracy by labels asked for",
        list(panels.items()),
        Axis("labels asked for", "test accuracy, %", zero=False),
    )
    missing = [name for name in _PANELS if name not in panels]
    notes: list[Block] = [Text(f"Not run: {', '.join(missing)}.", "note")] if missing else []
    return [
        Text(
            "A panel ends with the labels that the first of the five has asked for when it ends, or is "
            "stopped at the time limit; Greedy asks for one of every five.",
            "soft",
        ),
        *drawn,
        *notes,
        _table(panels),
    ]


def _table(panels: Mapping[str, Sequence[Curve]]) -> TableBlock:
    rows = []
    for name, curves in panels.items():
        end = curves[0].t[-1]
        for share in (0.25, 0.5, 1.0):
            values = [at(curve, share * end) for curve in curves]
            best = max(round(value, 1) for value in values)
            rows.append(
                [
                    TableCell(name),
                    TableCell(number(share * end, 0)),
                    *(TableCell(number(value), best=round(value, 1) == best) for value in values),
                ]
            )
    title = "Accuracy in percent after a quarter, half and all of a panel's labels"
    return TableBlock("fig-6-values", title, ["set", "labels", *_FIVE], rows)


# --- its claims


def _gaps(evidence: Evidence, one: str, other: str, names: Sequence[str] = _PANELS) -> dict[str, float]:
    panels = by_labels(evidence[STUDY])
    found = {name: ahead(panels[name], one, other) for name in names if name in panels}
    if not found:
        raise NotThere(f"{', '.join(names)} have not been run")
    return found


def _listed(gaps: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {points:+.2f}" for name, points in gaps.items())


def _all_is_worse(evidence: Evidence) -> Verdict:
    greedy = _gaps(evidence, _RAMP_GREEDY, _RAMP_ALL)
    active = _gaps(evidence, _ACTIVE, _RAMP_ALL)
    figures = f"points over QueryAll: Greedy {_listed(greedy)}; OnlineASVMR {_listed(active)}"
    return holds_for({name: min(greedy[name], active[name]) > _LEVEL for name in greedy}, figures)


def _of_greedy(sign: int, names: Sequence[str]) -> Check:
    """Return the check that Greedy (1), OnlineASVMR (-1) or neither (0) is ahead on some data sets."""

    def check(evidence: Evidence) -> Verdict:
        gaps = _gaps(evidence, _RAMP_GREEDY, _ACTIVE, names)
        cases = {
            name: sign * points > _LEVEL if sign else abs(points) <= _LEVEL for name, points in gaps.items()
        }
        lacking = [name for name in names if name not in gaps]
        figures = f"points of Greedy over OnlineASVMR: {_listed(gaps)}"
        return holds_for(cases, figures + (f"; not run: {', '.join(lacking)}" if lacking else ""))

    return check


def _ramp_beats_hinge(evidence: Evidence) -> Verdict:
    every, greedy = _gaps(evidence, _RAMP_ALL, _HINGE_ALL), _gaps(evidence, _RAMP_GREEDY, _HINGE_GREEDY)
    won = [name for name in every if min(every[name], greedy[name]) > 0]
    figures = (
        f"ahead with both rules on {len(won)} of {len(every)} sets; points over IDSVM: "
        f"QueryAll {_listed(every)}; Greedy {_listed(greedy)}"
    )
    some = any(points > 0 for points in (*every.values(), *greedy.values()))
    return holds_if(2 * len(won) > len(every), figures, in_part=some)


CHECKS: Mapping[str, Check] = {
    "ramp-23": _all_is_worse,
    "ramp-24": _of_greedy(1, ("DNA", "USPS", "Waveform")),
    "ramp-25": _of_greedy(-1, ("Gauss", "Cover", "Checkerboard", "NCheckerboard")),
    "ramp-26": _of_greedy(0, ("Adult", "Banana")),
    "ramp-27": _ramp_beats_hinge,
}
