"""Orabona, Keshet, Caputo (2008): the Projectron. Exhibits, claims, and times of projections."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ...report.page.blocks import Block, Text
from ...report.page.table import TableBlock, TableCell
from ...report.plots.curve_plots import Axis
from ..again import competitor
from ..evidence import Evidence, NotThere, StudyEvidence
from ..figures import ABSENT, curves_figure, number
from ..paper import Exhibit, Paper, PaperStudy, Show
from ..verdicts import Check, Outcome, Verdict, holds_for


def projection_times(
    study: StudyEvidence, task: str, least_size: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return support set sizes and seconds per projection of a mistake, for each repetition.

    Each pair of values belongs to an interval between two checkpoints; intervals with fewer than `least_size`
    support vectors are left out. The study must have the Perceptron, and the Projectron with eta = 0, whose
    difference in time is attributed to projections. Raise `NotThere` if a curve is missing.
    """
    names = ("Perceptron", "Projectron 0")
    study.curves("fit_seconds", names, task)
    noise, curves = study.design.noise[0], study.view.curves
    plain, zero, sizes, mistakes = (
        curves.series(task, noise, who, column, "t")
        for who, column in (
            *((who, "fit_seconds") for who in names),
            *((names[1], column) for column in ("support_vectors", "mistakes")),
        )
    )
    found = []
    for (_, without), (_, with_it), (_, size), (_, wrong) in zip(plain, zero, sizes, mistakes, strict=True):
        middle, more = (size[1:] + size[:-1]) / 2, np.diff(wrong)
        seconds = np.diff(with_it) - np.diff(without)
        some = (middle >= least_size) & (more > 0) & (seconds > 0)
        found.append((middle[some], seconds[some] / more[some]))
    return found


