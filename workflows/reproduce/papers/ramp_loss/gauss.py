"""Figs. 2 to 4 of the ramp-loss paper, on two overlapping Gaussians, and their claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....pipeline.analysis.curves import Curve
from .....pipeline.analysis.design import evaluation_rows
from ....report.page.blocks import Block, Text
from ....report.plots.curve_plots import Axis
from ....report.sections import solutions
from ...again import learn_again
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import curves_figure
from ...verdicts import Check, Outcome, Verdict, holds_for, holds_if

STUDY, OFFLINE = "cost", "offline"
_GAUSS = "gauss"
_IDSVM, _RAMP, _ACTIVE = _THREE = ("IDSVM", "OnlineSVMR", "OnlineASVMR")
_RETRAINED, _BATCH, _ONE_RULE = "retrained SVMR", "SVMR, batch", "OnlineSVMR, gradient rule alone"
# Claims about "the stream" are checked from the first number of examples on, because earlier models have only
# a handful of examples. A stream that ends before the second number decides nothing.
_EARLIEST, _LEAST = 100, 1000


def accuracy(study: StudyEvidence, learners: Sequence[str], dataset: str) -> list[Curve]:
    """Return test accuracy in percent along the stream."""
    curves = study.curves("test_error", learners, dataset)
    return [replace(curve, mean=100 - curve.mean) for curve in curves]


def common(
    curves: Sequence[Curve], earliest: float = _EARLIEST, least: float = _LEAST
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the points of the first curve that all curves reach, and the values of each curve there.

    Raise `NotThere` if these points end before `least` examples.
    """
    t = curves[0].t
    t = t[(t >= max(earliest, *(c.t[0] for c in curves))) & (t <= min(c.t[-1] for c in curves))]
    if not len(t) or t[-1] < least:
        names = ", ".join(curve.algorithm for curve in curves)
        raise NotThere(f"{names} were not run, all of them, for {least:,.0f} examples")
    return t, [np.interp(t, c.t, c.mean) for c in curves]


def batch_curve(evidence: Evidence) -> Curve:
    """Return the kernel evaluations of one batch training by the number of examples."""
    study = evidence[OFFLINE]
    cells = evaluation_rows(study.view.cells, status="ok")
    cells = cells[cells["algorithm"] == _BATCH].dropna(subset=["kernel_evaluations"])
    seen = cells["n_examples"].astype(float)
    found = [(t, cells.loc[seen == t, "kernel_evaluations"].astype(float)) for t in sorted(set(seen))]
    if not found:
        raise NotThere(f"{study.name}: no training of {_BATCH}")
    return Curve(
        _BATCH,
        np.array([t for t, _ in found]),
        np.array([part.mean() for _, part in found]),
        np.nan_to_num(np.array([part.std() for _, part in found])),
        min(len(part) for _, part in found),
    )


# --- the figures


def show_solutions(evidence: Evidence) -> list[Block]:
    """Return Fig. 2."""
    section = solutions.section(evidence[STUDY].view)
    if section is None:
        raise NotThere("the study asks for no solutions")
    return list(section.blocks)


def show_stream(evidence: Evidence) -> list[Block]:
    """Return Fig. 3."""
    study = evidence[STUDY]
    sizes = study.curves("support_vectors", _THREE, _GAUSS)
    return [
        Text("The paper's axes are logarithmic in the examples of (a), plain elsewhere.", "soft"),
        *curves_figure(
            study.view,
            "fig-3a",
            "Accuracy on Gauss along the stream",
            [("(a) Accuracy", accuracy(study, _THREE, _GAUSS))],
            Axis(y="test accuracy, %", zero=False, log_x=True),
        ),
        *curves_figure(
            study.view,
            "fig-3b",
            "Model size on Gauss along the stream",
            [("(b) Sparsity", sizes)],
            Axis(y="support vectors"),
        ),
    ]


