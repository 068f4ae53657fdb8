"""What projections onto a support set take, told from the seconds along the stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..evidence import StudyEvidence


def projection_times(
    study: StudyEvidence, task: str, least_size: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sizes of the support set, and the seconds that projecting a mistake onto it took.

    Parameters
    ----------
    study : StudyEvidence
        It has the Perceptron, and the Projectron with eta = 0.
    task : str
    least_size : int
        Smaller support sets are left out.

    Returns
    -------
    sizes, seconds : ndarray of float64
        One of each an interval between two checkpoints; of each interval the seconds of the repetition in
        which it took least.

    Raises
    ------
    NotThere
    """
    plain, zero = (_least_steps(study, who, task) for who in ("Perceptron", "Projectron 0"))
    size, wrong = (
        study.curve(column, "Projectron 0", task).mean for column in ("support_vectors", "mistakes")
    )
    middle, mistakes = (size[1:] + size[:-1]) / 2, np.diff(wrong)
    some = (middle >= least_size) & (mistakes > 0) & (zero > plain)
    return middle[some], (zero - plain)[some] / mistakes[some]


def power_of(sizes: NDArray[np.float64], seconds: NDArray[np.float64]) -> float:
    """Return the power of the size that seconds grow with.

    It is the median over all pairs: other programs of the machine lengthen some intervals.

    Examples
    --------
    >>> round(power_of(np.array([1.0, 2.0, 4.0, 8.0]), np.array([3.0, 12.0, 48.0, 192.0])), 3)
    2.0
    """
    i, j = np.triu_indices(len(sizes), 1)
    x, y = np.log(sizes), np.log(seconds)
    return float(np.median((y[j] - y[i]) / (x[j] - x[i])))


def _least_steps(study: StudyEvidence, algorithm: str, task: str) -> NDArray[np.float64]:
    """Return the seconds between checkpoints, the least of all repetitions."""
    study.curve("fit_seconds", algorithm, task)
    runs = study.view.curves.series(task, study.design.noise[0], algorithm, "fit_seconds", "t")
    least: NDArray[np.float64] = np.min([np.diff(seconds) for _, seconds in runs], axis=0)
    return least
