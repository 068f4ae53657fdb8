"""Judge the ramp-loss paper's claims on Table I, the stream of Gauss, forgetting and active learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from .....pipeline.analysis.curves import Curve
from ...evidence import Evidence, NotThere, StudyEvidence
from ...predicates import Question, Rows, above, as_printed, measure, rises_with
from ...printed import number
from ...verdicts import (
    Check,
    Outcome,
    Parts,
    Verdict,
    by_case,
    by_share,
    conjunction,
    holds_for,
    holds_if,
)
from .measures import (
    ACTIVE,
    EARLIEST,
    FOUR,
    GAUSS,
    HINGE_ALL,
    HINGE_GREEDY,
    IDSVM,
    KEPT,
    LEARNERS,
    LIBSVM,
    ONE_RULE,
    PA,
    PANELS,
    RAMP,
    RAMP_ALL,
    RAMP_GREEDY,
    RETRAINED,
    THREE,
    Row,
    accuracy,
    batch_curve,
    by_labels,
    common,
    forgetting_sets,
    our_rows,
    printed_rows,
    shares_outside,
)

# --- claims on Table I: accuracy and number of support vectors by data set


def _names(names: Sequence[str]) -> str:
    return f" ({', '.join(names)})" if names else ""


def _each(values: Mapping[str, float], form: str) -> str:
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def _as_often(test: Callable[[Row], bool], learners: Sequence[str] = LEARNERS, said: str = "") -> Check:
    """Return a function that judges a claim of the kind "on five of the nine data sets, `test` is true".

    The claim holds if `test` is true of our results on at least as many data sets as of the paper's printed
    results on the same data sets.
    """

    def check(evidence: Evidence) -> Verdict:
        ours, printed = our_rows(evidence, learners), printed_rows()
        found = [name for name, row in ours.items() if test(row)]
        wanted = [name for name in ours if test(printed[name])]
        if not wanted:
            raise NotThere(f"none of the {len(ours)} sets that were run is among those of the claim")
        figures = (
            f"{said}on {len(found)} of {len(ours)} sets{_names(found)}, as printed on {len(wanted)}"
            f"{_names(wanted)}"
        )
        return by_share(min(len(found), len(wanted)), len(wanted), figures)

    return check


def _clearly_ahead_of(other: str) -> Check:
    said = "95% interval of the paired difference above 0 "
    often = _as_often(lambda row: row[RAMP].clearly_above(row[other]), (RAMP, other), said)

    def check(evidence: Evidence) -> Verdict:
        rows = our_rows(evidence, (RAMP, other))
        ahead = [name for name, row in rows.items() if row[RAMP].clearly_above(row[other])]
        # If the other learner was stopped early, it saw fewer examples, so a lead over it says nothing about
        # the two loss functions.
        if ahead and all(rows[name][other].stopped for name in ahead):
            finished = sum(not row[other].stopped for row in rows.values())
            raise NotThere(
                f"ahead only where {other} was stopped by its time limit{_names(ahead)}; "
                f"it finished on {finished} of {len(rows)} sets, and no lead over it is clear there"
            )
        return often(evidence)

    return check


def _is_sparsest(learner: str) -> Callable[[Row], bool]:
    return lambda row: row[learner].size == min(row[each].size for each in LEARNERS)


def _largest_gains(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence, (LIBSVM, RAMP))
    gains = {name: row[RAMP].accuracy - row[LIBSVM].accuracy for name, row in rows.items()}
    expected = {"NCheckerboard", "Cover"}
    if not expected <= gains.keys() or len(gains) < 4:
        raise NotThere("the claim needs results on NCheckerboard, Cover and two further sets")
    order = sorted(gains, key=lambda name: -gains[name])
    # The claim says "up to two points" of gains printed as 2.1 and 2.0; gains from 1 to 3 count here.
    cases = {name: name in order[:2] and 1.0 <= gains[name] <= 3.0 for name in sorted(expected)}
    figures = f"gains over LibSVM in points: {_each({name: gains[name] for name in order}, '+.1f')}"
    return holds_for(cases, figures)


def _active_keeps_up(evidence: Evidence) -> Verdict:
    rows, others = our_rows(evidence, (LIBSVM, IDSVM, RAMP, ACTIVE)), (LIBSVM, IDSVM, RAMP)
    behind = {n: max(row[each].accuracy for each in others) - row[ACTIVE].accuracy for n, row in rows.items()}
    near = [name for name, points in behind.items() if round(points, 1) <= 1.0]
    figures = f"within a point of the best of the three on {len(near)} of {len(behind)} sets"
    return by_share(len(near), len(behind), f"{figures}; {_each(behind, '.1f')}")


def _is_last(row: Row) -> bool:
    return all(row[PA].accuracy < row[each].accuracy for each in LEARNERS if each != PA)


def _pa_is_last(evidence: Evidence) -> Verdict:
    rows, printed = our_rows(evidence), printed_rows()
    last = [name for name, row in rows.items() if _is_last(row)]
    clearly = [
        n for n in last if all(one.clearly_above(rows[n][PA]) for who, one in rows[n].items() if who != PA)
    ]
    wanted = [name for name in rows if _is_last(printed[name])]
    figures = (
        f"lowest on {len(last)} of {len(rows)} sets{_names(last)}, clearly (by 95% intervals of paired "
        f"differences) on {len(clearly)}{_names(clearly)}; as printed lowest on {len(wanted)}{_names(wanted)}"
    )
    return by_share(min(len(clearly), len(wanted)), len(wanted), figures)


def _full_is_sparse(evidence: Evidence) -> Verdict:
    often, rows = _as_often(_is_sparsest(RAMP))(evidence), our_rows(evidence)
    ratios = {name: row[RAMP].size / max(1.0, row[ACTIVE].size) for name, row in rows.items()}
    # The paper says that the full learner is as sparse as the active one "in most cases". The limit of 1.15
    # times is ours; the printed sizes are within it on six of the nine sets.
    like = [name for name, ratio in ratios.items() if ratio <= 1.15]
    figures = (
        f"sparsest {often.figures}; no more than 1.15 times the active one's on {len(like)} of {len(ratios)} "
        f"sets{_names(like)}"
    )
    clauses = {"sparsest": often.outcome is Outcome.HOLDS, "as sparse": 2 * len(like) > len(ratios)}
    return conjunction(clauses, figures)


@measure
def _sizes(evidence: Evidence) -> Rows:
    """Return, by data set, the sizes of the larger ramp-loss model and of the smallest other model.

    Other learners that were stopped early are left out: had they seen all examples, their models would be
    larger.
    """
    return {
        name: {
            "ramp": max(row[RAMP].size, row[ACTIVE].size),
            "others": min(row[each].size for each in (LIBSVM, IDSVM, PA) if not row[each].stopped),
        }
        for name, row in our_rows(evidence).items()
    }


def _far_sparser(frame: pd.DataFrame) -> dict[str, bool]:
    """Return, by data set, whether both ramp-loss models are at most half as large as the smallest other."""
    return {str(name): 2 * row["ramp"] <= row["others"] for name, row in frame.iterrows()}


@measure
def _times_sparser(evidence: Evidence) -> Rows:
    row = our_rows(evidence, (LIBSVM, RAMP, ACTIVE)).get("Gauss")
    if row is None:
        raise NotThere("the results on the data set Gauss are not complete")
    return {each: {"times": row[LIBSVM].size / max(1.0, row[each].size)} for each in (RAMP, ACTIVE)}


def _pa_is_densest(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence)
    cases = {name: row[PA].size == max(one.size for one in row.values()) for name, row in rows.items()}
    figures = f"densest on {sum(cases.values())} of {len(cases)} sets"
    if "Cover" in rows:
        one = rows["Cover"][PA]
        cases["all examples of Cover"] = round(one.size) >= round(one.seen)
        figures += f"; keeps {one.size:,.0f} of {one.seen:,.0f} examples of Cover"
    return holds_for(cases, figures)


def _overall(evidence: Evidence) -> Verdict:
    rows = our_rows(evidence, (IDSVM, RAMP))
    better = {
        "accuracy": [name for name, row in rows.items() if row[RAMP].accuracy > row[IDSVM].accuracy],
        "size": [name for name, row in rows.items() if row[RAMP].size < row[IDSVM].size],
        # A stopped IDSVM needs more seconds than these, so fewer seconds count as ahead there too.
        "seconds": [name for name, row in rows.items() if row[RAMP].seconds < row[IDSVM].seconds],
    }
    texts = [f"{what} on {len(names)}{_names(names)}" for what, names in better.items()]
    most = {what: 2 * len(names) > len(rows) for what, names in better.items()}
    return conjunction(most, f"of {len(rows)} sets ahead in {'; '.join(texts)}")


@by_case("seconds at best, points of accuracy and size over the full one's, of the active one")
def _faster_alike(evidence: Evidence) -> Parts:
    for name, row in our_rows(evidence, (RAMP, ACTIVE)).items():
        active, full = row[ACTIVE], row[RAMP]
        points, size = active.accuracy - full.accuracy, active.size / max(1.0, full.size)
        # Accuracies are "similar" within one point, and sizes within a factor of 1.5.
        alike = abs(points) <= 1.0 and 1 / 1.5 <= size <= 1.5
        text = f"{name} {active.seconds:.1f} and {full.seconds:.1f}, {points:+.1f}, {size:.2f} times"
        yield {name: active.seconds < full.seconds and alike}, text


# --- claims on learning along the stream of the data set Gauss

# The study of this stream has fixed parameters, as the paper's figures seem to have; verdicts say so.
_UNTUNED = "at C = 10, gamma = 0.125, not tuned"


def _tuned(evidence: Evidence) -> Row:
    """Return the results on Gauss with tuned parameters, or {} if a learner has none or was stopped."""
    try:
        row = our_rows(evidence, THREE).get("Gauss", {})
    except NotThere:
        return {}
    return {} if any(each.stopped for each in row.values()) else row


def judge_outliers(shares: Mapping[str, float], sizes: Mapping[str, float]) -> Verdict:
    """Judge whether only IDSVM has support vectors far on the wrong side, with y f(x) < -1.

    Both ramp-loss models must also have at most half as many support vectors in all as IDSVM. `shares` has
    each model's share of such support vectors, and `sizes` its number of support vectors.
    """
    texts = ", ".join(f"{name} {100 * shares[name]:.1f}% of {sizes[name]:,.0f}" for name in THREE)
    inside = shares[RAMP] == shares[ACTIVE] == 0.0 < shares[IDSVM]
    # "Much sparser" than IDSVM means at most half of its support vectors.
    fewer = 2 * max(sizes[RAMP], sizes[ACTIVE]) <= sizes[IDSVM]
    clauses = {"inside": inside, "sparser": fewer}
    return conjunction(clauses, f"{_UNTUNED}, beyond the other margin, and in all: {texts}")


def _outliers(evidence: Evidence) -> Verdict:
    study = evidence["cost"]
    sizes = {name: study.value("support_vectors", name, GAUSS) for name in THREE}
    return judge_outliers(shares_outside(study), sizes)


def _ahead(evidence: Evidence) -> Verdict:
    t, (ramp, hinge) = common(accuracy(evidence["cost"], (RAMP, IDSVM), GAUSS), earliest=1)
    gaps = ramp - hinge
    early, late, share = gaps[t < 1000].mean(), gaps[t >= 1000].mean(), np.mean(gaps > 0)
    return Verdict(
        Outcome.UNTESTED,
        "not run at tuned settings, on which the sign at the start depends; "
        f"{_UNTUNED}, ahead at {share:.0%} of the checkpoints; before 1,000 examples by {early:+.2f} points "
        f"on average, from then on by {late:+.2f}",
    )


def _catches_up(evidence: Evidence) -> Verdict:
    study = evidence["cost"]
    t, (active, full) = common(accuracy(study, (ACTIVE, RAMP), GAUSS))
    if t[-1] < (end := number("ramp-loss", "ramp-n34")):
        raise NotThere(f"{study.name}: ends after {t[-1]:,.0f} examples, but the claim is about {end:,.0f}")
    apart = active - full
    mean = np.abs(apart).mean()
    figures = (
        f"from {t[0]:,.0f} examples on {mean:.2f} points apart on average, at {t[-1]:,.0f} {apart[-1]:+.2f}"
    )
    # The active learner follows the full one "closely" if it is within a point on average, and has "reached"
    # it if it is within half a point at the end.
    near, reached = bool(mean <= 1.0), bool(abs(apart[-1]) <= 0.5)
    return conjunction({"close": near, "reached": reached}, f"{_UNTUNED}, {figures}")


def _sparser(evidence: Evidence) -> Verdict:
    t, sizes = common(evidence["cost"].curves("support_vectors", THREE, GAUSS))
    texts = [f"{name} {own[0]:,.0f} and {own[-1]:,.0f}" for name, own in zip(THREE, sizes, strict=True)]
    figures = f"after {t[0]:,.0f} and {t[-1]:,.0f} examples: {', '.join(texts)}"
    below = [own < sizes[0] for own in sizes[1:]]
    cases = {name: bool(each.all()) for name, each in zip(THREE[1:], below, strict=True)}
    figures = f"{_UNTUNED}, {figures}"
    if row := _tuned(evidence):
        cases |= {f"{name}, tuned": row[name].size < row[IDSVM].size for name in THREE[1:]}
        ends = {name: row[name].size for name in THREE}
        figures += f"; tuned, at the end {_each(ends, ',.0f')}"
    return holds_for(cases, figures)


def _below_retraining(evidence: Evidence) -> Verdict:
    curves = evidence["cost"].curves("kernel_evaluations", [RAMP, RETRAINED], GAUSS, stopped=True)
    t, (own, again) = common(curves, least=EARLIEST)
    ratios = again / own
    figures = (
        f"retraining takes {ratios[0]:,.0f} times the evaluations by {t[0]:,.0f} examples, {ratios[-1]:,.0f} "
        f"times by {t[-1]:,.0f}, where it is stopped"
    )
    # "Far fewer" kernel evaluations means at most a tenth of those of retraining.
    far = int((ratios >= 10).sum())
    return by_share(far, len(ratios), f"{_UNTUNED}, {figures}")


def _like_one_training(evidence: Evidence) -> Verdict:
    curves = [batch_curve(evidence), evidence["cost"].curve("kernel_evaluations", RAMP, GAUSS)]
    t, (one, online) = common(curves)
    texts = [f"{ratio:.2f} times at {at:,.0f}" for at, ratio in zip(t, online / one, strict=True)]
    # The costs are "comparable" if they differ by at most √10, half a power of ten.
    apart = abs(np.log10(online / one)[-1])
    figures = f"online against one training: {', '.join(texts)}"
    return holds_if(bool(apart <= 0.5), f"{_UNTUNED}, {figures} (up to {10**0.5:.1f} times counts)")


def _faster(evidence: Evidence) -> Verdict:
    study = evidence["cost"]
    cells = study.cells[study.cells["dataset"] == GAUSS]
    # Take the time of the fastest repetition, which other programs on the machine disturbed least.
    seconds = cells.groupby("algorithm")["fit_seconds"].min().reindex(list(THREE)).astype(float)
    if seconds.isna().any():
        raise NotThere(f"{study.name}: {seconds.index[seconds.isna()][0]} has not run to its end")
    times = {_UNTUNED: seconds.to_dict()}
    if row := _tuned(evidence):
        times["tuned"] = {name: row[name].seconds for name in THREE}
    cases, parts = dict[str, bool](), []
    for how, taken in times.items():
        ratios = {name: taken[IDSVM] / taken[name] for name in THREE[1:]}
        texts = ", ".join(f"{ratio:.1f} times what {name} takes" for name, ratio in ratios.items())
        parts.append(f"{how}, IDSVM takes {taken[IDSVM]:.1f} s at best: {texts}")
        # "Much faster" than IDSVM means at most half of its time.
        cases |= {f"{name}, {how.rpartition(', ')[2]}": ratio >= 2 for name, ratio in ratios.items()}
    return holds_for(cases, "; ".join(parts))


def _gain_rule(evidence: Evidence) -> Verdict:
    t, (both, one) = common(evidence["cost"].curves("kernel_evaluations", [RAMP, ONE_RULE], GAUSS))
    figures = (
        f"{both[-1] / 1e6:,.0f} million evaluations for {t[-1]:,.0f} examples with both rules, "
        f"{one[-1] / 1e6:,.0f} with the gradient's alone"
    )
    return holds_if(bool(both[-1] < one[-1]), f"{_UNTUNED}, {figures}")


# --- claims on forgetting: keeping at most m rows that are not support vectors


@measure
def _evaluations(evidence: Evidence) -> Rows:
    """Return kernel evaluations, in millions, by data set and by the number m of rows that may be kept."""
    study = evidence["removal"]
    return {
        name: {who.partition(", ")[2] or "all": each / 1e6 for who, each in _costs(study, label).items()}
        for name, label in forgetting_sets(study).items()
    }


def _costs(study: StudyEvidence, label: str) -> dict[str, float]:
    return {each.algorithm: float(each.mean[-1]) for each in study.curves("kernel_evaluations", FOUR, label)}


def _losses(study: StudyEvidence, label: str, m: int) -> tuple[float, float, float]:
    """Return how many points of accuracy are lost if at most `m` rows are kept besides the support vectors.

    The numbers are the loss at the end of the stream, the mean loss before 1,000 examples, and the mean loss
    from 1,000 examples on.
    """
    t, (whole, kept) = common(accuracy(study, (RAMP, KEPT[m]), label))
    lost = whole - kept
    return float(lost[-1]), float(lost[t < 1000].mean()), float(lost[t >= 1000].mean())


@measure
def _lost_without(evidence: Evidence) -> Rows:
    study = evidence["removal"]
    return {name: {"points": _losses(study, label, 0)[0]} for name, label in forgetting_sets(study).items()}


def _hundred_kept(evidence: Evidence) -> Verdict:
    study, cases, texts = evidence["removal"], dict[str, bool](), []
    for name, label in forgetting_sets(study).items():
        last, early, late = _losses(study, label, 100)
        costs = _costs(study, label)
        saving = costs[RAMP] / costs[KEPT[100]]
        # A loss of accuracy is "small" up to one point. It "shrinks" if it is less from 1,000 examples on
        # than before, or at most 0.1 points. To save half of the kernel evaluations is "large".
        cases[f"a small loss on {name}"] = last <= 1.0
        cases[f"a loss that shrinks on {name}"] = late < early or late <= 0.1
        cases[f"a large saving on {name}"] = saving >= 2
        texts.append(
            f"{name} {last:.2f} points lost at the end ({early:.2f} before 1,000 examples, "
            f"{late:.2f} after), {saving:.1f} times fewer evaluations"
        )
    return holds_for(cases, "; ".join(texts))


@by_case("accuracy lost and evaluations saved")
def _thousand_kept(evidence: Evidence) -> Parts:
    study = evidence["removal"]
    for name, label in forgetting_sets(study).items():
        last, costs = _losses(study, label, 1000)[0], _costs(study, label)
        saving = costs[RAMP] / costs[KEPT[1000]]
        # A loss of accuracy is "negligible" up to 0.25 points. To save a third of the kernel evaluations is
        # "significant".
        held = abs(last) <= 0.25 and saving >= 1.5
        yield {name: held}, f"{name} {last:.2f} points, {saving:.1f} times fewer evaluations"


# --- claims on active learning

# Two ways to query labels are level if their accuracies differ by at most this many points on average. The
# threshold is ours.
_LEVEL = 0.25


def _lead(curves: Sequence[Curve], one: str, other: str) -> float:
    """Return by how many points of accuracy `one` leads `other`, as a mean over numbers of queried labels."""
    by_name = {curve.algorithm: curve for curve in curves}
    first, second = by_name[one], by_name[other]
    end = first.t[-1]
    # Leave out the first tenth of the labels, where luck decides more than the method.
    labels = np.linspace(max(0.1 * end, first.t[0], second.t[0]), end, 50)
    gaps = np.interp(labels, first.t, first.mean) - np.interp(labels, second.t, second.mean)
    return float(gaps.mean())


def _leads(evidence: Evidence, one: str, other: str, names: Sequence[str] = PANELS) -> dict[str, float]:
    panels = by_labels(evidence["queries"])
    found = {name: _lead(panels[name], one, other) for name in names if name in panels}
    if not found:
        raise NotThere(f"{', '.join(names)} have not been run")
    return found


def _all_is_worse(evidence: Evidence) -> Verdict:
    greedy, active = (_leads(evidence, who, RAMP_ALL) for who in (RAMP_GREEDY, ACTIVE))
    figures = (
        f"points over QueryAll (both above {_LEVEL} count): Greedy {_each(greedy, '+.2f')}; "
        f"OnlineASVMR {_each(active, '+.2f')}"
    )
    return holds_for({name: min(greedy[name], active[name]) > _LEVEL for name in greedy}, figures)


def _of_greedy(sign: int, names: Sequence[str]) -> Check:
    """Return a function that judges whether Greedy (`sign` 1), OnlineASVMR (-1) or neither (0) is ahead.

    It judges this on the data sets `names`; a learner is ahead by more than `_LEVEL` points.
    """

    def check(evidence: Evidence) -> Verdict:
        leads = _leads(evidence, RAMP_GREEDY, ACTIVE, names)
        lacking = [name for name in names if name not in leads]
        counting = {1: f"above {_LEVEL}", -1: f"below -{_LEVEL}", 0: f"-{_LEVEL} to {_LEVEL}"}[sign]
        figures = f"points of Greedy over OnlineASVMR ({counting} counts): {_each(leads, '+.2f')}"
        if lacking:
            figures += f"; not run: {', '.join(lacking)}"
        return holds_for(
            {name: sign * lead > _LEVEL if sign else abs(lead) <= _LEVEL for name, lead in leads.items()},
            figures,
        )

    return check


def _ramp_beats_hinge(evidence: Evidence) -> Verdict:
    every, greedy = _leads(evidence, RAMP_ALL, HINGE_ALL), _leads(evidence, RAMP_GREEDY, HINGE_GREEDY)
    won = [name for name in every if min(every[name], greedy[name]) > 0]
    figures = (
        f"ahead with both rules on {len(won)} of {len(every)} sets; points over IDSVM: "
        f"QueryAll {_each(every, '+.2f')}; Greedy {_each(greedy, '+.2f')}"
    )
    return holds_if(2 * len(won) > len(every), figures)


CLAIMS: Mapping[str, Check] = {
    "ramp-1": _clearly_ahead_of(LIBSVM),
    "ramp-2": _clearly_ahead_of(IDSVM),
    "ramp-3": _largest_gains,
    "ramp-4": _active_keeps_up,
    "ramp-5": _pa_is_last,
    "ramp-6": _as_often(_is_sparsest(ACTIVE)),
    "ramp-7": _full_is_sparse,
    "ramp-8": Question(
        _sizes(),
        _far_sparser,
        "at most half counts (printed: on 2 sets), a stopped learner does not; "
        "the larger of both against the smallest of the three",
        digits=0,
    ),
    # The paper calls the printed ratios 9.0 and 13.8 "about ten" times, so 5 to 20 times count here.
    "ramp-9": Question(
        _times_sparser(), as_printed(5, 20), "times fewer support vectors than LibSVM (5 to 20 counts)"
    ),
    "ramp-10": _pa_is_densest,
    "ramp-11": _outliers,
    "ramp-12": _ahead,
    "ramp-13": _catches_up,
    "ramp-14": _sparser,
    "ramp-15": _below_retraining,
    "ramp-16": _like_one_training,
    "ramp-17": _faster,
    "ramp-18": Question(_evaluations(), rises_with(), "million kernel evaluations", digits=0),
    # A loss of accuracy is "significant" if it exceeds one point.
    "ramp-19": Question(_lost_without(), above(1.0), "points lost"),
    "ramp-20": _hundred_kept,
    "ramp-21": _thousand_kept,
    "ramp-22": _faster_alike,
    "ramp-23": _all_is_worse,
    "ramp-24": _of_greedy(1, ("DNA", "USPS", "Waveform")),
    "ramp-25": _of_greedy(-1, ("Gauss", "Cover", "Checkerboard", "NCheckerboard")),
    "ramp-26": _of_greedy(0, ("Adult", "Banana")),
    "ramp-27": _ramp_beats_hinge,
    "ramp-28": _overall,
    "ramp-29": _gain_rule,
}