def power_of(sizes: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Return the exponent with which seconds grow with the size.

    It is the median over all pairs of points, because other programs on the machine lengthen some intervals.

    Examples
    --------
    >>> round(power_of(np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 12.0, 48.0, 192.0])), 3)
    2.0
    """
    i, j = np.triu_indices(len(sizes), 1)
    x, y = np.log(sizes), np.log(seconds)
    return float(np.median((y[j] - y[i]) / (x[j] - x[i])))


ETAS = (0.1, 0.3, 0.5, 0.8)
BUDGETS = (100, 300, 1000)
# A support set has leveled off if the second half of the stream adds less than the first share to it. The
# Perceptron's "keeps growing" if it adds more than the second share.
_LEVEL, _GROWING = 0.1, 0.2
# From this number of support vectors on, a projection takes longer than the constant work per mistake. To
# estimate an exponent, sizes must differ by at least this factor.
_LARGE, _RANGE = 300, 3
# The exponents that count as quadratic, and the largest difference between repetitions for a verdict.
_QUADRATIC, _AGREE = (1.5, 2.5), 0.5
# The learner whose solution the bounds are relative to.
_COMPETITOR = "Projectron++, U of B = 1000"


def bound_names(budget: int) -> tuple[str, str, str]:
    """Return the labels of the Forgetron with a budget and of both Projectrons with its norm bound."""
    return f"Forgetron, B = {budget}", f"Projectron, U of B = {budget}", f"Projectron++, U of B = {budget}"


def by_set(study: StudyEvidence, metric: str, algorithms: list[str]) -> dict[str, dict[str, float]]:
    """Return means over seeds and over the tasks cut from a data set, by set and algorithm."""
    table = study.table(metric, algorithms=algorithms)
    found = {}
    for name, tasks in tasks_by_set(study).items():
        means = table.loc[tasks].to_numpy(np.float64).mean(axis=0)
        found[name] = dict(zip(algorithms, means.tolist(), strict=True))
    return found


def tasks_by_set(study: StudyEvidence) -> Mapping[str, list[str]]:
    """Return the labels of the tasks of each data set."""
    tasks: dict[str, list[str]] = {}
    for name in study.datasets():
        tasks.setdefault(name.partition("[")[0], []).append(name)
    return tasks


def _pair(first: float, second: float) -> str:
    return f"{number(first, 0)} and {number(second, 0)}"


def _outperforms_the_forgetron(evidence: Evidence) -> Verdict:
    names = [f"{who} {eta}" for eta in ETAS for who in ("Projectron", "Forgetron =")]
    mistakes = by_set(evidence["sizes"], "mistakes", names)
    cases, parts = {}, []
    for name, row in mistakes.items():
        better = [row[f"Projectron {eta}"] < row[f"Forgetron = {eta}"] for eta in ETAS]
        cases[name] = all(better)
        pairs = ", ".join(_pair(row[f"Projectron {eta}"], row[f"Forgetron = {eta}"]) for eta in ETAS)
        parts.append(f"{name} {pairs}")
    etas = ", ".join(map(str, ETAS))
    return holds_for(
        cases, f"mistakes of Projectron and Forgetron at η = {etas}, equal sizes: {'; '.join(parts)}"
    )


def _outperforms_the_perceptron(evidence: Evidence) -> Verdict:
    names = ["Perceptron", *(f"Projectron++ {eta}" for eta in ETAS)]
    mistakes = by_set(evidence["sizes"], "mistakes", names)
    support = by_set(evidence["sizes"], "support_vectors", names)
    cases, parts = {}, []
    for name in mistakes:
        better = {
            eta: bool(
                mistakes[name][f"Projectron++ {eta}"] < mistakes[name]["Perceptron"]
                and support[name][f"Projectron++ {eta}"] < support[name]["Perceptron"]
            )
            for eta in ETAS
        }
        cases[name] = any(better.values())
        best = min(ETAS, key=lambda eta: mistakes[name][f"Projectron++ {eta}"])
        wrong, size = (
            _pair(table[name][f"Projectron++ {best}"], table[name]["Perceptron"])
            for table in (mistakes, support)
        )
        parts.append(
            f"{name} {wrong} (η = {best}; {size} support vectors; both fewer at {sum(better.values())} of "
            f"{len(ETAS)} η)"
        )
    return holds_for(
        cases, f"mistakes of Projectron++ at its best η and of the Perceptron: {'; '.join(parts)}"
    )


def _smaller_with_the_same_bound(evidence: Evidence) -> Verdict:
    names = [name for budget in BUDGETS for name in bound_names(budget)[:2]]
    mistakes = by_set(evidence["sizes"], "mistakes", names)
    support = by_set(evidence["sizes"], "support_vectors", names)
    cases, parts = {}, []
    for budget in BUDGETS:
        forgetron, projectron, _ = bound_names(budget)
        for name in mistakes:
            size, ours, theirs = (
                support[name][projectron],
                mistakes[name][projectron],
                mistakes[name][forgetron],
            )
            cases[f"{name} at B = {budget}"] = bool(size < budget and ours < theirs)
            parts.append(f"{name}, B = {budget}: {number(size, 0)}, {_pair(ours, theirs)}")
    return holds_for(
        cases, f"support vectors of the Projectron, its mistakes and the Forgetron's: {'; '.join(parts)}"
    )


def _others_no_better_than_the_perceptron(evidence: Evidence) -> Verdict:
    earlier = ("Forgetron", "RBP", "DistillCache Perceptron", "DistillCache MIRA")
    others = [f"{who} = {eta}" for eta in ETAS for who in earlier]
    mistakes = by_set(evidence["sizes"], "mistakes", ["Perceptron", *others])
    cases, parts = {}, []
    for name, row in mistakes.items():
        best = min(others, key=row.__getitem__)
        cases[name] = row[best] >= row["Perceptron"]
        parts.append(f"{name} {_pair(row[best], row['Perceptron'])} ({best.partition(' =')[0]})")
    return holds_for(
        cases,
        "the fewest mistakes of Forgetron, RBP and both DistillCache learners at any size, and the "
        f"Perceptron's: {'; '.join(parts)}",
    )


def _late_share(study: StudyEvidence, algorithm: str, dataset: str) -> float:
    """Return the share of the support set that the second half of the stream has added."""
    curve = study.curve("support_vectors", algorithm, dataset)
    half = study.at("support_vectors", algorithm, dataset, curve.t[-1] / 2)
    return float(1.0 - half / curve.mean[-1])


def _levels_off(evidence: Evidence) -> Verdict:
    study = evidence["sizes"]
    cases, parts = {}, []
    for name, tasks in tasks_by_set(study).items():
        share = {
            who: float(np.mean([_late_share(study, who, task) for task in tasks]))
            for who in ("Perceptron", *(f"Projectron {eta}" for eta in ETAS))
        }
        level = [eta for eta in ETAS if share[f"Projectron {eta}"] < _LEVEL]
        cases[name] = bool(level) and share["Perceptron"] > _GROWING
        shares = ", ".join(f"{100 * share[f'Projectron {eta}']:.0f}" for eta in ETAS)
        parts.append(f"{name} {100 * share['Perceptron']:.0f}% against {shares}%")
    return holds_for(
        cases,
        "share of the support set that the second half of the stream added, Perceptron against Projectron at "
        f"η = {', '.join(map(str, ETAS))}: {'; '.join(parts)} (level: below {100 * _LEVEL:.0f}% at some η)",
    )


def _is_the_perceptron_at_zero(evidence: Evidence) -> Verdict:
    study = evidence["sizes"]
    cases, parts = {}, []
    for name, tasks in tasks_by_set(study).items():
        apart = 0.0
        for task in tasks:
            plain, zero = study.curves("mistakes", ["Perceptron", "Projectron 0"], task)
            apart = max(apart, float(np.abs(plain.mean - zero.mean).max()))
        sizes = by_set(study, "support_vectors", ["Perceptron", "Projectron 0"])[name]
        cases[name] = apart == 0.0 and sizes["Projectron 0"] <= sizes["Perceptron"]
        parts.append(
            f"{name} {number(apart)}, {_pair(sizes['Projectron 0'], sizes['Perceptron'])} support vectors"
        )
    return holds_for(
        cases,
        "largest difference of mistakes at any checkpoint (where rows are as good as dependent rounding "
        f"decides): {'; '.join(parts)}",
    )


def _trades_accuracy_for_size(evidence: Evidence) -> Verdict:
    names = [f"Projectron {eta}" for eta in ETAS]
    mistakes = by_set(evidence["sizes"], "mistakes", names)
    support = by_set(evidence["sizes"], "support_vectors", names)
    cases, parts = {}, []
    for name in mistakes:
        size, wrong = (np.array(list(table[name].values())) for table in (support, mistakes))
        cases[name] = bool((np.diff(size) <= 0).all() and size[-1] < size[0] and wrong[-1] > wrong[0])
        sizes, mistaken = (", ".join(number(each, 0) for each in values) for values in (size, wrong))
        parts.append(f"{name} {sizes} support vectors, {mistaken} mistakes")
    return holds_for(cases, f"at η = {', '.join(map(str, ETAS))}: {'; '.join(parts)}")


def _first_seed(study: StudyEvidence, algorithm: str, dataset: str) -> float:
    cells = study.cells
    this = (cells["algorithm"] == algorithm) & (cells["dataset"] == dataset)
    found = cells.loc[this & (cells["seed"] == study.design.seeds[0]), "mistakes"]
    if not len(found):
        raise NotThere(f"{study.name}: {algorithm} on {dataset} is not there")
    return float(found.iloc[0])


def _within_bounds(evidence: Evidence, norms: Mapping[str, float], corollary: bool) -> Verdict:
    """Compare mistakes with a bound, relative to the solution of `_COMPETITOR` at its most favorable norm."""
    study = evidence["sizes"]
    cases: dict[str, bool] = {}
    parts = []
    for name, tasks in tasks_by_set(study).items():
        worst = (-1.0, "")
        for task in tasks:
            g = competitor(study, _COMPETITOR, task)
            for who, limit in norms.items():
                wrong = _first_seed(study, who, task)
                bound = g.corollary_1(limit) if corollary else g.theorem_2(limit)
                text = f"{number(wrong, 0)} of {number(bound, 0)} ({who}; {len(g.margins):,} examples)"
                worst = max(worst, (wrong / bound, text))
                # A bound above the number of examples always holds, so it decides nothing.
                if bound < len(g.margins):
                    cases[name] = cases.get(name, True) and wrong <= bound
        parts.append(f"{name} {worst[1]}")
    figures = (
        "where mistakes come nearest to the bound, relative to the solution of Projectron++, scaled to the "
        f"norm with the least bound: {'; '.join(parts)}"
    )
    if not cases:
        return Verdict(Outcome.UNTESTED, f"every bound exceeds the length of its stream; {figures}")
    if silent := [name for name in tasks_by_set(study) if name not in cases]:
        figures += f"; untested on {', '.join(silent)}, where every bound exceeds the length of the stream"
    return holds_for(cases, figures)


def norm_bound(budget: int) -> float:
    """Return the largest norm with which a Forgetron of that budget competes (Dekel et al. 2008)."""
    return float(np.sqrt((budget + 1) / np.log(budget + 1)) / 4)


def _corollary_1(evidence: Evidence) -> Verdict:
    norms = {bound_names(budget)[1]: norm_bound(budget) for budget in BUDGETS}
    return _within_bounds(evidence, norms, True)


def _theorem_2(evidence: Evidence) -> Verdict:
    return _within_bounds(evidence, {f"Projectron {eta:g}": eta for eta in (0.0, *ETAS)}, False)


def _margin_updates(evidence: Evidence) -> Verdict:
    names = ["Perceptron", "Perceptron, margin 1"]
    mistakes = by_set(evidence["sizes"], "mistakes", names)
    support = by_set(evidence["sizes"], "support_vectors", names)
    cases, parts = {}, []
    for name in mistakes:
        (without, with_them), (few, many) = mistakes[name].values(), support[name].values()
        cases[name] = bool(with_them < without and many > few)
        parts.append(f"{name} {_pair(with_them, without)} mistakes, {_pair(many, few)} support vectors")
    return holds_for(cases, f"the Perceptron with margin updates and without: {'; '.join(parts)}")


def _quadratic_time(evidence: Evidence) -> Verdict:
    study = evidence["sizes"]
    cases, parts = {}, []
    for task in study.datasets():
        times = projection_times(study, task, _LARGE)
        if any(not len(sizes) or sizes[-1] < _RANGE * sizes[0] for sizes, _ in times):
            continue
        powers = [power_of(sizes, seconds) for sizes, seconds in times]
        parts.append(f"{task} {', '.join(f'{power:.2f}' for power in powers)}")
        if np.ptp(powers) <= _AGREE:
            cases[task] = _QUADRATIC[0] <= float(np.median(powers)) <= _QUADRATIC[1]
    figures = (
        "power of the support size that the time of a mistake beyond the Perceptron's grows with, by "
        f"repetition: {'; '.join(parts)} (η = 0, from {_LARGE} support vectors on; {_QUADRATIC[0]} to "
        f"{_QUADRATIC[1]} counts)"
    )
    if not parts:
        raise NotThere(f"{study.name}: no support set is large enough to time projections onto it")
    if not cases:
        return Verdict(Outcome.UNTESTED, f"repetitions disagree, the machine did other work; {figures}")
    return holds_for(cases, figures)


CHECKS: Mapping[str, Check] = {
    "proj-1": _outperforms_the_forgetron,
    "proj-2": _outperforms_the_perceptron,
    "proj-3": _smaller_with_the_same_bound,
    "proj-4": _others_no_better_than_the_perceptron,
    "proj-5": _levels_off,
    "proj-6": _is_the_perceptron_at_zero,
    "proj-7": _trades_accuracy_for_size,
    "proj-8": _corollary_1,
    "proj-9": _theorem_2,
    "proj-10": _margin_updates,
    "proj-11": _quadratic_time,
}


_DRAWN = ["Perceptron", "Projectron 0.3", "Projectron++ 0.3", "Forgetron = 0.3", "RBP = 0.3"]
_AT_EQUAL_SIZES = (
    "Forgetron",
    "RBP",
    "Shifting Perceptron",
    "DistillCache Perceptron",
    "DistillCache MIRA",
)
_NOTE = (
    f"Online mistakes, mean over orders and over the tasks of a set. Printed: {ABSENT}, which ends before "
    "the experiments."
)


def _equal_sizes(evidence: Evidence) -> list[Block]:
    study = evidence["sizes"]
    rows = [("", "Perceptron, no budget", "mistakes", "Perceptron")]
    for eta in map(str, ETAS):
        rows.append((eta, "support vectors", "support_vectors", f"Projectron {eta}"))
        rows += [(eta, who, "mistakes", f"{who} {eta}") for who in ("Projectron", "Projectron++")]
        rows += [(eta, who, "mistakes", f"{who} = {eta}") for who in _AT_EQUAL_SIZES]
    names = list(dict.fromkeys(label for *_, label in rows))
    tables = {metric: by_set(study, metric, names) for metric in ("mistakes", "support_vectors")}
    sets = list(tables["mistakes"])
    body = [
        [
            TableCell(eta),
            TableCell(what),
            *(TableCell(number(tables[metric][name][label])) for name in sets),
        ]
        for eta, what, metric, label in rows
    ]
    note = (
        f"{_NOTE} Learners with a budget have the support size that the Projectron ends with, cell by cell."
    )
    return [
        TableBlock(
            "equal-sizes", "Mistakes at equal support sizes", ["η", "", *sets], body, labels=2, note=note
        )
    ]


def _equal_bounds(evidence: Evidence) -> list[Block]:
    study = evidence["sizes"]
    names = [name for budget in BUDGETS for name in bound_names(budget)]
    mistakes, support = (by_set(study, metric, names) for metric in ("mistakes", "support_vectors"))
    sets = list(mistakes)
    body = [
        [
            TableCell(f"{budget:,}"),
            TableCell(f"{norm_bound(budget):.2f}"),
            TableCell(label.partition(",")[0]),
            *(
                TableCell(f"{number(mistakes[name][label])} ({number(support[name][label], 0)})")
                for name in sets
            ),
        ]
        for budget in BUDGETS
        for label in bound_names(budget)
    ]
    note = (
        f"{_NOTE} In brackets support vectors. A Forgetron with budget B competes with functions of norm "
        "U = √((B + 1)/ln(B + 1))/4 at most (Dekel, Shalev-Shwartz, Singer 2008); the Projectrons' η follows "
        "from U by Eq. 13."
    )
    header = ["B", "U", "", *sets]
    return [
        TableBlock("equal-bounds", "Mistakes with the same norm bound", header, body, labels=3, note=note)
    ]


def _along_the_stream(column: str, name: str, title: str, y: str) -> Show:
    def show(evidence: Evidence) -> list[Block]:
        study = evidence["sizes"]
        # If a set has many tasks, show the first one.
        panels = [
            (tasks[0], study.curves(column, _DRAWN, tasks[0])) for tasks in tasks_by_set(study).values()
        ]
        return [
            Text(f"Printed: {ABSENT}.", "soft"),
            *curves_figure(study.view, name, title, panels, Axis(y=y)),
        ]

    return show


PAPER = Paper(
    "projectron",
    "Orabona, Keshet, Caputo (2008), The Projectron: a bounded kernel-based Perceptron",
    {"sizes": PaperStudy("projectron", "projectron-small")},
    [
        Exhibit("equal-sizes", "Mistakes at equal support sizes", _equal_sizes),
        Exhibit("equal-bounds", "Mistakes with the norm bound of the Forgetron", _equal_bounds),
        Exhibit(
            "mistakes",
            "Mistakes along the stream",
            _along_the_stream("mistakes", "mistakes", "Mistakes along the stream", "mistakes"),
        ),
        Exhibit(
            "support",
            "Support vectors along the stream",
            _along_the_stream(
                "support_vectors", "support", "Support vectors along the stream", "support vectors"
            ),
        ),
    ],
    CHECKS,
    [
        (
            "The experiments are not in the text",
            "It ends in Sec. 4.1: data sets, kernels, tables and figures are not known here, and nothing is "
            "filled in from elsewhere. Data sets, widths and budgets are ours.",
        ),
        (
            "The kernel's width",
            "rbf; of each data set the best of a grid for the kernel Perceptron, the same for all learners.",
        ),
        (
            "Projectron++ with U",
            "The text ends before it says how: on margin errors U stands for 1/η, with which every update "
            "makes progress towards any function of norm U or less.",
        ),
    ],
)
