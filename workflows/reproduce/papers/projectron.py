"""The claims, tables and figures of Orabona, Keshet, Caputo (2008), the paper on the Projectron."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ...report.page.blocks import Block
from ...report.plots.curve_plots import Axis
from ..again import Competitor, competitor, first_cell
from ..evidence import Evidence, NotThere, StudyEvidence, row_of
from ..figures import ABSENT, curves_figure, number, table_of
from ..paper import Show, declared
from ..predicates import Question, Rows, ahead_on, listed, measure, together
from ..verdicts import Check, Outcome, Parts, Verdict, by_case, holds_for

ETAS = (0.1, 0.3, 0.5, 0.8)
BUDGETS = (100, 300, 1000)
_ETAS = ", ".join(map(str, ETAS))
# If a Projectron has more than this share of the Perceptron's support vectors, it projects hardly any row.
_PROJECTS = 0.95
# From this many support vectors on, projections take longer than the constant work per mistake. The exponent
# of time by size is estimated only if the largest size is at least this factor times the smallest.
_LARGE, _RANGE = 300, 3
# The range of exponents that counts as quadratic time. If the exponents of the repetitions differ by more
# than the second number, they give no verdict.
_QUADRATIC, _AGREE = (1.5, 2.5), 0.5
# The mistake bounds compare a learner with a fixed function: we take the final function of this learner.
_COMPETITOR = "Projectron++, U of B = 1000"


def bound_names(budget: int) -> tuple[str, str, str]:
    """Return the labels of a Forgetron, and of both Projectrons that get this Forgetron's norm bound."""
    return f"Forgetron, B = {budget}", f"Projectron, U of B = {budget}", f"Projectron++, U of B = {budget}"


def norm_bound(budget: int) -> float:
    """Return the largest norm of functions that a Forgetron's mistake bound covers (Dekel et al. 2008)."""
    return float(np.sqrt((budget + 1) / np.log(budget + 1)) / 4)


def tasks_by_set(study: StudyEvidence) -> Mapping[str, list[str]]:
    """Return, by data set, the labels of the binary tasks that the study cuts from it."""
    tasks: dict[str, list[str]] = {}
    for name in study.datasets():
        tasks.setdefault(name.partition("[")[0], []).append(name)
    return tasks


def by_set(evidence: Evidence, metric: str, algorithms: Sequence[str]) -> pd.DataFrame:
    """Return means of a metric over seeds and over the tasks of a data set, shape (data sets, algorithms)."""
    study = evidence["sizes"]
    table = study.table(metric, algorithms=algorithms)
    return pd.DataFrame({name: table.loc[tasks].mean() for name, tasks in tasks_by_set(study).items()}).T


