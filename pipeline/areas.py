"""Compute the area under the ROC curve and average precision from scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def area_under_curve(
    scores: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the area under the ROC curve; ties count half, as in scikit-learn.

    `codes` are 0 or 1. `weights` weight the rows; None weights all rows equally. Returns NaN if a class does
    not occur or a score is NaN.

    Examples
    --------
    >>> area_under_curve(np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32))
    0.75
    """
    if not codes.any() or codes.all() or np.isnan(scores).any():
        return float("nan")
    values, places = np.unique(scores, return_inverse=True)
    each = np.ones(len(scores)) if weights is None else weights
    positive = np.bincount(places, each * codes, len(values))
    negative = np.bincount(places, each * (1 - codes), len(values))
    won = np.sum(positive * (np.cumsum(negative) - negative / 2))
    return float(won / (positive.sum() * negative.sum()))


def average_precision(
    scores: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> float:
    """Return the average precision, as scikit-learn defines it.

    `codes` are 0 or 1. `weights` weight the rows; None weights all rows equally. Returns NaN if class 1 does
    not occur or a score is NaN.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32))
    0.8333333333333333
    """
    if not codes.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    # Rows with equal scores count as one step.
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
    seen = last + 1 if weights is None else np.cumsum(weights[order])[last]
    found = np.cumsum(codes[order] if weights is None else (weights * codes)[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * (found / seen)) / found[-1])
