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

# Number of digits that count when scores are compared. Averages of the same numbers in another order differ
# in the 16th digit. Twelve digits keep every real difference (the finest step of a mean over 1,000 seeds of
# 1e6 examples is 1e-9) and drop rounding errors.
_DIGITS = 12


def snap(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round to 12 digits, counted from the largest absolute value, so that equal results compare equal."""
    return np.asarray(np.round(values, _decimals(_largest(values))))


def snap_scores(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round each score of a data set to its `score_decimals`, so that equal scores compare equal."""
    decimals, found = score_decimals(scores), scores.copy()
    for each in np.unique(decimals):
        found[decimals == each] = np.round(scores[decimals == each], each)
    return found


def score_decimals(scores: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return to how many decimals each score of a data set is rounded; negative for more than 12 digits.

    Twelve digits are counted from the largest score if it is at most 1. Otherwise they are counted from 1 for
    scores up to 1, and from the score itself for larger ones, so that the loss of an algorithm that diverges
    does not make the scores of others equal.
    """
    least = min(_largest(scores), 1.0)
    sizes = np.where(np.isfinite(scores), np.maximum(np.abs(scores), least), least)
    return np.array([_decimals(size) for size in sizes], dtype=np.int64)


def _largest(values: NDArray[np.float64]) -> float:
    finite = np.abs(values[np.isfinite(values)])
    return float(finite.max()) if finite.size else 0.0


def _decimals(size: float) -> int:
    return _DIGITS - int(np.ceil(np.log10(size))) if size else 0


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
    ranks = rankdata([snap_scores(row) for row in keyed], method="average", axis=1)
    return pd.DataFrame(ranks, index=scores.index, columns=scores.columns)


def mean_ranks(ranks: pd.DataFrame) -> pd.Series[float]:
    """Average the ranks over data sets, best algorithm first; equal means keep the order of the columns."""
    means = ranks.mean(axis=0)
    means = pd.Series(snap(means.to_numpy(dtype=np.float64)), index=means.index)
    return means.sort_values(kind="stable")
