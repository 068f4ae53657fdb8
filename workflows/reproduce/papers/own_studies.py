"""Judge the claims that we make in our own three studies of label noise, and draw a figure for each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise, permutations, product
from typing import cast

import numpy as np
import pandas as pd
from scipy import stats

from ....pipeline.analysis.pairwise import hodges_lehmann
from ....pipeline.noise import Noise
from ...report.page.blocks import Block
from ...report.plots.curve_plots import Axis, Estimate
from ...report.words.wording import count
from ..evidence import Evidence, NotThere, StudyEvidence, half_width
from ..figures import estimates_figure, number, table_of
from ..paper import declared
from ..predicates import Question, Rows, above, at_most, below, measure, plain, together
from ..verdicts import Check, Parts, Verdict, by_case, holds_if

# --- study "slack": AROW's lead over PA, PA-I and CW by rate of label noise

_PAS = ("PA", "PA-I")
_TEXT = ("amazon-5000[books]", "reuters-money-fx", "enron-spam[enron1]")
_DIGITS = ("digits[round]", "mnist[3-vs-rest]", "usps[0-vs-rest]")


def _lead(study: StudyEvidence, other: str, rate: float) -> pd.Series[float]:
    """Return, by data set, how many points of test accuracy AROW is ahead of `other` at one noise rate."""
    table = study.table("test_accuracy", rate, algorithms=["AROW", other])
    return 100 * (table["AROW"] - table[other])


@measure
def _leads(evidence: Evidence, others: Sequence[str], end: int) -> Rows:
    """Return AROW's lead in test accuracy over each of `others`, by noise rate.

    The lead is a Hodges–Lehmann estimate over data sets. `end` selects the estimate (0), or the lower (1) or
    upper (2) end of its 95% interval.
    """
    study = evidence["slack"]
    return {
        other: {rate: hodges_lehmann(_lead(study, other, rate))[end] for rate in study.rates}
        for other in others
    }


@measure
def _growth(evidence: Evidence, other: str) -> Rows:
    """Return how much AROW's lead grows from each noise rate to the next, as the 95% interval's lower end."""
    study = evidence["slack"]
    steps = {
        f"{100 * before:g} to {100 * after:g}%": _lead(study, other, after) - _lead(study, other, before)
        for before, after in pairwise(study.rates)
    }
    return {other: {step: hodges_lehmann(gained)[1] for step, gained in steps.items()}}


@measure
def _recovered(evidence: Evidence, half: bool) -> Rows:
    """Return which part of AROW's lead over PA is also gained by PA-I, by rate; for `half` see `_share`."""
    study = evidence["slack"]
    leads = {rate: [_lead(study, other, rate) for other in _PAS] for rate in study.rates[1:]}
    return {"": {rate: _share(pa - pa_i, pa, half=half) for rate, (pa, pa_i) in leads.items()}}


def _share(part: pd.Series[float], whole: pd.Series[float], *, half: bool) -> float:
    """Return the mean of `part` in percent of the mean of `whole`; both are gains in accuracy by data set.

    With `half`, return instead the lower end of the 95% interval of `part` minus half of `whole`: if it is
    above 0, `part` is significantly more than half. (For the ratio itself we have no such interval.)
    """
    return hodges_lehmann(part - whole / 2)[1] if half else 100 * float(part.mean() / whole.mean())


def _grows(other: str) -> Question:
    return Question(
        _growth(other),
        above(0.0),
        f"lower end of the 95% interval of what further noise adds to AROW's lead over {other}, in points; "
        "then the lead at 0%, 10%, 20%, 30% (Hodges–Lehmann estimate over base sets)",
        also=_leads([other], 0),
    )


_BEYOND_HALF = "lower end of the 95% interval of the part minus half of the whole, in points"

