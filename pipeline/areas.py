"""What the order of scores comes to: the area under the ROC curve, average precision."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def area_under_curve(
    scores: NDArray[np.float64], codes: NDArray[np.int32], weights: NDArray[np.float64] | None = None
) -> float:
    """Area under the ROC curve, ties counting half, as scikit-learn has it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    codes : ndarray of int32, shape (n,)
        0 or 1.
    weights : ndarray of float64, shape (n,), default=None
        How much each row counts; None: all alike.

    Returns
    -------
    float
        NaN where a class does not occur or a score is no number.

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
    """Average precision over the recall that each further score adds, as scikit-learn has it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
    codes : ndarray of int32, shape (n,)
        0 or 1.
    weights : ndarray of float64, shape (n,), default=None
        How much each row counts; None: all alike.

    Returns
    -------
    float
        NaN where class 1 does not occur or a score is no number.

    Examples
    --------
    >>> average_precision(np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32))
    0.8333333333333333
    """
    if not codes.any() or np.isnan(scores).any():
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    # Rows of one score are taken at once.
    last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(scores) - 1)
    seen = last + 1 if weights is None else np.cumsum(weights[order])[last]
    found = np.cumsum(codes[order] if weights is None else (weights * codes)[order])[last]
    return float(np.sum(np.diff(found, prepend=0) * (found / seen)) / found[-1])
