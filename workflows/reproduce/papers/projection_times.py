"""What projections onto a support set take, told from the seconds along the stream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..evidence import StudyEvidence


def projection_times(
    study: StudyEvidence, task: str, least_size: int
) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
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
    list of (sizes, seconds)
        Of each repetition: one of each an interval between two checkpoints.

    Raises
    ------
    NotThere
    """
    names = ("Perceptron", "Projectron 0")
    study.curves("fit_seconds", names, task)
    noise, curves = study.design.noise[0], study.view.curves
    plain, zero, sizes, mistakes = (
        curves.series(task, noise, who, column, "t")
        for who, column in (
            *((who, "fit_seconds") for who in names),
            *((names[1], column) for column in ("support_vectors", "mistakes")),
        )
    )
    found = []
    for (_, without), (_, with_it), (_, size), (_, wrong) in zip(plain, zero, sizes, mistakes, strict=True):
        middle, more = (size[1:] + size[:-1]) / 2, np.diff(wrong)
        seconds = np.diff(with_it) - np.diff(without)
        some = (middle >= least_size) & (more > 0) & (seconds > 0)
        found.append((middle[some], seconds[some] / more[some]))
    return found


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