_SLACK: Mapping[str, Check] = {
    "slack-1": Question(
        _leads(["PA"], 1), above(0.0), "lower end of the 95% interval of AROW's lead over PA, in points"
    ),
    "slack-2": _grows("PA"),
    "slack-3": Question(
        _recovered(half=True),
        above(0.0),
        f"{_BEYOND_HALF}; then the share in percent, of means over base sets,",
        also=_recovered(half=False),
    ),
    "slack-4": Question(
        _leads(["PA-I"], 1), above(0.0), "lower end of the 95% interval of AROW's lead over PA-I, in points"
    ),
    "slack-5": _grows("CW"),
}


def _leads_figure(evidence: Evidence) -> list[Block]:
    study = evidence["slack"]

    def panel(names: Sequence[str]) -> dict[str, list[Estimate]]:
        found: dict[str, list[Estimate]] = {}
        for other in (*_PAS, "CW"):
            for rate in study.rates:
                lead = _lead(study, other, rate)
                if names:
                    if absent := [name for name in names if name not in lead]:
                        raise NotThere(f"{study.name}: has no results on {', '.join(absent)}")
                    lead = lead[list(names)]
                    estimate = (float(lead.mean()), float(lead.min()), float(lead.max()))
                else:
                    estimate = hodges_lehmann(lead)
                found.setdefault(f"AROW − {other}", []).append(Estimate(100 * rate, *estimate))
        return found

    panels = [
        (f"all {len(study.datasets())} base sets", panel(())),
        ("text (3)", panel(_TEXT)),
        ("digits (3)", panel(_DIGITS)),
    ]
    axis = Axis(x="label noise, %", y="points of test accuracy", zero=True)
    return estimates_figure("leads", "AROW's lead by label noise", panels, axis)


# --- study "noise and drift": errors under label noise, and errors after a change of the concept

_SECOND_ORDER = ("AROW", "CW", "SCW-I", "NHERD", "NAROW", "SOP")
# The labels of CW's two published forms: its constraint has the margin's variance or standard deviation.
_CW_FORMS = ("CW", "CW stdev")
_LEARNERS = ("Perceptron", "PA-I", "OGD", *_SECOND_ORDER, _CW_FORMS[1])
# For each generator, its stream without change, its stream with changes, and the number of examples before
# the first change: 0 for the hyperplane, which moves all the time.
_STREAMS = {
    "SEA": ("SEA, steady", "SEA, abrupt", 3000),
    "STAGGER": ("STAGGER, steady", "STAGGER, abrupt", 4000),
    "hyperplane": ("hyperplane, steady", "hyperplane, moving", 0),
}
_NOISE, _UNDER_NOISE, _AFTER = 0.3, "under noise", "after a change"


@lru_cache(maxsize=4)
def _drift_errors(study: StudyEvidence) -> dict[str, pd.DataFrame]:
    """Return, for each generator of streams, error rates under noise and after a change, in percent.

    Errors are counted against clean labels. A row of a frame is an (algorithm, seed).
    """
    named = study.cells[["key", "dataset", "noise", "algorithm", "seed"]]
    rows = study.view.results.curves[["key", "t", "mistakes_clean"]].merge(named, on="key")
    index, found = ["algorithm", "seed"], {}

    def mistakes(dataset: str, noise: Noise, t: int) -> pd.Series[float]:
        this = (rows["dataset"] == dataset) & (rows["noise"] == noise.slug) & (rows["t"] == t)
        if not this.any():
            raise NotThere(f"{study.name}: no curve of {dataset} has a point at {t:,} examples")
        return rows[this].set_index(index)["mistakes_clean"]

    for stream, (steady, changing, first) in _STREAMS.items():
        n = int(rows["t"].max())
        late = mistakes(changing, Noise(0.0), n)
        early = mistakes(changing, Noise(0.0), first) if first else 0.0 * late
        found[stream] = pd.DataFrame(
            {
                _UNDER_NOISE: 100 * mistakes(steady, Noise(_NOISE), n) / n,
                _AFTER: 100 * (late - early) / (n - first),
            }
        )
        both = found[stream].dropna().index.get_level_values("algorithm")
        if absent := [name for name in _LEARNERS if name not in both]:
            raise NotThere(f"{study.name}: has no results of {', '.join(absent)} on {stream}")
    return found


