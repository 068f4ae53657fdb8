"""Train cells again to get what results do not store: models, mistake bounds, rows removed from a cache.

A cell is one run of a learner on a data set. Only cells of the study's first seed are trained. `NotThere` is
raised if the retrained cell's count of mistakes, updates or support vectors differs from the stored results.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ...pipeline.errors import InputError
from ...pipeline.noise import Noise
from .evidence import NotThere, StudyEvidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ...pipeline.run.task import TrainedCell

# Mistake bounds are evaluated for these norms of the competing function, as fractions of the largest norm.
_SCALES = np.linspace(0.02, 1.0, 50)


def first_cell(study: StudyEvidence, algorithm: str, dataset: str, noise: float = 0.0) -> dict[str, Any]:
    """Return the cells table's row for the study's first seed; raise `NotThere` if it has no such row."""
    cells, seed = study.cells, study.design.seeds[0]
    this = (cells["algorithm"] == algorithm) & (cells["dataset"] == dataset) & (cells["seed"] == seed)
    found = cells[this & (cells["noise"] == Noise(noise).slug)].to_dict("records")
    if not found:
        raise NotThere(f"{study.name}: {algorithm} on {dataset} with seed {seed} has no finished cell")
    return {str(name): value for name, value in found[0].items()}


def learn_again(study: StudyEvidence, algorithm: str, dataset: str, noise: float = 0.0) -> TrainedCell:
    """Train a learner again as in the study's run with the first seed, and return the trained cell.

    Raise `NotThere` if the study has no such run, if its data set is missing, or if the counts of mistakes,
    updates or support vectors differ from the stored results.
    """
    # Import here, not at the top: importing the learners takes as long as making a whole page.
    from ...pipeline.run import replay
    from ...pipeline.study.study_file import parse_study

    row = first_cell(study, algorithm, dataset, noise)
    try:
        return replay.learn_again(parse_study(study.view.results.study), row)
    except InputError as error:
        raise NotThere(f"{study.name}: {error}") from None


def flipped(learnt: TrainedCell) -> NDArray[np.bool_]:
    """Return a mask of the rows whose label was flipped by label noise, in the order of the stream."""
    differs: NDArray[np.bool_] = learnt.inputs.noisy != learnt.inputs.train.codes
    return differs


@dataclass(frozen=True, eq=False)
class Competitor:
    """A fixed function g, whose norm and hinge loss bound a learner's mistakes in the Projectron paper.

    `margins` has y g(x) of every row of the stream, for g of norm 1; the methods scale g to other norms.
    In the bounds, D is the cumulative hinge loss that `losses` returns.
    """

    margins: NDArray[np.float64]

    def losses(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return D, the cumulative hinge loss of g over the stream, for g scaled to each of `norms`."""
        return np.array([np.maximum(0.0, 1.0 - norm * self.margins).sum() for norm in norms])

    def corollary_1(self, limit: float) -> float:
        """Return corollary 1's mistake bound: the least ``2 ‖g‖² + 4 D`` over norms of g up to `limit`."""
        norms = limit * _SCALES
        return float((2.0 * norms**2 + 4.0 * self.losses(norms)).min())

    def theorem_2(self, eta: float) -> float:
        """Return theorem 2's mistake bound: the least ``(‖g‖² + 2 D)/(1 - 2 eta ‖g‖)`` over a grid of norms.

        The norms ‖g‖ lie below 1/(2 eta), where the denominator is positive.
        """
        norms = (0.5 / eta if eta > 0.0 else 100.0) * _SCALES[:-1]
        return float(((norms**2 + 2.0 * self.losses(norms)) / (1.0 - 2.0 * eta * norms)).min())


@functools.lru_cache(maxsize=64)
def competitor(study: StudyEvidence, algorithm: str, dataset: str) -> Competitor:
    """Train a two-class kernel learner again and return its final decision function as a `Competitor`."""
    learnt = learn_again(study, algorithm, dataset)
    learner, given = learnt.learner, learnt.inputs
    alpha = learner.dual_coef_[0]
    norm = np.sqrt(alpha @ learner.decision_function(learner.support_vectors_))
    signs = np.where(given.noisy == 1, 1.0, -1.0)
    margins = np.empty(len(signs))
    for start, stop, rows in given.train.blocks():
        margins[start:stop] = signs[start:stop] * learner.decision_function(rows) / norm
    return Competitor(margins)


def removals(learnt: TrainedCell) -> pd.DataFrame:
    """Let an untrained copy of the learner learn the cell's rows one by one; list the rows its cache removes.

    The table has one line per removed row. `when` is the number of rows learned until the removal. `age` is
    the number of rows that came after the removed row. `mean_age` is the mean of this number over all rows
    that were in the cache at that moment.
    """
    learner, given = learnt.learner, learnt.inputs
    fresh = type(learner)(**learner.get_params())
    classes = np.arange(len(given.stream.classes))
    noted: list[tuple[int, int, float]] = []
    kept: set[int] = set()
    seen = 0
    for start, stop, rows in given.train.blocks():
        for t in range(start, stop):
            before = fresh.n_updates_ if seen else 0
            fresh.learn(rows[t - start : t - start + 1], given.noisy[t : t + 1], classes=classes)
            seen = t + 1
            if fresh.n_updates_ == before:
                continue
            now = set(fresh.support_.tolist())
            mean = t - np.mean([*kept, t])
            noted += [(seen, t - removed, float(mean)) for removed in (kept | {t}) - now]
            kept = now
    columns = {"when": "int64", "age": "int64", "mean_age": "float64"}
    return pd.DataFrame(noted, columns=list(columns)).astype(columns)
