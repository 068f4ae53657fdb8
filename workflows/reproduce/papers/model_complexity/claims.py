"""The claims of the paper, as predicates over the study's results."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from statistics import fmean

from ...evidence import Evidence, NotThere, StudyEvidence
from ...printed import number as printed
from ...verdicts import Check, Verdict, holds_for, holds_if
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
    Run,
    best,
    end,
    error,
    errors,
    order_errors,
    runs,
    sizes,
    the_study,
)

# The paper calls 0.008 near the best complexity 0.01, and 0.016 near 0.02.
_NEAR = 1.25
# Levels of the rbf kernel double, so this factor means within one level of the best.
_A_LEVEL = 2.0
# The paper calls 0.49% "almost as well" as 0.42%: the difference and the factor of the two.
_ALMOST_POINTS = round(printed(PAPER, "mc-n29") - printed(PAPER, "mc-n30"), 2)
_ALMOST_FACTOR = printed(PAPER, "mc-n29") / printed(PAPER, "mc-n30")
# Two learners, "or a little more": a new one also learns the support vectors of the one before.
_COST = 2.5
# The low complexities of Fig. 4 are the best ones at this number of examples; the claim starts there.
_FEW = int(printed(PAPER, "mc-n23"))


def _at(t: int) -> str:
    return f"at {t:,}"


def _share(found: list[bool]) -> str:
    return f"{sum(found)} of {len(found)} orders"


def _inside(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    cases, words = {}, []
    for kernel in KERNELS:
        found = {size: best(study, kernel, size) for size in sizes(study)}
        tried = list(kernel.fixed(study).values())
        for size, value in found.items():
            cases[f"{kernel.name} {_at(size)}"] = value not in (tried[0], tried[-1])
        words.append(f"{_bests(kernel, found)}, of {tried[0]:g} to {tried[-1]:g}")
    return holds_for(cases, f"best are {'; '.join(words)}")


def _bests(kernel: Kernel, found: Mapping[int, float]) -> str:
    return f"{kernel.parameter} {', '.join(f'{value:g} {_at(size)}' for size, value in found.items())}"


def _grows(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    cases, words = {}, []
    for kernel in KERNELS:
        found = {size: best(study, kernel, size) for size in sizes(study)}
        if kernel is POLY:
            # The paper reports two sizes for this kernel.
            found = {size: found[size] for size in (sizes(study)[0], sizes(study)[-1])}
        for one, other in itertools.pairwise(found):
            cases[f"{kernel.name} from {one:,} to {other:,}"] = found[one] < found[other]
        words.append(_bests(kernel, found))
    return holds_for(cases, f"best are {'; '.join(words)}")


def _falls(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    cases, words = {}, []
    for kernel in KERNELS:
        found = {size: min(errors(study, kernel, size).values()) for size in sizes(study)}
        for one, other in itertools.pairwise(found):
            cases[f"{kernel.name} from {one:,} to {other:,}"] = found[other] < found[one]
        words.append(f"{kernel.name} {', '.join(f'{e:.2f}% {_at(size)}' for size, e in found.items())}")
    return holds_for(cases, f"lowest errors: {'; '.join(words)}")


def _in_use(found: list[Run], t: int) -> str:
    return ", ".join(f"{run.complexity(t):g}" for run in found)


def _gamma_follows(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    welch = runs(study, RBF.oms(WELCH))
    found = runs(study, RBF.oms(PRINTED))
    # The paper compares 0.008, in use from 1,293 examples on, with the best for 1,000.
    places = {size: int(printed(PAPER, "mc-n18")) if size == 1000 else size for size in sizes(study)}
    near, level, words = [], [], []
    for size, t in places.items():
        wanted = best(study, RBF, size)
        apart = [max(run.complexity(t) / wanted, wanted / run.complexity(t)) for run in found]
        # The tolerance keeps rounding from deciding.
        near += [each <= _NEAR * 1.0001 for each in apart]
        level += [each <= _A_LEVEL * 1.0001 for each in apart]
        words.append(
            f"{_at(t)} gamma {_in_use(found, t)} (best of those tried {wanted:g}; "
            f"Welch's {_in_use(welch, t)})"
        )
    figures = (
        f"{'; '.join(words)}: {sum(near)} of {len(near)} within a factor of {_NEAR:g} of the best, "
        f"{sum(level)} within {_A_LEVEL:g}"
    )
    return holds_if(all(near), figures, in_part=2 * sum(level) > len(level))


def _degree_found(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    found, welch = (runs(study, POLY.oms(test)) for test in (PRINTED, WELCH))
    ours = runs(study, POLY_OURS.oms(PRINTED))
    last = end(study)
    if last != ALL:
        raise NotThere(f"{study.name}: has {last:,} examples, and the paper's degrees are of {ALL:,}")
    wanted = {1000: int(printed(PAPER, "mc-n21")), last: int(printed(PAPER, "mc-n22"))}
    cases = {
        f"degree {degree} {_at(t)} in order {place}": run.complexity(t) == degree
        for t, degree in wanted.items()
        for place, run in enumerate(found, start=1)
    }
    words = [
        f"{_at(t)} degree {_in_use(found, t)} (best of those tried {best(study, POLY, t):g}; "
        f"Welch's {_in_use(welch, t)}; of 0.01 x·z {_in_use(ours, t)})"
        for t in wanted
    ]
    return holds_for(cases, "; ".join(words))


def _low_then_high(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    last = end(study)
    cases, words = {}, []
    for kernel in KERNELS:
        for t in (_FEW, last):
            low, high = error(study, kernel.low, t), error(study, kernel.high, t)
            cases[f"{kernel.name} {_at(t)}"] = low < high if t == _FEW else high < low
            words.append(f"{kernel.low} {low:.2f}% and {kernel.high} {high:.2f}% {_at(t)}")
    return holds_for(cases, "; ".join(words))


def _factors(study: StudyEvidence, kernel: Kernel, test: str) -> Mapping[int, float]:
    """Return OMS's error divided by that of the better of the two fixed complexities, along the stream."""
    names = [kernel.oms(test), kernel.low, kernel.high]
    oms, low, high = study.curves("test_error", names, DATASET)
    return {
        int(t): float(e / min(a, b))
        for t, e, a, b in zip(oms.t, oms.mean, low.mean, high.mean, strict=True)
        if t >= _FEW
    }


