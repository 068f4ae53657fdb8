"""Compute the numbers that both the claims and the exhibits of the ramp-loss paper use."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from .....pipeline.analysis.curves import Curve, mean_curves
from .....pipeline.analysis.design import evaluation_rows
from .....pipeline.noise import CLEAN
from ...again import learn_again
from ...evidence import Evidence, NotThere, StudyEvidence, half_width
from ...printed import table

PAPER = "ramp-loss"
# For each data set, by its name in the paper, its name in our studies; in the paper's order.
SETS: Mapping[str, str] = {
    "Adult": "a9a",
    "Banana": "banana",
    "Checkerboard": "checkerboard",
    "NCheckerboard": "checkerboard-noisy",
    "Cover": "covtype",
    "DNA": "dna",
    "Gauss": "gauss",
    "USPS": "usps",
    "Waveform": "waveform-generator",
}
LIBSVM, IDSVM, PA, RAMP, ACTIVE = LEARNERS = ("LibSVM", "IDSVM", "PA", "OnlineSVMR", "OnlineASVMR")
# Results of fewer repetitions are left out: their standard deviation is of no use. The paper has ten.
_LEAST = 3


@dataclass(frozen=True)
class Entry:
    """A learner's results on a data set: means and standard deviations over repetitions; accuracy in percent.

    `size` is the number of support vectors. `stopped` counts the repetitions that ended at the time limit.
    `seconds` is the learning time of the fastest repetition, which other programs disturbed least, and `seen`
    the mean number of examples learned; both are NaN for printed results. `by_seed` has the accuracy of each
    repetition, if known. If all repetitions are tested on (nearly) the same rows, `shared_rows` is the number
    of these rows; otherwise it is infinite, so that `clearly_above` adds no variance for them.
    """

    accuracy: float
    accuracy_sd: float
    size: float
    size_sd: float
    repetitions: int = 10
    stopped: int = 0
    seconds: float = math.nan
    seen: float = math.nan
    by_seed: pd.Series[float] | None = field(default=None, compare=False, repr=False)
    shared_rows: float = math.inf

    def clearly_above(self, other: Entry) -> bool:
        """Return whether the 95% interval of the difference of both accuracies is above 0.

        Differences are paired by repetition. If all repetitions share test rows, the interval is widened by
        the sampling error of both accuracies on these rows. For printed results we know no repetitions; for
        them, the ranges mean ± one standard deviation must not overlap.
        """
        if self.by_seed is None or other.by_seed is None:
            return self.accuracy - self.accuracy_sd > other.accuracy + other.accuracy_sd
        gaps = (self.by_seed - other.by_seed).dropna()
        shares = (each.accuracy * (100 - each.accuracy) / each.shared_rows for each in (self, other))
        return float(gaps.mean()) > math.hypot(half_width(gaps), 1.96 * math.sqrt(sum(shares)))

    def is_near(self, printed: Entry) -> bool:
        """Return whether our accuracy, rounded, is near the accuracy that the paper prints.

        The two may differ by one point or by two printed standard deviations, whichever is larger.
        """
        apart = abs(round(self.accuracy, 1) - printed.accuracy)
        return apart <= max(1.0, 2 * printed.accuracy_sd) + 1e-9


# The results on one data set, an `Entry` for each learner.
Row = Mapping[str, Entry]


# --- Table I: accuracy and number of support vectors by data set


def printed_rows() -> dict[str, dict[str, Entry]]:
    """Return the results that the paper prints in Table I, by data set and learner."""
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in table(PAPER, "table1"):
        figures = found.setdefault((row["task"], row["algorithm"]), {})
        figures[row["metric"]] = float(row["value"]), float(row["sd"])
    rows: dict[str, dict[str, Entry]] = {}
    for (task, learner), figures in found.items():
        rows.setdefault(task, {})[learner] = Entry(*figures["accuracy"], *figures["support_vectors"])
    return rows


def our_rows(evidence: Evidence, learners: Sequence[str] = LEARNERS) -> dict[str, dict[str, Entry]]:
    """Return our results by data set and learner, for data sets with enough repetitions of all `learners`.

    If one of `learners` was stopped at the time limit, the data set is left out; only IDSVM may be stopped,
    as in the paper. Raise `NotThere` if no data set is left.
    """
    study = evidence["table"]
    rows = {
        name: row
        for name, row in all_rows(study).items()
        if all(each in row and row[each].repetitions >= _LEAST for each in learners)
        and not any(row[each].stopped for each in learners if each != IDSVM)
    }
    if not rows:
        raise NotThere(f"{study.name}: no set has {_LEAST} whole repetitions of {', '.join(learners)}")
    return rows


def all_rows(study: StudyEvidence) -> dict[str, dict[str, Entry]]:
    """Return our results by data set and learner, of runs that finished or were stopped at the time limit."""
    cells = evaluation_rows(study.view.cells)
    cells = cells[cells["status"].isin(["ok", "stopped"])]
    return {
        name: {
            learner: _entry(part)
            for learner in LEARNERS
            if len(part := cells[(cells["parent"] == label) & (cells["algorithm"] == learner)])
        }
        for name, label in SETS.items()
    }


def _entry(cells: pd.DataFrame) -> Entry:
    accuracy, size = 100 * cells["test_accuracy"].astype(float), cells["support_vectors"].astype(float)
    single = len(cells) == 1
    # Data sets with their own test part share it among repetitions, but generators draw a new one each time.
    shared = cells["own_test"].eq(True).all() and not cells["drawn"].eq(True).any()
    return Entry(
        float(accuracy.mean()),
        0.0 if single else float(accuracy.std()),
        float(size.mean()),
        0.0 if single else float(size.std()),
        len(cells),
        int((cells["status"] == "stopped").sum()),
        float(cells["fit_seconds"].astype(float).min()),
        float(cells["n_examples"].astype(float).mean()),
        accuracy.set_axis(cells["seed"]),
        float(cells["test_examples"].iloc[0]) if shared else math.inf,
    )


# --- learning along the stream of the data set Gauss

GAUSS = "gauss"
THREE = (IDSVM, RAMP, ACTIVE)
RETRAINED, ONE_RULE = "retrained SVMR", "OnlineSVMR, gradient rule alone"
_BATCH = "SVMR, batch"
# Claims about a stream are checked from the 100th example on, because earlier models have seen too little.
# Curves that end before 1,000 examples are too short to judge a claim.
EARLIEST, _ENOUGH = 100, 1000


def accuracy(study: StudyEvidence, learners: Sequence[str], dataset: str) -> list[Curve]:
    """Return each learner's test accuracy in percent by number of examples learned."""
    curves = study.curves("test_error", learners, dataset)
    return [replace(curve, mean=100 - curve.mean) for curve in curves]


