"""Fig. 5 of the ramp-loss paper: savings from forgetting rows that are no support vectors, and its claims."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ....report.page.blocks import Block
from ....report.plots.curve_plots import Axis
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import curves_figure
from ...verdicts import Check, Verdict, holds_for, holds_if
from .gauss import accuracy, common

STUDY = "removal"
# The paper's names of the data sets, in the order of its panels, and prefixes of the study's labels.
_SETS: Mapping[str, str] = {"Cover": "covtype", "NCheckerboard": "checkerboard-noisy"}
_ALL = "OnlineSVMR"
_KEPT: Mapping[int, str] = {m: f"{_ALL}, m = {m}" for m in (0, 100, 1000)}
_FOUR = (*_KEPT.values(), _ALL)


def _there(study: StudyEvidence) -> dict[str, str]:
    found = {name: label for name, part in _SETS.items() for label in study.datasets(part)}
    complete = {}
    for name, label in found.items():
        table = study.table("test_accuracy", datasets=[label], least_seeds=2, gaps=True)
        if table.reindex(columns=list(_FOUR)).notna().all(axis=None):
            complete[name] = label
    if not complete:
        raise NotThere(f"{study.name}: no set is complete")
    return complete


def show(evidence: Evidence) -> list[Block]:
    """Return Fig. 5."""
    study = evidence[STUDY]
    sets = _there(study)
    costs = [(name, study.curves("kernel_evaluations", _FOUR, label)) for name, label in sets.items()]
    tests = [(name, accuracy(study, _FOUR, label)) for name, label in sets.items()]
    return [
        *curves_figure(
            study.view,
            "fig-5ac",
            "Kernel evaluations along the stream",
            costs,
            Axis(y="kernel evaluations", log=True),
        ),
        *curves_figure(
            study.view,
            "fig-5bd",
            "Accuracy along the stream",
            tests,
            Axis(y="test accuracy, %", zero=False, log_x=True),
        ),
    ]


def _evaluations(study: StudyEvidence, label: str) -> dict[str, float]:
    return {each.algorithm: float(each.mean[-1]) for each in study.curves("kernel_evaluations", _FOUR, label)}


def _losses(study: StudyEvidence, label: str, m: int) -> tuple[float, float, float]:
    """Return the accuracy lost at the end, in points, and its means before and from 1,000 examples on."""
    t, (whole, kept) = common(accuracy(study, (_ALL, _KEPT[m]), label))
    lost = whole - kept
    return float(lost[-1]), float(lost[t < 1000].mean()), float(lost[t >= 1000].mean())


def _cheaper(evidence: Evidence) -> Verdict:
    study, cases, texts = evidence[STUDY], {}, []
    for name, label in _there(study).items():
        costs = [_evaluations(study, label)[each] for each in _FOUR]
        cases[name] = bool((np.diff(costs) > 0).all())
        texts.append(f"{name} {', '.join(f'{each / 1e6:,.0f}' for each in costs)}")
    return holds_for(cases, f"million evaluations for m = 0, 100, 1000 and all: {'; '.join(texts)}")


def _nothing_kept(evidence: Evidence) -> Verdict:
    study = evidence[STUDY]
    lost = {name: _losses(study, label, 0)[0] for name, label in _there(study).items()}
    figures = "points lost: " + ", ".join(f"{name} {points:.1f}" for name, points in lost.items())
    # "Significant": more than a point.
    return holds_for({name: points > 1.0 for name, points in lost.items()}, figures)


def _hundred_kept(evidence: Evidence) -> Verdict:
    study, cases, texts, partly = evidence[STUDY], {}, [], False
    for name, label in _there(study).items():
        last, early, late = _losses(study, label, 100)
        costs = _evaluations(study, label)
        saving = costs[_ALL] / costs[_KEPT[100]]
        # "Small": a point at most; "decreases": less from 1,000 examples on; "significant": half the cost.
        parts = (last <= 1.0, late < early or late <= 0.1, saving >= 2)
        cases[name], partly = all(parts), partly or any(parts)
        texts.append(
            f"{name} {last:.2f} points lost at the end ({early:.2f} before 1,000 examples, "
            f"{late:.2f} after), {saving:.1f} times fewer evaluations"
        )
    return holds_if(all(cases.values()), "; ".join(texts), in_part=partly)


def _thousand_kept(evidence: Evidence) -> Verdict:
    study, cases, texts = evidence[STUDY], {}, []
    for name, label in _there(study).items():
        last = _losses(study, label, 1000)[0]
        costs = _evaluations(study, label)
        saving = costs[_ALL] / costs[_KEPT[1000]]
        # "Negligible": a quarter of a point; "significant": a third of the cost.
        cases[name] = abs(last) <= 0.25 and saving >= 1.5
        texts.append(f"{name} {last:.2f} points, {saving:.1f} times fewer evaluations")
    return holds_for(cases, "; ".join(texts))


CHECKS: Mapping[str, Check] = {
    "ramp-18": _cheaper,
    "ramp-19": _nothing_kept,
    "ramp-20": _hundred_kept,
    "ramp-21": _thousand_kept,
}