def _readings(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return `names` twice, with each form of CW in place of "CW"; only once if they do not have "CW"."""
    if "CW" not in names:
        return {"": tuple(names)}
    return {f" ({form})": tuple(form if name == "CW" else name for name in names) for form in _CW_FORMS}


@measure
def _mean_errors(evidence: Evidence, column: str, names: Sequence[str]) -> Rows:
    """Return mean error rates over repetitions, under noise or after a change, a row per stream generator."""
    every = dict.fromkeys(name for reading in _readings(names).values() for name in reading)
    found = _drift_errors(evidence["drift"])
    means = {stream: errors[column].groupby("algorithm").mean() for stream, errors in found.items()}
    return {f"{stream}:": {who: each[who] for who in every} for stream, each in means.items()}


@measure
def _ahead(evidence: Evidence, column: str, first: Sequence[str], others: Sequence[str]) -> Rows:
    """Return by how much the errors of the learners `first` exceed those of `others`, in the worst case.

    For each pair of learners we take Student's 95% interval of the difference of their errors, paired by
    repetition, and of all pairs the largest upper end. If it is at most 0, each of `first` errs
    significantly less than each of `others`. There is a row for each pair of a stream generator and a form of
    CW.
    """
    found = {}
    for stream, errors in _drift_errors(evidence["drift"]).items():
        for reading, names in _readings((*first, *others)).items():
            own = {who: errors[column].xs(who) for who in names}
            pairs = product(names[: len(first)], names[len(first) :])
            gaps = (own[who] - own[other] for who, other in pairs)
            found[stream + reading] = {"": max(float(gap.mean() + half_width(gap)) for gap in gaps)}
    return found


def _clearly(column: str, first: Sequence[str], others: Sequence[str]) -> Question:
    """Return the question whether each learner of `first` errs significantly less than each of `others`."""
    return Question(
        _ahead(column, first, others),
        at_most(0.0, ""),
        f"largest upper end of the 95% intervals of the differences {column}, in points; then mean errors in "
        "percent",
        digits=2,
        also=_mean_errors(column, (*first, *others)),
    )


@by_case(
    "rank correlation of the error under noise and after a change, of the six second-order learners, and its "
    "exact two-sided p"
)
def _apart(evidence: Evidence) -> Parts:
    for stream, errors in _drift_errors(evidence["drift"]).items():
        means = errors.groupby("algorithm").mean()
        for reading, names in _readings(_SECOND_ORDER).items():
            both = means.loc[list(names)]
            x, y = both[_UNDER_NOISE].rank().to_numpy(), both[_AFTER].rank().to_numpy()
            found = float(stats.spearmanr(x, y).statistic)
            # The p-value is the share of all orders of the six learners with a correlation as strong as this.
            chance = [stats.spearmanr(x, order).statistic for order in permutations(y)]
            p = float(np.mean(np.abs(chance) >= abs(found) - 1e-12))
            case = stream + reading
            yield {case: found < 0 and p <= 0.05}, f"{case} {plain(found, 2)} (p = {p:.2f})"


_FIRM, _QUICK = ("AROW", "SCW-I", "NHERD"), ("CW", "SOP")
_DRIFT: Mapping[str, Check] = {
    "drift-1": _clearly(_UNDER_NOISE, _FIRM, _QUICK),
    "drift-2": _clearly(_AFTER, _QUICK, _FIRM),
    "drift-3": _clearly(_UNDER_NOISE, ("NAROW",), _QUICK),
    "drift-4": _clearly(_AFTER, ("NAROW",), ("AROW", "NHERD")),
    "drift-5": _apart,
}


def _plane(evidence: Evidence) -> list[Block]:
    panels = []
    for stream, errors in _drift_errors(evidence["drift"]).items():
        series = {}
        for who in _LEARNERS:
            both = [errors[column].xs(who) for column in (_UNDER_NOISE, _AFTER)]
            (x, y), (dx, dy) = [float(each.mean()) for each in both], map(half_width, both)
            series[who] = [Estimate(x, y, y - dy, y + dy, x - dx, x + dx)]
        panels.append((stream, series))
    axis = Axis(x="error at 30% noise, steady, %", y="error after a change, %", zero=False)
    return estimates_figure("plane", "Noise against drift", panels, axis)


# --- study "tuning under noise": which labels are used to choose hyperparameters

_BUDGETS = (5, 20, 80)
_FIRST_STEP, _LAST_STEP = (f"{few} to {many} points" for few, many in pairwise(_BUDGETS))
_DEFAULTS = "defaults"
# Ways to choose a point of the hyperparameter grid, each with the column that the chosen point minimizes.
_JUDGES = {
    "noisy labels": "mistakes",
    "corrected for the noise": "corrected",
    "clean labels": "mistakes_clean",
    "hindsight": "test_mistakes",
}
_NOISY, _CORRECTED, _CLEAN, _HINDSIGHT = _JUDGES
_ARMS = (_DEFAULTS, *_JUDGES)


def _rates_by_class(noise: Noise) -> tuple[float, float]:
    """Return the probability that noise flips a negative label, and the probability for a positive one."""
    spec = noise.spec
    matrix = spec.get("matrix") if isinstance(spec, dict) else None
    return (noise.rate, noise.rate) if matrix is None else (matrix[0][1], matrix[1][0])


def _corrected(points: pd.DataFrame, noise: Noise) -> pd.Series[float]:
    """Estimate each grid point's mistakes against clean labels, without bias, from counts by noisy labels.

    N. Natarajan, I. S. Dhillon, P. Ravikumar, A. Tewari, "Learning with noisy labels", NIPS (2013), lemma 1.
    """
    flipped = _rates_by_class(noise)
    right = np.stack(points["right_given"].tolist())
    wrong = np.stack(points["occurred_given"].tolist()) - right
    found = sum((1 - flipped[1 - k]) * wrong[:, k] - flipped[k] * right[:, k] for k in (0, 1))
    # Round, so that estimates that differ only by floating-point errors become equal.
    return pd.Series(np.round(found / (1 - sum(flipped)), 6), points.index)


@lru_cache(maxsize=4)
def _choices(study: StudyEvidence) -> dict[tuple[str, int], pd.DataFrame]:
    """Return, for each noise and budget (number of grid points), a frame of test accuracies in percent.

    The columns compare the default parameters with the ways in `_JUDGES` to choose a grid point. A row is a
    (data set, algorithm, seed). Each row draws its grid points at random, and the points of a smaller budget
    are among those of a larger one. The default parameters do not depend on the budget.
    """
    cells = study.view.results.cells
    default = (cells["stage"] == "run") & cells["algorithm"].str.endswith(", default")
    # A choice needs all points of its grid, and the mean over choices needs all choices.
    lost = int((cells[default | (cells["stage"] == "tune")]["status"] != "ok").sum())
    if study.lacking or lost:
        raise NotThere(study.lacking or f"{study.name}: {count(lost, 'cell')} of grids or defaults failed")
    place = ["dataset", "algorithm", "seed"]
    runs = cells[default]
    runs = runs.assign(algorithm=runs["algorithm"].str.removesuffix(", default"))
    tuned = cells[cells["stage"] == "tune"]
    rows: dict[tuple[str, int], dict[tuple[str, str, int], dict[str, float]]] = {}
    for noise in study.design.noise:
        defaults = runs[runs["noise"] == noise.slug].set_index(place)["test_accuracy"].to_dict()
        points = tuned[tuned["noise"] == noise.slug]
        points = points.assign(corrected=_corrected(points, noise))
        for which, grid in points.groupby(place):
            [(name, values)] = json.loads(grid["grid"].iloc[0]).items()
            grid = grid.set_index(pd.Index([json.loads(text)[name] for text in grid["params"]]))
            key = cast("tuple[str, str, int]", which)
            drawn = np.random.RandomState(key[2]).permutation(len(values))
            for budget in _BUDGETS:
                # Keep the grid's order, so that of equally good points the first in the grid is chosen.
                few = grid.loc[[values[i] for i in sorted(drawn[:budget])]]
                won = {arm: int(few[column].to_numpy().argmin()) for arm, column in _JUDGES.items()}
                accuracies = {arm: 100 * few["test_accuracy"].iloc[i] for arm, i in won.items()}
                rows.setdefault((noise.short, budget), {})[key] = {
                    _DEFAULTS: 100 * defaults[key],
                    **accuracies,
                }
    if not rows:
        raise NotThere(f"{study.name}: no point of a grid was tested")
    return {
        choice: pd.DataFrame(found.values(), pd.MultiIndex.from_tuples(found, names=place))
        for choice, found in rows.items()
    }


def _by_set(evidence: Evidence, noise: str, budget: int) -> pd.DataFrame:
    """Return mean test accuracies by data set, a column per way to choose parameters."""
    return _choices(evidence["tuning"])[noise, budget].groupby("dataset").mean()


def _noises(evidence: Evidence) -> list[str]:
    return [noise.short for noise in evidence["tuning"].design.noise]


@measure
def _gains(evidence: Evidence, arm: str, over: str, end: int, noises: slice) -> Rows:
    """Return how much accuracy one way to choose parameters (`arm`) gains over another (`over`).

    A row is a noise, a column a budget. `end` selects the estimate or an end of its interval, see `_leads`.
    """
    found = {}
    for noise in _noises(evidence)[noises]:
        sets = {budget: _by_set(evidence, noise, budget) for budget in _BUDGETS}
        found[noise] = {
            f"{budget} points": hodges_lehmann(each[arm] - each[over])[end] for budget, each in sets.items()
        }
    return found


@measure
def _made_up(evidence: Evidence, half: bool) -> Rows:
    """Return how much of the gain from clean labels correcting for the noise also brings, in percent.

    Both are gains in accuracy over choices by noisy labels, under noise whose rate depends on the class. For
    `half` see `_share`.
    """
    noise = _noises(evidence)[1]
    sets = {budget: _by_set(evidence, noise, budget) for budget in _BUDGETS}
    return {
        noise: {
            f"{budget} points": _share(
                each[_CORRECTED] - each[_NOISY], each[_CLEAN] - each[_NOISY], half=half
            )
            for budget, each in sets.items()
        }
    }


def _steps(evidence: Evidence, noise: str, arm: str, over: str = "") -> Mapping[str, pd.Series[float]]:
    """Return how much accuracy each step to the next larger budget adds, by data set.

    The accuracy is that of the way `arm` to choose parameters. With `over`, it is replaced by the gain of
    `arm` over the way `over`.
    """
    tables = [_by_set(evidence, noise, budget) for budget in _BUDGETS]
    gains = [table[arm] - table[over] if over else table[arm] for table in tables]
    steps = (later - earlier for earlier, later in pairwise(gains))
    return dict(zip((_FIRST_STEP, _LAST_STEP), steps, strict=True))


@measure
def _larger_budgets(evidence: Evidence) -> Rows:
    """Return what larger budgets add to the accuracy of choices by noisy labels, as ends of 95% intervals.

    The first column is the upper end of what the last step to a larger budget adds; the second is the lower
    end of how much more the first step adds than the last.
    """
    found = {}
    for noise in _noises(evidence):
        first, last = _steps(evidence, noise, _NOISY).values()
        found[noise] = {_LAST_STEP: hodges_lehmann(last)[2], "more before": hodges_lehmann(first - last)[1]}
    return found


@measure
def _added(evidence: Evidence, of: Callable[[pd.Series[float]], float], arm: str, over: str = "") -> Rows:
    """Summarize with `of`, over data sets, what each larger budget adds to the accuracy; see `_steps`."""
    return {
        noise: {step: of(each) for step, each in _steps(evidence, noise, arm, over).items()}
        for noise in _noises(evidence)
    }


def _same_choice(evidence: Evidence) -> Verdict:
    uniform = _noises(evidence)[0]
    found = _choices(evidence["tuning"])
    choices = pd.concat([found[uniform, budget] for budget in _BUDGETS])
    same = (choices[_NOISY] == choices[_CORRECTED]).sum()
    return holds_if(same == len(choices), f"{same:,} of {len(choices):,} choices")


_TUNING: Mapping[str, Check] = {
    "tuning-1": Question(
        _gains(_NOISY, _DEFAULTS, 1, slice(None)),
        above(0.0),
        "lower end of the 95% interval of the gain over defaults, in points",
    ),
    "tuning-2": Question(
        _gains(_CLEAN, _NOISY, 2, slice(1)),
        below(1.0),
        "upper end of the 95% interval of what clean labels add to noisy ones, in points (less than 1 "
        "counts); then the estimate",
        digits=2,
        also=_gains(_CLEAN, _NOISY, 0, slice(1)),
    ),
    "tuning-3": _same_choice,
    "tuning-4": Question(
        _made_up(half=True),
        above(0.0),
        f"{_BEYOND_HALF}; then the share in percent, of means over base sets",
        digits=2,
        also=_made_up(half=False),
    ),
    "tuning-5": Question(
        _larger_budgets(),
        together(at_most(0.25, _LAST_STEP), above(0.0, skip=_LAST_STEP)),
        "if noisy labels judge, upper end of the 95% interval of what the last step adds, in points (a "
        "quarter or less counts), and lower end of that of how much more the first step adds; then means",
        digits=2,
        also=_added(lambda each: float(each.mean()), _NOISY),
    ),
    "tuning-6": Question(
        _added(lambda each: hodges_lehmann(each)[1], _HINDSIGHT, _CLEAN),
        above(0.0),
        "lower end of the 95% interval of what further points add to the gain of hindsight over clean "
        "labels, in points; then the gain",
        digits=2,
        also=_gains(_HINDSIGHT, _CLEAN, 0, slice(None)),
    ),
}


def _budgets_figure(evidence: Evidence) -> list[Block]:
    panels = []
    for noise in _noises(evidence):
        series: dict[str, list[Estimate]] = {}
        for budget in _BUDGETS:
            each = _by_set(evidence, noise, budget)
            for arm in (_CORRECTED, _CLEAN, _HINDSIGHT):
                estimate = hodges_lehmann(each[arm] - each[_NOISY])
                series.setdefault(arm, []).append(Estimate(budget, *estimate))
        panels.append((f"{noise} label noise", series))
    axis = Axis(x="points of the grid", y="points above noisy labels", zero=True, log_x=True)
    title = "Test accuracy above that of the choice by noisy labels"
    return [*estimates_figure("budgets", title, panels, axis), _accuracies(evidence)]


def _accuracies(evidence: Evidence) -> Block:
    rows = []
    for noise in _noises(evidence):
        for budget in _BUDGETS:
            means = _by_set(evidence, noise, budget).mean()
            choices = _choices(evidence["tuning"])[noise, budget]
            spread = choices[_NOISY].groupby(["dataset", "algorithm"]).std().mean()
            rows.append([noise, str(budget), *(number(means[arm]) for arm in _ARMS), number(spread)])
    header = ["noise", "points", *_ARMS, "SD over repetitions, noisy labels"]
    note = (
        "Mean test accuracy in percent over base sets, learners and repetitions. The last column is the mean "
        "standard deviation over repetitions, which choose their points and winners themselves."
    )
    return table_of("accuracies", "Test accuracy of each choice", header, rows, labels=2, note=note)


OWN = {
    each.name: each
    for each in (
        declared("slack", {"leads": _leads_figure}, _SLACK),
        declared("noise-and-drift", {"plane": _plane}, _DRIFT),
        declared("tuning-under-noise", {"budgets": _budgets_figure}, _TUNING),
    )
}
