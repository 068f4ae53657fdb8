"""Train cells again to get what results do not contain: models, mistake bounds, rows removed from a cache.

Only cells of the first seed are trained. `NotThere` is raised if a cell's mistakes, updates or support
vectors then differ from the results.
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

# The norms at which a competitor is evaluated, as fractions of the largest.
_SCALES = np.linspace(0.02, 1.0, 50)


def first_cell(study: StudyEvidence, algorithm: str, dataset: str, noise: float = 0.0) -> dict[str, Any]:
    """Return the row of the first seed's cell from the cells table, or raise `NotThere`."""
    cells, seed = study.cells, study.design.seeds[0]
    this = (cells["algorithm"] == algorithm) & (cells["dataset"] == dataset) & (cells["seed"] == seed)
    found = cells[this & (cells["noise"] == Noise(noise).slug)].to_dict("records")
    if not found:
        raise NotThere(f"{study.name}: {algorithm} on {dataset} with seed {seed} has no finished cell")
    return {str(name): value for name, value in found[0].items()}


def learn_again(study: StudyEvidence, algorithm: str, dataset: str, noise: float = 0.0) -> TrainedCell:
    """Train the first seed's cell again.

    Raise `NotThere` if there is no such cell, its data are missing, or its counts differ from the results.
    """
    # Importing the learners takes as long as making a page.
    from ...pipeline.run import replay
    from ...pipeline.study.study_file import parse_study

    row = first_cell(study, algorithm, dataset, noise)
    try:
        return replay.learn_again(parse_study(study.view.results.study), row)
    except InputError as error:
        raise NotThere(f"{study.name}: {error}") from None


def flipped(learnt: TrainedCell) -> NDArray[np.bool_]:
    """Return whether the given label of each row differs from its clean label, in the order of the stream."""
    differs: NDArray[np.bool_] = learnt.inputs.noisy != learnt.inputs.train.codes
    return differs


@dataclass(frozen=True, eq=False)
class Competitor:
    """A function g of fixed direction and any norm, with which the Projectron's bounds compare a learner.

    `margins` has y g(x) of every row of the stream, for ‖g‖ = 1. In the bounds, D is the result of `losses`.
    """

    margins: NDArray[np.float64]

    def losses(self, norms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return D, the cumulative hinge loss of g, at each norm."""
        return np.array([np.maximum(0.0, 1.0 - norm * self.margins).sum() for norm in norms])

    def corollary_1(self, limit: float) -> float:
        """Return corollary 1's bound: the least ``2 ‖g‖² + 4 D`` over a grid of norms up to `limit`."""
        norms = limit * _SCALES
        return float((2.0 * norms**2 + 4.0 * self.losses(norms)).min())

    def theorem_2(self, eta: float) -> float:
        """Return theorem 2's bound: the least ``(‖g‖² + 2 D)/(1 - 2 eta ‖g‖)`` on a grid below 1/(2 eta)."""
        norms = (0.5 / eta if eta > 0.0 else 100.0) * _SCALES[:-1]
        return float(((norms**2 + 2.0 * self.losses(norms)) / (1.0 - 2.0 * eta * norms)).min())


@functools.lru_cache(maxsize=64)
def competitor(study: StudyEvidence, algorithm: str, dataset: str) -> Competitor:
    """Return the final function of a two-class kernel learner as a competitor, or raise `NotThere`."""
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
    """Let an untrained copy of the learner learn the cell's rows one by one; return removals from its cache.

    Column `when` is the number of rows streamed until the removal. `age` is the number of rows that came
    after the removed one, and `mean_age` the mean of this number over all rows of the cache.
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