def show_cost(evidence: Evidence) -> list[Block]:
    """Return Fig. 4."""
    study = evidence[STUDY]
    evaluations = study.curves("kernel_evaluations", [_RETRAINED, _RAMP], _GAUSS, stopped=True)
    return [
        Text(
            "Kernel evaluations: of a change of a coefficient, one with every row remembered. One batch "
            "training is a point a number of examples; retraining after each of them ends at the study's "
            "time limit. Seconds are the learner's own clock, with other programs on the machine.",
            "soft",
        ),
        *curves_figure(
            study.view,
            "fig-4a",
            "Kernel evaluations on Gauss along the stream",
            [("(a) OnlineSVMR and SVMR", [batch_curve(evidence), *evaluations])],
            Axis(y="kernel evaluations", log=True),
        ),
        *curves_figure(
            study.view,
            "fig-4b",
            "Seconds of learning on Gauss along the stream",
            [("(b) OnlineSVMR, OnlineASVMR and IDSVM", study.curves("fit_seconds", _THREE, _GAUSS))],
            Axis(y="seconds", log=True),
        ),
    ]


# --- their claims


def shares_outside(study: StudyEvidence) -> dict[str, float]:
    """Return the share of each model's support vectors beyond the other margin, y f(x) < -1.

    This trains the models of the first repetition again. Raise `NotThere` if a model has not been run to its
    end, or if it differs from its results.
    """
    shares = {}
    for name in _THREE:
        learner = learn_again(study, name, _GAUSS).learnt.learner
        margins = np.sign(learner.dual_coef_[0]) * learner.decision_function(learner.support_vectors_)
        # The tolerance keeps rounding from making outliers.
        shares[name] = float(np.mean(margins < -1 - 1e-6))
    return shares


def judge_outliers(shares: Mapping[str, float], sizes: Mapping[str, float]) -> Verdict:
    """Judge the positions and the number of support vectors."""
    figures = "beyond the other margin, and in all: " + ", ".join(
        f"{name} {100 * shares[name]:.1f}% of {sizes[name]:,.0f}" for name in _THREE
    )
    inside = shares[_RAMP] == shares[_ACTIVE] == 0.0 < shares[_IDSVM]
    # "Much sparser": at most half.
    fewer = 2 * max(sizes[_RAMP], sizes[_ACTIVE]) <= sizes[_IDSVM]
    return holds_if(inside and fewer, figures, in_part=inside or fewer)


def _outliers(evidence: Evidence) -> Verdict:
    study = evidence[STUDY]
    sizes = {name: study.value("support_vectors", name, _GAUSS) for name in _THREE}
    return judge_outliers(shares_outside(study), sizes)


def _ahead(evidence: Evidence) -> Verdict:
    t, (ramp, hinge) = common(accuracy(evidence[STUDY], (_RAMP, _IDSVM), _GAUSS), earliest=1)
    gaps = ramp - hinge
    early, late = gaps[t < 1000].mean(), gaps[t >= 1000].mean()
    figures = (
        f"ahead at {np.mean(gaps > 0):.0%} of the checkpoints; before 1,000 examples by {early:+.2f} points "
        f"on average, from then on by {late:+.2f}"
    )
    always = bool((gaps > 0).all())
    return holds_if(always and early > late, figures, in_part=early > late > 0 or np.mean(gaps > 0) > 0.5)


def _catches_up(evidence: Evidence) -> Verdict:
    t, (active, full) = common(accuracy(evidence[STUDY], (_ACTIVE, _RAMP), _GAUSS))
    apart = active - full
    figures = (
        f"from {t[0]:,.0f} examples on {np.abs(apart).mean():.2f} points apart on average, at {t[-1]:,.0f} "
        f"{apart[-1]:+.2f}"
    )
    # "Closely" means within a point on average; "reached" means within half a point at the end.
    near = bool(np.abs(apart).mean() <= 1.0)
    return holds_if(near and abs(apart[-1]) <= 0.5, figures, in_part=near or bool(abs(apart[-1]) <= 0.5))