def _counts(evidence: Evidence, algorithms: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return mean mistakes and mean support vectors, each of shape (data sets, algorithms)."""
    return by_set(evidence, "mistakes", algorithms), by_set(evidence, "support_vectors", algorithms)


def _pair(first: float, second: float) -> str:
    return f"{number(first, 0)} and {number(second, 0)}"


# --- the claims


@measure
def _with_margin_updates(evidence: Evidence) -> Rows:
    mistakes, support = _counts(evidence, ["Perceptron, margin 1", "Perceptron"])
    table = pd.concat([mistakes, support], axis=1)
    table.columns = ["mistakes with", "mistakes without", "support vectors with", "support vectors without"]
    return {str(name): row for name, row in table.iterrows()}


def _where_it_projects(said: str) -> Callable[[Callable[[Evidence, Sequence[str]], Parts]], Check]:
    """Decorate a function that yields a claim's cases for given data sets: make it return the verdict.

    The claim is judged only on data sets on which the Projectron projects rows. On the others, which the
    verdict names, the Projectron equals the Perceptron, and learners whose budget is its number of support
    vectors never remove a row.
    """

    def decorate(parts: Callable[[Evidence, Sequence[str]], Parts]) -> Check:
        @by_case(said)
        def cases(evidence: Evidence) -> Parts:
            plain, *ours = ("Perceptron", *(f"Projectron {eta}" for eta in ETAS))
            support = by_set(evidence, "support_vectors", [plain, *ours])
            smallest = support[ours].min(axis=1)
            projects = smallest <= _PROJECTS * support[plain]
            yield from parts(evidence, [str(name) for name in support.index[projects]])
            for name in support.index[~projects]:
                stored = f"{number(smallest[name], 0)} of {number(support[plain][name], 0)}"
                yield {}, f"{name} is not asked (almost no row is projected: {stored} support vectors remain)"

        return cases

    return decorate


@_where_it_projects(f"mistakes of Projectron and Forgetron at η = {_ETAS}, equal support sizes")
def _outperforms_the_forgetron(evidence: Evidence, sets: Sequence[str]) -> Parts:
    names = [(f"Projectron {eta}", f"Forgetron = {eta}") for eta in ETAS]
    mistakes = by_set(evidence, "mistakes", [name for pair in names for name in pair])
    for name in sets:
        row = row_of(mistakes, name)
        pairs = [(float(row[first]), float(row[second])) for first, second in names]
        text = f"{name} {', '.join(_pair(*pair) for pair in pairs)}"
        yield {name: all(first < second for first, second in pairs)}, text


@_where_it_projects("mistakes of Projectron++ at its best η and of the Perceptron; every η is asked")
def _outperforms_the_perceptron(evidence: Evidence, sets: Sequence[str]) -> Parts:
    names = [f"Projectron++ {eta}" for eta in ETAS]
    mistakes, support = _counts(evidence, ["Perceptron", *names])
    for name in sets:
        wrong, size = (dict(row_of(table, name)) for table in (mistakes, support))
        better = [wrong[who] < wrong["Perceptron"] and size[who] < size["Perceptron"] for who in names]
        best = min(names, key=wrong.__getitem__)
        text = (
            f"{name} {_pair(wrong[best], wrong['Perceptron'])} (η = {best.partition(' ')[2]}; "
            f"{_pair(size[best], size['Perceptron'])} support vectors; both fewer at {sum(better)} of "
            f"{len(ETAS)} η)"
        )
        yield {f"{name} at η = {eta}": held for eta, held in zip(ETAS, better, strict=True)}, text


@_where_it_projects("support vectors of the Projectron, its mistakes and the Forgetron's")
def _smaller_with_the_same_bound(evidence: Evidence, sets: Sequence[str]) -> Parts:
    mistakes, support = _counts(evidence, [name for budget in BUDGETS for name in bound_names(budget)[:2]])
    halves: Counter[str] = Counter()
    for budget in BUDGETS:
        forgetron, projectron, _ = bound_names(budget)
        for name in sets:
            size = float(support[projectron][name])
            ours, theirs = (float(mistakes[who][name]) for who in (projectron, forgetron))
            held = bool(size < budget and ours < theirs)
            text = f"{name}, B = {budget}: {number(size, 0)}, {_pair(ours, theirs)}"
            yield {f"{name} at B = {budget}": held}, text
            halves["fewer support vectors"] += bool(size < budget)
            halves["fewer mistakes"] += bool(ours < theirs)
    yield {}, "; ".join(f"{half} in {count}" for half, count in halves.items())


@by_case(
    "the fewest mistakes of Forgetron, RBP and both DistillCache learners at any size, and the Perceptron's"
)
def _others_no_better_than_the_perceptron(evidence: Evidence) -> Parts:
    earlier = ("Forgetron", "RBP", "DistillCache Perceptron", "DistillCache MIRA")
    others = [f"{who} = {eta}" for eta in ETAS for who in earlier]
    for name, row in by_set(evidence, "mistakes", ["Perceptron", *others]).iterrows():
        best = str(row[others].idxmin())
        text = f"{name} {_pair(row[best], row['Perceptron'])} ({best.partition(' =')[0]})"
        yield {str(name): bool(row[best] >= row["Perceptron"])}, text


def _late_share(study: StudyEvidence, algorithm: str, tasks: Sequence[str]) -> float:
    """Return how many percent of the final support vectors were added in the second half of the stream."""
    shares = []
    for task in tasks:
        curve = study.curve("support_vectors", algorithm, task)
        half = study.at("support_vectors", algorithm, task, curve.t[-1] / 2)
        shares.append(1.0 - half / curve.mean[-1])
    return 100 * float(np.mean(shares))


def _levels_off(evidence: Evidence) -> Verdict:
    study, parts = evidence["sizes"], []
    for name, tasks in tasks_by_set(study).items():
        plain, *ours = (
            _late_share(study, who, tasks) for who in ("Perceptron", *(f"Projectron {eta}" for eta in ETAS))
        )
        parts.append(f"{name} {plain:.0f}% against {listed(ours, 0)}%")
    return Verdict(
        Outcome.UNTESTED,
        "the theorem has no length of stream; share of the support set that the second half of the stream "
        f"added, Perceptron against Projectron at η = {_ETAS}: {'; '.join(parts)}",
    )


@by_case("largest difference of mistakes at any checkpoint (rounding decides for nearly dependent rows)")
def _is_the_perceptron_at_zero(evidence: Evidence) -> Parts:
    study, names = evidence["sizes"], ["Perceptron", "Projectron 0"]
    sizes = by_set(evidence, "support_vectors", names)
    for name, tasks in tasks_by_set(study).items():
        curves = [study.curves("mistakes", names, task) for task in tasks]
        apart = max(float(np.abs(first.mean - second.mean).max()) for first, second in curves)
        plain, zero = (float(sizes[who][name]) for who in names)
        text = f"{name} {number(apart)}, {_pair(zero, plain)} support vectors"
        yield {name: bool(apart == 0.0 and zero <= plain)}, text


@_where_it_projects(f"at η = {_ETAS}")
def _trades_accuracy_for_size(evidence: Evidence, sets: Sequence[str]) -> Parts:
    mistakes, support = _counts(evidence, [f"Projectron {eta}" for eta in ETAS])
    for name in sets:
        size, wrong = row_of(support, name).tolist(), row_of(mistakes, name).tolist()
        shrinks = all(later <= earlier for earlier, later in pairwise(size)) and size[-1] < size[0]
        text = f"{name} {listed(size, 0)} support vectors, {listed(wrong, 0)} mistakes"
        yield {name: shrinks and wrong[-1] > wrong[0]}, text


def _within_bounds(bound_of: Callable[[Competitor, float], float], limits: Mapping[str, float]) -> Check:
    """Return a function that judges whether each algorithm makes no more mistakes than its mistake bound.

    `limits` has each algorithm's norm bound or η, from which `bound_of` computes the mistake bound. The bound
    also depends on a fixed function: the final function of the learner `_COMPETITOR`, scaled to the norm that
    makes the bound least.
    """

    def check(evidence: Evidence) -> Verdict:
        sets, cases, parts = tasks_by_set(evidence["sizes"]), dict[str, bool](), []
        for name, tasks in sets.items():
            worst = (-1.0, "")
            for task in tasks:
                g = competitor(evidence["sizes"], _COMPETITOR, task)
                for who, limit in limits.items():
                    wrong = float(first_cell(evidence["sizes"], who, task)["mistakes"])
                    bound = bound_of(g, limit)
                    text = f"{number(wrong, 0)} of {number(bound, 0)} ({who}; {len(g.margins):,} examples)"
                    worst = max(worst, (wrong / bound, text))
                    # Mistakes never exceed the number of examples, so a larger bound decides nothing.
                    if bound < len(g.margins):
                        cases[name] = cases.get(name, True) and wrong <= bound
            parts.append(f"{name} {worst[1]}")
        figures = (
            "where mistakes come nearest to the bound, relative to the solution of Projectron++, scaled to "
            f"the norm with the least bound: {'; '.join(parts)}"
        )
        if not cases:
            return Verdict(Outcome.UNTESTED, f"every bound exceeds the length of its stream; {figures}")
        if silent := [name for name in sets if name not in cases]:
            figures += (
                f"; untested on {', '.join(silent)}, where every bound exceeds the length of the stream"
            )
        return holds_for(cases, figures)

    return check


def projection_times(
    study: StudyEvidence, task: str, least_size: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Return, for each repetition, sizes of the support set and the seconds of one projection at each size.

    A size and its seconds are means over the stream between two checkpoints. Parts of the stream with fewer
    than `least_size` support vectors, without mistakes, or with a time of 0 or less are left out. Projections
    are timed as the difference in time between the Projectron with eta = 0 and the Perceptron.
    """
    names = ("Perceptron", "Projectron 0")
    study.curves("fit_seconds", names, task)
    columns = [
        *((who, "fit_seconds") for who in names),
        (names[1], "support_vectors"),
        (names[1], "mistakes"),
    ]
    noise, curves = study.design.noise[0], study.view.curves
    series = [curves.series(task, noise, who, column, "t") for who, column in columns]
    found = []
    for (_, without), (_, with_it), (_, size), (_, wrong) in zip(*series, strict=True):
        middle, more = (size[1:] + size[:-1]) / 2, np.diff(wrong)
        seconds = np.diff(with_it) - np.diff(without)
        some = (middle >= least_size) & (more > 0) & (seconds > 0)
        found.append((middle[some], seconds[some] / more[some]))
    return found


def _quadratic_time(evidence: Evidence) -> Verdict:
    study = evidence["sizes"]
    cases, parts = {}, []
    for task in study.datasets():
        times = projection_times(study, task, _LARGE)
        if any(not len(sizes) or sizes[-1] < _RANGE * sizes[0] for sizes, _ in times):
            continue
        # The median slope of all pairs of points, because other programs on the machine lengthen some times.
        powers = [stats.theilslopes(np.log(seconds), np.log(sizes)).slope for sizes, seconds in times]
        parts.append(f"{task} {listed(powers, 2)}")
        if np.ptp(powers) <= _AGREE:
            cases[task] = _QUADRATIC[0] <= float(np.median(powers)) <= _QUADRATIC[1]
    figures = (
        "exponent with which the time of a mistake beyond the Perceptron's grows with the support size, by "
        f"repetition: {'; '.join(parts)} (η = 0, from {_LARGE} support vectors on; a median of "
        f"{_QUADRATIC[0]} to {_QUADRATIC[1]} counts)"
    )
    if not parts:
        raise NotThere(f"{study.name}: no support set is large enough to time projections onto it")
    if not cases:
        return Verdict(
            Outcome.UNTESTED, f"the repetitions disagree, so other programs disturbed them; {figures}"
        )
    return holds_for(cases, figures)


CLAIMS: Mapping[str, Check] = {
    "proj-1": _outperforms_the_forgetron,
    "proj-2": _outperforms_the_perceptron,
    "proj-3": _smaller_with_the_same_bound,
    "proj-4": _others_no_better_than_the_perceptron,
    "proj-5": _levels_off,
    "proj-6": _is_the_perceptron_at_zero,
    "proj-7": _trades_accuracy_for_size,
    "proj-8": _within_bounds(
        Competitor.corollary_1, {bound_names(budget)[1]: norm_bound(budget) for budget in BUDGETS}
    ),
    "proj-9": _within_bounds(Competitor.theorem_2, {f"Projectron {eta:g}": eta for eta in (0.0, *ETAS)}),
    "proj-10": Question(
        _with_margin_updates(),
        together(
            ahead_on("mistakes with", "mistakes without", lower=True),
            ahead_on("support vectors with", "support vectors without"),
        ),
        "the Perceptron with margin updates and without",
        digits=0,
    ),
    "proj-11": _quadratic_time,
}


# --- the exhibits

_AT_EQUAL_SIZES = ("Forgetron", "RBP", "Shifting Perceptron", "DistillCache Perceptron", "DistillCache MIRA")
_NOTE = (
    f"Online mistakes, mean over orders and over the tasks of a set. Printed: {ABSENT}, which ends before "
    "the experiments."
)


def _at_equal_sizes() -> list[tuple[str, str, str]]:
    """Return (η, name in the table, label) of each learner compared at equal numbers of support vectors."""
    learners = [("", "Perceptron, no budget", "Perceptron")]
    for eta in map(str, ETAS):
        learners += [(eta, who, f"{who} {eta}") for who in ("Projectron", "Projectron++")]
        learners += [(eta, who, f"{who} = {eta}") for who in _AT_EQUAL_SIZES]
    return learners


def _equal_sizes(evidence: Evidence) -> list[Block]:
    learners = _at_equal_sizes()
    mistakes, support = _counts(evidence, [label for *_, label in learners])
    body = []
    for eta, what, label in learners:
        if what == "Projectron":
            body.append([eta, "support vectors", *map(number, support[label])])
        body.append([eta, what, *map(number, mistakes[label])])
    note = (
        f"{_NOTE} Learners with a budget have the support size that the Projectron ends with, cell by cell."
    )
    header = ["η", "", *mistakes.index]
    return [table_of("equal-sizes", "Mistakes at equal support sizes", header, body, labels=2, note=note)]


def _memory(evidence: Evidence) -> list[Block]:
    learners = _at_equal_sizes()
    sizes = by_set(evidence, "model_kilobytes", [label for *_, label in learners])
    body = [[eta, who, *(number(size, 1) for size in sizes[label])] for eta, who, label in learners]
    note = (
        "The model at the end: support vectors, coefficients and matrices. The Projectrons keep half of a "
        "symmetric matrix. The Forgetron and the DistillCache learners keep a whole one, a cache of kernel "
        "values that their rules do not need; the others keep none."
    )
    title = "Model size in kilobytes at equal support sizes"
    return [table_of("memory", title, ["η", "", *sizes.index], body, labels=2, note=note)]


def _equal_bounds(evidence: Evidence) -> list[Block]:
    mistakes, support = _counts(evidence, [name for budget in BUDGETS for name in bound_names(budget)])
    body = [
        [
            f"{budget:,}",
            f"{norm_bound(budget):.2f}",
            label.partition(",")[0],
            *(
                f"{number(mistakes.loc[name, label])} ({number(support.loc[name, label], 0)})"
                for name in mistakes.index
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
    title, header = "Mistakes with the same norm bound", ["B", "U", "", *mistakes.index]
    return [table_of("equal-bounds", title, header, body, labels=3, note=note)]


def _along_the_stream(column: str, name: str) -> Show:
    what = column.replace("_", " ")

    def show(evidence: Evidence) -> list[Block]:
        study = evidence["sizes"]
        drawn = ["Perceptron", "Projectron 0.3", "Projectron++ 0.3", "Forgetron = 0.3", "RBP = 0.3"]
        # A panel shows one task per data set: the first, if the set has several.
        panels = [(tasks[0], study.curves(column, drawn, tasks[0])) for tasks in tasks_by_set(study).values()]
        title = f"{what.capitalize()} along the stream"
        return curves_figure(study.view.styles, name, title, panels, Axis(y=what))

    return show


EXHIBITS: Mapping[str, Show] = {
    "equal-sizes": _equal_sizes,
    "memory": _memory,
    "equal-bounds": _equal_bounds,
    "mistakes": _along_the_stream("mistakes", "mistakes"),
    "support": _along_the_stream("support_vectors", "support"),
}
PAPER = declared("projectron", EXHIBITS, CLAIMS)