def common(
    curves: Sequence[Curve], earliest: float = EARLIEST, least: float = _ENOUGH
) -> tuple[NDArray[Any], list[NDArray[Any]]]:
    """Return the first curve's numbers of examples that all curves cover, and each curve's values there.

    Numbers below `earliest` are left out. Raise `NotThere` if the last number is below `least`.
    """
    t = curves[0].t
    t = t[(t >= max(earliest, *(c.t[0] for c in curves))) & (t <= min(c.t[-1] for c in curves))]
    if not len(t) or t[-1] < least:
        names = ", ".join(curve.algorithm for curve in curves)
        raise NotThere(f"{names}: not all of them were run for {least:,.0f} examples")
    return t, [np.interp(t, c.t, c.mean) for c in curves]


def batch_curve(evidence: Evidence) -> Curve:
    """Return how many kernel evaluations one batch training takes, by its number of examples."""
    study = evidence["offline"]
    cells = study.cells[study.cells["algorithm"] == _BATCH].dropna(subset=["kernel_evaluations"])
    if cells.empty:
        raise NotThere(f"{study.name}: no training of {_BATCH}")
    seen = cells["n_examples"].astype(float)
    found = cells["kernel_evaluations"].astype(float).groupby(seen)
    mean, sd, count = found.mean(), found.std().fillna(0.0), found.size()
    t, means, sds = (np.asarray(values, np.float64) for values in (mean.index, mean, sd))
    return Curve(_BATCH, t, means, sds, int(count.min()))


