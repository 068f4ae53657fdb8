"""Printed results of Table I of the ramp-loss paper and our results, by data set and learner."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from .....pipeline.analysis.design import evaluation_rows
from ...evidence import NotThere, StudyEvidence
from ...printed import table

PAPER = "ramp-loss"
# The paper's names of the data sets, in its order, and the study's.
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
# The paper has ten repetitions; fewer than three give no useful standard deviation.
_LEAST = 3


@dataclass(frozen=True)
class Entry:
    """The results of a learner on a data set.

    Attributes
    ----------
    accuracy, accuracy_sd : float
        Mean and standard deviation over repetitions, in percent.
    size, size_sd : float
        The same for the number of support vectors.
    repetitions, stopped : int
        Number of repetitions, and of those that ended at the time limit.
    seconds, seen : float
        Learning time of the fastest repetition, the one least disturbed by other programs, and mean number of
        examples learnt from; NaN for printed results.
    """

    accuracy: float
    accuracy_sd: float
    size: float
    size_sd: float
    repetitions: int = 10
    stopped: int = 0
    seconds: float = math.nan
    seen: float = math.nan

    def clearly_above(self, other: Entry) -> bool:
        """Return whether this accuracy is higher by more than both standard deviations together."""
        return self.accuracy - self.accuracy_sd > other.accuracy + other.accuracy_sd

    def is_near(self, printed: Entry) -> bool:
        """Return whether the rounded accuracy is within a point or two printed standard deviations."""
        apart = abs(round(self.accuracy, 1) - printed.accuracy)
        return apart <= max(1.0, 2 * printed.accuracy_sd) + 1e-9


# By learner.
Row = Mapping[str, Entry]


def printed_rows() -> dict[str, dict[str, Entry]]:
    """Return the printed Table I, by data set and learner."""
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in table(PAPER, "table1"):
        figures = found.setdefault((row["task"], row["algorithm"]), {})
        figures[row["metric"]] = float(row["value"]), float(row["sd"])
    rows: dict[str, dict[str, Entry]] = {}
    for (task, learner), figures in found.items():
        rows.setdefault(task, {})[learner] = Entry(*figures["accuracy"], *figures["support_vectors"])
    return rows


def our_rows(study: StudyEvidence, learners: Sequence[str] = LEARNERS) -> dict[str, dict[str, Entry]]:
    """Return the data sets on which all given learners have enough repetitions, by set and learner.

    An IDSVM that was stopped at the time limit counts, as in the paper; other stopped learners exclude the
    set. Raise `NotThere` if no set is left.
    """
    rows = {name: row for name, row in all_rows(study).items() if all(each in row for each in learners)}
    rows = {
        name: row
        for name, row in rows.items()
        if min(row[each].repetitions for each in learners) >= _LEAST
        and not any(row[each].stopped for each in learners if each != IDSVM)
    }
    if not rows:
        raise NotThere(f"{study.name}: no set has {_LEAST} whole repetitions of {', '.join(learners)}")
    return rows


def all_rows(study: StudyEvidence) -> dict[str, dict[str, Entry]]:
    """Return all finished and stopped results, by data set and learner."""
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
    return Entry(
        float(accuracy.mean()),
        0.0 if single else float(accuracy.std()),
        float(size.mean()),
        0.0 if single else float(size.std()),
        len(cells),
        int((cells["status"] == "stopped").sum()),
        float(cells["fit_seconds"].astype(float).min()),
        float(cells["n_examples"].astype(float).mean()),
    )
