"""What Table I of the ramp-loss paper prints and what came out here: a learner's outcome on a set each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from .....pipeline.analysis.design import evaluation_rows
from ...evidence import NotThere, StudyEvidence
from ...printed import table

PAPER = "ramp-loss"
# The paper's names of the sets, in its order, and the study's.
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
# The paper has ten repetitions; a mean of fewer than three says nothing of its spread.
_LEAST = 3


@dataclass(frozen=True)
class Entry:
    """What a learner comes to on a set.

    Attributes
    ----------
    accuracy, accuracy_sd : float
        Mean and standard deviation over repetitions, in percent.
    size, size_sd : float
        Of the number of support vectors.
    repetitions, stopped : int
        How many there are, and how many of them ended at the time limit.
    seconds, seen : float
        Of learning in the fastest repetition, which other programs have disturbed least, and examples
        learnt from on average; NaN of what is printed.
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
        """Tell whether the accuracies are apart by more than both standard deviations."""
        return self.accuracy - self.accuracy_sd > other.accuracy + other.accuracy_sd

    def is_near(self, printed: Entry) -> bool:
        """Tell whether the accuracy, as shown, is within a point or two printed standard deviations."""
        apart = abs(round(self.accuracy, 1) - printed.accuracy)
        return apart <= max(1.0, 2 * printed.accuracy_sd) + 1e-9


# By learner.
Row = Mapping[str, Entry]


def printed_rows() -> dict[str, dict[str, Entry]]:
    """Return Table I as it is printed, by set and learner."""
    found: dict[tuple[str, str], dict[str, tuple[float, float]]] = {}
    for row in table(PAPER, "table1"):
        figures = found.setdefault((row["task"], row["algorithm"]), {})
        figures[row["metric"]] = float(row["value"]), float(row["sd"])
    rows: dict[str, dict[str, Entry]] = {}
    for (task, learner), figures in found.items():
        rows.setdefault(task, {})[learner] = Entry(*figures["accuracy"], *figures["support_vectors"])
    return rows


def our_rows(study: StudyEvidence, learners: Sequence[str] = LEARNERS) -> dict[str, dict[str, Entry]]:
    """Return the sets on which all of some learners have enough repetitions, with those learners.

    IDSVM that was stopped at the time limit is tested where it ended, as in the paper; of another learner
    that tells nothing.

    Raises
    ------
    NotThere
        There is no such set.
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
    """Return whatever there is, by set and learner."""
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