def shares_outside(study: StudyEvidence) -> dict[str, float]:
    """Return, by learner, the share of support vectors that lie far on the wrong side, with y f(x) < -1.

    To get the models, the learners of the first repetition are trained again.
    """
    shares = {}
    for name in THREE:
        learner = learn_again(study, name, GAUSS).learner
        margins = np.sign(learner.dual_coef_[0]) * learner.decision_function(learner.support_vectors_)
        # Support vectors may lie at -1 exactly; the tolerance keeps rounding errors from counting them.
        shares[name] = float(np.mean(margins < -1 - 1e-6))
    return shares


# --- forgetting: keeping at most m rows that are not support vectors

# The learners that keep at most m rows besides their support vectors; m is the key.
KEPT: Mapping[int, str] = {m: f"{RAMP}, m = {m}" for m in (0, 100, 1000)}
FOUR = (*KEPT.values(), RAMP)


def forgetting_sets(study: StudyEvidence) -> dict[str, str]:
    """Return the labels of Fig. 5's data sets by the paper's name, if each learner finished two runs."""
    complete = {}
    for name in ("Cover", "NCheckerboard"):
        for label in study.datasets(SETS[name]):
            found = study.table("test_accuracy", datasets=[label], least_seeds=2, gaps=True)
            if found.reindex(columns=list(FOUR)).notna().all(axis=None):
                complete[name] = label
    if not complete:
        raise NotThere(f"{study.name}: no data set of Fig. 5 has two finished repetitions of every learner")
    return complete


# --- active learning

RAMP_ALL, RAMP_GREEDY = "OnlineSVMR, all labels", "OnlineSVMR, greedy"
HINGE_ALL, HINGE_GREEDY = "IDSVM, all labels", "IDSVM, greedy"
FIVE = (HINGE_ALL, HINGE_GREEDY, RAMP_ALL, RAMP_GREEDY, ACTIVE)
# The data sets in the order of the panels of the paper's Fig. 6.
PANELS = (
    "Checkerboard", "DNA", "Waveform", "Adult", "Banana", "NCheckerboard", "Gauss", "Cover", "USPS",
)  # fmt: skip


def by_labels(study: StudyEvidence) -> dict[str, list[Curve]]:
    """Return curves of test accuracy by number of queried labels, for data sets that all learners have run.

    As in the paper, all curves of a data set end at the same number of labels: the fewest that one of the
    learners had queried when its stream or its time limit ended.
    """
    found = {}
    for name in PANELS:
        for label in study.datasets(SETS[name]):
            curves = mean_curves(
                study.curves_so_far,
                dataset=label,
                noise=CLEAN,
                algorithms=list(FIVE),
                column="test_error",
                against="queried",
                from_zero=False,
            )
            # Compare the whole name, because "checkerboard" also begins "checkerboard-noisy".
            if len(curves) == len(FIVE) and label.partition("[")[0] == SETS[name]:
                end = min(curve.t[-1] for curve in curves)
                found[name] = [_until(replace(curve, mean=100 - curve.mean), end) for curve in curves]
    if not found:
        raise NotThere(f"{study.name}: no data set of Fig. 6 has curves of all five learners")
    return found


def _until(curve: Curve, end: float) -> Curve:
    t = np.append(curve.t[curve.t < end], end)
    mean, sd = (np.interp(t, curve.t, values) for values in (curve.mean, curve.sd))
    return replace(curve, t=t, mean=mean, sd=sd)
