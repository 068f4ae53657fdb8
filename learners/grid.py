"""Learn a stream with all parameter combinations of a grid, in one pass over the rows if possible."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from .estimator.inner_learner import check_online_learner
from .estimator.online_classifier import OnlineClassifier
from .estimator.validation import Classes, finite_rows
from .readings import learn_together

Grid = Mapping[str, Sequence[Any] | NDArray[Any]]


class LearntPoint(NamedTuple):
    """The outcome of a parameter combination: parameters, trained learner, scores before each update."""

    params: dict[str, Any]
    learner: OnlineClassifier
    scores: NDArray[np.float64]


def check_grid(grid: Any, name: str) -> None:
    """Raise ValueError, which begins with `name`, unless a grid maps parameters to lists of values.

    `epochs` is refused, too.
    """
    if not (isinstance(grid, Mapping) and grid and all(map(_is_list, grid.values()))):
        raise ValueError(f"{name}: grid must be a dict of parameters with lists of values, got {grid!r}")
    if "epochs" in grid:
        raise ValueError(f"{name}: grid must not contain epochs: all points read the stream once")


def _is_list(values: Any) -> bool:
    is_array = isinstance(values, np.ndarray) and values.ndim > 0
    return (is_array or (isinstance(values, Sequence) and not isinstance(values, str))) and len(values) > 0


def points_of(learner: OnlineClassifier, grid: Grid) -> tuple[list[dict[str, Any]], list[OnlineClassifier]]:
    """Return a grid's parameter combinations, the last parameter changing fastest, and their learners."""
    points = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    return points, [clone(learner).set_params(**point) for point in points]


def learn_grid(
    learner: OnlineClassifier, grid: Grid, X: Any, y: ArrayLike, classes: Classes | None = None
) -> list[LearntPoint]:
    """Learn a stream with every point of a grid; each outcome equals that of ``learn`` with this point.

    Linear learners of two classes whose points differ in numeric parameters (C, r, η, φ …) learn up to eight
    points in one pass over the rows, if their state is a weight vector or also a diagonal covariance. That is
    faster than a pass for each point, most of all on sparse rows. Points of `KernelPerceptron`,
    `KernelPassiveAggressive`, `KernelMIRA`, `KernelALMA`, `NORMA` and the Projectrons share kernel values or,
    if their kernels differ, inner products of rows, eight points at a time. All other points are learned one
    by one.

    Parameters
    ----------
    learner : OnlineClassifier
        A learner of this package; it is cloned for each point, never changed.
    grid : dict of str to list
        Values of its parameters; the points are all combinations, the last parameter changing fastest.
    X, y, classes
        As for `OnlineClassifier.learn`.

    Returns
    -------
    list of LearntPoint
        ``(params, learner, scores)`` of each point: a dict, a fitted learner, and a float64 array of shape
        (n,) or, with K > 2 classes, (n, K).

    Raises
    ------
    ValueError
        For a learner that is not of this package or has no `learn` (`OfflineRampSVM`), for a class of a user
        that overrides `learn`, and for an invalid grid, parameters, rows or labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from singlepass.learners import AROW
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> for point in learn_grid(AROW(), {"r": [0.1, 1.0, 10.0]}, scale(X), y):
    ...     print(point.params, point.learner.n_mistakes_)
    {'r': 0.1} 28
    {'r': 1.0} 25
    {'r': 10.0} 24
    """
    check_online_learner(learner, "learn_grid")
    check_grid(grid, "learn_grid")
    points, learners = points_of(learner, grid)
    for each in learners:
        each.check_parameters()
    matrix, codes = learners[0]._validate_first(X, y, classes)
    rows = finite_rows(matrix)
    for each in learners[1:]:
        each.begin(learners[0].classes_, matrix.shape[1])
        if hasattr(learners[0], "feature_names_in_"):
            each.feature_names_in_ = learners[0].feature_names_in_
    found = learn_together(learners, rows, codes)
    return [
        LearntPoint(point, each, np.ascontiguousarray(scores))
        for point, each, scores in zip(points, learners, found, strict=True)
    ]