def _about_the_better(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    words, within = [], []
    for kernel in KERNELS:
        for test in (PRINTED, WELCH):
            found = _factors(study, kernel, test)
            here = [each <= _ALMOST_FACTOR for each in found.values()]
            worst = max(found, key=lambda t: found[t])
            words.append(
                f"{kernel.oms(test)}: at {sum(here)} of {len(here)} checkpoints from {_FEW} on, at worst "
                f"{found[worst]:.2f} times {_at(worst)}"
            )
            if test == PRINTED:
                within += here
    figures = f"within {_ALMOST_FACTOR:.2f} times the better one's error: {'; '.join(words)}"
    return holds_if(all(within), figures, in_part=2 * sum(within) > len(within))


def _ahead_at_2000(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    t = int(printed(PAPER, "mc-n28"))
    names = (RBF.oms(PRINTED), RBF.low, RBF.high, RBF.oms(WELCH))
    oms, low, high, welch = (error(study, name, t) for name in names)
    each = [[curve.mean[list(curve.t).index(t)] for curve in order_errors(study, name)] for name in names[:3]]
    ahead = [a < min(b, c) for a, b, c in zip(*each, strict=True)]
    figures = (
        f"{oms:.2f}% beside {low:.2f} and {high:.2f}%; ahead in {_share(ahead)} (Welch's test {welch:.2f}%)"
    )
    return holds_if(oms < min(low, high), figures, in_part=any(ahead))


def _nearly_the_best(kernel: Kernel) -> Check:
    def check(evidence: Evidence) -> Verdict:
        study = the_study(evidence)
        last = end(study)
        oms, welch = (error(study, kernel.oms(test), last) for test in (PRINTED, WELCH))
        high = error(study, kernel.high, last)
        figures = (
            f"{oms:.2f}% beside {high:.2f}% {_at(last)} (Welch's test {welch:.2f}%); almost as good is up to "
            f"{_ALMOST_POINTS:.2f} points more"
        )
        apart = [a - high <= _ALMOST_POINTS + 1e-9 for a in (oms, welch)]
        return holds_if(apart[0], figures, in_part=apart[1])

    return check


def _same_order_of_cost(evidence: Evidence) -> Verdict:
    study = the_study(evidence)
    t, found = end(study), []
    for kernel in KERNELS:
        taken = study.at("kernel_evaluations", kernel.oms(PRINTED), DATASET, t)
        fixed = kernel.fixed(study)
        single = []
        for run in runs(study, kernel.oms(PRINTED)):
            # The costlier of its two learners is at the next level.
            richer = 2 * run.complexity(t) if run.doubles else run.complexity(t) + 1
            nearest = min(fixed, key=lambda name: abs(fixed[name] - richer))
            single.append(study.at("kernel_evaluations", nearest, DATASET, t))
        found.append((kernel, taken / fmean(single)))
    words = [
        f"{kernel.name}: {ratio:.2f} times the kernel evaluations of LASVM at the complexity next to the "
        "one it ends with"
        for kernel, ratio in found
    ]
    bounded = [ratio <= _COST for _, ratio in found]
    return holds_if(all(bounded), f"{'; '.join(words)} (bound {_COST:g})", in_part=any(bounded))


CHECKS: Mapping[str, Check] = {
    "mc-1": _inside,
    "mc-2": _grows,
    "mc-3": _falls,
    "mc-4": _gamma_follows,
    "mc-5": _degree_found,
    "mc-6": _low_then_high,
    "mc-7": _about_the_better,
    "mc-8": _ahead_at_2000,
    "mc-9": _nearly_the_best(RBF),
    "mc-10": _nearly_the_best(POLY),
    "mc-11": _same_order_of_cost,
}
