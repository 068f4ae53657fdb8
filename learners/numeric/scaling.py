"""Standardize rows with the mean and variance of the rows so far, so that no row depends on later rows."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .compiled import compiled


@compiled
def _standardise(X, out, counts, means, squares):
    for t in range(X.shape[0]):
        for j in range(X.shape[1]):
            x = X[t, j]
            out[t, j] = 0.0
            if math.isnan(x):
                continue
            counts[j] += 1
            deviation = x - means[j]
            means[j] += deviation / counts[j]
            squares[j] += deviation * (x - means[j])
            if squares[j] > 0.0:
                out[t, j] = (x - means[j]) / math.sqrt(squares[j] / counts[j])


class RunningScale:
    """Standardize rows with the running mean and variance of each feature (Welford's recurrence).

    Parameters
    ----------
    n_features : int

    Attributes
    ----------
    counts : ndarray of int64, shape (d,)
        Number of values of each feature that were not missing.
    means, squares : ndarray of float64, shape (d,)
        The mean of these values, and the sum of their squared deviations from it.

    References
    ----------
    B. P. Welford (1962), Note on a method for calculating corrected sums of squares and products,
    Technometrics 4(3).

    Examples
    --------
    >>> scale = RunningScale(1)
    >>> scale.standardised(np.array([[1.0], [3.0], [np.nan], [2.0]])).ravel().tolist()
    [0.0, 1.0, 0.0, 0.0]
    """

    def __init__(self, n_features: int) -> None:
        self.counts = np.zeros(n_features, np.int64)
        self.means, self.squares = np.zeros(n_features), np.zeros(n_features)

    def standardised(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Standardize each row of X, shape (n, d), by the mean and variance of the rows up to this one.

        A missing value (NaN) becomes 0, as if it were the mean, and is not counted. A feature that was
        constant so far becomes 0. If a sum of squares overflows, OverflowError names the feature.
        """
        out = np.empty(X.shape)
        _standardise(np.ascontiguousarray(X), out, self.counts, self.means, self.squares)
        wrong = np.flatnonzero(~np.isfinite(self.squares))
        if len(wrong):
            raise OverflowError(
                f"feature {wrong[0] + 1} has values too large to be standardized (their squares overflow)"
            )
        return out

    @property
    def spreads(self) -> NDArray[np.float64]:
        """The standard deviation of each feature so far; 1 for a constant one."""
        spreads: NDArray[np.float64] = np.sqrt(self.squares / np.maximum(self.counts, 1))
        return np.where(spreads == 0.0, 1.0, spreads)