def _sparser(evidence: Evidence) -> Verdict:
    t, (hinge, *others) = common(evidence[STUDY].curves("support_vectors", _THREE, _GAUSS))
    figures = f"after {t[0]:,.0f} and {t[-1]:,.0f} examples: " + ", ".join(
        f"{name} {values[0]:,.0f} and {values[-1]:,.0f}"
        for name, values in zip(_THREE, (hinge, *others), strict=True)
    )
    names = (_RAMP, _ACTIVE)
    cases = {name: bool((own < hinge).all()) for name, own in zip(names, others, strict=True)}
    verdict = holds_for(cases, figures)
    some = any(bool((own < hinge).any()) for own in others)
    return (
        Verdict(Outcome.IN_PART, verdict.figures) if verdict.outcome is Outcome.DOES_NOT and some else verdict
    )


def _below_retraining(evidence: Evidence) -> Verdict:
    t, (own, again) = common(
        evidence[STUDY].curves("kernel_evaluations", [_RAMP, _RETRAINED], _GAUSS, stopped=True),
        least=_EARLIEST,
    )
    ratios = again / own
    figures = (
        f"retraining takes {ratios[0]:,.0f} times the evaluations by {t[0]:,.0f} examples, {ratios[-1]:,.0f} "
        f"times by {t[-1]:,.0f}, where it is stopped"
    )
    # "Far fewer": a tenth.
    return holds_if(bool(ratios.min() >= 10), figures, in_part=bool(ratios.min() > 1))


def _like_one_training(evidence: Evidence) -> Verdict:
    batch, own = batch_curve(evidence), evidence[STUDY].curve("kernel_evaluations", _RAMP, _GAUSS)
    t, (one, online) = common([batch, own])
    ratios = online / one
    figures = "online against one training: " + ", ".join(
        f"{ratio:.2f} times at {at:,.0f}" for at, ratio in zip(t, ratios, strict=True)
    )
    # "Comparable": on a logarithmic scale, nearer to a factor of one than to ten or a tenth.
    apart = np.abs(np.log10(ratios))
    return holds_if(bool(apart[-1] <= 0.5), figures, in_part=bool(apart[-1] < 1))


def _faster(evidence: Evidence) -> Verdict:
    study = evidence[STUDY]
    cells = evaluation_rows(study.view.cells, status="ok")
    cells = cells[cells["dataset"] == _GAUSS]
    # Take the fastest repetition, the one least disturbed by other programs.
    seconds = cells.groupby("algorithm")["fit_seconds"].min().reindex(list(_THREE)).astype(float)
    if seconds.isna().any():
        raise NotThere(f"{study.name}: {seconds.index[seconds.isna()][0]} has not run to its end")
    ratios = {name: float(seconds[_IDSVM] / seconds[name]) for name in (_RAMP, _ACTIVE)}
    figures = f"IDSVM takes {seconds[_IDSVM]:.1f} s at best: " + ", ".join(
        f"{ratio:.1f} times what {name} takes" for name, ratio in ratios.items()
    )
    # "Much faster": half the time.
    return holds_for({name: ratio >= 2 for name, ratio in ratios.items()}, figures)


def _gain_rule(evidence: Evidence) -> Verdict:
    curves = evidence[STUDY].curves("kernel_evaluations", [_RAMP, _ONE_RULE], _GAUSS)
    t, (both, one) = common(curves)
    figures = (
        f"{both[-1] / 1e6:,.0f} million evaluations for {t[-1]:,.0f} examples with both rules, "
        f"{one[-1] / 1e6:,.0f} with the gradient's alone"
    )
    return holds_if(bool(both[-1] < one[-1]), figures)


CHECKS: Mapping[str, Check] = {
    "ramp-11": _outliers,
    "ramp-12": _ahead,
    "ramp-13": _catches_up,
    "ramp-14": _sparser,
    "ramp-15": _below_retraining,
    "ramp-16": _like_one_training,
    "ramp-17": _faster,
    "ramp-29": _gain_rule,
}
