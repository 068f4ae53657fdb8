"""Rank algorithms within data sets, on complete blocks only.

A *block* is one data set: its row of scores has one number per algorithm, already averaged over seeds. The
number of blocks N that enters every test is therefore the number of data sets, never the number of seeds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from ..scoring import Direction

# Number of digits that count when results are compared. Averages of the same numbers in another order differ
# in the 16th digit. Twelve digits keep every real difference (the finest step of a mean over 1,000 seeds of
# 1e6 examples is 1e-9) and drop rounding errors.
_DIGITS = 12

# What an algorithm lacks on a data set to which it is not bound.
NOT_THERE = "does not run there"


def snap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to 12 digits, counted from the largest absolute value, so that equal results compare equal."""
    largest = _largest(values)
    # np.round multiplies by a power of ten, which must be finite.
    decimals = min(300, _DIGITS - int(np.ceil(np.log10(largest)))) if largest else 0
    return np.asarray(np.round(values, decimals))


def snap_behind(scores: NDArray[np.float64], best: int) -> NDArray[np.float64]:
    """Return how far each column of a data set's scores is from the column `best`, rounded to 12 digits.

    These are counted from the scores of the two columns (see `_sizes`), whose rounding errors the differences
    have.
    """
    sizes = _sizes(np.abs(scores).max(axis=0))
    sizes = np.maximum(sizes, sizes[best])
    behind = scores - scores[:, [best]]
    return np.array([snap(np.append(each, size))[:-1] for each, size in zip(behind.T, sizes, strict=True)]).T


def _sizes(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values from which the digits that count are counted, one for each score of a data set.

    This is the score itself, or the largest score of the data set if that is larger, but then at most 1: the
    loss of an algorithm that diverges does not make the scores of others equal.
    """
    least = min(_largest(scores), 1.0)
    return np.where(np.isfinite(scores), np.maximum(np.abs(scores), least), least)


def score_tolerances(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how far each score of a data set may be from another one that counts as equal."""
    return np.asarray(10.0**-_DIGITS * _sizes(scores))


def score_levels(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Number the distinct scores of a data set from the smallest, 0; equal scores share their number.

    Scores that differ by rounding errors only count as equal (see `score_tolerances`). Rounding them instead
    could separate two such scores.
    """
    order = np.argsort(scores, kind="stable")
    values, near = scores[order], score_tolerances(scores)[order]
    apart = values[1:] > values[:-1] + np.maximum(near[1:], near[:-1])
    levels = np.zeros(scores.size, np.int64)
    levels[order[1:]] = np.cumsum(apart)
    return levels


def _largest(values: NDArray[np.float64]) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


@dataclass(frozen=True)
class DroppedBlock:
    """Describe a data set left out of the ranks."""

    dataset: str
    # For each algorithm without a complete result, what is missing (see `Scores.missing`).
    missing: dict[str, str]


def block_ranks(scores: pd.DataFrame, direction: Direction) -> pd.DataFrame:
    """Rank the algorithms within every data set; rank 1 is best, ties share the average rank.

    `scores` has shape (N data sets, k algorithms); every row of ranks adds up to k(k + 1)/2. Raises
    ValueError if a score is NaN, because a block with a gap has no ranks.

    J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006), section 3.2.2.
    """
    values = scores.to_numpy(dtype=np.float64)
    if np.isnan(values).any():
        raise ValueError("ranks need complete blocks: a data set has no score for some algorithm")
    if values.size == 0:
        return scores.astype(np.float64)
    keyed = values if direction == "lower" else -values
    ranks = rankdata([score_levels(row) for row in keyed], method="average", axis=1)
    return pd.DataFrame(ranks, index=scores.index, columns=scores.columns)


def mean_ranks(ranks: pd.DataFrame) -> pd.Series[float]:
    """Average the ranks over data sets, best algorithm first; equal means keep the order of the columns."""
    means = ranks.mean(axis=0)
    means = pd.Series(snap(means.to_numpy(dtype=np.float64)), index=means.index)
    return means.sort_values(kind="stable")
